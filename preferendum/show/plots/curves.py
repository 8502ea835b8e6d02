"""Curves over the logarithm of a number, with their spread, each named at its end, or below where that is narrow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from preferendum.results import Convergence
from preferendum.show.plots.axes import Scale, Tick, axis, decimals, spread
from preferendum.show.plots.drawing import (
    PAD,
    PAPER,
    SMALL,
    Drawing,
    Frame,
    apart,
    colour_of,
    dot,
    element,
    fitted,
    points,
    room_for,
    text,
    title,
    width_of,
)

TOP, LEAST_HEIGHT = 30.0, 330.0
#: Between the names at the lines' ends, and the marks below.
APART, MARKS_APART = 18.0, 34.0
#: The piece of a line before its name below.
SAMPLE = 24.0


@dataclass(frozen=True, slots=True)
class Line:
    """A curve through (x, y) points, x above 0 and ascending; `spread`: by how much y varies, for each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    spread: tuple[float, ...] = ()
    is_dashed: bool = False


def convergence_lines(report: Convergence, name: Callable[[str], str] = str) -> list[Line]:
    """How agreement grows, with its standard deviation over runs; metrics without judgments are flat and dashed."""
    curves = []
    for metric in report.metrics:
        places = [(point.judgments, point.agreement, point.sd or 0.0) for point in metric.points]
        defined = [(float(x), y, sd) for x, y, sd in places if y is not None]
        spreads = tuple(sd for _x, _y, sd in defined)
        curves.append(Line(name(metric.metric), tuple((x, y) for x, y, _sd in defined), spreads))
    ends = (float(report.sizes[0]), float(report.sizes[-1])) if report.sizes else ()
    flat = [
        Line(name(baseline.metric), tuple((x, baseline.agreement) for x in ends), is_dashed=True)
        for baseline in report.baselines
        if baseline.agreement is not None
    ]
    return [*curves, *flat]


def curve_plot(
    lines: Sequence[Line],
    label: str,
    x_title: str,
    y_title: str,
    *,
    marks: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    width: float = PAPER,
) -> Drawing:
    """Lay the lines out; dashed ones are drawn first, under the others. `marks`: places on them to point out, by name.

    Where names would take more than a third of the width, they are below, in the order of the lines' ends.
    """
    lines = [line for line in lines if line.points]
    numbers = sorted({x for line in lines for x, _y in line.points}) or [1.0]
    room = room_for([line.name for line in lines], width, SMALL)
    is_named_below = room > width / 3
    bottom = TOP + max(LEAST_HEIGHT, 0.0 if is_named_below else APART * len(lines))
    up, levels = axis([y for line in lines for y in _reach(line)], bottom, TOP)
    left = PAD + max((width_of(level.label, SMALL) for level in levels), default=0.0) + 14
    right = width - PAD - (6 if is_named_below else room + 22)
    across = Scale(math.log(numbers[0]), math.log(numbers[-1]), left + 6, right)
    ticks = spread([Tick(across.at(math.log(x)), f"{x:g}") for x in numbers], MARKS_APART)
    frame = Frame(width, left, right, TOP, bottom, ticks, levels, x_title, y_title, has_levels=True)
    styled = [(line, colour_of(number)) for number, line in enumerate(lines)]
    styled.sort(key=lambda pair: not pair[0].is_dashed)
    curves = [_curve(line, colour, across, up) for line, colour in styled]
    curves += [_mark(name, across.at(math.log(x)), up.at(y)) for name, (x, y) in marks.items()]
    if is_named_below:
        styled.sort(key=lambda pair: -pair[0].points[-1][1])
        names = [_named_below(*pair, frame.height + APART * row, width) for row, pair in enumerate(styled, 1)]
        drawing = frame.drawing(label, [*curves, *names])
        return replace(drawing, height=frame.height + APART * (len(names) + 1))
    heights = apart([up.at(line.points[-1][1]) for line, _colour in styled], TOP, bottom, APART)
    ends = [
        _named_beside(line, colour, across, up, height, frame)
        for (line, colour), height in zip(styled, heights, strict=True)
    ]
    return frame.drawing(label, [*curves, *ends])


def _reach(line: Line) -> Iterator[float]:
    for (_x, y), varies in zip(line.points, line.spread or (0.0,) * len(line.points), strict=True):
        yield from (y - varies, y + varies)


def _curve(line: Line, colour: str, across: Scale, up: Scale) -> str:
    places = [(across.at(math.log(x)), up.at(y)) for x, y in line.points]
    way = element("polyline", points=points(places), fill="none", **_stroke(line, colour))
    return element(
        "g", title(line.name), *_band(line, colour, across, up), way, *_dots(line, places, colour), class_="curve"
    )


def _stroke(line: Line, colour: str) -> dict[str, str | None]:
    return {"stroke": colour, "stroke_width": "2", "stroke_dasharray": "6 4" if line.is_dashed else None}


def _mark(name: str, x: float, y: float) -> str:
    """A larger dot under its name."""
    above = text(x, y - 14, name, "middle", SMALL, font_weight="bold")
    return element("g", title(name), dot(x, y, 6.0, fill=colour_of(0)), above)


def _named_beside(line: Line, colour: str, across: Scale, up: Scale, height: float, frame: Frame) -> str:
    """The name at the end of its line, as near as others leave room."""
    (last, value) = line.points[-1]
    x, y = across.at(math.log(last)), up.at(value)
    name = fitted(line.name, frame.width - frame.right - PAD - 18, SMALL)
    return element(
        "g",
        title(line.name),
        element("path", d=f"M{x:g},{y:g}L{frame.right + 14:g},{height:g}", stroke=colour, stroke_opacity=".5"),
        text(frame.right + 18, height, name, size=SMALL, dy=".35em"),
    )


def _named_below(line: Line, colour: str, height: float, width: float) -> str:
    """A piece of the line and its name, in a row of its own."""
    sample = element("path", d=f"M{PAD:g},{height:g}h{SAMPLE:g}", **_stroke(line, colour))
    name = fitted(line.name, width - 2 * PAD - SAMPLE - 8, SMALL)
    return element("g", title(line.name), sample, text(PAD + SAMPLE + 8, height, name, size=SMALL, dy=".35em"))


def _band(line: Line, colour: str, across: Scale, up: Scale) -> Iterator[str]:
    if line.spread:
        varied = list(zip(line.points, line.spread, strict=True))
        above = [(across.at(math.log(x)), up.at(y + varies)) for (x, y), varies in varied]
        below = [(across.at(math.log(x)), up.at(y - varies)) for (x, y), varies in varied]
        yield element("polygon", points=points([*above, *reversed(below)]), fill=colour, fill_opacity=".18")


def _dots(line: Line, places: Sequence[tuple[float, float]], colour: str) -> Iterator[str]:
    numbers = [y for _x, y in line.points]
    digits = decimals([max(numbers) - min(numbers) or max(numbers)], 3)
    for (x, y), place in zip(line.points, places, strict=True):
        yield dot(*place, 1.0 if line.is_dashed else 3.0, fill=colour, says=f"{line.name}: {y:.{digits}f} ({x:g})")
