"""Which pair next: drawn at random, under a lease, never beyond what is wanted.

Chance comes from the operating system, not from the study's seed: what was drawn is stored (the pair, the sides, the
order), so nothing has to be drawn again to be explained; processes that were forked from one another must not draw
alike; and nobody should be able to work out what comes next.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import combinations
from random import SystemRandom
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django.utils import timezone

from annotate.judging import tallies
from annotate.models import Annotator, Assignment, Pair, Sentence, Study, Suggestion, Tally
from annotate.prepared import NUMBER, SMALL, Part, Prepared

chance = SystemRandom()

#: Pairs after which somebody is led to another topic: long enough to learn a subject, short enough not to tire of it.
RUN = 10
#: How many of the oldest unfinished pairs, or of the worker's suggestions, a draw looks at.
LOOK = 64
#: How many random pairs are tried before all that are left are listed: of a topic of which 95 in 100 pairs are gone,
#: one draw in 27 comes to that.
TRIES = 64


class Reason(enum.StrEnum):
    """Why there is nothing to judge."""

    DONE = "done"  # they judged as many pairs as they were asked for
    NO_WORK = "no work left"  # every pair that they could judge is judged, or out with somebody
    PAUSED = "paused"
    CLOSED = "closed"
    EXCLUDED = "excluded"
    SCREENED_OUT = "screened out"  # practice showed that the task is not for them
    SKIPPED = "skipped too often"  # so many pairs in a row that the study ends it there
    HOUR = "enough for this hour"
    OWN = "their own study"  # they see its results, so they make none
    RESTING = "resting"  # whoever runs the study gives them no pairs for a while


@dataclass(frozen=True)
class Nothing:
    """No pair was drawn, and why."""

    reason: Reason


#: Why a pair is shown whose answer is wanted for its own sake: these alone take a place, and count.
WANTED = (Assignment.Reason.RANDOM, Assignment.Reason.SUGGESTED, Assignment.Reason.IMPORTED)


@dataclass(frozen=True)
class Choice:
    """Two sentences to be compared, in the order of their primary keys.

    `pair`: the primary key of their pair, if there is one already; `need`: how many judgments it needs from now on.
    """

    first: int
    second: int
    pair: int | None
    need: int
    reason: str


def draw(annotator: Annotator, *, besides: Assignment | None = None) -> Assignment | Nothing:
    """The pair that this annotator shall judge now: the one that they hold already, or a new one under a lease.

    With `besides`, the one to come after that assignment: a second lease, so that it can be shown at once. Practice
    comes first; what is known or was seen before is dealt in by `annotate.judging.checks`.
    """
    from annotate.judging import checks  # it draws with what is here

    if (check := checks.draw_check(annotator, besides)) is not None:
        return check
    for thorough in (False, True):
        for topic_id in _topics_in_turn(annotator, besides, thorough):
            if (drawn := _draw_from(topic_id, annotator, besides, thorough)) is not None:
                return drawn
    with tallies.leased(ahead=besides is not None):  # no topic has a place left, but they may hold one
        person = look_at_person(annotator)
        return settled(person, besides) or Nothing(Reason.NO_WORK)


def lease_of(seconds: int | None = None) -> timedelta:
    return timedelta(seconds=settings.LEASE_SECONDS if seconds is None else seconds)


def free_lapsed(topic_id: int, now: datetime) -> int:
    """End the leases of the topic that have run out and return their places; how many places. The tally is locked."""
    lapsed = list(
        Assignment.objects.filter(topic_id=topic_id, state=Assignment.State.OPEN, expires_at__lt=now).values_list(
            "pk", "pair_id", "holds_place"
        )
    )
    return give_up(topic_id, lapsed, now)


def give_up(topic_id: int, leases: list[tuple[int, int, bool]], now: datetime) -> int:
    """End leases of the topic, given as (assignment, pair, holds its place); how many places. The tally is locked."""
    Assignment.objects.filter(pk__in=[lease for lease, _pair, _place in leases]).update(
        state=Assignment.State.EXPIRED, holds_place=False, closed_at=now
    )
    places = [pair for _lease, pair, place in leases if place]
    tallies.return_places(topic_id, places)
    return len(places)


@dataclass(frozen=True)
class Desk:
    """What a draw needs to know of a topic whose tally it has locked.

    `last`: the last sentence's position; `wishes`, `lapsed`: whether the worker asks for pairs, whether leases ran out.
    """

    topic_id: int
    taken: int
    now: datetime
    last: int | None
    wishes: bool
    lapsed: bool


def _ask_for_topic(topic_id: int) -> QuerySet[Any, Any]:
    sentences = Sentence.objects.filter(topic=OuterRef("topic")).order_by("-position").values("position")[:1]
    open_ones = Assignment.objects.filter(topic=OuterRef("topic"), state=Assignment.State.OPEN)
    return (
        Tally.objects.select_for_update()
        .filter(topic_id=topic_id)
        .annotate(
            now=Now(),
            last=Subquery(sentences),
            wishes=Exists(Suggestion.objects.filter(topic=OuterRef("topic"))),
            lapsed=Exists(open_ones.filter(expires_at__lt=Now())),
        )
        .values_list("topic_id", "taken", "now", "last", "wishes", "lapsed")
    )


_topic = Prepared(_ask_for_topic, NUMBER)


def look_at_topic(topic_id: int) -> Desk | None:
    """Lock the topic's tally and see what there is, in one query; None where the topic was deleted meanwhile."""
    return next((Desk(*row) for row in _topic(topic_id)), None)


PERSON = Part(
    Annotator,
    "id kind study_id judged quota finished_at excluded_at paused_at skips_in_a_row trained_at screened_out_at",
)
TERMS = Part(
    Study,
    "id state pairs_per_annotator judgments_per_topic judgments_per_pair random_share person_cap judgments_per_hour "
    "skips_in_a_row training training_threshold",
)
_person = Prepared(
    lambda pk: (
        Annotator.objects.filter(pk=pk)
        .select_for_update(of=("self",))
        .select_related("study")
        .only(*PERSON.columns(), *TERMS.columns("study"))
    ),
    NUMBER,
)


def look_at_person(annotator: Annotator) -> Annotator:
    """Lock them, so that two tabs do not draw at once; with what the study wants of them."""
    values = iter(_person(annotator.pk)[0])
    person = PERSON.take(values)
    person.study = TERMS.take(values)
    return person


def standing(person: Annotator, *, ahead: int = 0) -> Nothing | None:
    """Why this person judges no more at present, if so; with `ahead` pairs as if they were judged already."""
    if person.excluded_at is not None:
        return Nothing(Reason.EXCLUDED)
    if person.paused_at is not None:
        return Nothing(Reason.RESTING)
    if person.study.state == Study.State.PAUSED:
        return Nothing(Reason.PAUSED)
    if person.study.state == Study.State.CLOSED:
        return Nothing(Reason.CLOSED)
    if person.screened_out_at is not None:
        return Nothing(Reason.SCREENED_OUT)
    if 0 < person.study.skips_in_a_row <= person.skips_in_a_row:
        return Nothing(Reason.SKIPPED)
    quota = person.study.pairs_per_annotator if person.quota is None else person.quota
    return None if person.judged + ahead < quota else Nothing(Reason.DONE)


def settled(person: Annotator, besides: Assignment | None) -> Assignment | Nothing | None:
    """What there is to say without drawing: that they judge no more, or the pair that they hold already."""
    nothing = standing(person, ahead=0 if besides is None else 1)
    if nothing == Nothing(Reason.DONE) and besides is None and person.finished_at is None:
        Annotator.objects.filter(pk=person.pk).update(finished_at=Now())
    return nothing or _held(person, besides) or _enough_for_now(person)


def _enough_for_now(person: Annotator) -> Nothing | None:
    """Whether they have judged as much within the last hour as the study takes from one person."""
    limit = person.study.judgments_per_hour
    if not limit or person.judged < limit:
        return None
    recent = Assignment.objects.filter(
        annotator=person, state=Assignment.State.JUDGED, closed_at__gt=Now() - timedelta(hours=1)
    )
    return Nothing(Reason.HOUR) if recent.exclude(reason=Assignment.Reason.TRAINING).count() >= limit else None


# In no order: SQLite would rather walk through everything that somebody ever judged than sort the two pairs they hold.
_open = Prepared(
    lambda annotator: Assignment.objects.filter(annotator=annotator, state=Assignment.State.OPEN).values_list("pk"),
    NUMBER,
)


def _held(person: Annotator, besides: Assignment | None) -> Assignment | None:
    """The oldest pair that they hold, other than `besides`; its lease begins anew when half of it is over."""
    held = sorted(pk for (pk,) in _open(person.pk) if besides is None or pk != besides.pk)
    if not held:
        return None
    found = Assignment.objects.get(pk=held[0])
    if not is_held(found):
        # Should it have been freed in this very moment, then answering takes its place again.
        Assignment.objects.filter(pk=found.pk, state=Assignment.State.OPEN).update(expires_at=Now() + lease_of())
    return found


def is_held(assignment: Assignment) -> bool:
    """Whether it is open, and half of its lease or more is still to come."""
    if assignment.state != Assignment.State.OPEN or assignment.expires_at is None:
        return False
    return assignment.expires_at - timezone.now() >= lease_of() / 2


_latest = Prepared(
    lambda annotator: Assignment.objects.filter(annotator=annotator).order_by("-pk").values_list("topic_id")[:1], NUMBER
)


def _topics_in_turn(person: Annotator, besides: Assignment | None, thorough: bool) -> Iterator[int]:
    """The topic that they are reading, until they have judged a run of it; then the least filled ones first.

    Thoroughly, full ones too where a lease has run out: nobody else would ever free what was left lying there.
    """
    with_room = Q(taken__lt=person.study.judgments_per_topic)
    if thorough:
        open_ones = Assignment.objects.filter(topic=OuterRef("topic"), state=Assignment.State.OPEN)
        with_room |= Q(Exists(open_ones.filter(expires_at__lt=Now())))
    turn = person.judged + (besides is not None)
    current = besides.topic_id if besides else next((topic_id for (topic_id,) in _latest(person.pk)), None)
    stay = current is not None and turn % RUN != 0
    if stay and current is not None:
        yield current
    filled = list(Tally.objects.filter(with_room, topic__study=person.study_id).values_list("taken", "topic_id"))
    # Topics that differ by less than a run count as equally filled, so that people spread over them.
    chance.shuffle(filled)
    filled.sort(key=lambda one: (one[1] == current, one[0] // RUN))
    for _taken, topic_id in filled:
        if not (stay and topic_id == current):
            yield topic_id


def _draw_from(
    topic_id: int, annotator: Annotator, besides: Assignment | None, thorough: bool
) -> Assignment | Nothing | None:
    """Draw a pair of this topic in one transaction; None where it has none for this person.

    A quick look tries started pairs, the worker's suggestions and random pairs, at a cost that does not grow with what
    is stored; a `thorough` one goes through everything that is left.
    """
    with tallies.leased(ahead=besides is not None):
        desk = look_at_topic(topic_id)
        if desk is None:
            return None
        person = look_at_person(annotator)
        if (said := settled(person, besides)) is not None:
            return said
        taken = desk.taken - (free_lapsed(topic_id, desk.now) if desk.lapsed else 0)
        if taken >= person.study.judgments_per_topic or _has_their_share(topic_id, person):
            return None
        if thorough and (again := _take_up_again(desk, person)) is not None:
            return again
        choice = _choose(desk, person, thorough)
        if choice is None:
            return None
        pair_id = _place_in(choice, topic_id)
        Tally.objects.filter(topic_id=topic_id).update(taken=F("taken") + 1)
        return Assignment.objects.create(
            topic_id=topic_id,
            annotator=annotator,
            pair_id=pair_id,
            swapped=chance.random() < 0.5,
            reason=choice.reason,
            created_at=desk.now,
            expires_at=desk.now + lease_of(),
        )


#: So many judgments of a topic anybody may give.
FEW = 3


def _has_their_share(topic_id: int, person: Annotator) -> bool:
    """Whether they have given as much of a topic as one person may.

    That is the study's share of its judgments, or three times an even share among those who joined, whichever is more;
    never less than an even spread of their own pairs over the topics, nor than a few.
    """
    study = person.study
    least = max(study.person_cap * study.judgments_per_topic, FEW)
    if study.person_cap >= 1 or person.judged < least:
        return False
    given = Assignment.objects.filter(annotator=person, topic=topic_id, holds_place=True).count()
    if given < least:
        return False
    people = Annotator.objects.filter(study=study.pk, excluded_at=None).exclude(kind=Annotator.Kind.SIMULATED).count()
    topics = Tally.objects.filter(topic__study=study.pk).count()
    quota = study.pairs_per_annotator if person.quota is None else person.quota
    return given >= max(least, 3 * study.judgments_per_topic / people, quota / topics)


def _take_up_again(desk: Desk, person: Annotator) -> Assignment | None:
    """A pair that they once let lapse, if nobody has taken its place since."""
    lapsed = Assignment.objects.filter(
        annotator=person,
        state=Assignment.State.EXPIRED,
        reason__in=WANTED,
        topic_id=desk.topic_id,
        pair__in=tallies.with_place(person.study),
    ).first()
    if lapsed is None or not tallies.take_place(desk.topic_id, lapsed.pair_id, person.study):
        return None
    lapsed.state, lapsed.holds_place = Assignment.State.OPEN, True
    lapsed.closed_at, lapsed.expires_at = None, desk.now + lease_of()
    lapsed.save(update_fields=["state", "holds_place", "closed_at", "expires_at"])
    return lapsed


def _place_in(choice: Choice, topic_id: int) -> int:
    """Take a place in the chosen pair, which is made if it is new. The tally is locked: nobody is faster."""
    if choice.pair is None:
        return Pair.objects.create(
            topic_id=topic_id, first_id=choice.first, second_id=choice.second, need=choice.need, taken=1
        ).pk
    Pair.objects.filter(pk=choice.pair).update(need=choice.need, taken=F("taken") + 1)
    return choice.pair


def _choose(desk: Desk, person: Annotator, thorough: bool) -> Choice | None:
    """Started pairs that they have not seen, then what the worker asks for, then a random one (the paper, 4.1).

    So many in a hundred as the study says are random though the worker asks for others.
    """
    if person.study.judgments_per_pair > 1 and (started := _started(desk, person, thorough)) is not None:
        return started
    asked = desk.wishes and (thorough or chance.random() >= person.study.random_share)
    if asked and (wish := _suggested(desk, person)) is not None:
        return wish
    return _any_left(desk, person) if thorough else _random(desk, person)


def _seen_by(person: Annotator) -> Exists:
    return Exists(Assignment.objects.filter(annotator=person, pair=OuterRef("pk")))


def _started(desk: Desk, person: Annotator, thorough: bool) -> Choice | None:
    """The oldest pair that others have begun and this person has not seen, with the reason why it was begun."""
    unfinished = tallies.with_place(person.study).filter(topic_id=desk.topic_id).order_by("pk")
    if not thorough:
        # One who judges alone leaves every pair unfinished: they must not look through all of them each time.
        unfinished = Pair.objects.filter(pk__in=list(unfinished.values_list("pk", flat=True)[:LOOK]))
    pair = unfinished.filter(~_seen_by(person)).order_by("pk").first()
    if pair is None:
        return None
    begun = Assignment.objects.filter(pair=pair, reason__in=WANTED).order_by("pk").values_list("reason", flat=True)
    suggested = begun.first() == Assignment.Reason.SUGGESTED
    reason = Assignment.Reason.SUGGESTED if suggested else Assignment.Reason.RANDOM
    return Choice(pair.first_id, pair.second_id, pair.pk, pair.need, reason)


def _suggested(desk: Desk, person: Annotator) -> Choice | None:
    """The first of the worker's wishes that is free for this person."""
    wishes = list(
        Suggestion.objects.filter(topic_id=desk.topic_id).order_by("rank").values_list("first_id", "second_id")[:LOOK]
    )
    return _first_free(person, wishes, Assignment.Reason.SUGGESTED)


_sentences = Prepared(
    lambda topic, one, other: (
        Sentence.objects.filter(Q(position=one) | Q(position=other), topic=topic).values_list("pk").order_by("pk")
    ),
    NUMBER,
    SMALL,
    SMALL + 1,
)


def _random(desk: Desk, person: Annotator) -> Choice | None:
    """A random pair of the topic's sentences among those that are free for this person, if a few tries find one."""
    if not desk.last:
        return None
    for _try in range(TRIES):
        found = _sentences(desk.topic_id, *chance.sample(range(desk.last + 1), 2))
        if len(found) == 2:
            ((first,), (second,)) = found
            if (choice := _if_free(person, first, second)) is not None:
                return choice
    return None


def _any_left(desk: Desk, person: Annotator) -> Choice | None:
    """A random one of all pairs that are free for this person: where nearly everything is judged, tries would fail."""
    ids = sorted(Sentence.objects.filter(topic_id=desk.topic_id).values_list("pk", flat=True))
    gone = set(
        Pair.objects.filter(topic_id=desk.topic_id)
        .filter(Q(need__gt=0, taken__gte=F("need")) | Q(taken__gte=person.study.judgments_per_pair) | _seen_by(person))
        .values_list("first_id", "second_id")
    )
    left = [two for two in combinations(ids, 2) if two not in gone]
    return _first_free(person, [chance.choice(left)], Assignment.Reason.RANDOM) if left else None


def _first_free(person: Annotator, wanted: list[tuple[int, int]], reason: str) -> Choice | None:
    """The first of these pairs of sentences that is free for this person."""
    return next((free for first, second in wanted if (free := _if_free(person, first, second, reason))), None)


_pair = Prepared(
    lambda first, second, annotator: (
        Pair.objects.filter(first=first, second=second)
        .annotate(seen=Exists(Assignment.objects.filter(annotator=annotator, pair=OuterRef("pk"))))
        .values_list("pk", "need", "taken", "seen")
    ),
    NUMBER,
    NUMBER + 1,
    NUMBER + 2,
)


def _if_free(person: Annotator, first: int, second: int, reason: str = Assignment.Reason.RANDOM) -> Choice | None:
    """The pair of these sentences, if it has a place left and this person has not seen it before."""
    per_pair = person.study.judgments_per_pair
    for pair_id, need, taken, seen in _pair(first, second, person.pk):
        if seen or taken >= min(need or per_pair, per_pair):
            return None
        return Choice(first, second, pair_id, need or per_pair, reason)
    return Choice(first, second, None, per_pair, reason)
