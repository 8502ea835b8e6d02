"""Which systems a pair was drawn to distinguish: systems that are added later need to know
(preferendum.fit.chances)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import cache

from django.db import IntegrityError, transaction

from annotate.models import Design, Summary


class Numbers:
    """Design numbers for imported pairs, each looked up once."""

    def __init__(self) -> None:
        self._number = cache(number_of)

    def of(self, item_set_id: int, design_weight: float, systems: Iterable[str] | None) -> int | None:
        """None for a pair that was not drawn at random, or from equally likely ones; `systems` None: all of the
        topic."""
        if design_weight in (0, 1):
            return None
        return self._number(item_set_id, None if systems is None else tuple(systems))


def number_of(item_set_id: int, systems: tuple[str, ...] | None = None) -> int:
    """The item set's design number for these systems (None: all that it has); a new one if necessary."""
    wanted = _systems_of(item_set_id) if systems is None else tuple(sorted(systems))
    while True:
        numbers = {names: number for number, names in systems_by_number(item_set_id).items()}
        if wanted in numbers:
            return numbers[wanted]
        with suppress(IntegrityError), transaction.atomic():  # another process may add one at this moment
            Design.objects.create(item_set_id=item_set_id, number=len(numbers), systems=wanted)


def systems_by_number(item_set_id: int) -> dict[int, tuple[str, ...]]:
    """The names of the systems by the set's design numbers."""
    rows = Design.objects.filter(item_set=item_set_id).values_list("number", "systems")
    return {number: tuple(systems) for number, systems in rows}


def systems_to_name(item_sets: Collection[int]) -> dict[int, dict[int, tuple[str, ...]]]:
    """The names of the systems by item set and by its design numbers, without the design of all systems that the topic
    has now: a file need not name these.
    """
    numbers: dict[int, dict[int, tuple[str, ...]]] = {key: {} for key in item_sets}
    rows = Design.objects.filter(item_set__in=item_sets).values_list("item_set", "number", "systems")
    for key, number, systems in rows:
        numbers[key][number] = tuple(systems)
    every: dict[int, list[str]] = {key: [] for key, own in numbers.items() if own}
    if every:
        summaries = Summary.objects.filter(topic__in=every).order_by()
        for topic, system in summaries.values_list("topic", "system__name"):
            every[topic].append(system)
    return {
        key: {number: systems for number, systems in own.items() if systems != tuple(sorted(every[key]))}
        for key, own in numbers.items()
    }


def _systems_of(item_set_id: int) -> tuple[str, ...]:
    return tuple(sorted(Summary.objects.filter(topic__sentence_set=item_set_id).values_list("system__name", flat=True)))
