"""Intervals and p-values: printed examples and limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preferendum.statistics import benjamini_hochberg, holm, mean, median, percentile_interval, robust_z

FIFTEEN = np.array(
    [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1]
)


def test_false_discoveries_are_held_down_as_benjamini_and_hochberg_printed() -> None:
    assert (benjamini_hochberg(FIFTEEN) <= 0.05).sum() == 4
    assert (holm(FIFTEEN) <= 0.05).sum() == 3


def test_holm_multiplies_the_smallest_by_their_number() -> None:
    found = holm(np.array([0.04, 0.01, 0.03, math.nan, 0.9]))
    assert found == pytest.approx([0.09, 0.04, 0.09, math.nan, 0.9], nan_ok=True)
    # Holm (1979): p .01, .04, .03, .005 at four tests become .03, .06, .06, .02.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20).map(np.array))
def test_adjusted_p_values_are_larger_and_in_the_same_order(p: np.ndarray) -> None:
    for adjusted in (holm(p), benjamini_hochberg(p)):
        assert np.all(adjusted >= p - 1e-12)
        assert np.all(adjusted <= 1)
        assert np.all(np.diff(adjusted[np.argsort(p)]) >= -1e-12)
    assert np.all(benjamini_hochberg(p) <= holm(p) + 1e-12)


def test_the_interval_is_the_middle_of_the_resamples_that_are_defined() -> None:
    assert percentile_interval(np.array([*np.linspace(0, 1, 101), math.nan])) == pytest.approx((0.025, 0.975))
    assert math.isnan(percentile_interval(np.array([math.nan]))[0])


def test_a_mean_and_a_median_say_how_sure_they_are_and_nothing_of_nothing() -> None:
    of_two = mean(np.array([0.0, 2.0]), chance=0.0)
    assert (of_two.value, of_two.n, of_two.chance) == (1.0, 2, 0.0)
    assert of_two.high == pytest.approx(1 + 1.96, abs=0.001)
    assert (mean(np.array([3.0])).value, mean(np.array([3.0])).low) == (3.0, None)
    assert mean(np.empty(0)).value is median(np.empty(0)).value is None
    # Of ten values the second and the ninth hold the median in 97.9 of 100 samples, the third and the eighth in 89.1.
    assert median(np.arange(10.0)).value == 4.5
    assert (median(np.arange(10.0)).low, median(np.arange(10.0)).high) == (1.0, 8.0)
    assert median(np.arange(5.0)).low is None


def test_a_robust_z_knows_no_outliers_and_needs_three_values_that_differ() -> None:
    z = robust_z(np.array([1.0, 2.0, 3.0, math.nan, 1000.0]))
    assert z[:3] == pytest.approx(np.array([-1.5, -0.5, 0.5]) / 1.4826)
    assert math.isnan(z[3])
    assert np.isnan(robust_z(np.array([1.0, 2.0]))).all()
    assert np.isnan(robust_z(np.ones(9))).all()
