"""Ranks of systems against the number of judgments."""

from __future__ import annotations

from collections.abc import Sequence

from preferendum.show.plots.axes import Scale, Tick, spread
from preferendum.show.plots.drawing import (
    PAD,
    PAPER,
    SMALL,
    Drawing,
    Frame,
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

ROW = 26.0
TOP = 28.0
#: So many systems are coloured, the best.
COLOURED = 5


def rank_plot(
    curve: Sequence[tuple[int, Sequence[str]]], label: str, x_title: str, y_title: str, *, width: float = PAPER
) -> Drawing:
    """Lay out (number of judgments, systems from best to worst), fewest judgments first; every entry names the same."""
    last = curve[-1][1]
    left = PAD + max(width_of(str(len(last)), SMALL), 8.0) + 14
    right = width - room_for(last, 0.42 * width) - PAD - 14
    numbers = [judgments for judgments, _order in curve]
    across = Scale(float(numbers[0]), float(numbers[-1]), left + 6, right - 4)
    heights = [TOP + ROW * (rank + 0.5) for rank in range(len(last))]
    marks = spread([Tick(across.at(number), str(number)) for number in numbers], apart=46.0)
    ranks = [Tick(height, str(rank)) for rank, height in enumerate(heights, 1)]
    frame = Frame(width, left, right, TOP, TOP + ROW * len(last), marks, ranks, x_title, y_title)
    courses = []
    for rank, system in enumerate(last):
        places = [(across.at(judgments), order.index(system)) for judgments, order in curve]
        courses.append(_course(system, rank, places, heights, numbers, frame))
    return frame.drawing(label, courses[::-1])


def _course(
    system: str,
    rank: int,
    places: Sequence[tuple[float, int]],
    heights: Sequence[float],
    numbers: Sequence[int],
    frame: Frame,
) -> str:
    colour = colour_of(rank, COLOURED)
    way = points((x, heights[place]) for x, place in places)
    dots = [
        dot(x, heights[place], 3.5, fill=colour, says=f"{system}: {place + 1} ({judgments})")
        for (x, place), judgments in zip(places, numbers, strict=True)
    ]  # fmt: skip
    name = fitted(system, frame.width - frame.right - PAD - 12)
    return element(
        "g",
        title(system),
        element("polyline", points=way, fill="none", stroke_width="2", stroke_linejoin="round", stroke=colour),
        *dots,
        text(frame.right + 12, heights[rank], name, dy=".35em"),
    )
