"""The kernel prior: its mode, its evidence and its posterior, against brute force and known truths."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, sparse, special, stats

from preferendum.fit import kernel
from preferendum.fit.kernel import Mode, Pairs, Parameters
from preferendum.fit.similarity import KnownSimilarity


def pairs_of(n: int, m: int, seed: int, spread: float = 1.5) -> tuple[Pairs, np.ndarray]:
    """Judgments on random pairs, and a similarity in which neighbours are alike."""
    rng = np.random.default_rng(seed)
    place = np.arange(n)
    similarity = np.exp(-np.abs(np.subtract.outer(place, place)) / 2)
    utilities = np.linalg.cholesky(similarity) @ rng.normal(size=n) * spread
    a = rng.integers(n, size=m)
    b = (a + rng.integers(1, n, size=m)) % n
    won = rng.random(m) < special.expit(utilities[a] - utilities[b])
    wins = np.zeros((n, n))
    np.add.at(wins, (np.where(won, a, b), np.where(won, b, a)), 1.0)
    return Pairs.of(sparse.csr_array(wins)), similarity


def prior_of(similarity: np.ndarray, chosen: Parameters) -> np.ndarray:
    return chosen.variance * (chosen.share * similarity + (1 - chosen.share) * np.eye(len(similarity)))


def test_a_pair_is_listed_once_with_its_wins_either_way():
    pairs = Pairs.of(sparse.csr_array(np.array([[7.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]])))
    assert (pairs.first.tolist(), pairs.second.tolist()) == ([0, 0], [1, 2])
    assert (pairs.wins.tolist(), pairs.losses.tolist()) == ([2.0, 0.0], [1.0, 0.5])


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(2, 12), st.integers(1, 40), st.sampled_from([0.25, 4.0, 16.0]), st.booleans())
def test_the_mode_is_where_the_prior_pulls_as_hard_as_the_judgments(seed, n, m, variance, factored):
    """Whether Newton's steps are solved for with a factor, or with conjugate gradients."""
    pairs, similarity = pairs_of(n, m, seed)
    chosen = Parameters(variance, 0.6)
    with patch.object(kernel, "MOST_FACTORED", n if factored else 0):
        theta = kernel.mode(pairs, KnownSimilarity(similarity), chosen).theta
    surplus = pairs.scores(theta)[0]
    assert prior_of(similarity, chosen) @ surplus == pytest.approx(theta, abs=1e-8)


def test_scores_are_wins_observed_less_wins_expected():
    pairs = Pairs.of(sparse.csr_array(np.array([[0.0, 3.0], [1.0, 0.0]])))
    score, curvature = pairs.scores(np.array([np.log(3), 0.0]))
    assert score == pytest.approx([0.0, 0.0], abs=1e-12)
    assert curvature == pytest.approx([4 * 0.75 * 0.25])
    score, _ = pairs.scores(np.zeros(2))
    assert score.tolist() == [1.0, -1.0]


def test_without_a_similarity_sentences_are_on_their_own():
    pairs, _ = pairs_of(8, 30, 3)
    chosen = Parameters(2.0, 0.0)
    alone = kernel.mode(pairs, None, chosen).theta
    assert alone == pytest.approx(kernel.mode(pairs, KnownSimilarity(np.eye(8)), chosen).theta, abs=1e-9)


def test_an_unjudged_sentence_is_as_good_as_those_it_resembles():
    pairs = Pairs.of(sparse.csr_array(np.array([[0.0, 5.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])))
    similarity = np.array([[1.0, 0.0, 0.9], [0.0, 1.0, 0.0], [0.9, 0.0, 1.0]])
    theta = kernel.mode(pairs, KnownSimilarity(similarity), Parameters(4.0, 1.0)).theta
    assert theta[2] == pytest.approx(0.9 * theta[0])


def test_the_evidence_is_close_to_the_integral_it_stands_for():
    pairs = Pairs.of(sparse.csr_array(np.array([[0.0, 3.0], [1.0, 0.0]])))
    for variance in (0.5, 2.0, 8.0):
        bound, mean, spread = kernel.log_evidence(kernel._space(pairs, np.eye(2)), variance, np.zeros(1), np.zeros(1))
        width = np.sqrt(2 * variance)

        def likely(f, width=width):
            return special.expit(f) ** 3 * special.expit(-f) * stats.norm.pdf(f, scale=width)

        exact = integrate.quad(likely, -30, 30)[0]
        assert np.log(exact) - 0.02 <= bound <= np.log(exact) + 1e-9
        assert mean[0] == pytest.approx(integrate.quad(lambda f: f * likely(f), -30, 30)[0] / exact, abs=0.05)
        second = integrate.quad(lambda f: f * f * likely(f), -30, 30)[0] / exact
        assert spread[0] == pytest.approx(second - mean[0] ** 2, rel=0.2)


@pytest.mark.parametrize("spread", [0.7, 2.0])
def test_the_parameters_find_how_far_utilities_spread(spread):
    topics = [pairs_of(60, 900, seed, spread) for seed in range(4)]
    chosen = [kernel.parameters(pairs, KnownSimilarity(similarity)) for pairs, similarity in topics]
    assert np.mean([one.variance for one in chosen]) == pytest.approx(spread**2, rel=0.5)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 1000), st.sampled_from([20, 60]), st.sampled_from([30, 300, 3000]), st.sampled_from([0.1, 0.7, 3.0])
)
def test_variances_that_are_passed_over_would_have_changed_nothing(seed, n, m, spread):
    pairs, similarity = pairs_of(n, m, seed, spread)
    quick = kernel.parameters(pairs, KnownSimilarity(similarity))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "NEGLIGIBLE", np.inf)
        whole = kernel.parameters(pairs, KnownSimilarity(similarity))
    assert (quick.variance, quick.share) == pytest.approx((whole.variance, whole.share), rel=1e-8)


def test_most_variances_are_passed_over_where_there_are_enough_judgments_to_say():
    pairs, similarity = pairs_of(20, 3000, 0, 0.1)
    said = kernel._log_weights(kernel._space(pairs, kernel._prior(20, similarity, 0.35)))
    assert np.isfinite(said[:3]).all()
    assert np.isneginf(said[5:]).all()


def test_sentences_that_nobody_met_say_nothing_of_the_parameters():
    pairs, similarity = pairs_of(12, 40, 0)
    more = np.eye(30)
    more[np.ix_(range(3, 15), range(3, 15))] = similarity
    wide = Pairs(30, pairs.first + 3, pairs.second + 3, pairs.wins, pairs.losses)
    assert kernel.parameters(wide, KnownSimilarity(more)) == kernel.parameters(pairs, KnownSimilarity(similarity))


def test_the_parameters_tell_similar_worth_from_independent_worth():
    pairs, similarity = pairs_of(60, 600, 0, 2.0)
    shuffled = np.random.default_rng(0).permutation(60)
    assert kernel.parameters(pairs, KnownSimilarity(similarity)).share > 0.6
    assert kernel.parameters(pairs, KnownSimilarity(similarity[np.ix_(shuffled, shuffled)])).share < 0.5


def test_few_judgments_leave_the_variance_near_the_usual_one():
    pairs = Pairs.of(sparse.csr_array((np.ones(1), ([0], [1])), shape=(9, 9)))
    assert 2 < kernel.parameters(pairs, None).variance < 8


@pytest.mark.parametrize("m", [6, 60])
def test_the_posterior_solves_its_own_equations(m):
    """Mean score and mean curvature under the Gaussian, in the space of the pairs (few) or the sentences (many)."""
    pairs, similarity = pairs_of(12, m, 1)
    assert (len(pairs) < 12) == (m == 6)
    chosen = Parameters(2.0, 0.7)
    found = kernel.posterior(
        pairs, KnownSimilarity(similarity), kernel.mode(pairs, KnownSimilarity(similarity), chosen)
    )
    prior = prior_of(similarity, chosen)
    difference = found.mean[pairs.first] - found.mean[pairs.second]
    variance = np.array(
        [
            found.covariance[a, a] + found.covariance[b, b] - 2 * found.covariance[a, b]
            for a, b in zip(pairs.first, pairs.second, strict=True)
        ]
    )
    nodes = np.linspace(-8, 8, 4001)
    weights = stats.norm.pdf(nodes) * (nodes[1] - nodes[0])
    p = special.expit(difference[:, None] + np.sqrt(variance)[:, None] * nodes)
    both = pairs.wins + pairs.losses
    surplus = pairs.spread(pairs.wins - both * (p @ weights))
    assert prior @ surplus == pytest.approx(found.mean, abs=1e-3)
    precision = np.linalg.inv(prior) + pairs.laplacian(both * ((p * (1 - p)) @ weights)).toarray()
    assert found.covariance @ precision == pytest.approx(np.eye(12), abs=1e-3)


@pytest.mark.parametrize("m", [9, 60])
def test_both_spaces_give_the_same_posterior(m):
    pairs, similarity = pairs_of(12, m, 2)
    prior = kernel._prior(12, similarity, 0.7)
    weight, b = np.linspace(0.1, 1.0, len(pairs)), np.linspace(-1, 1, len(pairs))
    spaces = [
        kernel._PairSpace(pairs, prior[pairs.first] - prior[pairs.second]),
        kernel._SentenceSpace(pairs, prior.copy()),
    ]
    for variance in (0.5, 2.0):  # the second time as if there had been no first
        updates = [space.update(variance, weight, b) for space in spaces]
        assert updates[0][0] == pytest.approx(updates[1][0], abs=1e-10)
        assert updates[0][1] == pytest.approx(updates[1][1], abs=1e-10)
    assert spaces[0].log_determinant == pytest.approx(spaces[1].log_determinant, abs=1e-10)
    by_pairs, by_sentences = (space.posterior(prior) for space in spaces)
    assert by_pairs.mean == pytest.approx(by_sentences.mean, abs=1e-10)
    assert by_pairs.covariance == pytest.approx(by_sentences.covariance, abs=1e-10)
    inner = np.eye(12) + 2.0 * prior @ pairs.laplacian(weight).toarray()
    assert spaces[0].log_determinant == pytest.approx(np.linalg.slogdet(inner)[1], abs=1e-10)


def test_a_sentence_that_only_won_is_better_than_its_mode():
    pairs = Pairs.of(sparse.csr_array((np.full(3, 2.0), ([0, 0, 0], [1, 2, 3])), shape=(4, 4)))
    found = kernel.mode(pairs, None, Parameters(4.0, 0.0))
    known = kernel.posterior(pairs, None, found)
    assert known.mean[0] > found.theta[0] + 0.05


def test_too_few_iterations_raise():
    pairs, similarity = pairs_of(8, 30, 0)
    with pytest.raises(ArithmeticError, match="1 iterations"):
        kernel.mode(pairs, KnownSimilarity(similarity), Parameters(4.0, 0.5), max_iterations=1)


def test_only_so_many_pairs_speak_for_the_parameters():
    pairs, _ = pairs_of(60, 900, 0)
    some = pairs.some(100)
    assert len(some) == 100
    assert len(set(zip(some.first.tolist(), some.second.tolist(), strict=True))) == 100
    assert pairs.some(10_000) is pairs


def test_no_judgments_leave_the_prior():
    pairs = Pairs.of(sparse.csr_array((3, 3)))
    alone = KnownSimilarity(np.eye(3))
    found = kernel.mode(pairs, alone, kernel.parameters(pairs, alone))
    known = kernel.posterior(pairs, alone, found)
    assert isinstance(found, Mode)
    assert known.mean.tolist() == [0.0, 0.0, 0.0]
    assert np.diag(known.covariance) == pytest.approx(np.full(3, found.parameters.variance))
