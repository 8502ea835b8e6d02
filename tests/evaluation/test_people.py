"""What the figures about people must say of honest ones, of clickers, and of nobody at all."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.special import expit

from benchmarks import reliability as spammed
from benchmarks.archive import crowds
from preferendum.annotators import detectors, reliability
from preferendum.annotators.answers import Answers
from preferendum.annotators.figures import describe
from preferendum.evidence import Judgments
from preferendum.results import checks
from preferendum.show.checks import who_is_found

COLUMNS = [field.name for field in fields(Judgments)]


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
    early, late = (detectors.suspect(left[:n], mean[:n], variance[:n]) for n in (30, 60))
    assert 0 < early.since == late.since


def test_the_test_for_a_coin_gives_no_more_false_alarms_than_are_allowed_by_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detectors, "VERDICT", 9)
    monkeypatch.setattr(detectors, "BY_VERDICT", 0.2)
    rng = np.random.default_rng(3)
    p = detectors.Honesty(1.1, 0.04).chance(rng.normal(0, 2, 9), np.full(9, 0.2))
    every = ((np.arange(512)[:, None] >> np.arange(9)) & 1).astype(float)
    chance = np.prod(np.where(every == 1, p, 1 - p), axis=1)
    noticed = np.array([detectors._no_better_than_a_coin(left, p) for left in every])
    for n in range(1, 10):
        assert chance[(noticed > 0) & (noticed <= n)].sum() <= detectors._allowed(n) + 1e-12
    assert chance[noticed > 0].sum() > 0.1  # and it uses what it may
    unlikely = np.where(p > 0.5, 0.0, 1.0)
    assert detectors._no_better_than_a_coin(unlikely, p) > 0 == detectors._no_better_than_a_coin(1 - unlikely, p)


def test_what_is_honest_is_learnt_from_the_crowd_although_some_of_it_click() -> None:
    rng = np.random.default_rng(4)
    d = rng.normal(0, 2, (60, 40))
    read = rng.random(d.shape) < detectors.Honesty(0.85, 0.08).chance(d, np.zeros(d.shape))
    left = read.astype(float)
    left[50:] = rng.random((10, 40)) < 0.5
    found = detectors.honesty([(one, mean, np.zeros(40)) for one, mean in zip(left, d, strict=True)])
    assert found.slope == pytest.approx(0.85, abs=0.12)
    assert found.lapse == pytest.approx(0.08, abs=0.04)
    alone = detectors.honesty([])
    assert 0.9 < alone.slope < 1.2


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
    assert one.sd[3] > 1.5 * one.sd[:3].max()  # nothing is known of them but who comes to such a crowd


def test_random_clickers_weigh_little_and_inverted_ones_nothing() -> None:
    for clickers, most in (("random", 0.5), ("inverted", 0.05)):
        judgments, k = crowds.crowd(clickers, np.random.default_rng(2))
        weights = reliability.estimate([judgments], k).weights
        assert weights[crowds.HONEST :].mean() < most
        assert weights[: crowds.HONEST].mean() > 0.9


def test_weights_keep_a_ranking_straighter_at_twenty_percent_spam() -> None:
    theta, judgments, _ = spammed.crowd(0.2, 0.0, np.random.default_rng(3))
    plain, weighed = (spammed.tau(theta, spammed.utilities(said)) for said in (judgments, reliability.weigh(judgments)))
    assert weighed > plain + 0.02


def test_figures_say_what_was_counted_by_hand() -> None:
    judgments = Judgments(
        a=np.array([0, 1, 2, 1]),
        b=np.array([1, 2, 0, 0]),
        outcome=np.array([1.0, 1.0, 1.0, 0.0]),
        weight=np.ones(4),
        annotator=np.zeros(4, dtype=np.int64),
    )
    answers = Answers(
        judgments,
        seconds=np.array([2.0, 4.0, np.nan, 9.0]),
        least=np.array([3.0, 3.0, 3.0, 3.0]),
        longer=np.array([1.0, 0.0, np.nan, 1.0]),
        counted=np.array([True, True, True, False]),
        repeat=np.array([False, False, False, True]),
        expected=np.array([1.0, np.nan, 0.0, np.nan]),
        sided=np.ones(4, dtype=np.bool_),
        time=np.arange(4),
    )
    found = reliability.estimate([judgments], 2, [answers.counted])
    somebody, nobody = describe([answers], 2, found)
    figures = somebody.figures
    assert (figures["answers"].n, figures["seconds"].value) == (4, 4.0)
    assert (figures["hasty"].value, figures["hasty"].n) == (1 / 3, 3)
    assert (figures["left"].value, figures["left"].n) == (0.75, 4)
    assert (figures["longer"].value, figures["longer"].n) == (1 / 3, 3), "by length: yes, no, alike, no"
    assert (figures["repeats"].value, figures["repeats"].n) == (1.0, 1)
    assert (figures["gold"].value, figures["gold"].n) == (0.5, 2)
    assert (figures["circles"].value, figures["circles"].n, figures["circles"].chance) == (1.0, 1, 0.25)
    assert figures["alternation"].value == pytest.approx(1 / 3)
    assert (figures["fit"].value, figures["fit"].n) == (None, 0)  # nobody else judged these pairs
    assert nobody.figures["answers"].n == 0
    assert nobody.figures["left"].value is None
    assert nobody.flags == ()


def test_whoever_agrees_with_others_like_a_coin_where_they_agree_is_asked_about() -> None:
    """In so many topics that the others' utilities say nothing about any one pair."""
    rng = np.random.default_rng(3)
    topics = []
    for k in range(240):  # a pair each: two of five annotators, of whom the last one tosses a coin
        two = rng.choice(5, 2, replace=False)
        left, prefers_left = rng.integers(2, size=2), rng.random(2) < np.where(two == 4, 0.5, 0.9)
        outcome = np.where(left == 0, prefers_left, ~prefers_left).astype(float)
        pair = Judgments(left, 1 - left, outcome, np.ones(2), two)
        no, unknown = np.zeros(2, dtype=np.bool_), np.full(2, np.nan)
        topics.append(Answers(pair, unknown, unknown, ~no, no, unknown, ~no, unknown, 2 * k + np.arange(2)))
    found = reliability.estimate([answers.judgments for answers in topics], 5)
    figures = describe(topics, 5, found)
    assert [one.flags for one in figures] == [(), (), (), (), ("shared",)]
    assert figures[4].figures["shared"].n == sum(4 in answers.judgments.annotator for answers in topics)


def test_the_power_of_a_check_is_the_share_of_coin_tossers_that_its_test_finds() -> None:
    rng = np.random.default_rng(7)
    right, coin, honest = rng.binomial(36, 0.75, 2000), rng.binomial(24, 0.5, 2000), rng.binomial(24, 0.75, 2000)
    found, alarms = (
        np.mean(
            [checks.fewer_p(k, 24, r, 36) <= checks.ALARM for k, r in zip(own.tolist(), right.tolist(), strict=True)]
        )
        for own in (coin, honest)
    )
    assert found == pytest.approx(checks.chance_to_find(24, 36, 0.75), abs=0.04)
    assert alarms <= checks.ALARM + 0.005


def test_a_study_is_told_whom_its_checks_do_not_find_and_what_would() -> None:
    few, more, gold = (checks.finding(60, 5, *shares) for shares in ((0.05, 0.0), (0.2, 0.0), (0.2, 0.25)))
    assert few.by_shared < 0.05 < 0.2 < more.by_shared < 0.4
    assert (few.enough_shared, few.enough_gold) == (None, 0.25)
    assert gold.by_gold > 0.8
    assert "(5% of pairs shared, 0% gold pairs), 0 of 10" in who_is_found(few)
    assert "25% gold pairs would find 8" in who_is_found(few)
    assert "would find 8" not in who_is_found(gold)
    assert "every pair shared" in who_is_found(checks.finding(60, 5, checks.EVERY_PAIR_TWICE, 0.0))
    alone = checks.finding(30, 1, 0.2, 0.0)
    assert (alone.by_shared, alone.enough_shared, alone.enough_gold) == (0.0, None, None)


def test_the_order_of_an_imported_file_is_no_liking_for_a_side() -> None:
    better, worse = np.triu_indices(12, 1)
    outcome = np.concatenate([np.ones(66), np.arange(66) // 3 % 2, np.arange(66) % 2])  # the others do not agree
    judgments = Judgments(np.tile(better, 3), np.tile(worse, 3), outcome, np.ones(198), np.repeat(range(3), 66))
    no, yes = np.zeros(198, dtype=np.bool_), np.ones(198, dtype=np.bool_)
    times = np.full(198, np.nan)
    found = reliability.estimate([judgments], 3, [yes])
    for sided, flags in ((yes, ("sided",)), (no, ())):
        answers = Answers(judgments, times, times, yes, no, times, sided, times, np.arange(198))
        somebody = describe([answers], 3, found)[0]
        assert somebody.flags == flags
        assert (somebody.figures["left"].value is None) == (flags == ())


def test_weights_are_learnt_among_those_of_the_same_kind(small: Judgments) -> None:
    contrary = replace(small, outcome=1 - small.outcome, annotator=small.annotator + 12)
    both = Judgments(*(np.concatenate([getattr(one, name) for one in (small, contrary)]) for name in COLUMNS))
    weights = reliability.weigh(both, ("human",) * 12 + ("machine",) * 12).weight
    assert np.array_equal(weights[:240], reliability.weigh(small).weight)
    assert np.array_equal(weights[240:], reliability.weigh(contrary).weight)
    assert not np.array_equal(weights, reliability.weigh(both).weight)
