"""Chances of being preferred: what a fit expects, corrected by what the judgments say beyond it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from preferendum.evidence import Judgments, Settings
from preferendum.fit import kernel, preference_matrix, sampling
from preferendum.fit.chances import Chances, fitted_chances
from preferendum.fit.chances import chances as chances_of_pairs
from preferendum.fit.similarity import KnownSimilarity
from preferendum.scoring import asking

UTILITIES = np.array([1.5, 0.5, -0.3, -1.7])


def chances(utilities: np.ndarray, variance: float, judged: Judgments) -> Chances:
    pairs = kernel.Pairs.of(preference_matrix.wins(judged, len(utilities)))
    return chances_of_pairs(utilities, pairs, np.full(len(pairs), variance), judged)


def judgments(a: list[int], b: list[int], outcome: list[float], weight: list[float] | None = None) -> Judgments:
    m = len(a)
    return Judgments(
        np.array(a), np.array(b), np.array(outcome), np.array(weight or [1.0] * m), np.zeros(m, dtype=np.int64)
    )


def drawn(count: int, rng: np.random.Generator) -> Judgments:
    a = rng.integers(4, size=count)
    b = (a + rng.integers(1, 4, size=count)) % 4
    outcome = (rng.random(count) < expit(UTILITIES[a] - UTILITIES[b])).astype(float)
    return Judgments(a, b, outcome, np.ones(count), np.zeros(count, dtype=np.int64))


def test_values_are_followed_by_hand_where_the_fit_knows_nothing():
    found = chances(np.zeros(3), 0.0, judgments([0, 0], [1, 2], [1.0, 1.0]))
    # Each of two wins was expected by half: 3 / (2 * 2) * 1/2 for each.
    assert found.values == pytest.approx([0.5 + 0.75, 0.5 - 0.375, 0.5 - 0.375])
    assert found.fitted == pytest.approx([0.5, 0.5, 0.5])
    assert found.error == pytest.approx(np.sqrt(0.25 * 9 / (2 * 1 * 2)))


def test_a_fit_is_believed_where_the_judgments_agree_with_it():
    # Of the four pairs between two sentences of log odds ln 3 the first wins three.
    utilities = np.array([np.log(3), 0.0])
    found = chances(utilities, 0.0, judgments([0] * 4, [1] * 4, [1.0, 1.0, 1.0, 0.0]))
    assert found.fitted == pytest.approx([0.75, 0.25])
    assert found.values == pytest.approx(found.fitted)


def test_a_judgment_is_held_against_what_was_expected_without_it():
    one_win = judgments([0], [1], [1.0])
    with_itself, without_itself = (chances(UTILITIES, variance, one_win) for variance in (0.0, 1.0))
    assert without_itself.values[0] > with_itself.values[0]


@pytest.mark.parametrize("believed", [np.zeros(4), UTILITIES, -UTILITIES])
def test_values_are_right_on_average_and_no_farther_off_than_they_say_however_wrong_the_fit(believed: np.ndarray):
    rng = np.random.default_rng(1)
    found = [chances(believed, 0.0, drawn(40, rng)) for _ in range(1000)]
    values = np.array([one.values for one in found])
    error = np.mean([one.error for one in found])
    assert values.mean(axis=0) == pytest.approx(fitted_chances(UTILITIES), abs=4 * error / np.sqrt(1000))
    assert 0.7 * error < values.std(axis=0).mean() < error


@pytest.mark.parametrize("ties", [0.0, 0.24, 0.45])
@pytest.mark.parametrize("judged_each", [1, 3])
def test_values_are_as_far_off_as_they_say_however_many_answers_are_ties(ties: float, judged_each: int):
    rng, n, pairs = np.random.default_rng(3), 30, 150
    utilities = rng.normal(size=n)
    found = []
    for _ in range(400):
        a = np.repeat(rng.integers(n, size=pairs), judged_each)
        b = (a + np.repeat(rng.integers(1, n, size=pairs), judged_each)) % n
        wins = (rng.random(len(a)) < expit(utilities[a] - utilities[b])).astype(float)
        outcome = np.where(rng.random(len(a)) < ties, 0.5, wins)
        judged = Judgments(a, b, outcome, np.ones(len(a)), np.zeros(len(a), dtype=np.int64))
        found.append(chances(0.5 * utilities, 0.0, judged))
    claimed = np.sqrt(np.mean([one.error**2 for one in found]))
    assert np.sqrt(np.var([one.values for one in found], axis=0).mean()) == pytest.approx(claimed, rel=0.05)


def test_ties_alone_do_not_make_values_sure():
    found = chances(np.zeros(4), 0.0, judgments([0, 1, 2], [1, 2, 3], [0.5] * 3))
    assert found.error == pytest.approx(np.sqrt(0.25 / 3 * 16 / (2 * 2 * 3)))


def test_a_prior_does_not_draw_values_towards_a_half_as_it_does_the_fit():
    rng = np.random.default_rng(2)
    fitted, values = [], []
    for _ in range(120):
        judged = drawn(20, rng)
        estimate = preference_matrix.estimate(judged, 4, KnownSimilarity(np.eye(4)), Settings())
        fitted.append(estimate.chances.fitted)
        values.append(estimate.chances.values)
    truth = fitted_chances(UTILITIES) - 0.5
    slopes = [float((np.mean(rows, axis=0) - 0.5) @ truth / (truth @ truth)) for rows in (fitted, values)]
    assert slopes[0] < 0.94 < slopes[1]
    assert slopes[1] == pytest.approx(1.0, abs=0.04)


def test_several_judgments_of_a_pair_say_less_than_as_many_of_different_ones():
    """Annotators who hardly err, four a pair: sums of values err as far as they say."""
    rng = np.random.default_rng(6)
    utilities, weights = rng.normal(size=20) * 3, rng.normal(size=(20, 20))
    weights -= weights.mean(axis=1, keepdims=True)
    z = []
    for _ in range(60):
        first, second = np.repeat(sampling.random_pairs(20, 25, int(rng.integers(1 << 30))), 4, axis=0).T
        wins = (rng.random(100) < expit(utilities[first] - utilities[second])).astype(float)
        found = estimated(Judgments(first, second, wins, np.ones(100), np.zeros(100, dtype=np.int64))).chances
        assert found.error is not None
        z.append(
            weights @ (found.values - fitted_chances(utilities)) / np.sqrt(np.square(weights).sum(axis=1)) / found.error
        )
    assert np.sqrt(np.mean(np.square(z))) == pytest.approx(1.0, abs=0.15)


def coin_after_asking(rng: np.random.Generator) -> Judgments:
    """A coin's answers about 20 random pairs of 20 sentences, and about twice 40 pairs that a fit then asks for."""
    pairs, heads = sampling.random_pairs(20, 20, int(rng.integers(1 << 30))), (rng.random(100) < 0.5).astype(float)
    for _ in range(2):
        fit, taken = estimated(coin(pairs, heads)), [tuple(pair) for pair in pairs.tolist()]
        asked = asking.informative_pairs(fit.utilities, fit.covariance, 40, 0, taken).pairs
        pairs = np.concatenate([pairs, asked])
    return coin(pairs, heads)


def coin(pairs: np.ndarray, heads: np.ndarray) -> Judgments:
    m = len(pairs)
    by_lot = (np.arange(m) < 20).astype(float)
    return Judgments(pairs[:, 0], pairs[:, 1], heads[:m], np.ones(m), np.zeros(m, dtype=np.int64), by_lot)


def estimated(judged: Judgments) -> preference_matrix.Estimate:
    return preference_matrix.estimate(judged, 20, KnownSimilarity(np.eye(20)), Settings())


def test_answers_about_chosen_pairs_do_not_make_a_coin_look_sure():
    """Sums of values err as far as they say, though they would not if the chosen pairs were taken for random ones."""
    rng = np.random.default_rng(4)
    weights = rng.normal(size=(20, 20))
    weights -= weights.mean(axis=1, keepdims=True)
    z = []
    for _ in range(60):
        judged = coin_after_asking(rng)
        both = estimated(judged).chances, estimated(replace(judged, design=np.ones(len(judged)))).chances
        z.append([weights @ found.values / found.error / np.sqrt(np.square(weights).sum(axis=1)) for found in both])
    as_chosen, as_random = np.sqrt(np.mean(np.square(z), axis=(0, 2)))
    assert as_chosen == pytest.approx(1.0, abs=0.1)
    assert as_random > 1.2


def test_answers_about_chosen_pairs_still_help_the_fit():
    judged = coin_after_asking(np.random.default_rng(5))
    assert not np.allclose(estimated(judged).chances.fitted, estimated(judged.some(judged.design > 0)).chances.fitted)


def test_where_no_pair_was_drawn_at_random_nobody_can_say_how_sure_values_are():
    judged = coin_after_asking(np.random.default_rng(6))
    found = estimated(judged.some(judged.design == 0)).chances
    assert found.error is None
    assert found.values.tolist() == found.fitted.tolist()


def test_values_have_mean_one_half():
    assert chances(UTILITIES, 0.0, drawn(15, np.random.default_rng(3))).values.mean() == pytest.approx(0.5)


def test_equal_weights_of_any_size_say_the_same():
    once, thrice = (
        chances(UTILITIES, 0.0, judgments([0, 1, 2], [1, 2, 3], [1.0, 0.0, 0.5], [weight] * 3)) for weight in (1.0, 3.0)
    )
    assert thrice.values == pytest.approx(once.values)
    assert thrice.error == pytest.approx(once.error)


def test_unequal_weights_say_less_than_equal_ones():
    equal, unequal = (
        chances(np.zeros(4), 0.0, judgments([0, 1, 2], [1, 2, 3], [1.0] * 3, weight))
        for weight in ([1.0, 1.0, 1.0], [2.0, 0.9, 0.1])
    )
    assert unequal.error > equal.error


def test_without_judgments_all_sentences_are_alike():
    found = Chances.without_judgments(3)
    assert found.error is None
    assert found.values.tolist() == found.fitted.tolist() == [0.5] * 3
    assert Chances.without_judgments(0).values.shape == (0,)
