"""Which pair of a topic comes next for somebody: begun by others, asked for by the worker, or drawn at random.

Chance comes from the operating system, not from the study's seed: what was drawn is stored (the pair, the sides, the
order), so nothing has to be drawn again to be explained; processes that were forked from one another must not draw
alike; and nobody should be able to work out what comes next.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from random import SystemRandom
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from annotate.judging import tallies
from annotate.judging.showing import PAIR, SENTENCE
from annotate.models import Annotator, Assignment, Pair, Sentence, Suggestion
from annotate.prepared import Prepared

chance = SystemRandom()


#: How many of the oldest unfinished pairs a draw looks at.
LOOK = 64
#: How many random pairs are tried before all that are left are listed: of a topic of which 95 in 100 pairs are gone,
#: one draw in 27 comes to that.
TRIES = 64


#: Why a pair is shown whose answer is wanted for its own sake: these alone take a place, and count.
WANTED = (Assignment.Reason.RANDOM, Assignment.Reason.SUGGESTED, Assignment.Reason.IMPORTED)


@dataclass(frozen=True)
class Desk:
    """What a draw needs to know of a topic whose tally it has locked.

    `lapsed`: whether leases ran out; `last`: the position of its last sentence, None where it has none.
    """

    topic_id: int
    taken: int
    now: datetime
    lapsed: bool
    last: int | None


@dataclass(frozen=True)
class Choice:
    """A pair that is free for somebody, how often it shall be judged, and why by them.

    One that nobody had before has no row yet.
    """

    pair: Pair
    need: int
    reason: str


def choose(desk: Desk, person: Annotator, thorough: bool) -> Choice | None:
    """Started pairs that they have not seen, then what the worker asks for, then a random one (the paper, 4.1).

    So many in a hundred as the study says are random though the worker asks for others.
    """
    if person.study.judgments_per_pair > 1 and (started := _started(desk, person, thorough)) is not None:
        return started
    asked = thorough or chance.random() >= person.study.random_share
    if asked and (wish := _suggested(desk, person)) is not None:
        return wish
    return _any_left(desk, person) if thorough else _random(desk, person)


def _seen_by(person: Any) -> Exists:
    return Exists(Assignment.objects.filter(annotator=person, pair=OuterRef("pk")))


def _gone(per_pair: Any, person: Any) -> QuerySet[Pair]:
    """Pairs that have no place left, or that this person has seen."""
    full = Q(need__gt=0, taken__gte=F("need")) | Q(taken__gte=per_pair)
    return Pair.objects.filter(full | _seen_by(person))


def _started(desk: Desk, person: Annotator, thorough: bool) -> Choice | None:
    """The oldest pair that others have begun and this person has not seen, with the reason why it was begun."""
    unfinished = tallies.with_place(person.study).filter(topic_id=desk.topic_id).order_by("pk")
    if not thorough:
        # One who judges alone leaves every pair unfinished: they must not look through all of them each time.
        unfinished = Pair.objects.filter(pk__in=list(unfinished.values_list("pk", flat=True)[:LOOK]))
    pair = unfinished.filter(~_seen_by(person)).select_related("first", "second").order_by("pk").first()
    if pair is None:
        return None
    begun = Assignment.objects.filter(pair=pair, reason__in=WANTED).order_by("pk").values_list("reason", flat=True)
    suggested = begun.first() == Assignment.Reason.SUGGESTED
    reason = Assignment.Reason.SUGGESTED if suggested else Assignment.Reason.RANDOM
    return Choice(pair, pair.need, reason)


def _begun(first: Any, second: Any) -> Subquery:
    """The pair of these two sentences, if it was given out before."""
    return Subquery(Pair.objects.filter(first=first, second=second).values("pk")[:1])


def _ask_for_wish(topic: Any, per_pair: Any, annotator: Any) -> QuerySet[Any, Any]:
    gone = _gone(per_pair, annotator).filter(first=OuterRef("first"), second=OuterRef("second"))
    wishes = Suggestion.objects.filter(~Exists(gone), topic=topic).order_by("rank")
    wishes = wishes.annotate(begun=_begun(OuterRef("first"), OuterRef("second")))
    return wishes.values_list(*SENTENCE.columns("first"), *SENTENCE.columns("second"), "begun")[:1]


_wish = Prepared(_ask_for_wish)


def _suggested(desk: Desk, person: Annotator) -> Choice | None:
    """The first of the worker's wishes that is free for this person."""
    for row in _wish(desk.topic_id, person.study.judgments_per_pair, person.pk):
        values = iter(row)
        first, second = SENTENCE.take(values), SENTENCE.take(values)
        return _if_free(desk, person, (first, second), next(values), Assignment.Reason.SUGGESTED)
    return None


def _ask_for_two(topic: Any, one: Any, other: Any) -> QuerySet[Any, Any]:
    both = Sentence.objects.filter(Q(position=one) | Q(position=other), topic=topic)
    begun = _begun(OuterRef("pk"), Subquery(both.filter(pk__gt=OuterRef(OuterRef("pk"))).values("pk")[:1]))
    return both.annotate(begun=begun).values_list(*SENTENCE.columns(), "begun").order_by("pk")


_two = Prepared(_ask_for_two)


def _random(desk: Desk, person: Annotator) -> Choice | None:
    """A random pair of the topic's sentences among those that are free for this person, if a few tries find one."""
    if not desk.last:
        return None
    for _try in range(TRIES):
        rows = _two(desk.topic_id, *chance.sample(range(desk.last + 1), 2))
        if len(rows) == 2:
            first, second = (SENTENCE.take(iter(row)) for row in rows)
            if (choice := _if_free(desk, person, (first, second), rows[0][-1])) is not None:
                return choice
    return None


def _any_left(desk: Desk, person: Annotator) -> Choice | None:
    """A random one of all pairs that are free for this person: where nearly everything is judged, tries would fail."""
    ids = sorted(Sentence.objects.filter(topic_id=desk.topic_id).values_list("pk", flat=True))
    gone = _gone(person.study.judgments_per_pair, person).filter(topic_id=desk.topic_id)
    pairs_gone = set(gone.values_list("first_id", "second_id"))
    left = [two for two in combinations(ids, 2) if two not in pairs_gone]
    if not left:
        return None
    first, second = Sentence.objects.filter(pk__in=chance.choice(left)).order_by("pk")
    begun = Pair.objects.filter(first=first, second=second).values_list("pk", flat=True).first()
    return _if_free(desk, person, (first, second), begun)


_state = Prepared(
    lambda pair, annotator: (
        Pair.objects.filter(pk=pair).annotate(seen=_seen_by(annotator)).values_list("need", "taken", "seen")
    ),
)


def _if_free(
    desk: Desk,
    person: Annotator,
    two: tuple[Sentence, Sentence],
    begun: int | None,
    reason: str = Assignment.Reason.RANDOM,
) -> Choice | None:
    """The pair of these sentences, if it has a place left and this person has not seen it before.

    `begun`: its key, if it was given out before, which hardly any was. The tally is locked: nobody is faster.
    """
    need = per_pair = person.study.judgments_per_pair
    if begun is not None:
        ((wanted, taken, seen),) = _state(begun, person.pk)
        need = wanted or per_pair
        if seen or taken >= min(need, per_pair):
            return None
    first, second = two
    pair = PAIR.take(iter((begun, first.pk, second.pk)))
    pair.first, pair.second = first, second
    return Choice(pair, need, reason)
