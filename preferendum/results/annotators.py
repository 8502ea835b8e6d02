"""How one annotator judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with what it rests on: n, a 95% interval where there is one, a p-value, the value by chance."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    p: float | None = None
    chance: float | None = None

    @property
    def count(self) -> int:
        """How many of the n it was, where the value is a share."""
        return round((self.value or 0.0) * self.n)


@dataclass(frozen=True, slots=True)
class AnnotatorFigures:
    """One annotator's figures by name (docs/annotator-figures.md), and the flags: questions, not verdicts."""

    figures: Mapping[str, Figure]
    flags: tuple[str, ...]
