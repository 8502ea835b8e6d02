"""Layout of the pictures of document sets: topics by mean rank, all scores as a grid, systems by two scorers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from annotate.reports.plots import (
    LETTER,
    Interval,
    IntervalPlot,
    interval_plot,
    label_room,
    shortened,
)
from formats.axes import Scale, Tick, axis
from formats.results import DocumentSet, Scatter, ScatterPoint, ScoreMatrix

#: From the lowest scores to the highest; none is near the black of a missing one (ColorBrewer's Blues, without the
#: darkest).
COLOURS = ("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c")
MISSING = "#000000"
#: A grid of more columns is a picture and nothing else: no names of systems, no score under the pointer.
MOST_TITLED = 150
#: Of a grid: height of a row, size of letters, widest column, distance of people from machines, width of a colour in
#: the legend.
CELL, SMALL, WIDEST, APART, SWATCH = 15.0, 10.0, 26.0, 10.0, 22.0
WIDTH = 720.0

Mark = Literal["", "chosen", "differs"]


@dataclass(frozen=True, slots=True)
class RankRow:
    """A topic's line: is it the chosen one, or does it differ from that?"""

    topic: DocumentSet
    line: Interval
    mark: Mark

    @property
    def x(self) -> float:
        """Where the square of a topic that differs begins."""
        return self.line.x - 5


@dataclass(frozen=True, slots=True)
class RankIntervals:
    """Topics by their mean ranks, the highest on top."""

    plot: IntervalPlot
    rows: tuple[RankRow, ...]


def rank_intervals(sets: Sequence[DocumentSet], chosen: DocumentSet | None) -> RankIntervals | None:
    """Lay out the topics with Tukey's intervals; None where there are none."""
    ordered = sorted(sets, key=lambda topic: (-topic.mean_rank, topic.topic))
    if not ordered:
        return None
    plot = interval_plot([(topic.topic, topic.mean_rank, topic.low, topic.high) for topic in ordered])
    rows = zip(ordered, plot.rows, strict=True)
    return RankIntervals(plot, tuple(RankRow(topic, line, _mark(topic, chosen)) for topic, line in rows))


def _mark(topic: DocumentSet, chosen: DocumentSet | None) -> Mark:
    if chosen is None:
        return ""
    return "chosen" if topic.topic == chosen.topic else "differs" if topic.topic in chosen.differs else ""


@dataclass(frozen=True, slots=True)
class Cell:
    """One score of a grid; `title` says it in words."""

    x: float
    y: float
    fill: str
    title: str


@dataclass(frozen=True, slots=True)
class Swatch:
    """A colour of the legend."""

    x: float
    fill: str


@dataclass(frozen=True, slots=True)
class ScoreGrid:
    """Topics by systems in colours; `humans_at`: where the columns of people's summaries begin, if there are any."""

    width: float
    height: float
    top: float
    left: float
    cell_width: float
    rows: tuple[Tick, ...]
    columns: tuple[Tick, ...]
    cells: tuple[Cell, ...]
    humans_at: float | None
    swatches: tuple[Swatch, ...]
    low: float
    high: float
    is_titled: bool

    @property
    def legend_at(self) -> float:
        return self.height - 52

    @property
    def legend_end(self) -> float:
        return self.swatches[-1].x + SWATCH

    @property
    def missing_at(self) -> float:
        return self.legend_end + SWATCH


def score_grid(matrix: ScoreMatrix) -> ScoreGrid | None:
    """Lay out all scores; None where there is none."""
    present = [score for row in matrix.scores for score in row if score is not None]
    if not present:
        return None
    low, high = min(present), max(present)
    systems = len(matrix.systems)
    is_titled = systems <= MOST_TITLED
    left = label_room(matrix.topics) + 8
    has_people = matrix.machines < systems
    gap = APART if has_people and matrix.machines else 0.0
    width = max(min((WIDTH - left - gap) / systems, WIDEST), 7.0 if is_titled else 2.0)
    top = SMALL * LETTER * max(len(shortened(name)) for name in matrix.systems) + 28 if is_titled else 24.0
    at = [left + k * width + (gap if k >= matrix.machines else 0.0) for k in range(systems)]
    rows = tuple(Tick(top + CELL * k, shortened(name)) for k, name in enumerate(matrix.topics))
    columns = tuple(Tick(x + width / 2, shortened(name)) for x, name in zip(at, matrix.systems, strict=True))
    bottom = top + CELL * len(rows)
    return ScoreGrid(
        width=max(at[-1] + width + 8, WIDTH),
        height=bottom + 64,
        top=top,
        left=left,
        cell_width=round(width, 2),
        rows=rows,
        columns=columns if is_titled else (),
        cells=tuple(_cells(matrix, at, top, low, high)),
        humans_at=at[matrix.machines] if has_people else None,
        swatches=tuple(Swatch(left + SWATCH * k, fill) for k, fill in enumerate(COLOURS)),
        low=low,
        high=high,
        is_titled=is_titled,
    )


def _cells(matrix: ScoreMatrix, at: Sequence[float], top: float, low: float, high: float) -> Iterator[Cell]:
    missing = _("no score")
    for k, (topic, row) in enumerate(zip(matrix.topics, matrix.scores, strict=True)):
        for x, system, score in zip(at, matrix.systems, row, strict=True):
            title = f"{topic}, {system}: {missing if score is None else f'{score:.3f}'}"
            yield Cell(round(x, 2), top + CELL * k, _fill(score, low, high), title)


def _fill(score: float | None, low: float, high: float) -> str:
    """Steps of equal width from the lowest score to the highest."""
    if score is None:
        return MISSING
    share = (score - low) / (high - low) if high > low else 0.5
    return COLOURS[min(int(share * len(COLOURS)), len(COLOURS) - 1)]


@dataclass(frozen=True, slots=True)
class Dot:
    """A system; its label, to the right or else to the left, where it touches no other, else ""."""

    x: float
    y: float
    label: str
    is_left: bool
    point: ScatterPoint


@dataclass(frozen=True, slots=True)
class ScatterPlot:
    """Systems by two scorers; the line through the machines as its two ends, and a person's distance from it."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    dots: tuple[Dot, ...]
    line: tuple[float, float, float, float] | None
    drop: tuple[float, float, float] | None
    ticks: tuple[Tick, ...]
    levels: tuple[Tick, ...]


def scatter_plot(scatter: Scatter) -> ScatterPlot | None:
    """Lay out the systems; the line goes on to the person whose human score is the lowest. None without systems."""
    points = scatter.points
    if not points:
        return None
    people = [point for point in points if not point.machine]
    lowest = min(people, key=lambda point: point.y, default=None)
    ends = _ends(scatter, lowest)
    left, right, top, bottom = 56.0, WIDTH - 16, 12.0, 412.0
    across, ticks = axis([point.x for point in points], left, right)
    up, levels = axis([*(point.y for point in points), *(y for _x, y in ends)], bottom, top)
    line = tuple(number for x, y in ends for number in (across.at(x), up.at(y)))
    drop = None
    if lowest is not None and scatter.slope is not None and scatter.intercept is not None:
        drop = (across.at(lowest.x), up.at(scatter.intercept + scatter.slope * lowest.x), up.at(lowest.y))
    return ScatterPlot(
        width=WIDTH,
        height=bottom + 64,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        dots=tuple(_dots(points, across, up, left, right)),
        line=line if len(line) == 4 else None,
        drop=drop,
        ticks=ticks,
        levels=levels,
    )


def _ends(scatter: Scatter, lowest: ScatterPoint | None) -> tuple[tuple[float, float], ...]:
    """Of the line through the machines, drawn to the lowest person."""
    if scatter.slope is None or scatter.intercept is None:
        return ()
    reach = [point.x for point in scatter.points if point.machine or point is lowest]
    return tuple((x, scatter.intercept + scatter.slope * x) for x in (min(reach), max(reach)))


def _dots(points: Sequence[ScatterPoint], across: Scale, up: Scale, left: float, right: float) -> Iterator[Dot]:
    """People first: they are fewer, and their labels are looked for."""
    taken = [(across.at(point.x) - 6, up.at(point.y) - 6, 12.0, 12.0) for point in points]
    for point in sorted(points, key=lambda point: (point.machine, -point.y)):
        x, y, label = across.at(point.x), up.at(point.y), shortened(point.system)
        room = label_room([label])
        sides = ((is_left, (x - 7 - room if is_left else x + 7, y - 6, room, 12.0)) for is_left in (False, True))
        free = (
            (is_left, box)
            for is_left, box in sides
            if box[0] >= left and box[0] + room <= right + 12 and not any(_meet(box, other) for other in taken)
        )
        is_left, box = next(free, (False, None))
        if box is not None:
            taken.append(box)
        yield Dot(x, y, label if box else "", is_left, point)


def _meet(box: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    (x, y, width, height), (x2, y2, width2, height2) = box, other
    return x < x2 + width2 and x2 < x + width and y < y2 + height2 and y2 < y + height
