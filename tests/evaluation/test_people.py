"""What the figures about people must say of honest ones, of clickers, and of nobody at all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from benchmarks import crowds
from evaluation import people, reliability
from evaluation.evidence import Judgments


@pytest.fixture(scope="module")
def small() -> Judgments:
    """Twelve honest people, 20 pairs each, of 15 sentences."""
    rng = np.random.default_rng(5)
    theta = rng.normal(size=15)
    a = rng.integers(15, size=240)
    b = (a + rng.integers(1, 15, size=240)) % 15
    won = rng.random(240) < expit(theta[a] - theta[b])
    return Judgments(a, b, won.astype(float), np.ones(240), np.repeat(np.arange(12), 20))


@pytest.mark.parametrize(
    ("clickers", "kind"),
    [("random", "coin"), ("always left", "sided"), ("alternating", "alternating"), ("inverted", "inverted")],
)
def test_clickers_are_noticed_within_forty_judgments_and_called_what_they_are(clickers: str, kind: str) -> None:
    thought = crowds.flagged(*crowds.crowd(clickers, np.random.default_rng(11)))
    noticed = [one for one in thought[crowds.HONEST :] if one.since]
    assert len(noticed) >= crowds.CLICKERS - 1
    assert sum(one.kind == kind for one in noticed) >= crowds.CLICKERS - 2


def test_hardly_any_honest_person_is_suspected_whenever_one_looks() -> None:
    thought = [
        one
        for seed in range(3)
        for one in crowds.flagged(*crowds.crowd("careless 30%", np.random.default_rng(seed)))[: crowds.HONEST]
    ]
    assert sum(one.since > 0 for one in thought) <= 2


def test_a_suspicion_once_raised_does_not_depend_on_what_comes_later() -> None:
    mean, variance = np.full(60, 2.0), np.full(60, 0.1)
    left = np.concatenate([np.zeros(30), np.ones(30)])
    early, late = (people.suspect(left[:n], mean[:n], variance[:n]) for n in (30, 60))
    assert 0 < early.since == late.since


def test_the_chances_of_the_test_for_a_coin_are_exact() -> None:
    rng = np.random.default_rng(3)
    mean, variance = rng.normal(0, 2, 8), np.full(8, 0.2)
    p = people._chance(mean, variance)
    answers = (np.arange(256)[:, None] >> np.arange(8)) & 1
    chance = np.prod(np.where(answers == 1, p, 1 - p), axis=1)
    parts = np.rint(-np.log(2 * np.where(answers == 1, p, 1 - p)) / people.STEP).sum(axis=1)
    for row in (0, 17, 200):
        expected = chance[parts >= parts[row]].sum()
        assert people._coin(answers[row].astype(float), mean, variance) == pytest.approx(expected)


def test_leaving_somebody_out_by_one_newton_step_is_nearly_a_new_fit(small: Judgments) -> None:
    everybody = np.ones(len(small), dtype=bool)
    whole = reliability.fit(small, everybody, np.ones(12), 1.2)
    for person in (0, 7):
        rows = np.flatnonzero(small.annotator == person)
        mean, variance = whole.without(person, rows)
        anew = reliability.fit(small, small.annotator != person, np.ones(12), 1.2)
        exact, spread = anew.differences(rows)
        assert np.abs(mean - exact).max() < 0.1
        assert variance == pytest.approx(spread, rel=0.1)


def test_who_gave_most_of_the_judgments_is_left_out_exactly() -> None:
    judgments = Judgments(
        np.array([0, 1, 0, 2]), np.array([1, 2, 2, 0]), np.ones(4), np.ones(4), np.array([0, 0, 0, 1])
    )
    whole = reliability.fit(judgments, np.ones(4, dtype=bool), np.ones(2), 1.0)
    mean, _ = whole.without(0, np.arange(3))
    alone = reliability.fit(judgments, judgments.annotator == 1, np.ones(2), 1.0)
    assert mean == pytest.approx(alone.differences(np.arange(3))[0])


def test_answers_that_do_not_count_move_nobody_else(small: Judgments) -> None:
    counted = small.annotator != 3
    turned = Judgments(
        small.a, small.b, np.where(counted, small.outcome, 1 - small.outcome), small.weight, small.annotator
    )
    one, other = (reliability.estimate([said], 12, [counted]) for said in (small, turned))
    assert one.beta == pytest.approx(other.beta)
    assert one.beta[3] == pytest.approx(1.0, abs=0.05)  # nothing is known: the prior, cut off at its ends


def test_random_clickers_weigh_little_and_inverted_ones_nothing() -> None:
    for clickers, most in (("random", 0.5), ("inverted", 0.05)):
        judgments, k = crowds.crowd(clickers, np.random.default_rng(2))
        weights = reliability.estimate([judgments], k).weights
        assert weights[crowds.HONEST :].mean() < most
        assert weights[: crowds.HONEST].mean() > 0.9


def test_weights_keep_a_ranking_straighter_at_twenty_percent_spam() -> None:
    from benchmarks.reliability import row

    plain, _, joint, weighed, _ = row(0.2, 0.0, 1)
    assert weighed > plain + 0.02
    assert joint > plain + 0.02


def test_figures_say_what_was_counted_by_hand() -> None:
    judgments = Judgments(
        a=np.array([0, 1, 2, 1]),
        b=np.array([1, 2, 0, 0]),
        outcome=np.array([1.0, 1.0, 1.0, 0.0]),
        weight=np.ones(4),
        annotator=np.zeros(4, dtype=np.int64),
    )
    answers = people.Answers(
        judgments,
        seconds=np.array([2.0, 4.0, np.nan, 9.0]),
        counted=np.array([True, True, True, False]),
        repeat=np.array([False, False, False, True]),
        known=np.array([1.0, np.nan, 0.0, np.nan]),
        time=np.arange(4),
    )
    found = reliability.estimate([judgments], 2, [answers.counted])
    somebody, nobody = people.describe([answers], 2, found)
    figures = somebody.figures
    assert (figures["answers"].n, figures["seconds"].value) == (4, 4.0)
    assert (figures["left"].value, figures["left"].n) == (0.75, 4)
    assert (figures["repeats"].value, figures["repeats"].n) == (1.0, 1)
    assert (figures["gold"].value, figures["gold"].n) == (0.5, 2)
    assert (figures["circles"].value, figures["circles"].n) == (1.0, 1)
    assert figures["alternation"].value == pytest.approx(1 / 3)
    assert nobody.figures["answers"].n == 0
    assert math.isnan(nobody.figures["left"].value)
    assert nobody.flags == ()
