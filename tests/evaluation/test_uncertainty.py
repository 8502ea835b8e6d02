"""How sure estimates are: against known covariances, and against truths that must lie in the intervals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.archive.coverage import resampled
from preferendum.evidence import Judgments, Settings
from preferendum.fit import kernel, preference_matrix, uncertainty, zermelo
from preferendum.fit.kernel import Pairs
from preferendum.fit.similarity import KnownSimilarity
from preferendum.fit.uncertainty import DenseCovariance

SMOOTHINGS = ("none", "kernel", "paper", "sharpened")


def topic(seed: int, n: int = 40, m: int = 160, spread: float = 1.3) -> tuple[Judgments, np.ndarray, np.ndarray]:
    """Judgments, similarity, true utilities: sentences in groups of near-duplicates."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) // 4
    similarity = np.where(np.equal.outer(group, group), 0.6, 0.05)
    np.fill_diagonal(similarity, 1.0)
    utilities = np.linalg.cholesky(0.8 * similarity + 0.2 * np.eye(n)) @ rng.normal(size=n)
    utilities = (utilities - utilities.mean()) * spread
    a = rng.integers(n, size=m)
    b = (a + rng.integers(1, n, size=m)) % n
    won = rng.random(m) < 1 / (1 + np.exp(utilities[b] - utilities[a]))
    return Judgments(a, b, won.astype(float), np.ones(m), np.zeros(m, dtype=np.int64)), similarity, utilities


def coverage(smooth, seeds, *, shown=False):
    """The shares of differences that 95% intervals cover, and that a bootstrap over judgments would claim to."""
    covered, claimed = [], []
    for seed in seeds:
        judgments, similarity, utilities = topic(seed)
        n = len(utilities)
        estimate = preference_matrix.estimate(
            judgments, n, KnownSimilarity(similarity), Settings(smooth=smooth, prior=1.0)
        )
        a, b = np.triu_indices(n, 1)
        off = np.abs((estimate.utilities - utilities)[a] - (estimate.utilities - utilities)[b])
        covered.append((off <= 1.96 * estimate.covariance.difference(a, b)).mean())
        if shown:
            drawn = resampled(estimate, judgments, np.random.default_rng(seed), 30)
            claimed.append((off <= 1.96 * (drawn[:, a] - drawn[:, b]).std(axis=0)).mean())
    return float(np.mean(covered)), float(np.mean(claimed)) if shown else None


@pytest.mark.parametrize("smooth", SMOOTHINGS)
def test_intervals_cover_the_truth_as_often_as_they_say(smooth):
    assert 0.91 <= coverage(smooth, range(16))[0] <= 0.985


def test_a_bootstrap_would_be_far_too_sure_of_the_paper_s_smoothing():
    covered, claimed = coverage("paper", range(4), shown=True)
    assert claimed < 0.5 < 0.9 < covered


def test_two_sentences_without_a_prior_have_the_error_of_a_log_odds_ratio():
    pairs = Pairs.of(sparse.csr_array(np.array([[0.0, 30.0], [20.0, 0.0]])))
    utilities = zermelo.fit(np.array([[0.0, 30.0], [20.0, 0.0]]), prior=0).utilities
    errors = uncertainty.fisher(utilities, pairs)
    exact = np.sqrt(1 / 30 + 1 / 20)
    assert errors.difference(np.array([0]), np.array([1])) == pytest.approx([exact])
    assert errors.errors() == pytest.approx([exact / 2] * 2)


def test_without_a_prior_the_errors_are_fisher_s():
    wins = np.array([[0, 7, 9], [6, 0, 7], [4, 6, 0]], dtype=float)
    row, column = np.nonzero(wins)
    many = wins[row, column].astype(int)
    judgments = Judgments(
        np.repeat(row, many),
        np.repeat(column, many),
        np.ones(many.sum()),
        np.ones(many.sum()),
        np.zeros(many.sum(), dtype=np.int64),
    )
    estimate = preference_matrix.estimate(judgments, 3, None, Settings(smooth="none", prior=0.0))
    v = estimate.strengths
    weight = (wins + wins.T) * np.outer(v, v) / np.add.outer(v, v) ** 2
    information = np.diag(weight.sum(axis=1)) - weight
    assert estimate.covariance.of(np.eye(3)) == pytest.approx(np.linalg.pinv(information), abs=1e-9)


def test_the_error_of_an_estimate_holds_how_far_it_is_off():
    """Shifting an estimate by one adds the square of the shift to its variance, and nothing to other differences."""
    judgments, matrix, _ = topic(0)
    similarity = KnownSimilarity(matrix)
    pairs = Pairs.of(preference_matrix.wins(judgments, len(similarity)))
    utilities = kernel.posterior(
        pairs, similarity, kernel.mode(pairs, similarity, kernel.parameters(pairs, similarity))
    ).mean
    shifted = utilities.copy()
    shifted[3] += 1.0
    right, wrong = (uncertainty.about(one, pairs, similarity) for one in (utilities, shifted))
    first, second = np.array([3, 5]), np.array([9, 9])
    before, after = right.difference(first, second), wrong.difference(first, second)
    assert after[0] ** 2 - before[0] ** 2 == pytest.approx(1.0)
    assert after[1] == pytest.approx(before[1])


def test_more_judgments_make_errors_smaller():
    means = []
    for m in (40, 200, 1000):
        judgments, similarity, _ = topic(1, m=m)
        estimate = preference_matrix.estimate(judgments, 40, KnownSimilarity(similarity), Settings(smooth="kernel"))
        means.append(estimate.covariance.errors().mean())
    assert means[0] > 1.2 * means[1] > 1.4 * means[2]


def test_errors_differences_and_sums_agree():
    matrix = np.cov(np.random.default_rng(0).normal(size=(6, 50)))
    covariance = DenseCovariance.centred(matrix)
    assert covariance.matrix.sum(axis=0) == pytest.approx(np.zeros(6), abs=1e-12)
    a, b = np.array([0, 2]), np.array([5, 4])
    contrasts = np.zeros((2, 6))
    contrasts[[0, 1], a] = 1.0
    contrasts[[0, 1], b] = -1.0
    assert covariance.difference(a, b) == pytest.approx(np.sqrt(np.diag(covariance.of(contrasts))))
    assert covariance.difference(a, b) == pytest.approx(np.sqrt(np.diag(contrasts @ matrix @ contrasts.T)))
    centring = np.eye(6) - 1 / 6
    assert covariance.errors() == pytest.approx(np.sqrt(np.diag(centring @ matrix @ centring)))


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_large_topics_have_the_errors_of_small_ones(prior, monkeypatch):
    """From the sparse precision as from the whole matrix: sums exactly, errors and differences to some percent."""
    judgments, _, _ = topic(2, n=60, m=1500, spread=0.7)
    chosen = Settings(smooth="none", prior=prior)
    dense = preference_matrix.estimate(judgments, 60, None, chosen).covariance
    monkeypatch.setattr(uncertainty, "DENSE", 10)
    large = preference_matrix.estimate(judgments, 60, None, chosen).covariance
    assert isinstance(large, uncertainty.SparseCovariance)
    a, b = np.arange(30), np.arange(30, 60)
    assert large.errors() == pytest.approx(dense.errors(), rel=0.08)
    assert large.difference(a, b) == pytest.approx(dense.difference(a, b), rel=0.08)
    contrasts = np.random.default_rng(0).normal(size=(3, 60))
    assert np.sqrt(np.diag(large.of(contrasts))) == pytest.approx(np.sqrt(np.diag(dense.of(contrasts))), rel=0.08)


def test_large_smoothed_topics_have_the_errors_of_small_ones(monkeypatch):
    """From the similarities and the pairs as from the whole matrix."""
    judgments, matrix, _ = topic(3, n=60, m=50)
    similarity = KnownSimilarity(matrix)
    dense = preference_matrix.estimate(judgments, 60, similarity, Settings()).covariance
    monkeypatch.setattr(uncertainty, "DENSE", 10)
    large = preference_matrix.estimate(judgments, 60, similarity, Settings()).covariance
    assert isinstance(large, uncertainty.ConditionedCovariance)
    a, b = np.arange(60), np.arange(60) // 2
    assert large.errors() == pytest.approx(dense.errors())
    assert large.difference(a, b) == pytest.approx(dense.difference(a, b), abs=1e-7)
    weights = np.random.default_rng(0).normal(size=(3, 60))
    assert large.of(weights) == pytest.approx(dense.of(weights))


def test_large_topics_of_many_pairs_have_nearly_the_errors_of_small_ones(monkeypatch):
    judgments, matrix, _ = topic(3, n=60, m=300)
    similarity = KnownSimilarity(matrix)
    dense = preference_matrix.estimate(judgments, 60, similarity, Settings())
    errors, values = dense.covariance.errors(), dense.chances.values
    monkeypatch.setattr(uncertainty, "DENSE", 10)
    monkeypatch.setattr(uncertainty, "MOST_PAIRS", 20)
    large = preference_matrix.estimate(judgments, 60, similarity, Settings())
    assert large.utilities == pytest.approx(dense.utilities)
    assert large.covariance.errors() == pytest.approx(errors, rel=0.15)
    assert large.chances.values == pytest.approx(values, abs=0.05)
