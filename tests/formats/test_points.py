"""Scores as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.methods.analyses.document_sets import show as document_sets
from preferendum.metrics.names import IMPORTANCE
from preferendum.results import DocumentSets, DocumentSetsReport, Scatter, ScatterPoint, ScoreMatrix, SourceWords
from preferendum.show.points import unit_of, what_a_point_is
from preferendum.show.shown import Figure


def test_a_point_is_what_its_sentence_says() -> None:
    # A tenth of the words, in sentences that are preferred 10 percentage points more often than average.
    words = SourceWords(20.0, 0.5, ("cat", "dog"), (1, 9), (2.0, 2.0), (0.6, 0.4), ((), ()), {"x": (0,)})
    assert words.occurrences[0] * words.idf[0] / words.total == 0.1
    (term,) = words.terms("x", "importance")
    assert unit_of("importance").show(term.contribution) == "1.00"
    assert "tenth" in what_a_point_is()


@pytest.mark.parametrize(
    ("score", "number", "low", "high", "shown"),
    [
        ("importance", 0.14962, 0.1, 0.2, "15.0"),
        ("importance", 0.14962, -0.1, 0.4, "15"),
        ("importance", 0.006910, -0.01, 0.02, "0.7"),
        ("importance", -0.00001, -0.01, 0.02, "0.0"),
        ("importance", 0.1234567, 0.12344, 0.12348, "12.3457"),
        ("importance", 0.14962, None, None, "15.0"),
        ("importance", None, None, None, "–"),
        ("win-rate", 0.872, 0.7, 0.95, "87"),
        ("win-rate", 0.872, 0.85, 0.89, "87.2"),
        ("win-rate", 0.872, None, None, "87"),
        ("combined", 0.52346, 0.4, 0.6, "0.52"),
        ("combined", 0.52346, 0.52, 0.53, "0.5235"),
        ("coverage", 0.4567, 0.4567, 0.4567, "0.457"),
        ("", 0.35123, -0.3, 0.95, "0.35"),
        ("", 0.0123, None, None, "0.0123"),
    ],
)
def test_two_digits_of_the_half_width_are_shown(score, number, low, high, shown) -> None:
    assert unit_of(score, [(number, low, high)]).show(number) == shown


@given(st.lists(st.floats(1e-6, 1.0), min_size=1), st.sampled_from(["importance", "combined", "published"]))
def test_the_ends_of_an_interval_of_usual_width_look_different(widths, score) -> None:
    usual = sorted(widths)[(len(widths) - 1) // 2]
    unit = unit_of(score, [(0.0, 0.0, width) for width in widths])
    assert 10**-unit.decimals <= unit.times * usual / 10 * (1 + 1e-9) or unit.decimals == 12
    assert unit.show(0.0) != unit.show(usual)


def test_figures_of_importance_over_document_sets_are_in_points_and_their_files_in_numbers() -> None:
    matrix = ScoreMatrix(("t",), ("a", "b"), 2, ((0.125, -0.0625),))
    scorers = tuple(
        DocumentSets(by, by == "overall", None, None, 0, 0, (), matrix) for by in ("overall", IMPORTANCE, "js")
    )
    points = ScatterPoint("a", True, 0.125, 3.0), ScatterPoint("b", True, -0.0625, 1.0)
    scatters = tuple(Scatter("overall", metric, points, 10.0, 2.0, 0.5) for metric in (IMPORTANCE, "js"))
    report = DocumentSetsReport("machines", 0.05, scorers, scatters)
    for by, drawn, unit in ((IMPORTANCE, ("12.5", "-6.2"), "(points)"), ("js", ("0.125", "-0.062"), "")):
        shown = document_sets.show(report, {"by": by})
        scores, scatter = (part for part in shown.parts if isinstance(part, Figure))
        assert all(f": {number}<" in scores.draw(700).body for number in drawn)
        assert all(f": {number}, " in scatter.draw(700).body for number in drawn)
        assert scores.title.endswith(unit)
        assert (unit or "JS divergence<") in scatter.draw(700).body
        (table,) = (table for table in shown.tables if table.name == "scatter")
        assert table.rows == (("a", 1, 0.125, 3.0), ("b", 1, -0.0625, 1.0))
