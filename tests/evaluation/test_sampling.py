"""Pairs to ask about: random ones all different and equally likely, others those that tell most."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import chisquare

from preferendum.fit import sampling
from preferendum.fit.sampling import informative_pairs, random_pairs


@given(st.integers(0, 40), st.integers(0, 1000), st.integers(0, 2**32))
def test_pairs_are_different_and_in_order_and_there_are_as_many_as_wanted_or_left(
    n: int, count: int, seed: int
) -> None:
    pairs = [tuple(pair) for pair in random_pairs(n, count, seed).tolist()]

    assert len(pairs) == len(set(pairs)) == min(count, n * (n - 1) // 2)
    assert all(0 <= i < j < n for i, j in pairs)


@given(st.integers(2, 40), st.integers(0, 100), st.integers(0, 100), st.integers(0, 2**32))
def test_a_shorter_queue_is_the_beginning_of_a_longer_one(n: int, count: int, more: int, seed: int) -> None:
    longer = random_pairs(n, count + more, seed).tolist()

    assert random_pairs(n, count, seed).tolist() == longer[:count]


@given(st.integers(2, 20), st.integers(0, 2**32), st.data())
def test_pairs_that_are_taken_do_not_come_again(n: int, seed: int, data: st.DataObject) -> None:
    every = [(i, j) for j in range(n) for i in range(j)]
    taken = data.draw(st.lists(st.sampled_from(every), unique=True))
    left = {tuple(pair) for pair in random_pairs(n, len(every), seed, taken).tolist()}

    assert left == set(every) - set(taken)


@pytest.mark.parametrize("shuffled", [0, sampling._SHUFFLED], ids=["drawn one by one", "shuffled"])
def test_every_pair_is_equally_likely_to_be_asked_first(shuffled: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_SHUFFLED", shuffled)
    first = Counter(tuple(random_pairs(5, 1, seed)[0].tolist()) for seed in range(2000))

    assert len(first) == 10
    assert chisquare(list(first.values())).pvalue > 1e-4


def test_a_large_topic_needs_no_list_of_all_its_pairs() -> None:
    pairs = random_pairs(1_000_000, 1000, 7)

    assert len({tuple(pair) for pair in pairs.tolist()}) == 1000
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert pairs.max() < 1_000_000
    assert pairs.mean() > 300_000


def test_different_seeds_ask_differently() -> None:
    assert random_pairs(30, 10, 1).tolist() != random_pairs(30, 10, 2).tolist()


def test_the_pair_whose_answer_tells_most_is_of_close_sentences_of_which_little_is_known() -> None:
    utilities = np.array([0.0, 0.1, 4.0, 4.1, 0.0, 0.1])
    unsure = np.diag([2.0, 2.0, 1.0, 1.0, 0.01, 0.01])

    pairs = [tuple(pair) for pair in informative_pairs(utilities, unsure, 3, 0).tolist()]

    assert pairs[0] == (0, 1)
    assert not {(4, 5), (0, 2), (1, 3)} & set(pairs)  # known well, or far apart


def test_no_two_pairs_of_a_queue_tell_the_same() -> None:
    """Two answers that would have told most, had the first one not told it."""
    unsure = np.diag([3.0, 3.0, 2.9, 2.9])

    pairs = informative_pairs(np.zeros(4), unsure, 2, 0)

    assert sorted(pairs.ravel().tolist()) == [0, 1, 2, 3]


def test_what_a_queue_will_tell_is_taken_from_the_covariance_as_if_it_were_worked_out_anew() -> None:
    rng = np.random.default_rng(3)
    root = rng.normal(size=(12, 12))
    covariance, utilities = root @ root.T / 12, rng.normal(size=12)
    first = informative_pairs(utilities, covariance, 1, 0)[0]
    d = np.eye(12)[first[0]] - np.eye(12)[first[1]]
    v = d @ covariance @ d
    p = expit((utilities[first[0]] - utilities[first[1]]) / np.sqrt(1 + np.pi * v / 8))
    told = covariance - np.outer(covariance @ d, covariance @ d) * p * (1 - p) / (1 + p * (1 - p) * v)

    two = informative_pairs(utilities, covariance, 2, 0)[1]

    # The weights are those of before; they hardly change which pair is best.
    assert two.tolist() == informative_pairs(utilities, told, 1, 0, {tuple(first.tolist())})[0].tolist()


@given(st.integers(2, 30), st.integers(1, 60), st.integers(0, 2**32), st.data())
def test_a_queue_repeats_no_pair(n: int, count: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    every = [(i, j) for j in range(n) for i in range(j)]
    taken = data.draw(st.sets(st.sampled_from(every)))
    unsure = np.diag(np.where(np.arange(n) < 2, 100.0, 0.1))

    pairs = [tuple(pair) for pair in informative_pairs(rng.normal(size=n), unsure, count, seed, taken).tolist()]

    assert len(set(pairs)) == len(pairs) == min(count, len(every) - len(taken))
    assert not set(pairs) & taken
    assert all(i < j for i, j in pairs)


def test_a_topic_of_which_every_pair_is_taken_has_nothing_to_ask() -> None:
    assert informative_pairs(np.zeros(2), np.eye(2), 5, 0, {(0, 1)}).shape == (0, 2)
