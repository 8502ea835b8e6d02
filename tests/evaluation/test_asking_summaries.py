"""Which pairs of summaries come next."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy.sparse import coo_array, csgraph

from evaluation.scoring.asking_summaries import next_pairs
from evaluation.scoring.win_rate import Answers, win_rates
from tests.evaluation.test_win_rate import answers_of

NONE = np.zeros(0, dtype=np.int64)
NO_ANSWERS = Answers((), (), NONE, NONE, NONE, np.zeros(0), np.zeros(0), NONE)


def texts(systems: int, topics: int) -> dict[str, dict[str, str]]:
    return {f"T{t:02}": {f"S{s:02}": f"text of {s}" for s in range(systems)} for t in range(topics)}


def test_before_any_answer_systems_come_equally_often_and_are_connected():
    queues = next_pairs(texts(12, 8), NO_ANSWERS, None, 4, seed=0)
    pairs = [pair for queue in queues.values() for pair in queue]
    number = Counter(system for pair in pairs for system in pair)
    assert max(number.values()) - min(number.values()) <= 1
    a, b = (np.array([int(pair[side][1:]) for pair in pairs]) for side in (0, 1))
    assert csgraph.connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(12, 12)))[0] == 1


def test_no_pair_has_one_text_or_comes_twice():
    summaries = {"T": {"A": "same", "B": "same", "C": "other", "D": "same"}}
    queue = next_pairs(summaries, NO_ANSWERS, None, 10, seed=0)["T"]
    assert sorted(map(sorted, queue)) == [["A", "C"], ["B", "C"], ["C", "D"]]


def test_systems_and_topics_with_the_fewest_answers_come_first():
    given = answers_of(6, 4, 200, 0)
    busy = (given.topic != 2) & (given.first != 3) & (given.second != 3)
    names = ("topic", "first", "second", "outcome", "weight", "annotator")
    kept = Answers(given.systems, given.topics, *(getattr(given, name)[busy] for name in names))
    queues = next_pairs(texts(6, 4), kept, win_rates(kept), 2, seed=0)
    assert next(iter(queues)) == "T02"
    assert all("S03" in queue[0] for queue in queues.values())


def test_pairs_that_were_answered_come_last():
    given = Answers(
        ("S00", "S01", "S02"), ("T00",), *(np.array([k]) for k in (0, 0, 1)), np.ones(1), np.ones(1), np.zeros(1, int)
    )
    queue = next_pairs(texts(3, 1), given, win_rates(given), 3, seed=0)["T00"]
    assert set(queue[-1]) == {"S00", "S01"}


def test_of_equally_rare_systems_the_least_certain_pair_comes_first():
    given = answers_of(4, 1, 4000, 0, spread=3.0, ties=0.0)
    ring = (given.second - given.first) % 4 != 2
    names = ("topic", "first", "second", "outcome", "weight", "annotator")
    rates = win_rates(Answers(given.systems, given.topics, *(getattr(given, name)[ring] for name in names)))
    queue = next_pairs(texts(4, 1), NO_ANSWERS, rates, 1, seed=0)["T00"]
    gap = {
        frozenset((a, b)): abs(rates.effects.alpha[i] - rates.effects.alpha[j])
        for i, a in enumerate(rates.standing.systems)
        for j, b in enumerate(rates.standing.systems)
        if i < j
    }
    assert gap[frozenset(queue[0])] < np.median([*gap.values()])
