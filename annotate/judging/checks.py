"""Pairs that check the annotator: practice at the start, then gold pairs and repeats (with swapped sides), hidden among
the others.

They are drawn, shown and answered like all others; only the assignment's `reason` says what they are.
None takes a place, so no score rests on them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from annotate.database.statements import Candidates, Choice
from annotate.judging.choosing import BETWEEN, chance
from annotate.models import Annotator, Assignment, GoldPair, Item, LockedItemSet, Pair, Study
from preferendum.formats.answers import SIDES

State = Assignment.State
Reason = Assignment.Reason

#: Among how many of an annotator's last pairs one to repeat is chosen.
LOOK = 50
#: How many candidates are tried: one that was just seen in another tab is passed over.
TRIES = 3


@dataclass(frozen=True)
class Check:
    """Two sentences to show for a reason. `better` is the right one, if known; `swapped` None: random."""

    item_set_id: int
    first: int
    second: int
    reason: str
    better: int | None = None
    swapped: bool | None = None
    occasion: int = 0


def choose(
    check: Check, item_set: LockedItemSet, annotator: Annotator, _other: Candidates | None = None
) -> Choice | None:
    """The check as a choice; None where the annotator has seen it meanwhile, or one of its sentences was removed."""
    if Item.objects.filter(item_set=item_set.pk, pk__in=(check.first, check.second)).count() < 2:
        return None
    pair = Pair.objects.filter(first=check.first, second=check.second).select_related("first", "second").first()
    pair = pair or Pair(item_set_id=item_set.pk, first_id=check.first, second_id=check.second, need=0)
    rows = Assignment.objects.to_show().filter(annotator=annotator, pair=pair.pk, occasion=check.occasion)
    again = rows.first() if pair.pk else None
    if again is not None and (again.state != State.EXPIRED or again.reason != check.reason):
        return None
    swapped = chance.random() < 0.5 if check.swapped is None else check.swapped
    return Choice(pair, check.reason, again, swapped, check.occasion, _right_side(check, swapped))


def _right_side(check: Check, swapped: bool) -> str:
    """The side of the right sentence; empty if none is known."""
    if check.better is None:
        return ""
    on_the_left = check.second if swapped else check.first
    return SIDES[check.better != on_the_left]


# Practice


def is_practising(annotator: Annotator) -> bool:
    """Whether this annotator practises first: only people and trials do, before their first judgment."""
    is_person = annotator.kind in (Annotator.Kind.HUMAN, Annotator.TRIAL)
    untrained = annotator.trained_at is None and not annotator.judged and is_person
    return annotator.study.training and untrained


def practice_pairs(study: Study) -> QuerySet[GoldPair]:
    """The study's practice pairs, in the order in which they are shown."""
    return prepared(study, GoldPair.Use.TRAINING).order_by("pk")


def practice(annotator: Annotator) -> Iterator[Check]:
    """The practice pairs that the annotator has not judged yet."""
    done = set(practised(annotator).values_list("pair__first", "pair__second"))
    for gold_pair in practice_pairs(annotator.study):
        check = _check_of(gold_pair)
        if (check.first, check.second) not in done:
            yield check


def practised(annotator: Annotator) -> QuerySet[Assignment]:
    """The practice pairs that the annotator has judged."""
    return Assignment.objects.filter(annotator=annotator, reason=Reason.TRAINING, state=State.JUDGED)


def end_practice(annotator: Annotator) -> bool:
    """End practice after its last pair; True where the annotator is screened out, as too few were right."""
    judged = practised(annotator).count()
    if not judged:
        return False  # the study has prepared none
    enough = practice_right(annotator) >= practice_to_match(annotator.study, judged)
    rows = Annotator.objects.filter(pk=annotator.pk, trained_at=None, screened_out_at=None)
    rows.update(**{"trained_at" if enough else "screened_out_at": Now()})
    annotator.refresh_from_db(fields=["trained_at", "screened_out_at"])
    return annotator.screened_out_at is not None


def practice_to_match(study: Study, pairs: int) -> int:
    """How many of so many practice pairs have to be right."""
    return math.ceil(study.training_threshold * pairs - 1e-9)


def practice_right(annotator: Annotator) -> int:
    """How many practice pairs the annotator had right."""
    return practised(annotator).filter(judgments__revision=F("revision"), judgments__answer=F("expected")).count()


# Gold pairs and repeats


def candidates(annotator: Annotator, reason: str | None) -> Iterator[Check]:
    """Gold pairs, or pairs to repeat, as `due` gives the reason; none for another one."""
    if reason == Reason.GOLD:
        yield from _gold(annotator)
    elif reason == Reason.REPEAT:
        yield from _seen_before(annotator)


def _gold(annotator: Annotator) -> Iterator[Check]:
    """Gold pairs that the annotator has not seen, those of their current item set first."""
    gold_pairs = prepared(annotator.study, GoldPair.Use.GOLD)
    seen = set(Assignment.objects.filter(annotator=annotator).values_list("pair__first", "pair__second"))
    unseen = [row for row in gold_pairs if Pair.in_order(row.better_id, row.worse_id) not in seen]
    yield from map(_check_of, _here_first(annotator, unseen)[:TRIES])


def prepared(study: Study, *uses: str) -> QuerySet[GoldPair]:
    """Pairs that were prepared for these uses, of texts that are still judged."""
    of_summaries = [about == "summaries" for about in study.questions]
    rows = GoldPair.objects.filter(item_set__study=study, item_set__tally__of_summaries__in=of_summaries)
    return rows.filter(use__in=uses, better__not_judged="", worse__not_judged="")


def _check_of(gold_pair: GoldPair) -> Check:
    first, second = Pair.in_order(gold_pair.better_id, gold_pair.worse_id)
    return Check(gold_pair.item_set_id, first, second, gold_pair.use, gold_pair.better_id)


def _seen_before(annotator: Annotator) -> Iterator[Check]:
    """Pairs that the annotator judged a while ago, and only once, to be repeated with swapped sides."""
    work = Assignment.objects.work().filter(
        annotator=annotator, pair__first__not_judged="", pair__second__not_judged=""
    )
    columns = "item_set", "reason", "swapped", "pair__first", "pair__second"
    last = work.order_by("-closed_at", "-pk").select_related("pair").only(*columns)
    repeated = set(Assignment.objects.filter(annotator=annotator, occasion__gt=0).values_list("pair", flat=True))
    once = [row for row in last[BETWEEN : BETWEEN + LOOK] if row.is_wanted and row.pair_id not in repeated]
    for row in _here_first(annotator, once)[:TRIES]:
        pair = row.pair
        yield Check(row.item_set_id, pair.first_id, pair.second_id, Reason.REPEAT, swapped=not row.swapped, occasion=1)


Row = TypeVar("Row", GoldPair, Assignment)


def _here_first(annotator: Annotator, rows: list[Row]) -> list[Row]:
    """Shuffle, current item set first, so that checks do not stand out."""
    here = set_read(annotator)
    chance.shuffle(rows)
    return sorted(rows, key=lambda row: row.item_set_id != here)


def set_read(annotator: Annotator) -> int | None:
    """The annotator's current item set: that of their last assignment."""
    return Assignment.objects.filter(annotator=annotator).order_by("-pk").values_list("item_set", flat=True).first()
