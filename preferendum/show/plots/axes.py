"""Positions of numbers on an axis: scales and round ticks. Plain arithmetic for every plot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` laid onto positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The position of a value, rounded to a hundredth: SVG needs no more."""
        width = self.high - self.low
        share = (value - self.low) / width if width else 0.5
        return round(self.start + share * (self.end - self.start), 2)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis and its label."""

    at: float
    label: str


def axis(values: Sequence[float], start: float, end: float, steps: int = 6) -> tuple[Scale, tuple[Tick, ...]]:
    """A scale that holds all values with a little air, and round numbers along it, in some so many steps."""
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    air = (high - low) * 0.03 or abs(high) * 0.1 or 1.0
    scale = Scale(low - air, high + air, start, end)
    step = round_step((scale.high - scale.low) / steps)
    digits = max(0, -math.floor(math.log10(step)))
    first = math.ceil(scale.low / step)
    last = math.floor(scale.high / step)
    # Adding 0.0 turns the -0.0 of a rounded small negative number into 0.0.
    marks = [(k * step) + 0.0 for k in range(first, last + 1)]
    return scale, tuple(Tick(scale.at(mark), f"{mark:.{digits}f}") for mark in marks)


def round_step(width: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least `width`."""
    power = 10.0 ** math.floor(math.log10(width))
    for times in (1, 2, 5):
        if times * power >= width * (1 - 1e-9):
            return times * power
    return 10 * power


def spread(ticks: Sequence[Tick], apart: float) -> tuple[Tick, ...]:
    """The last tick, and as many of those before it as are far enough apart to be read."""
    kept: list[Tick] = []
    for tick in reversed(ticks):
        if not kept or kept[-1].at - tick.at >= apart:
            kept.append(tick)
    return tuple(reversed(kept))


def decimals(values: Sequence[float], digits: int = 4) -> int:
    """How many decimals show the largest of these values with so many digits; at most 12."""
    largest = max((abs(value) for value in values), default=0.0)
    if not largest:
        return digits - 1
    return min(12, max(0, digits - 1 - math.floor(math.log10(largest))))


def sparkline(values: Sequence[float]) -> str:
    """Points of a line of 100 by 24 from 0 to the largest value, as SVG wants them; "" for fewer than two values."""
    if len(values) < 2:
        return ""
    across, up = Scale(0.0, len(values) - 1.0, 1.0, 99.0), Scale(0.0, max(values) or 1.0, 22.0, 2.0)
    return " ".join(f"{across.at(k)},{up.at(value)}" for k, value in enumerate(values))
