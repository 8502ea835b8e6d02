"""Scores as people read them: importance in points, with the digits that its intervals bear. Files keep the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import median_low
from typing import Protocol

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.metrics.names import WIN_RATE
from preferendum.results.scores import is_tested
from preferendum.results.statistics import DECIMALS
from preferendum.show.plots import IntervalRow, interval_plot
from preferendum.show.shown import DASH, Cell, Figure, figure

#: So many points are an importance of 1.
POINTS = 100.0


class Valued(Protocol):
    """A value with the ends of its interval."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Unit:
    """How people read the scores of a kind: `times` the number, with so many `decimals`, and the `sign` after it."""

    times: float
    decimals: int
    sign: str = ""

    def of(self, score: float | None) -> float | None:
        """The score in this unit."""
        return None if score is None else self.times * score

    def named(self, label: str) -> str:
        """A heading that says the unit, unless scores are shown as they are."""
        if self.sign:
            return f"{label} ({self.sign})"
        return _("%(label)s (points)") % {"label": label} if self.times == POINTS else label

    def show(self, score: float | None) -> str:
        """The score as a text; adding 0.0 takes the sign from a rounded -0."""
        return DASH if score is None else f"{round(self.times * score, self.decimals) + 0.0:.{self.decimals}f}"

    def change(self, score: float | None) -> str:
        """A difference, with its sign."""
        return ("+" if score and self.show(score) != self.show(0.0) and score > 0 else "") + self.show(score)

    def as_score(self, number: str) -> str:
        """A score in a sentence."""
        return f"{number}{self.sign}" if self.sign else self.with_unit(number)

    def with_unit(self, number: str) -> str:
        """A difference of scores in a sentence."""
        if self.sign:
            return _("%(number)s percentage points") % {"number": number}
        text = ngettext("%(number)s point", "%(number)s points", 1 if number == "1" else 2)
        return text % {"number": number} if self.times == POINTS else number

    def row(self, label: str, value: float, low: float | None, high: float | None, rank: str = "") -> IntervalRow:
        """A line of a plot, which says what the table does."""
        shown = self.with_interval(self.show(value), low, high)
        return IntervalRow(label, self.times * value, self.of(low), self.of(high), rank, shown=shown)

    def with_interval(self, number: str, low: float | None, high: float | None) -> str:
        """A number with its interval, where it has one."""
        return number if low is None or high is None else f"{number} {self.interval(low, high)}"

    def bounded(self, own: Valued) -> tuple[Cell, ...]:
        """Cells of a value: itself and both ends of its interval for files, the interval for people."""
        return own.value, own.low, own.high, self.interval(own.low, own.high)

    def interval(self, low: float | None, high: float | None) -> str:
        """Both ends of an interval."""
        return DASH if low is None or high is None else f"[{self.show(low)}, {self.show(high)}]"


def digits(half: float) -> int:
    """The decimals of two significant digits of an interval's half-width; none where it reaches ten or more."""
    return 0 if half <= 0 else min(DECIMALS, max(0, 1 - math.floor(math.log10(float(f"{half:.1e}")))))


def unit_of(score: str, figures: Iterable[tuple[float | None, float | None, float | None]] = ()) -> Unit:
    """For scores, or differences of scores, with their intervals: (value, low, high); "" for any other figures.

    Digits follow the interval: two significant ones of the (median) half-width. Where there are no intervals, three of
    the distance of the numbers or, of a single number, its own; shares are then whole percents.
    """
    times, sign = {"importance": (POINTS, ""), WIN_RATE: (100.0, "%")}.get(score, (1.0, ""))
    rows = list(figures)
    values = [value for value, _low, _high in rows if value is not None]
    halves = [(high - low) / 2 for _value, low, high in rows if low is not None and high is not None]
    halves = [half for half in halves if half > 10.0**-DECIMALS]
    if halves:
        return Unit(times, digits(times * median_low(halves)), sign)
    reach = max(values, default=0.0) - min(values, default=0.0) or max(map(abs, values), default=0.0)
    return Unit(times, 0 if sign else digits(times * reach / 10) if reach else 2, sign)


def unit_for(figures: Iterable[Valued], *, is_share: bool = False) -> Unit:
    """How values with their intervals are read together: coefficients, with two decimals at most, or shares."""
    unit = unit_of(WIN_RATE if is_share else "", [(own.value, own.low, own.high) for own in figures])
    return replace(unit, decimals=min(unit.decimals, 2))


def score_figure(rows: Sequence[IntervalRow], unit: Unit) -> list[Figure]:
    """The plot of systems with their intervals, and a line at the average of importance or win rates; none without
    rows."""
    if not rows:
        return []
    has_intervals = any(row.low is not None for row in rows)
    systems = ngettext("%(n)d system", "%(n)d systems", len(rows)) % {"n": len(rows)}
    label = (
        _("Scores of %(systems)s with 95%% intervals; the table says the same in numbers")
        if has_intervals
        else _("Scores of %(systems)s; the table says the same in numbers")
    )
    average = None if unit.times != POINTS else 50.0 if unit.sign else 0.0
    draw = partial(interval_plot, reference=average)
    title = unit.named(_("score, with its 95% interval") if has_intervals else _("score"))
    return figure("scores", title, "", draw, rows, label % {"systems": systems}, title, (_("rank"), _("system")))


def why_untested(score: str) -> str:
    """Why no systems are called different on a score, in a sentence; nothing where they may be."""
    if is_tested(score):
        return ""
    if score == "combined":
        return _(
            "No differences are tested: the words alone make most of them, so that even answers by a coin would tell "
            "most systems apart."
        )
    if score == "coverage":
        return _("No differences are tested: they are those of the words, and no answer changes them.")
    return _(
        "No differences are tested, and there are no intervals: the errors of this score are not calibrated, and "
        "answers by a coin would tell some systems apart."
    )


def over_all_topics() -> str:
    """How systems without summaries of some topics are compared, in one sentence."""
    return _(
        "Where systems lack summaries, scores are those of system + topic (least squares), so that all are over the "
        "same topics."
    )


def what_a_win_rate_is() -> str:
    """In one sentence."""
    return _(
        "The win rate of a system is how often its summary is preferred to that of another system, on topics like "
        "these; 50% is the average."
    )


def what_a_point_is() -> str:
    """In one sentence."""
    return _(
        "One point is what a tenth of the sources’ words (rare words weigh more) adds if the sentences that they stand "
        "in are preferred 10 percentage points more often than average, apart from what their length explains."
    )
