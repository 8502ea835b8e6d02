"""Plots: everything lies where its value says, ticks are round, labels are readable."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.results import Scatter, ScatterPoint, ScoreMatrix
from preferendum.show.plots import (
    NARROW,
    PAPER,
    WIDE,
    Drawing,
    GridWords,
    IntervalRow,
    Line,
    Scale,
    course_plot,
    curve_plot,
    decimals,
    interval_plot,
    rank_plot,
    scatter_plot,
    score_grid,
)
from preferendum.show.plots.axes import axis, round_step
from preferendum.show.plots.cells import COLOURS
from preferendum.show.plots.drawing import PAD, SMALL, fitted, width_of

numbers = st.floats(-1e6, 1e6).map(lambda value: round(value, 9))


@given(st.lists(numbers, min_size=1), st.floats(-100, 100), st.floats(110, 1000))
def test_an_axis_holds_every_value_and_has_round_ticks_inside(values: list[float], start: float, end: float) -> None:
    scale, ticks = axis(values, start, end)
    for value in values:
        assert start - 0.01 <= scale.at(value) <= end + 0.01
    assert 1 <= len(ticks) <= 8
    assert [tick.at for tick in ticks] == sorted(tick.at for tick in ticks)
    for tick in ticks:
        assert start - 0.01 <= tick.at <= end + 0.01
        assert "e" not in tick.label
    assert len({tick.label for tick in ticks}) == len(ticks)


@given(st.lists(numbers, min_size=2, max_size=20), numbers)
def test_a_tick_stands_where_its_label_says(values: list[float], other: float) -> None:
    scale, ticks = axis([*values, other], 0.0, 700.0)
    for tick in ticks:
        assert math.isclose(scale.at(float(tick.label)), tick.at, abs_tol=0.02)


@given(st.floats(1e-9, 1e9))
def test_a_step_is_one_two_or_five_times_a_power_of_ten_and_wide_enough(width: float) -> None:
    step = round_step(width)
    assert width * (1 - 1e-9) <= step <= width * 2.5 * (1 + 1e-9)
    assert f"{step:e}"[0] in "125"


def test_a_scale_of_no_width_puts_everything_in_the_middle() -> None:
    assert Scale(3.0, 3.0, 0.0, 100.0).at(3.0) == 50.0


@given(st.lists(st.floats(1e-6, 1e6), min_size=1), st.integers(2, 6))
def test_the_largest_number_is_shown_with_so_many_digits(values: list[float], digits: int) -> None:
    shown = decimals(values, digits)
    figures = f"{max(values):.{shown}f}".replace(".", "").lstrip("0")
    assert len(figures) in (digits, digits + 1) or shown == 0  # one more where rounding carries


def test_numbers_that_are_all_zero_are_shown_plainly() -> None:
    assert decimals([]) == decimals([0.0]) == 3


SVG = "{http://www.w3.org/2000/svg}"
WIDTHS = (WIDE, PAPER, NARROW)
WORDS = GridWords("All scores", "machines", "people", "no score")
MACHINES = tuple(ScatterPoint(f"m{k}", True, float(k), 2.0 * k) for k in range(3))
PERSONS = (ScatterPoint("A", False, 6.0, 20.0), ScatterPoint("B", False, 5.0, 15.0))


def parsed(drawing: Drawing | None) -> ElementTree.Element:
    assert drawing is not None
    return ElementTree.fromstring(drawing.alone("3 by people"))


def of_class(picture: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [group for group in picture.iter(f"{SVG}g") if group.get("class") == name]


def texts(picture: ElementTree.Element) -> list[str]:
    return ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]


def at(element: ElementTree.Element | None, name: str) -> float:
    assert element is not None
    return float(element.get(name, "nan"))


def family(width: float) -> list[Drawing | None]:
    """A plot of each kind."""
    rows = [IntervalRow("a" * 50, 3.0, 2.0, 4.0, "1"), IntervalRow("漢" * 20, 1.0, rank="2", mark="differs", href="?x")]
    matrix = ScoreMatrix(("t" * 40, "u"), ("m", "n", "p"), 2, ((0.0, None, 4.0), (1.0, 2.0, 3.0)))
    scatter = Scatter("overall", "m", MACHINES + PERSONS, 2.0, 0.0, 1.0, 6.5)
    return [
        interval_plot(rows, "Scores", "score", ("rank", "system"), width=width, reference=0.0),
        rank_plot([(10, ["a", "b" * 60]), (400, ["b" * 60, "a"])], "Ranks", "judgments", "rank", width=width),
        course_plot([(10, 0.1), (20, None), (30, 0.5)], "Alpha", "judgments", "alpha", width=width),
        curve_plot(
            [Line("z" * 50, ((1.0, 0.5), (100.0, 0.9)), (0.1, 0.0))], "C", "judgments", "agreement", width=width
        ),
        score_grid(matrix, WORDS, width=width),
        scatter_plot(scatter, "Systems", "metric", "human", width=width),
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_letter_of_any_plot_touches_an_edge(width: float) -> None:
    for drawing in family(width):
        picture = parsed(drawing)
        _x, _y, whole, high = map(float, picture.get("viewBox", "").split())
        assert whole == width
        for text in picture.iter(f"{SVG}text"):
            if text.get("transform"):
                continue
            room, x = width_of("".join(text.itertext()), float(text.get("font-size", "14"))), at(text, "x")
            left = {"end": x - room, "middle": x - room / 2}.get(text.get("text-anchor", ""), x)
            assert left >= PAD - 4, texts(picture)
            assert left + room <= width - 2, "".join(text.itertext())
            assert 8 < at(text, "y") <= high - 2
        *others, note = (at(text, "y") for text in picture.iter(f"{SVG}text"))
        assert note >= max(others) + 12


@pytest.mark.parametrize("width", WIDTHS)
def test_every_plot_says_what_it_is_and_what_its_axes_are(width: float) -> None:
    titles = [("rank", "system", "score"), ("rank", "judgments"), ("judgments", "alpha"), ("judgments", "agreement")]
    for drawing, words in zip(family(width), [*titles, ("people", "no score"), ("metric", "human")], strict=True):
        picture = parsed(drawing)
        assert picture.get("aria-label")
        assert set(words) <= set(texts(picture))
        assert list(picture.iter(f"{SVG}title")) or width == NARROW
        assert "3 by people" in texts(picture)


def test_what_a_name_may_hold_means_nothing_to_a_page() -> None:
    odd = "<script>\"&'"
    drawing = interval_plot([IntervalRow(odd, 1.0, href=f"?{odd}")], odd, odd)
    assert "<script" not in drawing.on_page()
    picture = parsed(drawing)
    assert picture.get("aria-label") == odd
    assert odd in texts(picture)


def test_rows_of_an_interval_plot_stand_in_their_order_with_the_dot_inside() -> None:
    rows = [IntervalRow("a", 3.0, 2.0, 4.0), IntervalRow("b" * 50, 1.0)]
    first, second = of_class(parsed(interval_plot(rows, "", "score")), "mark")
    dot, line = first.find(f"{SVG}circle"), first.find(f"{SVG}line")
    assert at(line, "x1") < at(dot, "cx") < at(line, "x2")
    assert second.find(f"{SVG}line") is None
    assert at(second.find(f"{SVG}circle"), "cx") < at(line, "x1")
    assert at(second.find(f"{SVG}circle"), "cy") > at(dot, "cy")
    assert [mark.findtext(f"{SVG}title") for mark in (first, second)] == ["a: 3 [2, 4]", f"{'b' * 50}: 1"]
    assert second.findtext(f"{SVG}text") == "b" * 50


@pytest.mark.parametrize("width", [NARROW, 1.5 * NARROW, PAPER, WIDE])
def test_an_interval_plot_cuts_no_name_that_a_line_of_it_holds(width: float) -> None:
    names = [f"{k}-{'x' * 30}" for k in range(60)]
    picture = parsed(
        interval_plot([IntervalRow(name, k, k - 1, k + 1) for k, name in enumerate(names)], "", "", width=width)
    )
    assert [row.findtext(f"{SVG}text") for row in of_class(picture, "mark")] == names


def test_a_narrow_plot_has_long_names_above_the_lines_and_no_line_goes_through_them() -> None:
    picture = parsed(interval_plot([IntervalRow("a" * 20, 1.0, 0.0, 2.0)], "", "", width=NARROW, reference=1.0))
    (row,) = of_class(picture, "mark")
    name = at(row.find(f"{SVG}text"), "y")
    assert name < at(row.find(f"{SVG}circle"), "cy")
    assert not [line for line in picture.iter(f"{SVG}line") if at(line, "y1") < name + 7 and at(line, "y2") > name - 7]


@given(st.text(max_size=60), st.floats(0, 400))
def test_a_label_takes_no_more_room_than_there_is(label: str, room: float) -> None:
    shown = fitted(label, room)
    assert width_of(shown) <= room or len(shown) <= 1
    assert shown == label or shown.endswith("…")


def test_a_course_of_ranks_ends_beside_its_name() -> None:
    picture = parsed(rank_plot([(10, ["a", "b"]), (20, ["b", "a"]), (400, ["b", "a"])], "", "judgments", "rank"))
    courses = [group for group in picture.iter(f"{SVG}g") if group.find(f"{SVG}polyline") is not None]
    assert [course.findtext(f"{SVG}text") for course in courses] == ["a", "b"], "the best lies on top"
    for course in courses:
        assert at(course.find(f"{SVG}text"), "y") == at(course.findall(f"{SVG}circle")[-1], "cy")
    assert courses[-1].find(f"{SVG}circle/{SVG}title").text == "b: 2 (10)"  # type: ignore[union-attr]
    # 10 and 20 lie too close to 400's scale to be read side by side; the last one is always there.
    assert {"10", "20"} & set(texts(picture)) != {"10", "20"}
    assert "400" in texts(picture)


def test_the_first_five_ranks_are_coloured_and_all_others_grey() -> None:
    picture = parsed(rank_plot([(10, "abcdefg"), (20, "bacdefg")], "", "judgments", "rank"))
    colours = [line.get("stroke") for line in picture.iter(f"{SVG}polyline")]
    assert (len(set(colours[2:])), len(colours)) == (5, 7)
    assert not set(colours[:2]) & set(colours[2:])


def test_a_course_breaks_where_it_has_no_value() -> None:
    course = [(10, 0.1), (20, 0.2), (30, None), (40, 0.4), (50, 0.5)]
    picture = parsed(course_plot(course, "", "judgments", "alpha"))
    assert len(list(picture.iter(f"{SVG}polyline"))) == 2
    assert len(list(picture.iter(f"{SVG}circle"))) == 4
    assert course_plot([(10, 0.1), (20, None)], "", "", "") is None


def test_topics_are_marked_as_they_differ_from_the_chosen_one() -> None:
    rows = [IntervalRow(name, 3.0, mark=mark) for name, mark in (("c", "differs"), ("b", ""), ("a", "chosen"))]
    picture = parsed(interval_plot(rows, "", ""))
    assert [len(of_class(picture, name)) for name in ("differs", "mark", "chosen")] == [1, 1, 1]
    assert of_class(picture, "differs")[0].find(f"{SVG}circle") is None


def test_a_grid_is_darker_where_scores_are_higher_and_begins_with_rows_that_have_some() -> None:
    matrix = ScoreMatrix(("none", "t"), ("m", "n", "p"), 2, ((None,) * 3, (0.0, None, 4.0)))
    picture = parsed(score_grid(matrix, WORDS))
    cells = [rect for rect in picture.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    assert [cell.findtext(f"{SVG}title") for cell in cells[:3]] == ["t, m: 0.00", "t, n: no score", "t, p: 4.00"]
    assert [cell.get("fill") for cell in cells[:3]] == [COLOURS[0], "none", COLOURS[-1]]
    m, n, p = (at(cell, "x") for cell in cells[:3])
    assert p - n > n - m
    assert score_grid(ScoreMatrix(("t",), ("m",), 1, ((None,),)), WORDS) is None


def test_a_grid_of_very_many_systems_is_a_picture_without_their_names() -> None:
    names = tuple(f"system {k}" for k in range(200))
    picture = parsed(score_grid(ScoreMatrix(("t",), names, len(names), ((1.0,) * len(names),)), WORDS))
    assert "system 1" not in texts(picture)
    assert picture.get("viewBox", "").startswith("0 0 720 ")


def test_the_line_of_a_scatter_goes_on_to_the_lowest_person() -> None:
    picture = parsed(scatter_plot(Scatter("o", "m", MACHINES + PERSONS, 2.0, 0.0, 1.0, 6.5), "", "x", "y"))
    through = next(line for line in picture.iter(f"{SVG}line") if line.get("stroke-width") == "1.5")
    drop = next(line for line in picture.iter(f"{SVG}line") if line.get("stroke-dasharray"))
    first = of_class(picture, "mark")[-1]
    assert first.findtext(f"{SVG}text") == "m0"
    assert (at(through, "x1"), at(through, "y1")) == tuple(at(first.find(f"{SVG}circle"), of) for of in ("cx", "cy"))
    lowest = of_class(picture, "differs")[-1].find(f"{SVG}rect")
    place = [float(number) for number in re.findall(r"[\d.]+", lowest.get("transform", ""))[:2]]  # type: ignore[union-attr]
    assert math.isclose(at(through, "x2"), place[0], abs_tol=0.1)
    assert (at(drop, "x1"), at(drop, "y1")) == (at(through, "x2"), at(through, "y2"))
    assert scatter_plot(Scatter("overall", "m", ()), "", "", "") is None


def test_labels_of_a_scatter_touch_no_other() -> None:
    crowd = tuple(ScatterPoint(f"a rather long name {k}", True, k / 1000, k / 1000) for k in range(40))
    far = (ScatterPoint("far", True, 0.0, 1.0), ScatterPoint("the last to the right", True, 1.0, 1.0))
    picture = parsed(scatter_plot(Scatter("overall", "m", crowd + far), "", "x", "y"))
    named = {
        text.text: float(text.get("x")) for group in of_class(picture, "mark") for text in group.iter(f"{SVG}text")
    }
    right = "the last to the right"
    ends = [float(dot.get("cx")) for dot in picture.iter(f"{SVG}circle")]
    assert named["far"] > min(ends)
    assert named[right] + width_of(right, SMALL) < max(ends)
    assert len(named) < 12


def test_names_of_curves_stand_below_where_there_is_no_room_beside_and_are_not_shortened() -> None:
    names = ["preferences:importance man+ref", "rouge-2:stop=yes,stem=yes", "js"]
    lines = [Line(name, ((10.0, 0.5), (1000.0, 0.6 + 0.1 * k)), is_dashed=k == 2) for k, name in enumerate(names)]
    wide, narrow = (curve_plot(lines, "C", "judgments", "agreement", width=width) for width in (WIDE, NARROW))
    assert set(names) <= set(texts(parsed(wide)))
    below = [text for text in parsed(narrow).iter(f"{SVG}text") if text.text in names]
    assert [text.text for text in below] == names[::-1], "the highest end first"
    assert at(below[0], "y") > 360
    for curve in of_class(parsed(narrow), "curve"):
        (way,) = curve.iter(f"{SVG}polyline")
        assert max(float(place.split(",")[0]) for place in way.get("points", "").split()) > 330
