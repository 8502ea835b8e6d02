"""Consistency of annotators with themselves: printed examples, limits, symmetries."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from preferendum.annotators.consistency import circular_triads
from preferendum.statistics import even_odds_p


def test_somebody_who_always_prefers_the_left_is_biased_and_somebody_fair_is_not() -> None:
    assert even_odds_p(20, 20) == pytest.approx(2 / 2**20)
    assert even_odds_p(10, 20) == 1
    assert even_odds_p(3, 20) == pytest.approx(even_odds_p(17, 20))
    assert even_odds_p(0, 0) is None


def all_above(order: list[int]) -> NDArray[np.float64]:
    n = len(order)
    wins = np.zeros((n, n))
    for i, above in enumerate(order):
        wins[above, order[i + 1 :]] = 1
    return wins


def test_a_ranking_has_no_circular_triads_and_a_circle_of_three_is_one() -> None:
    circle = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=float)

    assert circular_triads(all_above([2, 0, 3, 1])) == (0, 4)
    assert circular_triads(circle) == (1, 1)


@given(st.integers(3, 8), st.integers(0, 1000))
def test_circular_triads_are_what_the_row_sums_say(n: int, seed: int) -> None:
    """Kendall & Babington Smith (1940): d = C(n, 3) - sum a (a - 1) / 2, with a the wins of each item."""
    upper = np.triu(np.random.default_rng(seed).integers(0, 2, (n, n)), 1)
    wins = (upper + np.tril(1 - upper.T, -1)).astype(float)
    rows = wins.sum(axis=1)

    circular, triples = circular_triads(wins)

    assert triples == math.comb(n, 3)
    assert circular == math.comb(n, 3) - sum(rows * (rows - 1) / 2)


def test_where_pairs_are_missing_the_share_is_taken_among_whole_triples() -> None:
    wins = np.zeros((4, 4))
    wins[[0, 1, 2, 0], [1, 2, 0, 3]] = 1  # a circle of three, and a fourth that met one of them

    assert circular_triads(wins) == (1, 1)


def test_a_pair_won_as_often_as_lost_counts_as_not_judged() -> None:
    wins = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=float)

    assert circular_triads(wins) == (0, 0)
