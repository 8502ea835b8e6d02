"""One number's course over another, broken where it has no value."""

from __future__ import annotations

from collections.abc import Sequence

from preferendum.show.plots.axes import Scale, Tick, axis, decimals, spread
from preferendum.show.plots.drawing import MARK, PAD, PAPER, SMALL, Drawing, Frame, dot, element, points, width_of

TOP, BOTTOM = 30.0, 230.0


def course_plot(
    course: Sequence[tuple[int, float | None]], label: str, x_title: str, y_title: str, *, width: float = PAPER
) -> Drawing | None:
    """Lay out (number, value) in the order of the numbers, from 0; None with fewer than two values."""
    values = [value for _number, value in course if value is not None]
    if len(values) < 2:
        return None
    up, levels = axis([*values, 0.0], BOTTOM, TOP)
    left = PAD + max(width_of(level.label, SMALL) for level in levels) + 14
    right = width - PAD - 14
    across = Scale(float(course[0][0]), float(course[-1][0]), left + 6, right - 4)
    marks = spread([Tick(across.at(number), str(number)) for number, _value in course], apart=46.0)
    frame = Frame(width, left, right, TOP, BOTTOM, marks, levels, x_title, y_title, has_levels=True)
    ways: list[list[tuple[float, float]]] = [[]]
    dots, places = [], decimals([max(values) - min(values)], 3)
    for number, value in course:
        if value is None:
            ways.append([])
        else:
            ways[-1].append((across.at(number), up.at(value)))
            dots.append(dot(*ways[-1][-1], 4.0, fill=MARK, says=f"{value:.{places}f} ({number} {x_title})"))
    lines = [
        element("polyline", points=points(way), fill="none", stroke=MARK, stroke_width="2", stroke_linejoin="round")
        for way in ways
        if len(way) > 1
    ]
    return frame.drawing(label, [element("g", *lines, *dots, class_="mark")])
