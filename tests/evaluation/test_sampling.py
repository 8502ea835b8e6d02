"""Pairs to ask about: all different, all equally likely, the same for the same seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from evaluation import sampling
from evaluation.sampling import random_pairs


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
