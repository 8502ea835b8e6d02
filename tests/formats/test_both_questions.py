"""Two orders of the same systems, and how alike they are."""

from __future__ import annotations

import pytest
from scipy.stats import kendalltau

from preferendum.results import LeaderboardRow
from preferendum.show.analyses.both_questions import BothQuestions


def rows(**scores: float) -> list[LeaderboardRow]:
    return [LeaderboardRow(system, score, None, None, None, 1, 1, 1, 1) for system, score in scores.items()]


def test_tau_is_kendalls_with_ties() -> None:
    first, second = {"a": 0.9, "b": 0.5, "c": 0.5, "d": 0.1}, {"a": 3.0, "b": 4.0, "c": 2.0, "d": 2.0}
    both = BothQuestions.of("importance", rows(**first), rows(**second))
    assert both.tau == pytest.approx(kendalltau(list(first.values()), list(second.values())).statistic)


def test_an_order_turned_round_has_a_tau_of_minus_one() -> None:
    both = BothQuestions.of("importance", rows(a=3, b=2, c=1), rows(a=1, b=2, c=3))
    assert both.tau == -1
    assert BothQuestions.of("importance", rows(a=1, b=1), rows(a=1, b=2)).tau is None
