"""Win rates of systems and of their summaries, and how sure they are, from answers whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from scipy.stats import binom

from preferendum.fit import effects
from preferendum.scoring import win_rate
from preferendum.scoring.between_annotators import Panel, squares_away
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import Answers, _pulls, win_rates


def answers_of(
    systems: int, topics: int, count: int, seed: int, annotators: int = 5, spread: float = 1.0, ties: float = 0.1
) -> Answers:
    """By the model, some of them ties; the first systems are the better ones."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(spread, -spread, systems) + rng.normal(0, spread / 2, (topics, systems))
    topic, first = rng.integers(topics, size=count), rng.integers(systems, size=count)
    second = (first + rng.integers(1, systems, size=count)) % systems
    outcome = (rng.random(count) < expit(theta[topic, first] - theta[topic, second])).astype(float)
    outcome[rng.random(count) < ties] = 0.5
    return Answers(
        tuple(f"S{k:02}" for k in range(systems)),
        tuple(f"T{k:02}" for k in range(topics)),
        topic,
        first,
        second,
        outcome,
        np.ones(count),
        rng.integers(annotators, size=count),
    )


def test_the_mean_win_rate_is_a_half():
    rates = win_rates(answers_of(7, 9, 300, 0))
    assert np.mean(rates.standing.scores) == pytest.approx(0.5)
    for _, scores in rates.by_topic():
        assert scores.score.mean() == pytest.approx(0.5)


def test_answers_turned_round_turn_every_win_rate():
    given = answers_of(7, 9, 300, 1)
    straight, turned = win_rates(given), win_rates(replace(given, outcome=1 - given.outcome))
    assert np.array(turned.standing.scores) == pytest.approx(1 - np.array(straight.standing.scores), abs=1e-9)
    assert np.array(turned.standing.covariance) == pytest.approx(np.array(straight.standing.covariance), abs=1e-9)


def test_sides_and_the_order_of_answers_change_nothing():
    given = answers_of(7, 9, 300, 2)
    order = np.random.default_rng(0).permutation(len(given))
    moved = replace(
        given,
        topic=given.topic[order],
        first=given.second[order],
        second=given.first[order],
        outcome=1 - given.outcome[order],
        annotator=given.annotator[order],
    )
    assert win_rates(moved).standing.scores == win_rates(given).standing.scores


def test_systems_that_no_answer_is_about_are_not_ranked():
    given = answers_of(5, 6, 100, 3)
    rates = win_rates(replace(given, systems=("new", *given.systems), first=given.first + 1, second=given.second + 1))
    assert rates.standing.systems == given.systems
    assert rates.standing.scores == win_rates(given).standing.scores


def test_a_system_with_few_answers_has_a_wide_interval():
    given = answers_of(6, 10, 600, 4, annotators=1)
    few = np.flatnonzero((given.first == 0) | (given.second == 0))[4:]
    kept = np.setdiff1d(np.arange(600), few)
    names = ("topic", "first", "second", "outcome", "weight", "annotator")
    rates = win_rates(replace(given, **{name: getattr(given, name)[kept] for name in names}))
    errors = np.sqrt(np.diag(np.array(rates.standing.covariance)))
    assert errors[0] > 2 * errors[1:].max()


def test_a_summary_that_nobody_judged_stands_where_its_system_stands():
    given = answers_of(4, 3, 200, 5)
    elsewhere = given.topic > 0
    names = ("topic", "first", "second", "outcome", "weight", "annotator")
    rates = win_rates(
        replace(given, **{name: getattr(given, name)[elsewhere] for name in names}), np.ones((3, 4), dtype=np.bool_)
    )
    by_topic = dict(rates.by_topic())
    assert np.argsort(by_topic["T00"].score).tolist() == np.argsort(rates.effects.alpha).tolist()
    assert by_topic["T00"].judgments == 0
    assert by_topic["T00"].errors.min() > by_topic["T01"].errors.mean()


@pytest.mark.parametrize("many", [effects.MANY, 2])
def test_errors_of_summaries_are_those_of_the_whole_posterior(monkeypatch, many):
    """By brute force: an annotator sees half of what a summary deviates by, and two summaries nobody judged."""
    monkeypatch.setattr(effects, "MANY", many)
    monkeypatch.setattr(win_rate, "AT_ONCE", 24)
    given = replace(answers_of(9, 3, 40, 5), annotator=np.zeros(40, dtype=np.int64))
    rates = win_rates(given, np.ones((3, 9), dtype=np.bool_))
    fitted, v = rates.effects, rates.effects.variances.item / 2
    for topic, (_name, scores) in zip(fitted.topics(), rates.by_topic(), strict=True):
        A, theta = np.identity(9), fitted.alpha.copy()
        A[np.ix_(topic.systems, topic.systems)] = np.asarray(topic.A)
        theta[topic.systems] = fitted.theta[topic.items]
        M, theta = (A + np.identity(9)) / 2, (theta + fitted.alpha) / 2
        chances = expit(theta[:, None] - theta)
        both = chances * (1 - chances) * (1 - np.identity(9))
        slopes = (np.diag(both.sum(axis=1)) - both) / 8
        moved = (v * M + M @ fitted.covariance @ M) @ slopes
        variance = np.diag(slopes @ moved)
        assert scores.score == pytest.approx((chances.sum(axis=1) - 0.5) / 8)
        assert scores.errors == pytest.approx(np.sqrt(variance))
        apart = np.diag(moved)[:, None] - moved.T
        weighed, bent = both / 8 * apart, both * (1 - 2 * chances) / 8 * apart**2
        for part, sign, kappa in ((chances < 0.5, 1, scores.halves.up), (chances > 0.5, -1, scores.halves.down)):
            own = (weighed * part).sum(axis=1)
            some = own > 0
            assert kappa[some] == pytest.approx(sign * (bent * part).sum(axis=1)[some] / own[some] ** 1.5)
        assert scores.halves.share == pytest.approx((weighed * (chances < 0.5)).sum(axis=1) / variance)


def test_with_many_answers_win_rates_are_what_was_counted():
    given = answers_of(3, 40, 60_000, 6, ties=0.0)
    wins = np.eye(3)
    np.add.at(wins, (given.first, given.second), given.outcome)
    np.add.at(wins, (given.second, given.first), 1 - given.outcome)
    counted = np.mean([np.delete(wins[k] / (wins[k] + wins[:, k]), k) for k in range(3)], axis=1)
    assert np.array(win_rates(given).standing.scores) == pytest.approx(counted, abs=0.02)


def test_a_coin_tells_no_systems_apart():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        given = replace(answers_of(8, 10, 400, seed), outcome=rng.integers(0, 2, 400).astype(float))
        comparison = Comparison([win_rates(given).standing])
        assert not any(difference.significant for difference in comparison.differences())


def test_ties_leave_less_in_doubt_than_answers_by_a_coin():
    given = replace(answers_of(5, 10, 600, 8, annotators=1, spread=0.0, ties=0.0), annotator=np.full(600, -1))
    tied = replace(given, outcome=np.where(np.arange(600) % 4 == 0, given.outcome, 0.5))
    assert np.trace(win_rates(tied).standing.covariance) < 0.6 * np.trace(win_rates(given).standing.covariance)


def test_more_annotators_of_a_topic_say_more_of_its_summaries():
    """What one of them sees in a summary is half their own."""
    given = answers_of(6, 4, 2000, 9, annotators=4, ties=0.0)
    alone = replace(given, annotator=np.zeros(2000, dtype=np.int64))
    spread = [np.mean([scores.score.std() for _, scores in win_rates(own).by_topic()]) for own in (alone, given)]
    assert spread[0] < spread[1]


def test_answers_of_nobody_in_particular_have_the_errors_of_answers_alone():
    given = answers_of(5, 6, 300, 7)
    rates = win_rates(replace(given, annotator=np.full(300, -1)))
    assert rates.standing.shares is None
    assert Comparison([rates.standing]).ground.about == "one"


def test_without_answers_nobody_is_ranked():
    none = np.zeros(0, dtype=np.int64)
    rates = win_rates(Answers(("A", "B"), ("T",), none, none, none, np.zeros(0), np.zeros(0), none))
    assert rates.standing.systems == ()
    assert [scores.systems for _, scores in rates.by_topic()] == [()]


def judged_once(wins: int, topics: int, systems: int = 2) -> Answers:
    """One answer a topic and pair of systems, of which the earlier one wins so many."""
    first, second = np.tile(np.array(np.triu_indices(systems, 1)), topics)
    count = len(first)
    outcome = (np.arange(count) < wins).astype(float)
    names = tuple(f"S{k}" for k in range(systems)), tuple(f"T{k}" for k in range(topics))
    topic = np.repeat(np.arange(topics), count // topics)
    return Answers(*names, topic, first, second, outcome, np.ones(count), np.full(count, -1))


@pytest.mark.parametrize(("topics", "least"), [(10, 0.93), (12, 0.91), (20, 0.93), (40, 0.92)])
def test_intervals_of_two_systems_cover_whatever_the_rate(topics: int, least: float):
    counts = np.arange(topics + 1)
    means = [Comparison([win_rates(judged_once(k, topics)).standing]).means(0.0, 1.0)[0] for k in counts]
    low, high = (np.array([getattr(mean, end) for mean in means]) for end in ("low", "high"))
    for rate in (0.5, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        covered = binom.pmf(counts, topics, rate)[(low <= rate) & (rate <= high)].sum()
        assert covered >= least
    assert (low[0], high[-1]) == (0.0, 1.0)


@pytest.mark.parametrize(("topics", "held"), [(10, 0.8), (20, 0.9), (40, 0.95)])
def test_in_a_chain_of_systems_that_always_win_nothing_is_surer_than_its_answers(topics: int, held: float):
    answers = judged_once(3 * topics, topics, systems=3)
    comparison = Comparison([win_rates(answers).standing])
    best, middle, worst = comparison.means(0.0, 1.0)
    assert best.low < (1 + held) / 2
    assert best.high == 1.0
    assert worst.low == 0.0
    assert worst.high > (1 - held) / 2
    assert middle.low < held / 2
    assert middle.high > 1 - held / 2
    for pair in comparison.differences():
        assert pair.significant == (pair.low > 0 and pair.p <= 0.05)


def test_annotators_who_do_not_differ_have_the_errors_of_their_answers():
    """What each adds is of the marginal likelihood: at the mode, deviations have taken their share of it already."""
    ratios = []
    for seed in range(12):
        given = answers_of(10, 15, 600, seed, annotators=12, ties=0.0)
        standing = win_rates(given).standing
        panel = Panel.of([standing])
        assert panel is not None
        away = squares_away([standing], standing.systems, np.ones((1, 10))).sum()
        covariance = np.array(standing.covariance)
        variances = (np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance).sum()
        ratios.append(away / (panel.chance[0] * variances))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.12)


def test_no_difference_is_significant_whose_interval_holds_0():
    for wins in range(10, 21):
        (pair,) = Comparison([win_rates(judged_once(wins, 20)).standing]).differences()
        assert pair.significant == (pair.low > 0)


def test_what_annotators_say_of_systems_is_the_sum_over_topics() -> None:
    """One topic after the other, for all of them together may be too large to keep."""
    fitted = win_rates(judged_once(wins=7, topics=12, systems=4)).effects
    pulls = np.random.default_rng(1).normal(size=(len(fitted.items), 3))
    summed = np.zeros((len(fitted.alpha), 3))
    for topic in fitted.topics():
        summed[topic.systems] += np.asarray(topic.A) @ pulls[topic.items]
    np.testing.assert_allclose(_pulls(fitted, sparse.csr_array(pulls)), summed, rtol=1e-12, atol=1e-14)
