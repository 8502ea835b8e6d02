"""Agreement and consistency of people: printed examples, limits, symmetries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluation.annotators import (
    Scale,
    alpha_interval,
    circles,
    kappa,
    krippendorff_alpha,
    percent_agreement,
    repeats,
    share,
    side_bias,
)

NAN = math.nan
# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), table C: four observers, twelve units.
TABLE_C = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")


def entries(table: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    given = np.isfinite(table)
    return np.nonzero(given)[1], table[given]


tables = st.lists(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0, NAN]), min_size=4, max_size=4), min_size=2, max_size=5
).map(np.array)


@pytest.mark.parametrize(
    ("scale", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_is_krippendorffs_printed_one(scale: Scale, printed: float) -> None:
    assert krippendorff_alpha(*entries(TABLE_C), scale) == pytest.approx(printed, abs=0.0005)


def test_alpha_of_two_observers_and_two_values_is_the_printed_one() -> None:
    """Table A of the same paper: ten units, alpha .095."""
    table = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]], dtype=float)

    assert krippendorff_alpha(*entries(table)) == pytest.approx(0.095, abs=0.0005)


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_of_equal_values_is_undefined_and_of_differing_perfect_ones_one(scale: Scale) -> None:
    assert math.isnan(krippendorff_alpha(*entries(np.ones((3, 4))), scale))
    assert krippendorff_alpha(*entries(np.array([[1.0, 2.0], [1.0, 2.0]])), scale) == 1


def test_alpha_without_any_unit_judged_twice_is_undefined() -> None:
    table = np.array([[1, NAN, 2], [NAN, 1, NAN]])

    assert math.isnan(krippendorff_alpha(*entries(table)))
    assert math.isnan(alpha_interval(*entries(table)).low)
    assert percent_agreement(*entries(table)).n == 0


@given(tables, st.sampled_from(SCALES))
def test_alpha_knows_no_order_of_annotators_or_units(table: NDArray[np.float64], scale: Scale) -> None:
    alpha = krippendorff_alpha(*entries(table), scale)

    assert krippendorff_alpha(*entries(table[::-1, ::-1]), scale) == pytest.approx(alpha, nan_ok=True)
    assert math.isnan(alpha) or alpha <= 1


@given(tables)
def test_alpha_is_one_minus_the_ratio_of_mean_differences(table: NDArray[np.float64]) -> None:
    """Straight from the definition: observed over units, expected over all values that can be paired."""
    columns = [[v for v in column if not math.isnan(v)] for column in table.T]
    columns = [column for column in columns if len(column) > 1]
    values = [v for column in columns for v in column]
    observed = sum((a - b) ** 2 / (len(column) - 1) for column in columns for a in column for b in column)
    expected = sum((a - b) ** 2 for a in values for b in values)

    alpha = krippendorff_alpha(*entries(table), "interval")

    if not expected:
        assert math.isnan(alpha)
    else:
        assert alpha == pytest.approx(1 - (len(values) - 1) * observed / expected)


@given(tables)
def test_interval_alpha_does_not_mind_the_unit_of_measurement(table: NDArray[np.float64]) -> None:
    alpha = krippendorff_alpha(*entries(table), "interval")

    assert krippendorff_alpha(*entries(3 * table + 7), "interval") == pytest.approx(alpha, nan_ok=True)


def test_the_interval_holds_alpha_and_is_the_same_for_the_same_seed() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    table = np.where(rng.random((3, 200)) < 0.8, truth, 1 - truth).astype(float)

    found = alpha_interval(*entries(table), seed=7)

    assert found.low < found.value < found.high
    assert found.value == krippendorff_alpha(*entries(table))
    assert found.high - found.low < 0.3
    assert found == alpha_interval(*entries(table), seed=7)


def test_percent_agreement_counts_pairs_of_annotators() -> None:
    table = np.array([[1, 1, 0], [1, 0, NAN], [1, 0, NAN]], dtype=float)

    found = percent_agreement(*entries(table))

    assert (found.k, found.n) == (4, 6)


def test_kappa_is_cohens_printed_one() -> None:
    """Cohen (1960), table 1: the agreement of two judges on 200 patients in three classes, kappa .492."""
    counts = [(0, 0, 88), (0, 1, 14), (0, 2, 18), (1, 0, 10), (1, 1, 40), (1, 2, 10), (2, 0, 2), (2, 1, 6), (2, 2, 12)]
    first, second = (np.repeat([float(row[k]) for row in counts], [row[2] for row in counts]) for k in (0, 1))

    assert kappa(first, second) == pytest.approx(0.492, abs=0.0005)
    assert kappa(second, first) == pytest.approx(kappa(first, second))


def test_kappa_looks_only_at_what_both_judged_and_is_undefined_where_nothing_varies() -> None:
    assert kappa(np.array([1, 0, NAN, 1]), np.array([1, 0, 1, NAN])) == 1
    assert math.isnan(kappa(np.ones(5), np.ones(5)))
    assert math.isnan(kappa(np.array([NAN]), np.array([1.0])))


def test_shares_have_wilsons_interval() -> None:
    """Newcombe (1998), table I: 81 of 263 gives .2553 to .3662."""
    found = share(81, 263)

    assert (found.low, found.high) == pytest.approx((0.2553, 0.3662), abs=0.00005)
    assert math.isnan(share(0, 0).value)


def test_somebody_who_always_prefers_the_left_is_biased_and_somebody_fair_is_not() -> None:
    assert side_bias(20, 0).p == pytest.approx(2 / 2**20)
    assert side_bias(10, 10).p == 1
    assert side_bias(3, 17).p == pytest.approx(side_bias(17, 3).p)
    assert math.isnan(side_bias(0, 0).p)


def test_a_repeated_pair_counts_where_it_was_answered_twice() -> None:
    found = repeats(np.array([0, 1, 0, NAN, 1]), np.array([0, 0, NAN, 1, 1]))

    assert (found.k, found.n) == (2, 3)


def all_above(order: list[int]) -> NDArray[np.float64]:
    n = len(order)
    wins = np.zeros((n, n))
    for i, above in enumerate(order):
        wins[above, order[i + 1 :]] = 1
    return wins


def test_a_ranking_has_no_circles_and_a_circle_of_three_is_one() -> None:
    circle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)

    assert circles(all_above([2, 0, 3, 1])).circular == 0
    assert circles(all_above([2, 0, 3, 1])).zeta == 1
    assert (circles(circle).circular, circles(circle).triples, circles(circle).zeta) == (1, 1, 0)
    assert circles(circle).by_chance == 0.25


@given(st.integers(3, 8), st.integers(0, 1000))
def test_circles_are_what_the_row_sums_say(n: int, seed: int) -> None:
    """Kendall & Babington Smith (1940): d = C(n, 3) - sum a (a - 1) / 2, with a the wins of each item."""
    upper = np.triu(np.random.default_rng(seed).integers(0, 2, (n, n)), 1)
    wins = (upper + np.tril(1 - upper.T, -1)).astype(float)
    rows = wins.sum(axis=1)

    found = circles(wins)

    assert found.triples == math.comb(n, 3)
    assert found.circular == math.comb(n, 3) - sum(rows * (rows - 1) / 2)
    assert 0 <= found.zeta <= 1


def test_where_pairs_are_missing_the_share_is_taken_among_whole_triples() -> None:
    wins = np.zeros((4, 4))
    wins[[0, 1, 2, 0], [1, 2, 0, 3]] = 1  # a circle of three, and a fourth that met one of them

    found = circles(wins)

    assert (found.circular, found.triples) == (1, 1)
    assert math.isnan(found.zeta)


def test_a_pair_won_as_often_as_lost_counts_as_not_judged() -> None:
    wins = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=float)

    assert circles(wins).triples == 0
