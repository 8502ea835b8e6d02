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

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from annotate.judging import tallies
from annotate.models import Annotator, Assignment, Pair, Sentence, Study, Suggestion, Tally

chance = SystemRandom()

#: Pairs after which somebody is led to another topic: long enough to learn a subject, short enough not to tire of it.
RUN = 10
#: How many of the oldest unfinished pairs, or of the worker's suggestions, a draw looks at.
LOOK = 64
#: How many random pairs are tried at once, round after round, before all that are left are listed.
ROUNDS = (1, 8, 64)


class Reason(enum.StrEnum):
    """Why there is nothing to judge."""

    DONE = "done"  # they judged as many pairs as they were asked for
    NO_WORK = "no work left"  # every pair that they could judge is judged, or out with somebody
    PAUSED = "paused"
    CLOSED = "closed"
    EXCLUDED = "excluded"


@dataclass(frozen=True)
class Nothing:
    """No pair was drawn, and why."""

    reason: Reason

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True)
class Choice:
    """Two sentences to be compared, in the order of their primary keys, and their pair if it exists already."""

    first: int
    second: int
    pair: Pair | None
    reason: str


def draw(annotator: Annotator, *, besides: Assignment | None = None) -> Assignment | Nothing:
    """The pair that this annotator shall judge now: the one that they hold already, or a new one under a lease.

    With `besides`, the one to come after that assignment: a second lease, so that it can be shown at once.
    """
    person = Annotator.objects.select_related("study").get(pk=annotator.pk)
    if (refusal := _standing(person)) is not None:
        return refusal
    if (held := _held(person, besides)) is not None and _renewed(held):
        return held
    ahead = 1 if besides is not None else 0
    if person.judged + ahead >= _quota(person):
        return _finish(person) if not ahead else Nothing(Reason.DONE)
    for thorough in (False, True):
        for topic_id in _topics_in_turn(person, person.judged + ahead):
            if (drawn := _draw_from(topic_id, person, besides, thorough)) is not None:
                return drawn
    return Nothing(Reason.NO_WORK)


def lease_of(seconds: int | None = None) -> timedelta:
    return timedelta(seconds=settings.LEASE_SECONDS if seconds is None else seconds)


def free_lapsed(tally: Tally, now: datetime) -> int:
    """End the leases of the topic that have run out and return their places; how many. The tally must be locked."""
    lapsed = list(
        Assignment.objects.filter(topic_id=tally.topic_id, state=Assignment.State.OPEN, expires_at__lt=now).values_list(
            "pk", "pair_id", "holds_place"
        )
    )
    if lapsed:
        give_up(tally, lapsed, now)
    return len(lapsed)


def give_up(tally: Tally, leases: list[tuple[int, int, bool]], now: datetime) -> None:
    """End these leases, given as (assignment, pair, holds its place). The tally must be locked."""
    Assignment.objects.filter(pk__in=[lease for lease, _pair, _place in leases]).update(
        state=Assignment.State.EXPIRED, holds_place=False, closed_at=now
    )
    tallies.return_places(tally.pk, [pair for _lease, pair, place in leases if place])


def _standing(person: Annotator) -> Nothing | None:
    """Why this person may not judge, if so."""
    if person.excluded_at is not None:
        return Nothing(Reason.EXCLUDED)
    if person.study.state == Study.State.PAUSED:
        return Nothing(Reason.PAUSED)
    if person.study.state == Study.State.CLOSED:
        return Nothing(Reason.CLOSED)
    return None


def _quota(person: Annotator) -> int:
    return person.study.pairs_per_annotator if person.quota is None else person.quota


def _finish(person: Annotator) -> Nothing:
    if person.finished_at is None:
        Annotator.objects.filter(pk=person.pk, finished_at__isnull=True).update(finished_at=timezone.now())
    return Nothing(Reason.DONE)


def _held(person: Annotator, besides: Assignment | None) -> Assignment | None:
    """The oldest pair that they hold, other than `besides`."""
    held = with_texts(Assignment.objects.filter(annotator=person, state=Assignment.State.OPEN))
    if besides is not None:
        held = held.exclude(pk=besides.pk)
    return held.order_by("pk").first()


def with_texts(assignments: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """With everything that a page shows of them, in the same query."""
    return assignments.select_related("pair__first", "pair__second", "topic", "annotator__study")


def _renewed(held: Assignment) -> bool:
    """Begin the lease anew when half of it is over; False where it has ended, and the place may be somebody else's."""
    if held.expires_at is not None and held.expires_at - timezone.now() > lease_of() / 2:
        return True
    open_still = Assignment.objects.filter(pk=held.pk, state=Assignment.State.OPEN)
    return bool(open_still.update(expires_at=Now() + lease_of()))


def _topics_in_turn(person: Annotator, turn: int) -> Iterator[int]:
    """The topic that they are reading, until they have judged a run of it; then the least filled ones first."""
    wanted = person.study.judgments_per_topic
    current = Assignment.objects.filter(annotator=person).order_by("-pk").values_list("topic_id", flat=True).first()
    stay = current is not None and turn % RUN != 0
    if stay and current is not None:
        yield current
    filled = list(Tally.objects.filter(topic__study=person.study_id, taken__lt=wanted).values_list("taken", "topic_id"))
    # Topics that differ by less than a run count as equally filled, so that people spread over them.
    chance.shuffle(filled)
    filled.sort(key=lambda one: (one[1] == current, one[0] // RUN))
    for _taken, topic_id in filled:
        if not (stay and topic_id == current):
            yield topic_id


def _draw_from(topic_id: int, person: Annotator, besides: Assignment | None, thorough: bool) -> Assignment | None:
    """Draw a pair of this topic in one transaction; None where there is none for this person.

    A quick look tries started pairs, the worker's suggestions and random pairs, at a cost that does not grow with what
    is stored; a `thorough` one goes through everything that is left.
    """
    with transaction.atomic():
        tally, now = tallies.lock_and_look(topic_id)
        locked = Annotator.objects.select_for_update(of=("self",)).select_related("study").get(pk=person.pk)
        if (held := _held(locked, besides)) is not None:  # drawn in another tab, a moment ago
            return held
        if free_lapsed(tally, now):
            tally.refresh_from_db(fields=["taken"])
        if tally.taken >= locked.study.judgments_per_topic:
            return None
        if thorough and (again := _take_up_again(tally, locked, now)) is not None:
            return again
        choice = _choose(topic_id, locked, thorough)
        if choice is None:
            return None
        pair = _place_in(choice, topic_id, locked.study)
        Tally.objects.filter(pk=tally.pk).update(taken=F("taken") + 1)
        return Assignment.objects.create(
            topic_id=topic_id,
            annotator=locked,
            pair=pair,
            swapped=chance.random() < 0.5,
            reason=choice.reason,
            created_at=now,
            expires_at=now + lease_of(),
        )


def _take_up_again(tally: Tally, person: Annotator, now: datetime) -> Assignment | None:
    """A pair that they once let lapse, if nobody has taken its place since."""
    lapsed = with_texts(
        Assignment.objects.filter(
            annotator=person,
            state=Assignment.State.EXPIRED,
            topic_id=tally.topic_id,
            pair__taken__lt=F("pair__need"),
        )
    ).first()
    if lapsed is None or not tallies.take_place(tally.pk, lapsed.pair_id, person.study):
        return None
    lapsed.state, lapsed.holds_place = Assignment.State.OPEN, True
    lapsed.closed_at, lapsed.expires_at = None, now + lease_of()
    lapsed.save(update_fields=["state", "holds_place", "closed_at", "expires_at"])
    return lapsed


def _place_in(choice: Choice, topic_id: int, study: Study) -> Pair:
    """Take a place in the chosen pair, which is made if it is new. The tally is locked: nobody is faster."""
    if choice.pair is None:
        return Pair.objects.create(
            topic_id=topic_id,
            first_id=choice.first,
            second_id=choice.second,
            need=study.judgments_per_pair,
            taken=1,
        )
    need = choice.pair.need or study.judgments_per_pair
    Pair.objects.filter(pk=choice.pair.pk).update(need=need, taken=F("taken") + 1)
    return choice.pair


def _choose(topic_id: int, person: Annotator, thorough: bool) -> Choice | None:
    """Started pairs that they have not seen, then what the worker asks for, then a random one (the paper, 4.1)."""
    study = person.study
    return (
        (_started(topic_id, person, thorough) if study.judgments_per_pair > 1 else None)
        or _suggested(topic_id, person)
        or (_any_left(topic_id, person) if thorough else _random(topic_id, person))
    )


def _seen_by(person: Annotator) -> Exists:
    return Exists(Assignment.objects.filter(annotator=person, pair=OuterRef("pk")))


def _started(topic_id: int, person: Annotator, thorough: bool) -> Choice | None:
    """The oldest pair that others have begun and this person has not seen."""
    unfinished = Pair.objects.filter(topic_id=topic_id, taken__lt=F("need")).order_by("pk")
    if not thorough:
        # One who judges alone leaves every pair unfinished: they must not look through all of them each time.
        unfinished = Pair.objects.filter(pk__in=list(unfinished.values_list("pk", flat=True)[:LOOK]))
    pair = unfinished.filter(~_seen_by(person)).order_by("pk").first()
    return None if pair is None else Choice(pair.first_id, pair.second_id, pair, Assignment.Reason.RANDOM)


def _suggested(topic_id: int, person: Annotator) -> Choice | None:
    """The first of the worker's wishes that is free for this person."""
    wishes = list(
        Suggestion.objects.filter(topic_id=topic_id).order_by("rank").values_list("first_id", "second_id")[:LOOK]
    )
    return _first_free(topic_id, person, wishes, Assignment.Reason.SUGGESTED) if wishes else None


def _random(topic_id: int, person: Annotator) -> Choice | None:
    """A random pair of the topic's sentences among those that are free for this person, if a few tries find one."""
    last = Sentence.objects.filter(topic_id=topic_id).aggregate(last=Max("position"))["last"]
    if not last:
        return None
    for tries in ROUNDS:
        positions = [tuple(chance.sample(range(last + 1), 2)) for _try in range(tries)]
        ids = dict(
            Sentence.objects.filter(topic_id=topic_id, position__in={one for two in positions for one in two})
            .values_list("position", "pk")
            .order_by()
        )
        drawn = [
            (min(ids[one], ids[other]), max(ids[one], ids[other]))
            for one, other in positions
            if one in ids and other in ids
        ]
        if drawn and (choice := _first_free(topic_id, person, drawn, Assignment.Reason.RANDOM)) is not None:
            return choice
    return None


def _any_left(topic_id: int, person: Annotator) -> Choice | None:
    """A random one of all pairs that are free for this person: where nearly everything is judged, tries would fail."""
    ids = sorted(Sentence.objects.filter(topic_id=topic_id).values_list("pk", flat=True))
    gone = set(
        Pair.objects.filter(Q(taken__gte=F("need"), need__gt=0) | _seen_by(person), topic_id=topic_id).values_list(
            "first_id", "second_id"
        )
    )
    left = [two for two in combinations(ids, 2) if two not in gone]
    return _first_free(topic_id, person, [chance.choice(left)], Assignment.Reason.RANDOM) if left else None


def _first_free(topic_id: int, person: Annotator, wanted: list[tuple[int, int]], reason: str) -> Choice | None:
    """The first of these pairs of sentences with a place left and not seen by this person before."""
    among = Q()
    for first, second in set(wanted):
        among |= Q(first_id=first, second_id=second)
    known = {
        (pair.first_id, pair.second_id): pair for pair in Pair.objects.filter(among).annotate(seen=_seen_by(person))
    }
    per_pair = person.study.judgments_per_pair
    for first, second in wanted:
        pair = known.get((first, second))
        if pair is None or (not pair.seen and pair.taken < (pair.need or per_pair)):
            return Choice(first, second, pair, reason)
    return None
