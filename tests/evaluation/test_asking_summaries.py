"""Which pairs of summaries come next."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array, csgraph

from preferendum.scoring.asking_summaries import next_pairs
from preferendum.scoring.win_rate import Answers
from tests.evaluation.test_win_rate import answers_of

NONE = np.zeros(0, dtype=np.int64)
NO_ANSWERS = Answers((), (), NONE, NONE, NONE, np.zeros(0), np.zeros(0), NONE)


def texts(systems: int, topics: int) -> dict[str, dict[str, str]]:
    return {f"T{t:02}": {f"S{s:02}": f"text of {s}" for s in range(systems)} for t in range(topics)}


def test_before_any_answer_systems_come_equally_often_and_are_connected():
    queues = next_pairs(texts(12, 8), NO_ANSWERS, 4, seed=0)
    pairs = [pair for queue in queues.values() for pair in queue]
    number = Counter(system for pair in pairs for system in pair)
    assert max(number.values()) - min(number.values()) <= 1
    a, b = (np.array([int(pair[side][1:]) for pair in pairs]) for side in (0, 1))
    assert csgraph.connected_components(coo_array((np.ones(len(a)), (a, b)), shape=(12, 12)))[0] == 1


def test_no_pair_has_one_text_or_comes_twice_however_many_are_asked_for():
    summaries = {"T": {"A": "same", "B": "same", "C": "other", "D": "same"}}
    queue = next_pairs(summaries, NO_ANSWERS, 10**9, seed=0)["T"]
    assert sorted(map(sorted, queue)) == [["A", "C"], ["B", "C"], ["C", "D"]]


def test_systems_and_topics_with_the_fewest_answers_come_first():
    given = answers_of(6, 4, 200, 0)
    busy = (given.topic != 2) & (given.first != 3) & (given.second != 3)
    names = ("topic", "first", "second", "outcome", "weight", "annotator")
    kept = Answers(given.systems, given.topics, *(getattr(given, name)[busy] for name in names))
    queues = next_pairs(texts(6, 4), kept, 2, seed=0)
    assert next(iter(queues)) == "T02"
    assert all("S03" in queue[0] for queue in queues.values())


def test_pairs_that_were_answered_come_last():
    given = Answers(
        ("S00", "S01", "S02"), ("T00",), *(np.array([k]) for k in (0, 0, 1)), np.ones(1), np.ones(1), np.zeros(1, int)
    )
    queue = next_pairs(texts(3, 1), given, 3, seed=0)["T00"]
    assert set(queue[-1]) == {"S00", "S01"}


def test_what_was_answered_does_not_change_which_pairs_come_next():
    given = answers_of(6, 4, 40, 0)
    other = replace(given, outcome=1 - given.outcome**2)
    assert next_pairs(texts(6, 4), given, 5, seed=0) == next_pairs(texts(6, 4), other, 5, seed=0)


def test_of_equally_rare_systems_two_that_were_not_yet_compared_come_first():
    """The first and the second met thrice, the third and the fourth too."""
    first, second = np.array([0, 0, 0, 2, 2, 2]), np.array([1, 1, 1, 3, 3, 3])
    given = Answers(
        ("S00", "S01", "S02", "S03"), ("T00",), np.zeros(6, int), first, second, *np.ones((2, 6)), np.zeros(6, int)
    )
    (pair,) = next_pairs(texts(4, 2), given, 1, seed=0)["T01"]
    assert {"S00", "S01"} != set(pair) != {"S02", "S03"}
