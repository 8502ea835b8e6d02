"""Who judges what next: a pair under a lease, never beyond what is wanted of a pair, a topic or a person."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Now
from django.utils import timezone

from annotate.judging import tallies
from annotate.judging.choosing import WANTED, Choice, Desk, chance, choose
from annotate.models import Annotator, Assignment, Pair, Sentence, Study, Tally
from annotate.prepared import Added, Changes, Part, Prepared

#: Pairs after which somebody is led to another topic: long enough to learn a subject, short enough not to tire of it.
RUN = 10


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


def _lapsed(topic: Any) -> Exists:
    """Whether leases of the topic have run out."""
    return Exists(Assignment.objects.filter(topic=topic, state=Assignment.State.OPEN, expires_at__lt=Now()))


def of_topic(topic: Any) -> dict[str, Any]:
    """What a desk has beside the tally's own columns, for a query in which this is the topic."""
    last = Sentence.objects.filter(topic=topic).order_by("-position").values("position")[:1]
    return {"now": Now(), "lapsed": _lapsed(topic), "last": Subquery(last)}


def _ask_for_topic(topic: Any) -> QuerySet[Any, Any]:
    tally: QuerySet[Any, Any] = Tally.objects.select_for_update().filter(topic_id=topic)
    found: QuerySet[Any, Any] = tally.annotate(**of_topic(OuterRef("topic")))
    return found.values_list("topic_id", "taken", "now", "lapsed", "last")


_topic = Prepared(_ask_for_topic)


def look_at_topic(topic_id: int) -> Desk | None:
    """Lock the topic's tally and see what there is, in one query; None where the topic was deleted meanwhile."""
    return next((Desk(*row) for row in _topic(topic_id)), None)


PERSON = Part(
    Annotator,
    "id kind study_id judged skipped quota finished_at excluded_at paused_at skips_in_a_row trained_at screened_out_at",
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
)


def look_at_person(annotator: Annotator) -> Annotator:
    """Lock them, so that two tabs do not draw at once; with what the study wants of them."""
    return as_person(iter(_person(annotator.pk)[0]))


def as_person(values: Iterator[Any]) -> Annotator:
    """From the next values, those of `PERSON` and `TERMS`."""
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
    return nothing or _held(person, besides) or enough_for_now(person)


def enough_for_now(person: Annotator) -> Nothing | None:
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
)


def _held(person: Annotator, besides: Assignment | None) -> Assignment | None:
    """The oldest pair that they hold, other than `besides`; its lease begins anew when half of it is over."""
    held = sorted(pk for (pk,) in _open(person.pk) if besides is None or pk != besides.pk)
    if not held:
        return None
    found = Assignment.objects.get(pk=held[0])
    if not is_held(found):
        _renew(found)
    return found


def _renew(lease: Assignment) -> None:
    """Begin a lease anew, unless something happens to it in this very moment.

    Its topic's tally need not be locked here, so nobody may be waited for: whoever answers it wants this person next.
    Should it have been freed, then answering takes its place again.
    """
    row = Assignment.objects.select_for_update(skip_locked=True).filter(pk=lease.pk, state=Assignment.State.OPEN)
    if row.values_list("pk").first() is not None:
        Assignment.objects.filter(pk=lease.pk).update(expires_at=Now() + lease_of())


def is_held(assignment: Assignment) -> bool:
    """Whether it is open, and half of its lease or more is still to come."""
    if assignment.state != Assignment.State.OPEN or assignment.expires_at is None:
        return False
    return assignment.expires_at - timezone.now() >= lease_of() / 2


_latest = Prepared(
    lambda annotator: Assignment.objects.filter(annotator=annotator).order_by("-pk").values_list("topic_id")[:1]
)


def _topics_in_turn(person: Annotator, besides: Assignment | None, thorough: bool) -> Iterator[int]:
    """The topic that they are reading, until they have judged a run of it; then the least filled ones first.

    Thoroughly, full ones too where a lease has run out: nobody else would ever free what was left lying there.
    """
    with_room = Q(taken__lt=person.study.judgments_per_topic)
    if thorough:
        with_room |= Q(_lapsed(OuterRef("topic")))
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
        return draw_at(desk, person, annotator, thorough)


def draw_at(desk: Desk, person: Annotator, annotator: Annotator, thorough: bool = False) -> Assignment | None:
    """Draw a pair of a topic whose tally is locked, for a person who is, and who judges on."""
    taken = desk.taken - (free_lapsed(desk.topic_id, desk.now) if desk.lapsed else 0)
    if taken >= person.study.judgments_per_topic or _has_their_share(desk.topic_id, person):
        return None
    if thorough and (again := _take_up_again(desk, person)) is not None:
        return again
    choice = choose(desk, person, thorough)
    return None if choice is None else _lease(choice, desk, annotator)


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


def _given_out(key: Any, topic: Any, annotator: Any, pair: Any, swapped: Any, reason: Any, now: Any, until: Any) -> Any:
    """What stands in the tables of a pair that is given out, whether it is new or not."""
    return [
        (Tally.objects.filter(topic_id=topic), {"taken": F("taken") + 1}),
        Assignment(
            key=key,
            topic_id=topic,
            annotator_id=annotator,
            pair_id=pair,
            swapped=swapped,
            reason=reason,
            created_at=now,
            expires_at=until,
        ),
    ]


_begin = Changes(
    lambda first, second, need, key, topic, annotator, swapped, reason, now, until: [
        Pair(topic_id=topic, first_id=first, second_id=second, need=need, taken=1),
        *_given_out(key, topic, annotator, Value(Added(0)), swapped, reason, now, until),
    ]
)
_go_on = Changes(
    lambda pair, need, key, topic, annotator, swapped, reason, now, until: [
        (Pair.objects.filter(pk=pair), {"need": need, "taken": F("taken") + 1}),
        *_given_out(key, topic, annotator, pair, swapped, reason, now, until),
    ]
)


def _lease(choice: Choice, desk: Desk, annotator: Annotator) -> Assignment:
    """Take a place in this pair and give it out under a lease; the tally is locked."""
    pair = choice.pair
    drawn = Assignment(
        topic_id=desk.topic_id,
        annotator=annotator,
        swapped=chance.random() < 0.5,
        reason=choice.reason,
        created_at=desk.now,
        expires_at=desk.now + lease_of(),
    )
    given: dict[str, Any] = {
        "need": choice.need,
        "key": drawn.key,
        "topic": drawn.topic_id,
        "annotator": annotator.pk,
        "swapped": drawn.swapped,
        "reason": drawn.reason,
        "now": drawn.created_at,
        "until": drawn.expires_at,
    }
    if pair.pk is None:
        pair.pk, _tally, drawn.pk = _begin(first=pair.first_id, second=pair.second_id, **given)
    else:
        _pair, _tally, drawn.pk = _go_on(pair=pair.pk, **given)
    drawn.pair = pair
    drawn._state.adding = False
    return drawn
