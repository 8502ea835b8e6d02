"""Which systems a pair was drawn to distinguish: systems that are added later need to know
(preferendum.fit.chances)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache

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
    return numbers_of({item_set_id: _systems_of(item_set_id) if systems is None else systems})[item_set_id]


def numbers_of(systems: Mapping[int, Collection[str]]) -> dict[int, int]:
    """The design numbers of item sets for these systems of each; new ones if necessary."""
    wanted = {key: tuple(sorted(names)) for key, names in systems.items()}
    while True:
        numbers = {key: {names: n for n, names in own.items()} for key, own in systems_by_number(wanted).items()}
        missing = [key for key, names in wanted.items() if names not in numbers[key]]
        if not missing:
            return {key: numbers[key][names] for key, names in wanted.items()}
        # Another process may add one of these at this moment.
        new = [Design(item_set_id=key, number=len(numbers[key]), systems=wanted[key]) for key in missing]
        Design.objects.bulk_create(new, ignore_conflicts=True)


def systems_by_number(item_sets: Collection[int]) -> dict[int, dict[int, tuple[str, ...]]]:
    """The names of the systems by item set and by its design numbers."""
    numbers: dict[int, dict[int, tuple[str, ...]]] = {key: {} for key in item_sets}
    rows = Design.objects.filter(item_set__in=numbers).values_list("item_set", "number", "systems")
    for key, number, names in rows:
        numbers[key][number] = tuple(names)
    return numbers


def systems_to_name(item_sets: Collection[int]) -> dict[int, dict[int, tuple[str, ...]]]:
    """The names of the systems by item set and by its design numbers, without the design of all systems that the topic
    has now: a file need not name these.
    """
    numbers = systems_by_number(item_sets)
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
