"""Draw the pairs that a machine is to judge: those that people judged, or all of summaries, in one order or both.

Each order is an assignment of its own; the two of a pair follow one another. They take no place from people, and a
machine's quota is no limit here.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, starmap
from typing import Literal, NamedTuple

from annotate.database.statements import Choice
from annotate.judging.choosing import chance
from annotate.judging.drawing import is_half_over, lease, leased, why_no_pair
from annotate.judging.no_pair import NoPair
from annotate.models import Annotator, Assignment, Item, LockedItemSet, Pair, Tally
from preferendum.formats.checks.text import visible

State, Reason = Assignment.State, Assignment.Reason


@dataclass(frozen=True)
class Selection:
    """The pairs that a machine is to judge. `share`: of these, by lot, the same ones for every machine."""

    of: Literal["people", "all"] = "people"
    share: float = 1.0
    both_orders: bool = False


class Target(NamedTuple):
    """A pair to judge, and how people got it, if they did."""

    item_set: int
    first: int
    second: int
    reason: str = Reason.RANDOM
    design_weight: float = 1.0
    drawn_for: int | None = None

    @property
    def pair(self) -> tuple[int, int]:
        return self.first, self.second


class Left(NamedTuple):
    """How many pairs a machine is to judge, and how many of its answers are still to come."""

    pairs: int
    answers: int


class Row(NamedTuple):
    """A pair as the machine was shown it."""

    pk: int
    first: int
    second: int
    item_set: int
    swapped: bool
    occasion: int
    reason: str
    state: str
    expires_at: datetime | None


Rows = Mapping[tuple[int, int], Sequence[Row]]


def left(annotator: Annotator, selection: Selection) -> Left:
    """Count what the machine is to judge, and what is left of it."""
    targets, shown = _targets(annotator, selection), _shown(annotator)
    return Left(len(targets), sum(_orders_left(selection, shown.get(own.pair, ())) for own in targets))


def draw_selected(annotator: Annotator, selection: Selection) -> Assignment | NoPair:
    """The machine's next pair of those that it is to judge: one that it holds, or a new one under a lease."""
    while True:
        shown = _shown(annotator)
        left = [own for own in _targets(annotator, selection) if _orders_left(selection, shown.get(own.pair, ()))]
        if not left:
            return NoPair.DONE
        given = Counter(row.item_set for rows in shown.values() for row in rows)
        # A pair that was begun first; then the sets of which it judged least, so that a budget covers all topics.
        keys = [(own.pair not in shown, given[own.item_set]) for own in left]
        first = min(keys)
        target = chance.choice([own for own, key in zip(left, keys, strict=True) if key == first])
        with leased(ahead=False):
            item_set = Tally.objects.lock(target.item_set)
            drawn = item_set and _draw(item_set, Annotator.objects.lock(annotator.pk), selection, target)
        if drawn:
            return drawn


def _draw(
    item_set: LockedItemSet, annotator: Annotator, selection: Selection, target: Target
) -> Assignment | NoPair | None:
    """The pair in an order that the machine has not answered; None where another program of it was faster."""
    if (no_pair := why_no_pair(annotator, ahead=None)) is not None:
        return no_pair
    rows = _shown(annotator, target).get(target.pair, ())
    if not _orders_left(selection, rows):
        return None
    answered = _answered(rows)
    open_ones = (row for row in rows if row.swapped not in answered and row.state in (State.OPEN, State.EXPIRED))
    held = next((row for row in open_ones if row.reason in Assignment.WANTED), None)
    again = held and Assignment.objects.to_show().get(pk=held.pk)
    if again and again.state == State.OPEN and not is_half_over(again.expires_at, item_set.now):
        return again
    first, second = (Item.objects.get(pk=key) for key in target.pair)
    pair = Pair.objects.filter(first=first, second=second).first() or Pair(item_set_id=item_set.pk, need=0)
    pair.first, pair.second = first, second
    swapped = not answered.pop() if answered else None
    occasion = max((row.occasion for row in rows), default=-1) + 1
    how = target.design_weight, target.drawn_for
    return lease(Choice(pair, target.reason, again, swapped, occasion, "", *how), item_set, annotator)


def _answered(rows: Iterable[Row]) -> set[bool]:
    """The orders in which the machine answered a pair, or skipped it; gold pairs and repeats count nowhere."""
    done = State.JUDGED, State.SKIPPED
    return {row.swapped for row in rows if row.state in done and row.reason in Assignment.WANTED}


def _orders_left(selection: Selection, rows: Iterable[Row]) -> int:
    """In how many orders the pair is still to be answered."""
    return max(1 + selection.both_orders - len(_answered(rows)), 0)


def _shown(annotator: Annotator, only: Target | None = None) -> Rows:
    """What the machine was shown, by pair, in order."""
    rows = Assignment.objects.filter(annotator=annotator.pk).exclude(state=State.VOID).order_by("pk")
    if only is not None:
        rows = rows.filter(pair__first=only.first, pair__second=only.second)
    columns = ("item_set", "swapped", "occasion", "reason", "state", "expires_at")
    shown = defaultdict(list)
    for row in starmap(Row, rows.values_list("pk", "pair__first", "pair__second", *columns)):
        shown[row.first, row.second].append(row)
    return shown


def _targets(annotator: Annotator, selection: Selection) -> list[Target]:
    targets = _judged_by_humans(annotator) if selection.of == "people" else _of_summaries(annotator)
    seed = annotator.study.seed
    return [target for target in targets if selection.share >= 1 or _lot(target, seed) < selection.share]


def _judged_by_humans(annotator: Annotator) -> Iterator[Target]:
    """The pairs with a judgment by a person, each as it was drawn first."""
    rows = Assignment.objects.in_place().filter(
        item_set__study=annotator.study_id,
        annotator__kind=Annotator.Kind.HUMAN,
        pair__first__not_judged="",
        pair__second__not_judged="",
    )
    columns = ("item_set", "pair__first", "pair__second", "reason", "design_weight", "drawn_for")
    first: dict[tuple[int, int], Target] = {}
    for row in rows.order_by("pk").values_list(*columns):
        first.setdefault(row[1:3], Target(*row))
    for target in first.values():
        yield target._replace(reason=Reason.RANDOM) if target.reason == Reason.IMPORTED else target


def _of_summaries(annotator: Annotator) -> Iterator[Target]:
    """All pairs of summaries whose words differ."""
    items = Item.objects.to_judge().filter(item_set__study=annotator.study_id, item_set__of="summaries")
    by_set = defaultdict(list)
    for item_set, key, text in items.order_by("pk").values_list("item_set", "pk", "text"):
        by_set[item_set].append((key, visible(text)))
    for item_set, texts in by_set.items():
        for (first, words), (second, others) in combinations(texts, 2):
            if words != others:
                yield Target(item_set, first, second)


def _lot(target: Target, seed: int) -> float:
    """A number from 0 to 1 that stays the pair's own."""
    digest = hashlib.sha256(f"{seed} {target.first} {target.second}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
