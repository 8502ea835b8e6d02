"""Dots with their intervals, one below the other, over a common axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from preferendum.show.plots.axes import Scale, axis
from preferendum.show.plots.drawing import (
    CHOSEN,
    DIFFERS,
    MARK,
    NARROW,
    PAD,
    PAPER,
    SMALL,
    Drawing,
    Frame,
    box,
    dot,
    element,
    fitted,
    line,
    room_for,
    text,
    title,
    width_of,
)

ROW = 28.0
#: Where the name stands above its line.
TALL_ROW = 44.0
HEAD = 28.0
#: Names are above the lines where the longest takes more than 0.4 of the width; 0.3 in a plot as narrow as this, which
#: also has fewer numbers below.
STACKED = 1.4 * NARROW

Mark = Literal["", "chosen", "differs"]
_COLOURS = {"": MARK, "chosen": CHOSEN, "differs": DIFFERS}


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """A line of the plot. `rank`: among the others; `href`: the target of a click on it; `more`: further words under
    the pointer; `shown`: its numbers there, if not with four digits."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None
    rank: str = ""
    mark: Mark = ""
    href: str = ""
    more: str = ""
    shown: str = ""

    @property
    def says(self) -> str:
        """Under the pointer: its name and its numbers."""
        interval = "" if self.low is None or self.high is None else f" [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.label}: {self.shown or f'{self.value:.4g}{interval}'}" + (f", {self.more}" if self.more else "")


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where names, ranks and lines stand: names next to the lines, or above them."""

    is_stacked: bool
    rank_at: float
    name_at: float
    name_room: float
    left: float
    right: float
    width: float

    @property
    def row(self) -> float:
        return TALL_ROW if self.is_stacked else ROW


def interval_plot(
    rows: Sequence[IntervalRow],
    label: str,
    x_title: str,
    heads: tuple[str, str] = ("", ""),
    *,
    width: float = PAPER,
    reference: float | None = None,
) -> Drawing:
    """Lay out rows, the first on top; `heads`: of ranks and names; `reference`: a value to hold the others against."""
    layout = _layout(rows, heads, width)
    bottom = HEAD + layout.row * len(rows) + 4
    scale, ticks = axis(_numbers(rows, reference), layout.left, layout.right, 4 if width <= STACKED else 6)
    bands = _bands(len(rows), bottom, layout)
    frame = Frame(width, layout.left, layout.right, HEAD, bottom, ticks, x_title=x_title, bands=bands)
    marks = [*_heads(heads, layout), *_reference(reference, scale, bands)]
    marks += [_drawn(row, HEAD + layout.row * k, scale, layout) for k, row in enumerate(rows)]
    return frame.drawing(label, marks, has_links=any(row.href for row in rows))


def _numbers(rows: Sequence[IntervalRow], reference: float | None) -> list[float]:
    numbers = [reference, *(number for row in rows for number in (row.value, row.low, row.high))]
    return [number for number in numbers if number is not None]


def _layout(rows: Sequence[IntervalRow], heads: tuple[str, str], width: float) -> _Layout:
    ranks = [row.rank for row in rows if row.rank]
    rank_room = max(room_for(ranks, 60.0), width_of(heads[0], SMALL)) + 12 if ranks else 0.0
    name_at = PAD + rank_room
    wanted = room_for([row.label for row in rows], width - name_at - PAD)
    is_stacked = wanted > (0.3 if width <= STACKED else 0.4) * width
    name_room = max(wanted, width_of(heads[1], SMALL))
    left = name_at + 6 if is_stacked else name_at + name_room + 20
    return _Layout(is_stacked, PAD + rank_room - 12, name_at, name_room, left, width - PAD - 14, width)


def _heads(heads: tuple[str, str], layout: _Layout) -> Iterator[str]:
    rank, name = heads
    if rank and layout.name_at > PAD:
        yield text(layout.rank_at, 18, rank, "end", SMALL)
    if name:
        yield text(layout.name_at, 18, name, size=SMALL)


def _bands(rows: int, bottom: float, layout: _Layout) -> list[tuple[float, float]]:
    """Where lines run down the plot: where names are above the intervals, not through the names."""
    if not layout.is_stacked:
        return [(HEAD, bottom)]
    return [(HEAD + TALL_ROW * k + 22, HEAD + TALL_ROW * k + 38) for k in range(rows)]


def _reference(reference: float | None, scale: Scale, bands: Sequence[tuple[float, float]]) -> Iterator[str]:
    if reference is not None:
        x, style = scale.at(reference), {"stroke": "currentColor", "stroke_opacity": ".6", "stroke_dasharray": "4 3"}
        yield from (line(x, top, x, bottom, **style) for top, bottom in bands)


def _drawn(row: IntervalRow, top: float, scale: Scale, layout: _Layout) -> str:
    name_y = top + (14 if layout.is_stacked else ROW / 2)
    y = top + (30 if layout.is_stacked else ROW / 2)
    colour = _COLOURS[row.mark]
    parts = [title(row.says)]
    if row.href:
        parts.append(box(0, top, layout.width, layout.row, fill="none", pointer_events="all"))
    if row.rank:
        parts.append(text(layout.rank_at, name_y, row.rank, "end", dy=".35em", class_="rank"))
    parts.append(text(layout.name_at, name_y, fitted(row.label, layout.name_room), dy=".35em"))
    if row.low is not None and row.high is not None:
        thick = "3" if row.mark == "chosen" else "2"
        parts.append(line(scale.at(row.low), y, scale.at(row.high), y, stroke=colour, stroke_width=thick))
    x = scale.at(row.value)
    is_square = row.mark == "differs"
    parts.append(box(x - 5, y - 5, 10.0, 10.0, fill=colour) if is_square else dot(x, y, 5.0, fill=colour))
    drawn = element("g", *parts, class_=row.mark or "mark")
    return element("a", drawn, href=row.href, aria_label=row.says) if row.href else drawn
