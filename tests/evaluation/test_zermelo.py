"""Zermelo's model: worked examples from print, the plain iteration as reference, symmetries and limits."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from preferendum.fit import newton, uncertainty, zermelo
from preferendum.fit.kernel import Pairs
from tests.conftest import SHARED

CLASSICS = SHARED / "bt_classics"
Matrix = NDArray[np.float64]

# Wins of rows over columns. Baseball, American League East 1987 (Agresti 2002, table 10.11); citations among four
# journals, cited over citing (Stigler 1994).
BASEBALL_TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
BASEBALL = np.array(
    [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ],
    dtype=float,
)
JOURNALS = ("Biometrika", "Comm Statist", "JASA", "JRSS-B")
CITATIONS = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]], dtype=float)


def problem(rng: np.random.Generator) -> Matrix | sparse.csr_array:
    """Judgments of every kind: few or many, clear-cut or not, weighted, with ties, in weakly linked halves."""
    n = int(rng.integers(2, 25))
    m = int(rng.integers(1, 12 * n))
    utilities = rng.normal(size=n) * rng.choice([0.3, 1.0, 2.0])
    a = rng.integers(n, size=m)
    b = (a + rng.integers(1, n, size=m)) % n
    kind = rng.choice(["counted", "weighted", "ties", "everything", "halves"])
    if kind == "halves":
        inside = (a < n // 2) == (b < n // 2)
        a, b = a[inside], b[inside]
    share = (rng.random(len(a)) < 1 / (1 + np.exp(utilities[b] - utilities[a]))).astype(float)
    if kind == "ties":
        share[rng.random(len(a)) < 0.3] = 0.5
    weight = rng.random(len(a)) * 5 if kind == "weighted" else np.ones(len(a))
    wins = np.zeros((n, n))
    np.add.at(wins, (a, b), share * weight)
    np.add.at(wins, (b, a), (1 - share) * weight)
    if kind == "everything":
        wins += rng.random((n, n)) ** 6
    if kind == "halves":
        wins[0, n - 1] += rng.choice([0.0, 0.1])
        wins[n - 1, 0] += 0.2
    return sparse.csr_array(wins) if rng.random() < 0.5 else wins


def outcome(solve, preferences, prior):
    try:
        return solve(preferences, prior=prior)
    except zermelo.Undetermined:
        return None


# With a prior Zermelo's own iteration looks for the common scale each time, and takes seconds: every fourth will do.
@pytest.mark.parametrize(
    ("prior", "seed"), [(0.0, seed) for seed in range(200)] + [(0.1, seed) for seed in range(0, 200, 4)]
)
def test_the_fast_fit_agrees_with_zermelos_own_iteration(prior, seed):
    preferences = problem(np.random.default_rng(seed))
    fast, plain = outcome(zermelo.fit, preferences, prior), outcome(zermelo.plain, preferences, prior)
    assert (fast is None) == (plain is None)
    if fast is not None:
        assert np.abs(fast.utilities - plain.utilities).max() <= 1e-7
        assert fast.residual <= 1e-9


def test_both_kinds_of_outcome_are_among_the_two_hundred_problems():
    outcomes = [outcome(zermelo.fit, problem(np.random.default_rng(seed)), 0.0) for seed in range(200)]
    assert 20 < sum(one is None for one in outcomes) < 180


@pytest.mark.parametrize("solve", [zermelo.fit, zermelo.plain])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_baseball_has_the_printed_abilities(solve, kind):
    utilities = solve(kind(BASEBALL), prior=0).utilities
    assert np.round(utilities - utilities[-1], 2).tolist() == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0]


def test_citations_have_the_printed_export_scores():
    """Firth (2005), table of the citations model, relative to Biometrika."""
    utilities = zermelo.fit(CITATIONS, prior=0).utilities
    assert np.round(utilities - utilities[0], 3).tolist() == [0.0, -2.949, -0.48, 0.269]


@pytest.mark.shared("bt_classics")
@pytest.mark.parametrize(
    ("dataset", "wins", "names"),
    [("baseball1987", BASEBALL, BASEBALL_TEAMS), ("citations_stigler1994", CITATIONS, JOURNALS)],
)
def test_classics_agree_with_reference_maximum_likelihood_to_eight_digits(dataset, wins, names):
    rows = [json.loads(line) for line in (CLASSICS / "reference_mle.jsonl").read_text().splitlines()]
    expected = {row["item"]: row["log_utility_mean0"] for row in rows if row["dataset"] == dataset}
    utilities = zermelo.fit(wins, prior=0).utilities
    assert utilities == pytest.approx([expected[name] for name in names], abs=1e-8)


def test_baseball_has_the_standard_errors_that_r_gives():
    """Turner and Firth (2012), BradleyTerry2: differences from Baltimore; Agresti says about 0.3 for each."""
    fit = zermelo.fit(BASEBALL, prior=0)
    errors = uncertainty.fisher(fit.utilities, Pairs.of(sparse.csr_array(BASEBALL)))
    others = np.arange(6)
    assert np.round(errors.difference(others, np.full(6, 6)), 4).tolist() == [
        0.3433,
        0.3396,
        0.3367,
        0.3359,
        0.3339,
        0.3319,
    ]


def test_two_sentences_have_the_odds_of_their_wins():
    fit = zermelo.fit(np.array([[0.0, 3.0], [1.0, 0.0]]), prior=0)
    assert fit.strengths == pytest.approx([0.75, 0.25], abs=1e-12)
    assert fit.utilities == pytest.approx([np.log(3) / 2, -np.log(3) / 2], abs=1e-12)


def test_one_judgment_with_a_prior_has_the_strength_of_its_equation():
    """v + 1/v by symmetry: prior + 1 = v^2 / (v^2 + 1) + 2 prior v / (1 + v), for prior 1 the root of a cubic."""
    fit = zermelo.fit(np.array([[0.0, 1.0], [0.0, 0.0]]), prior=1.0)
    v = np.exp(fit.utilities[0])
    assert fit.utilities[0] == -fit.utilities[1]
    assert v**2 / (v**2 + 1) + 2 * v / (1 + v) == pytest.approx(2.0, abs=1e-9)


def test_the_diagonal_says_nothing():
    with_diagonal = CITATIONS + np.diag([714.0, 425.0, 1072.0, 188.0])
    for kind in (np.asarray, sparse.csr_array):
        fit = zermelo.fit(kind(with_diagonal), prior=0)
        assert fit.utilities == pytest.approx(zermelo.fit(CITATIONS, prior=0).utilities, abs=1e-10)


def test_equal_wins_make_equal_strengths():
    wins = np.ones((5, 5))
    for prior in (0.0, 1.0):
        assert zermelo.fit(wins, prior=prior).strengths == pytest.approx(np.full(5, 0.2), abs=1e-12)


def test_the_stronger_the_prior_the_more_equal_the_strengths():
    spreads = [np.ptp(zermelo.fit(BASEBALL, prior=prior).utilities) for prior in (0.0, 1.0, 100.0, 1e6)]
    assert all(more > less for more, less in pairwise(spreads))
    assert spreads[-1] < 1e-4


def test_without_judgments_a_prior_makes_all_equal():
    fit = zermelo.fit(np.zeros((3, 3)), prior=0.5)
    assert fit.utilities.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("solve", [zermelo.fit, zermelo.plain])
@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_no_sentence_and_one_sentence_are_no_trouble(solve, prior):
    assert len(solve(np.zeros((0, 0)), prior=prior).strengths) == 0
    assert solve(np.zeros((1, 1)), prior=prior).strengths.tolist() == [1.0]


def test_what_leaves_the_strengths_undetermined_is_named():
    wins = np.zeros((5, 5))
    wins[[0, 1, 2, 0, 3, 4], [1, 2, 0, 3, 4, 3]] = 1  # 0, 1, 2 in a circle, all above the circle of 3 and 4
    for kind in (np.asarray, sparse.csr_array):
        with pytest.raises(zermelo.Undetermined, match="small prior") as caught:
            zermelo.fit(kind(wins), prior=0)
        assert caught.value.unbeaten == (0, 1, 2)
        assert caught.value.groups == 2


def test_the_smallest_unbeaten_group_is_named():
    wins = np.zeros((5, 5))
    wins[[0, 1, 2], [1, 2, 0]] = 1
    wins[3, 4] = 1
    with pytest.raises(zermelo.Undetermined) as caught:
        zermelo.fit(wins, prior=0)
    assert caught.value.unbeaten == (3,)
    assert caught.value.groups == 3


def test_too_few_iterations_raise():
    for solve in (zermelo.fit, zermelo.plain):
        with pytest.raises(newton.NotConverged, match="2 iterations") as caught:
            solve(BASEBALL, prior=0, max_iterations=2)
        assert caught.value.residual > 0


@pytest.mark.parametrize(
    ("wins", "prior", "complaint"),
    [
        (np.zeros((2, 3)), 1.0, "square"),
        (np.array([[0.0, -1.0], [2.0, 0.0]]), 1.0, "never negative"),
        (sparse.csr_array(np.array([[0.0, -1.0], [2.0, 0.0]])), 1.0, "never negative"),
        (np.array([[0.0, np.nan], [2.0, 0.0]]), 1.0, "finite"),
        (np.ones((2, 2)), -1.0, "virtual wins"),
        (np.ones((2, 2)), np.nan, "virtual wins"),
    ],
)
def test_what_cannot_be_a_preference_is_refused(wins, prior, complaint):
    with pytest.raises(ValueError, match=complaint):
        zermelo.fit(wins, prior=prior)


def test_extreme_odds_are_found():
    """Utilities 46 apart."""
    wins = np.array([[0.0, 1e10, 0.0], [1.0, 0.0, 1e10], [0.0, 1.0, 0.0]])
    fit = zermelo.fit(wins, prior=0)
    assert fit.utilities == pytest.approx([np.log(1e10), 0.0, -np.log(1e10)], abs=1e-6)


def test_a_long_row_of_neighbours_is_fitted():
    """The worst graph there is for conjugate gradients, which carry news by one neighbour a step."""
    n = 2000
    row = np.arange(n - 1)
    wins = sparse.coo_array(
        (np.tile([2.0, 1.0], n - 1), (np.stack([row, row + 1], 1).ravel(), np.stack([row + 1, row], 1).ravel())),
        shape=(n, n),
    ).tocsr()
    fit = zermelo.fit(wins, prior=0.1)
    assert fit.residual <= 1e-9


sizes = st.integers(min_value=2, max_value=12)


@st.composite
def preference_matrices(draw):
    n = draw(sizes)
    entries = st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0, 0.3])
    values = draw(st.lists(entries, min_size=n * n, max_size=n * n))
    return np.array(values).reshape(n, n)


@settings(deadline=None)
@given(preference_matrices(), st.sampled_from([0.1, 1.0, 3.0]))
def test_every_sentence_is_expected_to_win_as_often_as_it_did(wins, prior):
    fit = zermelo.fit(wins, prior=prior)
    v = np.exp(fit.log_strengths)
    compared = wins + wins.T
    np.fill_diagonal(compared, 0)
    expected = (compared * v[:, None] / np.add.outer(v, v)).sum(axis=1) + 2 * prior * v / (1 + v)
    observed = wins.sum(axis=1) - np.diag(wins) + prior
    assert expected == pytest.approx(observed, rel=1e-7)
    assert fit.strengths.sum() == pytest.approx(1.0)
    assert fit.utilities.sum() == pytest.approx(0.0, abs=1e-9)
    assert np.log(fit.strengths) - np.log(fit.strengths).mean() == pytest.approx(fit.utilities, abs=1e-9)


@settings(deadline=None)
@given(preference_matrices(), st.randoms(use_true_random=False))
def test_names_do_not_matter(wins, random):
    order = list(range(len(wins)))
    random.shuffle(order)
    renamed = zermelo.fit(wins[np.ix_(order, order)])
    assert renamed.utilities == pytest.approx(zermelo.fit(wins).utilities[order], abs=1e-8)


@settings(deadline=None)
@given(preference_matrices())
def test_the_other_way_round_is_the_other_way_up(wins):
    assert zermelo.fit(wins.T).utilities == pytest.approx(-zermelo.fit(wins).utilities, abs=1e-8)


@settings(deadline=None)
@given(preference_matrices(), st.integers(min_value=0, max_value=1000), st.sampled_from([0.1, 5.0]))
def test_where_it_starts_does_not_matter(wins, seed, spread):
    start = np.random.default_rng(seed).normal(size=len(wins)) * spread
    assert zermelo.fit(wins, start=start).utilities == pytest.approx(zermelo.fit(wins).utilities, abs=1e-8)


@settings(deadline=None)
@given(preference_matrices())
def test_dense_and_sparse_are_the_same(wins):
    assert zermelo.fit(sparse.csr_array(wins)).utilities == pytest.approx(zermelo.fit(wins).utilities, abs=1e-8)


@settings(deadline=None)
@given(preference_matrices(), st.sampled_from([0.25, 2.0, 10.0]))
def test_judging_all_again_with_as_strong_a_prior_changes_nothing(wins, times):
    again = zermelo.fit(wins * times, prior=0.5 * times)
    assert again.utilities == pytest.approx(zermelo.fit(wins, prior=0.5).utilities, abs=1e-7)


@settings(deadline=None)
@given(preference_matrices(), st.integers(min_value=0), st.integers(min_value=0))
def test_one_more_win_never_harms(wins, winner, loser):
    n = len(wins)
    winner, loser = winner % n, loser % n
    more = wins.copy()
    more[winner, loser] += 1.0
    before, after = zermelo.fit(wins), zermelo.fit(more)
    assert after.log_strengths[winner] >= before.log_strengths[winner] - 1e-8
