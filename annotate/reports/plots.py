"""Where things lie on a plot: scales, ticks and labels. Plain arithmetic; templates draw it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from formats.axes import Scale, Tick, axis, spread

FONT = 12.0
ROW = 26.0
#: An average letter of a sans-serif is about this wide, in units of its size; there is no browser here to ask.
LETTER = 0.56
LONGEST_LABEL = 32


@dataclass(frozen=True, slots=True)
class Interval:
    """One line of an interval plot; `low` and `high` are None where there is no interval. All are positions."""

    label: str
    whole_label: str
    y: float
    x: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """Dots with their intervals, one below the other, over a common axis."""

    width: float
    height: float
    left: float
    right: float
    bottom: float
    rows: tuple[Interval, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Course:
    """One system's way through a rank plot. `points` as SVG wants them; the label stands at (`x`, `y`)."""

    label: str
    whole_label: str
    points: str
    dots: tuple[tuple[float, float], ...]
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class RankPlot:
    """Ranks against the number of judgments."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    courses: tuple[Course, ...]
    ticks: tuple[Tick, ...]
    ranks: tuple[Tick, ...]


def interval_plot(rows: Sequence[tuple[str, float, float | None, float | None]], width: float = 720.0) -> IntervalPlot:
    """Lay out rows of (label, value, low, high), the first on top."""
    left = label_room(label for label, *_ in rows) + 16
    right = width - 16
    bottom = 8 + ROW * len(rows)
    scale, ticks = axis([number for _, *numbers in rows for number in numbers if number is not None], left, right)
    drawn = tuple(
        Interval(
            label=shortened(label),
            whole_label=label,
            y=8 + ROW * (row + 0.5),
            x=scale.at(value),
            low=None if low is None else scale.at(low),
            high=None if high is None else scale.at(high),
        )
        for row, (label, value, low, high) in enumerate(rows)
    )
    return IntervalPlot(width, bottom + 44, left, right, bottom, drawn, ticks)


def rank_plot(curve: Sequence[tuple[int, Sequence[str]]], width: float = 720.0) -> RankPlot:
    """Lay out (number of judgments, systems from best to worst), fewest judgments first; every entry names the same."""
    last = curve[-1][1]
    left, right, top = 36.0, width - label_room(last) - 24, 12.0
    bottom = top + ROW * len(last)
    numbers = [judgments for judgments, _ in curve]
    scale = Scale(float(numbers[0]), float(numbers[-1]), left, right)
    heights = [round(top + ROW * (rank + 0.5), 2) for rank in range(len(last))]
    courses = []
    for rank, system in enumerate(last):
        dots = tuple((scale.at(judgments), heights[order.index(system)]) for judgments, order in curve)
        points = " ".join(f"{x},{y}" for x, y in dots)
        courses.append(Course(shortened(system), system, points, dots, right + 12, heights[rank]))
    marks = spread([Tick(scale.at(number), str(number)) for number in numbers], apart=44.0)
    ranks = tuple(Tick(height, str(rank)) for rank, height in enumerate(heights, 1))
    return RankPlot(width, bottom + 44, left, right, top, bottom, tuple(courses), marks, ranks)


@dataclass(frozen=True, slots=True)
class LinePlot:
    """One course over an axis of numbers; `runs` are its unbroken parts, as SVG wants points."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    runs: tuple[str, ...]
    dots: tuple[tuple[float, float], ...]
    ticks: tuple[Tick, ...]
    levels: tuple[Tick, ...]


def line_plot(course: Sequence[tuple[int, float | None]], width: float = 720.0) -> LinePlot | None:
    """Lay out (number, value) in the order of the numbers; where there is no value the line is broken."""
    values = [value for _number, value in course if value is not None]
    if len(values) < 2:
        return None
    left, right, top, bottom = 48.0, width - 16, 12.0, 172.0
    across = Scale(float(course[0][0]), float(course[-1][0]), left, right)
    up, levels = axis([*values, 0.0], bottom, top)
    runs: list[list[str]] = [[]]
    dots = []
    for number, value in course:
        if value is None:
            runs.append([])
        else:
            dots.append((across.at(number), up.at(value)))
            runs[-1].append(f"{across.at(number)},{up.at(value)}")
    marks = spread([Tick(across.at(number), str(number)) for number, _value in course], apart=44.0)
    drawn = tuple(" ".join(run) for run in runs if len(run) > 1)
    return LinePlot(width, bottom + 44, left, right, top, bottom, drawn, tuple(dots), marks, levels)


def sparkline(values: Sequence[float], width: float = 100.0, height: float = 24.0) -> str:
    """Points of a small line from 0 to the largest value, as SVG wants them; "" for fewer than two values."""
    if len(values) < 2:
        return ""
    across, up = Scale(0.0, len(values) - 1.0, 1.0, width - 1), Scale(0.0, max(values) or 1.0, height - 2, 2.0)
    return " ".join(f"{across.at(k)},{up.at(value)}" for k, value in enumerate(values))


def decimals(values: Sequence[float], digits: int = 4) -> int:
    """How many decimals show the largest of these values with so many digits; at most 12."""
    largest = max((abs(value) for value in values), default=0.0)
    if not largest:
        return digits - 1
    return min(12, max(0, digits - 1 - math.floor(math.log10(largest))))


def shortened(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def label_room(labels: Iterable[str]) -> float:
    return max((_label_width(shortened(label)) for label in labels), default=0.0)


def _label_width(label: str) -> float:
    """About how wide a label is; wide (east Asian) letters are as wide as they are high."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in label)
    return FONT * (wide + (len(label) - wide) * LETTER)
