"""A topic's board tests differences as the study's does."""

from __future__ import annotations

import numpy as np
import pytest

from annotate import leaderboards
from annotate.comparing import compare, holm
from annotate.models import Fit, Score
from evaluation import ranking
from tests.annotate import scored


def test_differences_of_one_topic_are_those_of_the_mathematics() -> None:
    rng = np.random.default_rng(0)
    systems = tuple(f"s{k}" for k in range(9))
    scores = rng.normal(size=9)
    root = rng.normal(size=(9, 9))
    covariance = root @ root.T * 0.004
    ours = compare(dict(zip(systems, scores.tolist(), strict=True)), systems, covariance.tolist())
    theirs = ranking.compare_systems([ranking.Standing(systems, scores, covariance, 100)])
    assert [(one.better, one.worse, one.significant) for one in ours] == [
        (one.better, one.worse, one.significant) for one in theirs
    ]
    for one, other in zip(ours, theirs, strict=True):
        assert (one.difference, one.low, one.high) == pytest.approx(
            (other.difference, other.low, other.high), abs=1e-12
        )
        assert one.p == pytest.approx(other.p, rel=1e-9)
    assert {one.significant for one in ours} == {True, False}


def test_holm_is_that_of_the_mathematics_and_scores_that_cannot_differ_do_not() -> None:
    p = [0.01, 0.04, 0.03, 0.005]
    assert holm(p) == pytest.approx(ranking.holm(p))
    (same,) = compare({"a": 1.0, "b": 1.0}, ("a", "b"), [[0.0, 0.0], [0.0, 0.0]])
    assert (same.p, same.significant) == (1.0, False)


@pytest.mark.django_db
def test_intervals_that_overlap_do_not_hide_a_difference_that_is_sure() -> None:
    topic = scored.topic(scored.scored_study(smooth="none"))
    fit = leaderboards.newest_fit(topic)
    names = fit.covariance["systems"]
    n = len(names)
    tied = [[0.01 if i == j else 0.00999 for j in range(n)] for i in range(n)]
    Fit.objects.filter(pk=fit.pk).update(covariance={"systems": names, "matrix": tied})
    for k, name in enumerate(names):
        Score.objects.filter(fit=fit, summary__system__name=name).update(score=0.1 * k, low=0.0, high=1.0)
    board = leaderboards.of_topic(topic)
    assert [row.rank for row in board.rows] == [row.rank_low for row in board.rows] == [1, 2, 3]
    assert [len(row.better_than) for row in board.rows] == [2, 1, 0]
    assert all(one.significant for one in board.differences)
    Fit.objects.filter(pk=fit.pk).update(covariance={})
    board = leaderboards.of_topic(topic)
    assert board.differences == ()
    assert [(row.rank_low, row.rank_high) for row in board.rows] == [(1, 3)] * 3
