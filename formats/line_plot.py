"""Curves laid out for a page or a paper: lines with their spread over an axis of numbers, each named at its end."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from formats.axes import Scale, Tick, axis, spread
from formats.results import Convergence

WIDTH, HEIGHT = 720.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 470.0, 12.0, 350.0
#: Between the names at the lines' ends, and the marks below.
APART, MARKS_APART = 16.0, 30.0
LONGEST_NAME = 34
#: Each of them stands out by 3:1 or more from white and from a dark page.
COLOURS = ("#2f7fc2", "#d55e00", "#0f9070", "#b0659a", "#8a7a2a", "#7f7f7f", "#6c71c4", "#b5651d")


@dataclass(frozen=True, slots=True)
class Line:
    """A curve through (x, y) points, x above 0 and ascending; `spread`: by how much y varies, for each point."""

    name: str
    points: tuple[tuple[float, float], ...]
    spread: tuple[float, ...] = ()
    is_dashed: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """A line laid out: `points` and `band` as SVG wants them, `lead` to where its `label` stands at (`x`, `y`)."""

    name: str
    label: str
    colour: str
    points: str
    band: str
    lead: str
    x: float
    y: float
    is_dashed: bool


@dataclass(frozen=True, slots=True)
class CurvePlot:
    """Curves within a frame, with marks below it and levels to its left."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    curves: tuple[Curve, ...]
    marks: tuple[Tick, ...]
    levels: tuple[Tick, ...]


def convergence_lines(report: Convergence, name: Callable[[str], str] = str) -> list[Line]:
    """How agreement grows, with its standard deviation over runs; metrics without judgments are flat and dashed."""
    curves = []
    for metric in report.metrics:
        points = [(point.judgments, point.agreement, point.sd or 0.0) for point in metric.points]
        defined = [(float(x), y, sd) for x, y, sd in points if y is not None]
        spreads = tuple(sd for _x, _y, sd in defined)
        curves.append(Line(name(metric.metric), tuple((x, y) for x, y, _sd in defined), spreads))
    ends = (float(report.sizes[0]), float(report.sizes[-1])) if report.sizes else ()
    flat = [
        Line(name(baseline.metric), tuple((x, baseline.agreement) for x in ends), is_dashed=True)
        for baseline in report.baselines
        if baseline.agreement is not None
    ]
    return [*curves, *flat]


def curve_plot(lines: Sequence[Line]) -> CurvePlot:
    """Lay the lines out over the logarithm of x; dashed ones come first, so that the others lie over them."""
    lines = [line for line in lines if line.points]
    numbers = sorted({x for line in lines for x, _y in line.points}) or [1.0]
    across = Scale(math.log(numbers[0]), math.log(numbers[-1]), LEFT, RIGHT)
    up, levels = axis([y for line in lines for y in _reach(line)], BOTTOM, TOP)
    heights = _apart([up.at(line.points[-1][1]) for line in lines])
    curves = [
        _curve(line, COLOURS[number % len(COLOURS)], across, up, height)
        for number, (line, height) in enumerate(zip(lines, heights, strict=True))
    ]
    marks = spread([Tick(across.at(math.log(x)), f"{x:g}") for x in numbers], MARKS_APART)
    in_order = sorted(curves, key=lambda curve: not curve.is_dashed)
    return CurvePlot(WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM, tuple(in_order), marks, levels)


def line_plot(lines: Sequence[Line], x_title: str, y_title: str, label: str) -> str:
    """The lines as an SVG document. `label`: what it shows, for who cannot see it."""
    plot = curve_plot(lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plot.width} {plot.height}" width="{plot.width}" '
        f'height="{plot.height}" role="img" aria-label="{escape(label)}" font-family="Helvetica, Arial, sans-serif" '
        'font-size="12">',
        '<g stroke="currentColor" stroke-opacity=".16">',
        *(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{level.at}" y2="{level.at}"/>' for level in plot.levels),
        '</g><g text-anchor="end" font-size="11">',
        *(f'<text x="{LEFT - 8}" y="{level.at}" dy=".35em">{level.label}</text>' for level in plot.levels),
        f'<text x="{RIGHT}" y="{BOTTOM + 38}">{escape(x_title)}</text>',
        f'<text transform="translate(12 {TOP}) rotate(-90)">{escape(y_title)}</text>',
        '</g><g text-anchor="middle" font-size="11">',
        *(f'<text x="{mark.at}" y="{BOTTOM + 18}">{mark.label}</text>' for mark in plot.marks),
        "</g>",
        *(_drawn(curve) for curve in plot.curves),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _drawn(curve: Curve) -> str:
    dashes = ' stroke-dasharray="6 4"' if curve.is_dashed else ""
    band = f'<polygon points="{curve.band}" fill="{curve.colour}" fill-opacity=".18"/>' if curve.band else ""
    return (
        f'{band}<polyline points="{curve.points}" fill="none" stroke="{curve.colour}" stroke-width="2"{dashes}/>'
        f'<path d="{curve.lead}" stroke="{curve.colour}" stroke-opacity=".5"/>'
        f'<text x="{curve.x}" y="{curve.y}" dy=".35em"><title>{escape(curve.name)}</title>{escape(curve.label)}</text>'
    )


def _reach(line: Line) -> Iterator[float]:
    for (_x, y), varies in zip(line.points, line.spread or (0.0,) * len(line.points), strict=True):
        yield from (y - varies, y + varies)


def _curve(line: Line, colour: str, across: Scale, up: Scale, height: float) -> Curve:
    places = [(across.at(math.log(x)), y) for x, y in line.points]
    points = " ".join(f"{x},{up.at(y)}" for x, y in places)
    band = ""
    if line.spread:
        above = [f"{x},{up.at(y + varies)}" for (x, y), varies in zip(places, line.spread, strict=True)]
        below = [f"{x},{up.at(y - varies)}" for (x, y), varies in zip(places, line.spread, strict=True)]
        band = " ".join([*above, *reversed(below)])
    lead = f"M{places[-1][0]},{up.at(places[-1][1])}L{RIGHT + 14},{height}"
    label = line.name if len(line.name) <= LONGEST_NAME else f"{line.name[: LONGEST_NAME - 1]}…"
    return Curve(line.name, label, colour, points, band, lead, RIGHT + 18, height, line.is_dashed)


def _apart(heights: Sequence[float]) -> list[float]:
    """As near to these as names may stand one below the other, within the frame as far as there is room."""
    order = sorted(range(len(heights)), key=lambda k: heights[k])
    placed = list(heights)
    below = TOP - APART
    for k in order:
        placed[k] = below = max(placed[k], below + APART)
    above = max(BOTTOM, TOP + APART * len(heights)) + APART
    for k in reversed(order):
        placed[k] = above = min(placed[k], above - APART)
    return [round(height, 2) for height in placed]
