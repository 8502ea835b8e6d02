"""Systems by two scorers, with the line through the machines and how far people's summaries are from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from preferendum.results import Scatter, ScatterPoint
from preferendum.show.plots.axes import Scale, axis, decimals
from preferendum.show.plots.drawing import (
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
    line,
    shortened,
    text,
    title,
    width_of,
)

TOP = 30.0
#: A rectangle that letters or marks take: left, top, width, height.
Box = tuple[float, float, float, float]


def scatter_plot(scatter: Scatter, label: str, x_title: str, y_title: str, *, width: float = PAPER) -> Drawing | None:
    """Lay out the systems; the line extends to the person with the lowest human score. None without systems."""
    if not scatter.points:
        return None
    is_narrow = width <= NARROW
    lowest = min((point for point in scatter.points if not point.machine), key=lambda point: point.y, default=None)
    ends = _ends(scatter, lowest)
    bottom = TOP + (300.0 if is_narrow else 420.0)
    up, levels = axis([*(point.y for point in scatter.points), *(y for _x, y in ends)], bottom, TOP)
    left = PAD + max(width_of(level.label, SMALL) for level in levels) + 14
    right = width - PAD - 14
    across, ticks = axis([point.x for point in scatter.points], left, right, 4 if is_narrow else 6)
    frame = Frame(width, left, right, TOP, bottom, ticks, levels, x_title, y_title, has_levels=True)
    marks = [*_lines(scatter, lowest, ends, across, up), *_dots(scatter.points, across, up, frame)]
    return frame.drawing(label, marks)


def _ends(scatter: Scatter, lowest: ScatterPoint | None) -> tuple[tuple[float, float], ...]:
    """The ends of the line through the machines, drawn to the lowest person."""
    if scatter.slope is None or scatter.intercept is None:
        return ()
    reach = [point.x for point in scatter.points if point.machine or point is lowest]
    return tuple((x, scatter.intercept + scatter.slope * x) for x in (min(reach), max(reach)))


def _lines(
    scatter: Scatter, lowest: ScatterPoint | None, ends: Sequence[tuple[float, float]], across: Scale, up: Scale
) -> Iterator[str]:
    if scatter.slope is None or scatter.intercept is None:
        return
    (x1, y1), (x2, y2) = ends
    through = across.at(x1), up.at(y1), across.at(x2), up.at(y2)
    yield line(*through, stroke="currentColor", stroke_width="1.5", stroke_opacity=".7")
    if lowest is not None:
        x = across.at(lowest.x)
        on_line = up.at(scatter.intercept + scatter.slope * lowest.x)
        yield line(x, on_line, x, up.at(lowest.y), stroke="currentColor", stroke_dasharray="3 3")


def _dots(points: Sequence[ScatterPoint], across: Scale, up: Scale, frame: Frame) -> Iterator[str]:
    """People first: they are fewer, and their labels are looked for. A label that would touch another is left out."""
    taken = [(across.at(point.x) - 6, up.at(point.y) - 6, 12.0, 12.0) for point in points]
    digits = [
        decimals([max(of_all) - min(of_all)], 3) for of_all in zip(*((own.x, own.y) for own in points), strict=True)
    ]
    for point in sorted(points, key=lambda point: (point.machine, -point.y)):
        x, y, name = across.at(point.x), up.at(point.y), shortened(point.system)
        parts = [title(f"{point.system}: {point.x:.{digits[0]}f}, {point.y:.{digits[1]}f}"), _mark(point, x, y)]
        place = _free(x, y, width_of(name, SMALL), frame, taken)
        if place is not None:
            taken.append(place)
            parts.append(text(place[0], place[1] + 7, name, size=SMALL, dy=".35em"))
        yield element("g", *parts, class_="mark" if point.machine else "differs")


def _mark(point: ScatterPoint, x: float, y: float) -> str:
    if point.machine:
        return dot(x, y, 4.5, fill=MARK)
    return box(-4.5, -4.5, 9.0, 9.0, fill=DIFFERS, transform=f"translate({x:g} {y:g}) rotate(45)")


def _free(x: float, y: float, room: float, frame: Frame, taken: Sequence[Box]) -> Box | None:
    """The place at a mark's right, left, top or bottom where letters touch no other."""
    places: tuple[tuple[float, float], ...] = (
        (x + 8, y - 7),
        (x - 8 - room, y - 7),
        (x - room / 2, y - 21),
        (x - room / 2, y + 7),
    )
    ends = frame.left, frame.width - PAD - room
    places += tuple((min(max(left, ends[0]), ends[1]), top) for left, top in places[2:])
    for left, top in places:
        place = (left, top, room, 14.0)
        is_inside = ends[0] <= left <= ends[1] and frame.top - 14 <= top <= frame.bottom - 14
        if is_inside and not any(_meet(place, other) for other in taken):
            return place
    return None


def _meet(place: Box, other: Box) -> bool:
    (x, y, width, height), (x2, y2, width2, height2) = place, other
    return x < x2 + width2 and x2 < x + width and y < y2 + height2 and y2 < y + height
