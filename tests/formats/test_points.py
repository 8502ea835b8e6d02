"""Scores as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formats.points import unit_of, what_a_point_is
from formats.results import SourceWords


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
        ("importance", 0.14962, 0.1, 0.2, "14.96"),
        ("importance", 0.006910, -0.01, 0.02, "0.69"),
        ("importance", -0.00001, -0.01, 0.02, "0.00"),
        ("importance", 0.1234567, 0.12344, 0.12348, "12.3457"),
        ("importance", None, None, None, "–"),
        ("combined", 0.52346, 0.4, 0.6, "0.523"),
        ("published", 0.0069104, 0.006, 0.008, "0.0069"),
        ("coverage", 0.4567, 0.4567, 0.4567, "0.457"),
    ],
)
def test_digits_follow_the_interval(score, number, low, high, shown) -> None:
    assert unit_of(score, [(number, low, high)]).show(number) == shown


@given(st.lists(st.floats(1e-6, 1.0), min_size=1), st.sampled_from(["importance", "combined", "published"]))
def test_the_ends_of_an_interval_of_usual_width_look_different(widths, score) -> None:
    usual = sorted(widths)[(len(widths) - 1) // 2]
    unit = unit_of(score, [(0.0, 0.0, width) for width in widths])
    assert 10**-unit.decimals <= unit.times * usual / 10 * (1 + 1e-9) or unit.decimals == 12
    assert unit.show(0.0) != unit.show(usual)
