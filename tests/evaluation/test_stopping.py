"""Verdicts that hold at every look: the bound of reflection, and what boards make of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from preferendum.results import Difference
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.stopping import StopRule
from tests.evaluation.test_ranking import standing


def test_with_all_planned_judgments_an_interval_is_a_seventh_wider_than_that_of_one_look() -> None:
    rule = StopRule(planned=600)
    assert rule.quantile(600) == pytest.approx(norm.ppf(1 - 0.05 / 4)) == pytest.approx(2.2414, abs=1e-4)
    assert rule.quantile(150) == pytest.approx(2 * rule.quantile(600))
    assert rule.quantile(900) == rule.quantile(600)
    assert rule.quantile(0) == np.inf


def test_a_difference_is_significant_when_its_interval_leaves_zero_out() -> None:
    rule = StopRule(planned=600)
    for judgments in (60, 300, 600):
        z = rule.quantile(judgments) * np.array([0.999, 1.001])
        np.testing.assert_array_equal(rule.p(z, judgments) <= 0.05, [False, True])
    assert rule.p(np.zeros(1), 600) == 1.0


def test_of_random_walks_one_in_twenty_ever_crosses_the_bound() -> None:
    looks, walks = 400, 4000
    steps = np.random.default_rng(0).normal(size=(walks, looks)).cumsum(axis=1)
    z = np.abs(steps) / np.sqrt(np.arange(1, looks + 1))
    rule = StopRule(planned=looks)
    bounds = np.array([rule.quantile(look) for look in range(1, looks + 1)])
    error = np.sqrt(0.05 * 0.95 / walks)
    assert 0.03 < np.mean((z > bounds).any(axis=1)) < 0.05 + 3 * error
    assert np.mean((z > 1.96).any(axis=1)) > 0.4  # what a test of one look comes to, made at each


def test_differences_by_the_stop_rule_say_so_and_are_less_sure() -> None:
    topics = [standing({"a": 0.5, "b": 0.4}, sd=0.02)]
    (once,) = Comparison(topics).differences()
    (always,) = Comparison(topics, stop_rule=StopRule(planned=400)).differences()
    assert (once.planned_share, always.planned_share) == (None, 0.25)
    assert once.low is not None
    assert always.low is not None
    assert always.low < once.low
    assert always.p is not None
    assert always.p == pytest.approx(4 * norm.sf(0.5 * 0.1 / (0.02 * np.sqrt(2))))


def test_two_systems_are_apart_or_surely_closer_than_what_counts_or_open() -> None:
    near = Difference("a", "b", 0.01, -0.02, 0.04, 0.6, significant=False, planned_share=1.0)
    assert near.verdict(0.05) == "equal"
    assert near.verdict(0.03) == near.verdict(0.0) == "open"
    assert replace(near, low=0.001, p=0.01, significant=True).verdict(0.05) == "apart"
    assert replace(near, low=None, high=None).verdict(0.05) == "open"


def test_the_stop_rule_is_not_about_topics() -> None:
    with pytest.raises(ValueError, match="not about topics"):
        Comparison([standing({"a": 0.5, "b": 0.4})], "topics", StopRule(100))
