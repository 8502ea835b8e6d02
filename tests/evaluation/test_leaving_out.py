"""Win rates without some of the answers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from preferendum.scoring import leaving_out
from preferendum.scoring.leaving_out import JudgedSummaries
from preferendum.scoring.smallest_set import smallest_set
from preferendum.scoring.win_rate import Answers


def answers(seed: int, systems: int, topics: int, number: int, annotators: int) -> Answers:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 0.7, systems) + rng.normal(0, 0.5, (topics, systems))
    topic, first = rng.integers(0, topics, number), rng.integers(0, systems, number)
    second = (first + rng.integers(1, systems, number)) % systems
    won = rng.random(number) < 1 / (1 + np.exp(theta[topic, second] - theta[topic, first]))
    names = (tuple(f"{kind}{k}" for k in range(n)) for kind, n in (("s", systems), ("t", topics)))
    who = rng.integers(0, annotators, number)
    return Answers(*names, topic, first, second, won.astype(np.float64), np.ones(number), who)


@pytest.mark.parametrize("seed", range(4))
def test_no_set_that_is_smaller_by_two_changes_the_first_place(seed: int) -> None:
    judged = JudgedSummaries(answers(seed, 4, 3, 16, 2), range(16))
    found = smallest_set([judged])
    assert found is not None
    first = judged.systems.index(found.first)
    for out in combinations(range(16), max(len(found.judgments) - 2, 0)):
        kept = ~np.isin(np.arange(16), out)
        scores = judged.scores_of(kept)
        assert scores.argmax() == first or len(found.judgments) < 2


def test_what_an_answer_moves_is_near_what_a_fit_without_it_says() -> None:
    judged = JudgedSummaries(answers(1, 6, 10, 300, 4))
    shares = np.eye(6)[0] - np.eye(6)[1]
    nearly = judged.moved(shares)
    for answer in range(0, 300, 30):
        exact = shares @ (judged.scores_of(np.arange(300) != answer) - judged.scores)
        assert nearly[answer] == pytest.approx(exact, abs=0.1 * np.abs(nearly).max())


def test_among_many_annotators_one_step_tells_what_each_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    judged = JudgedSummaries(answers(2, 6, 20, 1200, 40))
    exact = judged.influence(range(40))
    monkeypatch.setattr(leaving_out, "MOST_FITTED", 0)
    nearly = judged.influence(range(40))
    change = np.array(exact.without, dtype=float) - exact.scores
    assert np.abs(np.array(nearly.without, dtype=float) - exact.without).max() < 0.2 * np.abs(change).max()


def test_nobody_can_tell_what_a_system_is_without_its_only_annotator() -> None:
    made = answers(3, 4, 5, 60, 3)
    about_one = (made.first == 0) | (made.second == 0)
    made = made.some(~about_one | (made.annotator == 0))
    without = JudgedSummaries(made).influence([0, 1]).without
    assert without[0][0] is None
    assert None not in without[1]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_of_answers_that_all_say_the_same_no_set_leaves_another_system_first(number: int) -> None:
    places, ones = np.zeros(number, dtype=np.int64), np.ones(number)
    made = Answers(("s0", "s1"), ("t0",), places, places, places + 1, ones, ones, np.arange(number))
    judged = JudgedSummaries(made, range(number))
    assert smallest_set([judged]) is None
    assert judged.kept.all()
