"""Curves as an SVG file for a paper: lines in nine colours, two axes, a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 450, 20, 350
TICKS = 5
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999933", "#882255")


@dataclass(frozen=True, slots=True)
class Line:
    """A curve through (x, y) points, under its name."""

    name: str
    points: tuple[tuple[float, float], ...]
    is_dashed: bool = False


def line_plot(lines: Sequence[Line], x_title: str, y_title: str) -> str:
    """The curves as an SVG document."""
    points = np.array([point for line in lines for point in line.points], dtype=np.float64).reshape(-1, 2)
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.ones(2))
    scale = np.array([RIGHT - LEFT, TOP - BOTTOM]) / np.where(high > low, high - low, 1.0)
    places = [(np.array(line.points).reshape(-1, 2) - low) * scale + [LEFT, BOTTOM] for line in lines]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<path d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}" fill="none" stroke="#444"/>',
        *_ticks(low, high),
        f'<text x="{(LEFT + RIGHT) / 2}" y="{BOTTOM + 40}" text-anchor="middle">{escape(x_title)}</text>',
        f'<text transform="translate(14 {(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">',
        f"{escape(y_title)}</text>",
        *(part for k, (line, own) in enumerate(zip(lines, places, strict=True)) for part in _curve(k, line, own)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _ticks(low: np.ndarray, high: np.ndarray) -> Iterator[str]:
    for share in np.linspace(0, 1, TICKS):
        x, y = low + share * (high - low)
        left, bottom = LEFT + share * (RIGHT - LEFT), BOTTOM + share * (TOP - BOTTOM)
        yield f'<text x="{left:.1f}" y="{BOTTOM + 16}" text-anchor="middle">{x:.0f}</text>'
        yield f'<text x="{LEFT - 6}" y="{bottom + 4:.1f}" text-anchor="end">{y:.2f}</text>'


def _curve(number: int, line: Line, places: np.ndarray) -> Iterator[str]:
    colour = _COLOURS[number % len(_COLOURS)]
    style = f'fill="none" stroke="{colour}" stroke-width="2"' + ' stroke-dasharray="6 4"' * line.is_dashed
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    y = TOP + 10 + 18 * number
    yield f'<polyline points="{path}" {style}/>'
    yield f'<path d="M{RIGHT + 12} {y}h24" {style}/>'
    yield f'<text x="{RIGHT + 42}" y="{y + 4}">{escape(line.name)}</text>'
