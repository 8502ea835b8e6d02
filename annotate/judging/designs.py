"""Which systems a pair was drawn to tell apart: those that come later need to know (evaluation.fit.chances)."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from django.db import IntegrityError, transaction

from annotate.models import Design, Summary


class Numbers:
    """The topics' numbers for pairs that come with a file, each looked up once."""

    def __init__(self) -> None:
        self._number = cache(number_of)

    def of(self, topic_id: int, design_weight: float, systems: Iterable[str] | None) -> int | None:
        """None for a pair that was not drawn by lot, or when all were equally likely; `systems`: None for all that the
        topic has."""
        if design_weight in (0, 1):
            return None
        return self._number(topic_id, None if systems is None else tuple(systems))


def number_of(topic_id: int, systems: tuple[str, ...] | None = None) -> int:
    """The topic's number for pairs that were drawn for these systems, or for all that it has; a new one if need be."""
    wanted = _systems_of(topic_id) if systems is None else tuple(sorted(systems))
    while True:
        numbers = {names: number for number, names in systems_by_number(topic_id).items()}
        if wanted in numbers:
            return numbers[wanted]
        with suppress(IntegrityError), transaction.atomic():  # somebody else may add one in this moment
            Design.objects.create(topic_id=topic_id, number=len(numbers), systems=wanted)


def systems_by_number(topic_id: int) -> dict[int, tuple[str, ...]]:
    """The names of the systems by the topic's numbers for them."""
    rows = Design.objects.filter(topic=topic_id).values_list("number", "systems")
    return {number: tuple(systems) for number, systems in rows}


def systems_to_name(topic_id: int) -> dict[int, tuple[str, ...]]:
    """The same but for all that the topic has now, whom a file need not name."""
    numbers = systems_by_number(topic_id)
    every = _systems_of(topic_id) if numbers else ()
    return {number: systems for number, systems in numbers.items() if systems != every}


def _systems_of(topic_id: int) -> tuple[str, ...]:
    return tuple(sorted(Summary.objects.filter(topic=topic_id).values_list("system__name", flat=True)))
