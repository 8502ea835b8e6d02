"""Pairs that look after the judging itself: practice before the first, and, hidden among the others, pairs whose
answer is known and pairs that somebody judged before, with their sides swapped.

They are drawn, shown and answered like all others; that they are different stands in the assignment's `reason` alone.
None takes a place, so no score rests on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from annotate.judging import tallies
from annotate.judging.choosing import WANTED, chance
from annotate.judging.drawing import (
    Nothing,
    Reason,
    lease_of,
    look_at_person,
    look_at_topic,
    settled,
)
from annotate.models import Annotator, Assignment, KnownPair, Pair, Study

State = Assignment.State
Why = Assignment.Reason

#: How many pairs come between a pair and its repeat, at least.
BETWEEN = 5
#: Among how many of somebody's last pairs one to repeat is chosen.
LOOK = 50
#: How many candidates are tried: one that was just seen in another tab is passed over.
TRIES = 3


@dataclass(frozen=True)
class Check:
    """Two sentences to show for a reason. `better` is the right one, if that is known; `swapped` None: by lot."""

    topic: int
    first: int
    second: int
    reason: str
    better: int | None = None
    swapped: bool | None = None
    occasion: int = 0


def draw_check(annotator: Annotator, besides: Assignment | None) -> Assignment | Nothing | None:
    """Practice, a pair with a known answer or a repeat, if this person is due for one; None for everything else."""
    if is_practising(annotator):
        return _practice(annotator)
    if not annotator.study.gold_share and not annotator.study.repeat_share:
        return None
    annotator.refresh_from_db(fields=["judged", "skipped"])
    reason = due(annotator, annotator.judged + annotator.skipped + (besides is not None))
    if reason is None:
        return None
    candidates = _known(annotator) if reason == Why.GOLD else _seen_before(annotator)
    for check in candidates:
        if (given := _give(annotator, check, besides)) is not None:
            return given
    return None


def is_practising(annotator: Annotator) -> bool:
    """Whether practice pairs come first for this person. Machines need none, and nobody who has begun."""
    untrained = annotator.trained_at is None and not annotator.judged and annotator.kind == Annotator.Kind.HUMAN
    return annotator.study.training and untrained


def practice_pairs(study: Study) -> QuerySet[KnownPair]:
    """The study's practice pairs, in the order in which they come."""
    return KnownPair.objects.filter(topic__study=study.pk, use=KnownPair.Use.TRAINING).order_by("pk")


def due(annotator: Annotator, turn: int) -> str | None:
    """What the pair of this turn (from 0) is, unless an ordinary one.

    Turns are cut into stretches of 1 / share; each stretch has one, at a place that follows from a secret. So everybody
    gets their share, to the pair, and nobody can tell from the last ones when the next will come. A repeat gives way
    to a pair with a known answer and comes one later.
    """
    gold, repeat = annotator.study.gold_share, annotator.study.repeat_share

    def falls(share: float, name: str, at: int) -> bool:
        return at >= 0 and _falls(annotator, share, name, at)

    if gold and falls(gold, "gold", turn):
        return Why.GOLD
    if not repeat:
        return None
    here = turn - BETWEEN - 1
    put_off = gold and falls(gold, "gold", turn - 1) and falls(repeat, "repeat", here - 1)
    return Why.REPEAT if falls(repeat, "repeat", here) or put_off else None


def _falls(annotator: Annotator, share: float, name: str, turn: int) -> bool:
    stretch = math.floor(turn * share + 1e-9)
    start, end = math.ceil(stretch / share - 1e-9), math.ceil((stretch + 1) / share - 1e-9)
    digest = salted_hmac(f"check {name}", f"{annotator.key} {stretch}", algorithm="sha256").digest()
    return turn == start + int.from_bytes(digest[:8]) % (end - start)


def _practice(annotator: Annotator) -> Assignment | Nothing | None:
    """The next practice pair; after the last one, whether it was enough. None where the study has prepared none."""
    mine = Assignment.objects.filter(annotator=annotator, reason=Why.TRAINING, state=State.JUDGED)
    done = set(mine.values_list("pair__first", "pair__second"))
    for known in practice_pairs(annotator.study):
        check = _as_check(known)
        if (check.first, check.second) not in done and (given := _give(annotator, check, None)) is not None:
            return given
    return _after_practice(annotator)


def _after_practice(annotator: Annotator) -> Nothing | None:
    """Let them begin, or end it here where too few were right."""
    judged = Assignment.objects.filter(annotator=annotator, reason=Why.TRAINING, state=State.JUDGED)
    wanted = judged.count()
    if not wanted:
        return None
    right = practice_right(annotator)
    enough = right >= annotator.study.training_threshold * wanted - 1e-9
    rows = Annotator.objects.filter(pk=annotator.pk, trained_at=None, screened_out_at=None)
    rows.update(**{"trained_at" if enough else "screened_out_at": Now()})
    annotator.refresh_from_db(fields=["trained_at", "screened_out_at"])
    return None if annotator.screened_out_at is None else Nothing(Reason.SCREENED_OUT)


def practice_right(annotator: Annotator) -> int:
    """How many practice pairs they had right."""
    mine = Assignment.objects.filter(annotator=annotator, reason=Why.TRAINING, state=State.JUDGED)
    return mine.filter(judgments__revision=F("revision"), judgments__answer=F("expected")).count()


def _known(annotator: Annotator) -> Iterator[Check]:
    """Pairs with a known answer that they have not seen, those of the topic that they are reading first."""
    found = KnownPair.objects.filter(topic__study=annotator.study_id, use=KnownPair.Use.GOLD)
    seen = set(Assignment.objects.filter(annotator=annotator).values_list("pair__first", "pair__second"))
    left = [known for known in found if Pair.in_order(known.better_id, known.worse_id) not in seen]
    yield from map(_as_check, _here_first(annotator, left)[:TRIES])


def _as_check(known: KnownPair) -> Check:
    first, second = Pair.in_order(known.better_id, known.worse_id)
    return Check(known.topic_id, first, second, known.use, known.better_id)


def _seen_before(annotator: Annotator) -> Iterator[Check]:
    """Pairs that they judged a while ago, and once only, to be shown the other way round."""
    mine = Assignment.objects.filter(annotator=annotator, state=State.JUDGED)
    last = mine.exclude(reason=Why.TRAINING).order_by("-closed_at", "-pk").select_related("pair")
    again = set(Assignment.objects.filter(annotator=annotator, occasion__gt=0).values_list("pair", flat=True))
    left = [one for one in last[BETWEEN : BETWEEN + LOOK] if one.reason in WANTED and one.pair_id not in again]
    for one in _here_first(annotator, left)[:TRIES]:
        pair = one.pair
        yield Check(one.topic_id, pair.first_id, pair.second_id, Why.REPEAT, swapped=not one.swapped, occasion=1)


Row = TypeVar("Row", KnownPair, Assignment)


def _here_first(annotator: Annotator, rows: list[Row]) -> list[Row]:
    """In random order, but those of the topic that they are reading first: a pair of another one would stand out."""
    here = Assignment.objects.filter(annotator=annotator).order_by("-pk").values_list("topic", flat=True).first()
    chance.shuffle(rows)
    return sorted(rows, key=lambda row: row.topic_id != here)


def _give(annotator: Annotator, check: Check, besides: Assignment | None) -> Assignment | Nothing | None:
    """Show it to them now, under a lease that keeps nobody else waiting; None where they have seen it meanwhile."""
    with tallies.leased(ahead=besides is not None):
        desk = look_at_topic(check.topic)
        if desk is None:
            return None
        person = look_at_person(annotator)
        if (said := settled(person, besides)) is not None:
            return said
        pair, _new = Pair.objects.get_or_create(
            first_id=check.first, second_id=check.second, defaults={"topic_id": check.topic, "need": 0}
        )
        lease = {"state": State.OPEN, "closed_at": None, "expires_at": desk.now + lease_of()}
        before = Assignment.objects.filter(annotator=person, pair=pair, occasion=check.occasion).first()
        if before is not None:
            if before.state != State.EXPIRED or before.reason != check.reason:
                return None
            Assignment.objects.filter(pk=before.pk).update(**lease)
            before.refresh_from_db()
            return before
        swapped = chance.random() < 0.5 if check.swapped is None else check.swapped
        return Assignment.objects.create(
            topic_id=check.topic,
            annotator=annotator,
            pair=pair,
            swapped=swapped,
            occasion=check.occasion,
            reason=check.reason,
            expected=_side(check, swapped),
            holds_place=False,
            created_at=desk.now,
            **lease,
        )


def _side(check: Check, swapped: bool) -> str:
    """Where the right sentence stands, if one is known to be right."""
    if check.better is None:
        return ""
    on_the_left = check.second if swapped else check.first
    return "left" if check.better == on_the_left else "right"
