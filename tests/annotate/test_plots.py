"""Plots: everything lies where its value says, ticks are round, labels are readable."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from annotate.reports import set_plots
from annotate.reports.plots import decimals, interval_plot, rank_plot, shortened
from formats.axes import Scale, axis, round_step
from formats.results import DocumentSet, Scatter, ScatterPoint, ScoreMatrix

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


def test_rows_of_an_interval_plot_stand_in_their_order_with_the_dot_inside() -> None:
    plot = interval_plot([("a", 3.0, 2.0, 4.0), ("b" * 50, 1.0, None, None)])
    first, second = plot.rows
    assert first.y < second.y < plot.bottom
    assert first.low is not None
    assert first.high is not None
    assert plot.left <= second.x < first.low < first.x < first.high <= plot.right
    assert (second.low, second.high) == (None, None)
    assert second.label == "b" * 31 + "…"
    assert second.whole_label == "b" * 50


def test_wide_letters_are_given_more_room() -> None:
    assert interval_plot([("漢" * 9, 1.0, None, None)]).left > interval_plot([("a" * 9, 1.0, None, None)]).left


def test_a_course_ends_beside_its_label() -> None:
    plot = rank_plot([(10, ["a", "b", "c"]), (20, ["b", "a", "c"]), (400, ["b", "c", "a"])])
    ends = {course.label: course for course in plot.courses}
    assert list(ends) == ["b", "c", "a"]
    for course in plot.courses:
        assert course.dots[-1][1] == course.y
        assert course.x > course.dots[-1][0]
    heights = [rank.at for rank in plot.ranks]
    assert [y for _, y in ends["a"].dots] == heights
    assert [y for _, y in ends["b"].dots] == [heights[1], heights[0], heights[0]]
    # 10 and 20 lie too close to 400's scale to be read side by side; the last one is always there.
    assert plot.ticks[-1].label == "400"
    assert len(plot.ticks) == 2


@given(st.text(max_size=100))
def test_a_label_is_never_longer_than_there_is_room(label: str) -> None:
    assert len(shortened(label)) <= 32
    assert shortened(label) == label or shortened(label).endswith("…")


def test_topics_are_marked_as_they_differ_from_the_chosen_one() -> None:
    sets = [DocumentSet("a", 5, 3.0, 2.0, 4.0, ("c",)), DocumentSet("b", 5, 5.0, 4.0, 6.0, ())]
    sets.append(DocumentSet("c", 5, 9.0, 8.0, 10.0, ("a",)))
    ranks = set_plots.rank_intervals(sets, sets[0])
    assert ranks is not None
    assert [(row.topic.topic, row.mark) for row in ranks.rows] == [("c", "differs"), ("b", ""), ("a", "chosen")]
    assert set_plots.rank_intervals([], None) is None


def test_a_grid_is_darker_where_scores_are_higher_and_people_stand_apart() -> None:
    grid = set_plots.score_grid(ScoreMatrix(("t", "u"), ("m", "n", "p"), 2, ((0.0, None, 4.0), (1.0, 2.0, 3.0))))
    assert grid is not None
    fills = [cell.fill for cell in grid.cells]
    assert [fills[0], fills[1], fills[2]] == [set_plots.COLOURS[0], set_plots.MISSING, set_plots.COLOURS[-1]]
    m, n, p = (cell.x for cell in grid.cells[:3])
    assert math.isclose(p - n, n - m + set_plots.APART)
    assert grid.humans_at == p
    assert p + grid.cell_width <= grid.width
    assert set_plots.score_grid(ScoreMatrix(("t",), ("m",), 1, ((None,),))) is None


def test_a_grid_of_very_many_systems_is_a_picture_without_words() -> None:
    names = tuple(f"system {k}" for k in range(set_plots.MOST_TITLED + 1))
    grid = set_plots.score_grid(ScoreMatrix(("t",), names, len(names), ((1.0,) * len(names),)))
    assert grid is not None
    assert not grid.is_titled
    assert grid.columns == ()


def test_the_line_of_a_scatter_goes_on_to_the_lowest_person() -> None:
    machines = tuple(ScatterPoint(f"m{k}", True, float(k), 2.0 * k) for k in range(3))
    people = (ScatterPoint("A", False, 6.0, 20.0), ScatterPoint("B", False, 5.0, 15.0))
    plot = set_plots.scatter_plot(Scatter("overall", "m", machines + people, 2.0, 0.0, 1.0, 6.5))
    assert plot is not None
    assert plot.line is not None
    assert plot.drop is not None
    dots = {dot.point.system: dot for dot in plot.dots}
    assert plot.line[:2] == (dots["m0"].x, dots["m0"].y)
    assert plot.line[2] == plot.drop[0] == dots["B"].x
    assert plot.drop == (dots["B"].x, plot.line[3], dots["B"].y)
    assert dots["A"].label == "A"
    assert set_plots.scatter_plot(Scatter("overall", "m", ())) is None


def test_labels_of_a_scatter_touch_no_other() -> None:
    crowd = tuple(ScatterPoint(f"a rather long name {k}", True, k / 1000, k / 1000) for k in range(40))
    far = (ScatterPoint("far", True, 0.0, 1.0), ScatterPoint("the last to the right", True, 1.0, 1.0))
    plot = set_plots.scatter_plot(Scatter("overall", "m", crowd + far))
    assert plot is not None
    assert {dot.label: dot.is_left for dot in plot.dots if dot.point in far} == {"far": False, far[1].system: True}
    labelled = [dot.label for dot in plot.dots if dot.label]
    assert "far" in labelled
    assert len(labelled) < 10
