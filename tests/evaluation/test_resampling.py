"""Tests and intervals: printed examples, cases small enough to count out, and what must be the same."""

import math
from collections.abc import Callable
from dataclasses import astuple
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from preferendum.methods.meta.correlation import pearson
from preferendum.methods.meta.resampling import (
    PairTests,
    Resamples,
    of_mixed,
    paired_tests,
    permutation_test,
    signed_ranks,
    williams,
)
from preferendum.statistics import percentile_interval

# Student (1908): hours of sleep gained with two drugs; the differences of ten patients.
FIRST_DRUG = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND_DRUG = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
# Hollander & Wolfe (1973), p. 29: depression before and after; no ties, no zeros.
BEFORE = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
AFTER = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
# Benjamini & Hochberg (1995), section 4.1.


def p_values(tests: PairTests) -> list[float]:
    return list(astuple(tests)[4:])


def test_two_drugs_differ_as_student_found() -> None:
    found = paired_tests(np.array([SECOND_DRUG, FIRST_DRUG]), draws=2000, seed=0)[0]

    assert found.topics == 10
    assert found.difference == pytest.approx(1.58)
    assert found.t == pytest.approx(0.002833, abs=5e-7)
    assert found.wilcoxon == pytest.approx(0.009091, abs=5e-7)  # a zero and ties: approximate, corrected


@given(st.integers(0, 10_000))
def test_the_t_tests_are_scipys(seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(2, 7))

    tests = paired_tests(scores, draws=1, seed=0)[0]

    assert tests.t == pytest.approx(stats.ttest_rel(*scores).pvalue, rel=1e-9)
    assert tests.unpaired == pytest.approx(stats.ttest_ind(*scores).pvalue, rel=1e-9)


def test_signed_ranks_without_ties_are_exact() -> None:
    assert signed_ranks(np.array(BEFORE) - np.array(AFTER)) == pytest.approx(0.0390625, abs=1e-12)


def test_signed_ranks_see_equal_differences_as_equal() -> None:
    """.31 - .27 and .42 - .38 are both .04, though not in floats."""
    in_floats = np.array([0.31 - 0.27, 0.42 - 0.38, -(0.31 - 0.28), 0.09, 0.11])

    assert signed_ranks(in_floats) == signed_ranks(np.array([0.04, 0.04, -0.03, 0.09, 0.11]))


# Names, scores of two systems; exact p of the swap test by |T| and by |W|, counted out over all 2^n exchanges.
EXCHANGED = {
    "continuous": (
        [0.31, 0.42, 0.28, 0.55, 0.47, 0.39, 0.61, 0.22, 0.35, 0.5, 0.44, 0.29],
        [0.27, 0.4, 0.3, 0.43, 0.41, 0.36, 0.52, 0.25, 0.31, 0.41, 0.45, 0.2],
        *(0.0146484375, 0.01220703125),
    ),
    "all equal": ([3.0] * 8, [3.0] * 8, 1.0, 1.0),
    "one differs": ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 7], 1.0, 1.0),
    "one topic": ([0.5], [0.4], 1.0, 1.0),
    "constant": ([2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6], 0.03125, 0.03125),
    "sleep": (FIRST_DRUG, SECOND_DRUG, 0.00390625, 0.00390625),
}


@pytest.mark.parametrize("case", EXCHANGED)
def test_on_few_topics_the_swap_tests_are_exact(case: str) -> None:
    first, second, by_t, by_w = EXCHANGED[case]

    tests = paired_tests(np.array([first, second], dtype=float), draws=10, seed=0)[0]

    assert (tests.swap, tests.swap_w) == (by_t, by_w)


def test_on_more_topics_the_swap_tests_come_near_what_is_exact() -> None:
    """Darwin's maize: 15 pairs of plants; .05267 by |T| and .04126 by |W| over all 32,768 exchanges."""
    crossed = [23.5, 12, 21, 22, 19.125, 21.5, 22.125, 20.375, 18.25, 21.625, 23.25, 21, 22.125, 23, 12]
    selfed = [17.375, 20.375, 20, 20, 18.375, 18.625, 18.625, 15.25, 16.5, 18, 16.25, 18, 12.75, 15.5, 18]

    tests = paired_tests(np.array([crossed, selfed]), draws=40_000, seed=0)[0]

    assert tests.swap == pytest.approx(0.05267, abs=0.005)
    assert tests.swap_w == pytest.approx(0.04126, abs=0.005)
    assert tests.unpaired == pytest.approx(0.0214144836900339, abs=1e-12)


def test_hybrids_recompute_their_statistics_on_each_resample() -> None:
    """Against all 4^4 draws of four topics and all 2^4 exchanges of each."""
    differences = np.array([1.0, 3.0, -0.5, 3.0])
    every_draw = np.array(list(product(differences, repeat=4)))
    every_sign = np.array(list(product([-1, 1], repeat=4)))
    exchanged = (every_draw[:, None] * every_sign).reshape(-1, 4)

    def absolute_t(z: np.ndarray) -> float:
        return math.inf if np.ptp(z) == 0 else abs(stats.ttest_1samp(z, 0).statistic)

    def absolute_w(z: np.ndarray) -> float:
        return abs((np.sign(z) * stats.rankdata(np.abs(z))).sum())

    tests = paired_tests(np.array([differences, np.zeros(4)]), draws=40_000, seed=1)[0]

    for p, statistic in ((tests.hybrid_t, absolute_t), (tests.hybrid_w, absolute_w)):
        exact = np.mean([statistic(z) >= statistic(differences) - 1e-9 for z in exchanged])
        assert p == pytest.approx(exact, abs=0.01)


def test_topics_that_one_of_the_two_lacks_are_never_drawn() -> None:
    """The same two differences beside a topic that a third system alone has, and one that only the first has."""
    gap = math.nan
    scores = np.array([[1.0, 3.0, gap, 9.0], [0.0, 0.0, gap, gap], [1.0, 1.0, 1.0, 1.0]])

    tests = paired_tests(scores, draws=2000, seed=1)[0]

    assert (tests.topics, tests.difference) == (2, 2)
    assert tests == paired_tests(scores[:2, :2], draws=2000, seed=1)[0]


def test_randomised_p_values_count_the_observed_arrangement() -> None:
    clear = np.array([np.arange(1.0, 31.0), np.zeros(30)])

    tests = paired_tests(clear, draws=99, seed=0)[0]

    assert {tests.swap, tests.swap_w, tests.hybrid_w} == {1 / 100}


def test_only_topics_that_both_systems_have_are_used() -> None:
    scores = np.array([[1.0, 2.0, 4.0, math.nan], [0.5, 1.0, 1.0, 9.0], [math.nan, math.nan, math.nan, 1.0]])

    found = {(pair.first, pair.second): pair for pair in paired_tests(scores, draws=200, seed=0)}

    whole = paired_tests(scores[:2, :3], draws=200, seed=0)[0]
    assert (found[0, 1].topics, found[0, 1].t, found[0, 1].wilcoxon) == (3, whole.t, whole.wilcoxon)
    assert found[0, 2].topics == 0
    assert all(math.isnan(p) for p in p_values(found[0, 2]))


def test_systems_that_never_differ_are_not_told_apart() -> None:
    found = paired_tests(np.ones((2, 8)), draws=100, seed=0)[0]

    assert set(p_values(found)) == {1}


@given(st.integers(0, 10_000))
def test_the_order_of_two_systems_changes_no_p_value(seed: int) -> None:
    scores = np.random.default_rng(seed).integers(1, 6, (2, 9)).astype(float)

    there, back = (paired_tests(rows, draws=50, seed=3)[0] for rows in (scores, scores[::-1]))

    assert there.difference == -back.difference
    assert p_values(there) == pytest.approx(p_values(back), nan_ok=True)


def test_williams_is_the_printed_one() -> None:
    """The example of Steiger (1980) as the documentation of R's `psych` prints it: t -.89, p .37."""
    t, p = williams(0.4, 0.5, 0.1, 103)

    assert (t, p) == pytest.approx((-0.89, 0.37), abs=0.005)


@given(st.floats(-0.9, 0.9), st.floats(-0.9, 0.9), st.floats(-0.3, 0.9), st.integers(4, 200))
def test_williams_is_antisymmetric(a: float, b: float, between: float, n: int) -> None:
    t, p = williams(a, b, between, n)

    assert williams(b, a, between, n) == pytest.approx((-t, p))


def test_williams_is_undefined_for_fewer_than_four_items() -> None:
    assert all(map(math.isnan, williams(0.5, 0.6, 0.2, 3)))
    assert all(map(math.isnan, williams(math.nan, 0.6, 0.2, 30)))


def test_williams_rejects_one_in_twenty_where_nothing_differs() -> None:
    rng = np.random.default_rng(0)
    third, noise = rng.normal(size=(2000, 40)), rng.normal(size=(2, 2000, 40))
    p = []
    for h, a, b in zip(third, third + noise[0], third + noise[1], strict=True):
        r = np.corrcoef([h, a, b])
        p.append(williams(r[0, 1], r[0, 2], r[1, 2], 40)[1])

    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.015)


def correlation_with(human: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    flat = human.reshape(1, -1)
    return lambda scores: pearson(flat, scores.reshape(len(scores), -1), np.ones((len(scores), human.size)))


def test_a_metric_does_not_differ_from_itself_or_from_itself_on_another_scale() -> None:
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(2, 6, 5))

    for other in (metric, 3 * metric + 10):
        assert permutation_test(metric, other, of_mixed(correlation_with(human)), "both", draws=50, seed=0) == 1


@pytest.mark.parametrize("over", ["systems", "topics", "both"])
def test_permutations_find_a_good_metric_better_than_noise(over: str) -> None:
    rng = np.random.default_rng(0)
    human, noise = rng.normal(size=(2, 15, 20))
    good = human + 0.1 * rng.normal(size=(15, 20))

    assert permutation_test(good, noise, of_mixed(correlation_with(human)), over, draws=199, seed=0) == pytest.approx(
        0.005
    )


@pytest.mark.parametrize("over", ["systems", "topics", "both"])
def test_permutations_reject_about_as_often_as_they_claim(over: str) -> None:
    rng = np.random.default_rng(0)
    p = []
    for _ in range(300):
        human = rng.normal(size=(8, 8))
        a, b = human + rng.normal(size=(2, 8, 8))
        p.append(permutation_test(a, b, of_mixed(correlation_with(human)), over, draws=99, seed=rng))

    assert np.mean(np.array(p) <= 0.1) == pytest.approx(0.1, abs=0.05)


def test_a_statistic_that_no_permutation_defines_speaks_for_no_difference() -> None:
    scores = np.arange(6.0).reshape(2, 3)
    undefined = lambda s: np.where((s == s[0]).all(axis=(1, 2)) & (len(s) == 1), s[:, 0, 0], np.nan)  # noqa: E731

    assert permutation_test(scores, -scores, of_mixed(undefined), "both", draws=9, seed=0) == 1


@pytest.mark.parametrize(
    ("over", "system_varies", "topic_varies"), [("systems", 1, 0), ("topics", 0, 1), ("both", 1, 1)]
)
def test_what_is_drawn_with_replacement_keeps_its_number(over: str, system_varies: int, topic_varies: int) -> None:
    drawn = Resamples.drawn(5, 7, over, draws=30, seed=2)

    assert np.all(drawn.systems.sum(axis=1) == 5)
    assert np.all(drawn.topics.sum(axis=1) == 7)
    assert (np.ptp(drawn.systems) > 0, np.ptp(drawn.topics) > 0) == (system_varies, topic_varies)
    assert np.array_equal(drawn.systems, Resamples.drawn(5, 7, over, draws=30, seed=2).systems)


def test_percentile_intervals_of_a_mean_cover_it() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        sample = rng.normal(1.0, 2.0, 40)
        drawn = Resamples.drawn(1, 40, "topics", draws=200, seed=rng).topics
        low, high = percentile_interval(drawn @ sample / 40)
        covered += low <= 1.0 <= high

    assert stats.binomtest(covered, 400, 0.94).pvalue > 0.01
