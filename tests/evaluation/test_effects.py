"""Bradley and Terry's model with random effects: its mode, its covariance and its variances, against known truths."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import expit

from preferendum.fit import effects, kernel, zermelo
from preferendum.fit.effects import BROADER, LOG_VARIANCE_SPREAD, USUAL_ITEM, USUAL_SYSTEM, Items, Variances
from tests.conftest import SHARED

CLASSICS = SHARED / "bt_classics"


def drawn(systems: int, topics: int, answers: int, variances: Variances, seed: int) -> tuple[Items, np.ndarray]:
    """Answers by the model itself, and the true alpha."""
    rng = np.random.default_rng(seed)
    alpha = rng.normal(0, np.sqrt(variances.system), systems)
    theta = alpha + rng.normal(0, np.sqrt(variances.item), (topics, systems))
    topic, first = rng.integers(topics, size=answers), rng.integers(systems, size=answers)
    second = (first + rng.integers(1, systems, size=answers)) % systems
    won = (rng.random(answers) < expit(theta[topic, first] - theta[topic, second])).astype(float)
    return Items.of(systems, topic, first, second, won, 1 - won), alpha


def dense(items: Items, variances: Variances, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By brute force: the gradient of the log posterior in (alpha, theta), and its covariance there."""
    s, n = items.systems, len(items)
    Z = np.zeros((n, s))
    Z[np.arange(n), items.system] = 1
    score, curvature = items.pairs.scores(theta)
    to_theta = np.hstack([Z, np.eye(n)])
    prior = np.diag(np.r_[np.full(s, 1 / (BROADER * variances.system)), np.full(n, 1 / variances.item)])
    precision = prior + to_theta.T @ items.pairs.laplacian(curvature).toarray() @ to_theta
    return score, to_theta @ np.linalg.inv(precision) @ to_theta.T


def classics(name: str) -> tuple[Items, dict[str, float]]:
    """A published example as one topic, and its maximum-likelihood utilities as printed."""
    lines = [json.loads(line) for line in (CLASSICS / "counts.jsonl").read_text().splitlines()]
    own = [line for line in lines if line["dataset"] == name]
    printed = [json.loads(line) for line in (CLASSICS / "reference_mle.jsonl").read_text().splitlines()]
    known = {line["item"]: line["log_utility_mean0"] for line in printed if line["dataset"] == name}
    place = {item: k for k, item in enumerate(known)}
    first, second = (np.array([place[line[side]] for line in own]) for side in ("winner", "loser"))
    count = np.array([float(line["count"]) for line in own])
    return Items.of(len(known), np.zeros(len(own), dtype=np.int64), first, second, count, 0 * count), known


@pytest.mark.shared("bt_classics")
@pytest.mark.parametrize("name", ["baseball1987", "citations_stigler1994"])
def test_one_topic_without_prior_is_zermelos_fit_and_the_printed_one(name):
    items, known = classics(name)
    fitted = effects.fit(items, Variances(1e6, 1e-6))
    wins = np.zeros((len(known), len(known)))
    pairs = items.pairs
    wins[pairs.first, pairs.second], wins[pairs.second, pairs.first] = pairs.wins, pairs.losses
    centred = fitted.theta - fitted.theta.mean()
    assert centred == pytest.approx(zermelo.fit(wins, prior=0).utilities, abs=1e-5)
    assert centred == pytest.approx([*known.values()], abs=1e-5)


@pytest.mark.parametrize("variances", [Variances(1.0, 0.5), Variances(4.0, 0.01), Variances(0.05, 3.0)])
def test_at_the_mode_the_prior_pulls_as_hard_as_the_answers(variances):
    items, _ = drawn(6, 4, 60, Variances(1.0, 0.5), 0)
    fitted = effects.fit(items, variances)
    score, _ = dense(items, variances, fitted.theta)
    of_system = np.bincount(items.system, score, items.systems)
    assert fitted.alpha == pytest.approx(BROADER * variances.system * of_system, abs=1e-8)
    assert fitted.theta == pytest.approx(fitted.alpha[items.system] + variances.item * score, abs=1e-8)


@pytest.mark.parametrize("many", [effects.MANY, 2])
def test_topics_give_the_covariance_of_the_whole(monkeypatch, many):
    monkeypatch.setattr(effects, "MANY", many)
    items, _ = drawn(6, 4, 60, Variances(1.0, 0.5), 1)
    fitted = effects.fit(items)
    _, covariance = dense(items, fitted.variances, fitted.theta)
    for topic in fitted.topics():
        assert topic.covariance(fitted.covariance) == pytest.approx(covariance[topic.items, topic.items], abs=1e-9)
        assert topic.A @ (A := np.asarray(topic.A)) == pytest.approx(A @ A, abs=1e-12)


@pytest.mark.parametrize("many", [effects.MANY, 2])
def test_answers_and_topics_and_the_prior_make_the_whole_covariance(monkeypatch, many):
    """What answers leave, if they are drawn again with theta as it is, by brute force."""
    monkeypatch.setattr(effects, "MANY", many)
    items, _ = drawn(6, 4, 60, Variances(1.0, 0.5), 3)
    fitted = effects.fit(items)
    s, n = items.systems, len(items)
    to_theta = np.hstack([np.eye(s)[items.system], np.eye(n)])
    fisher = to_theta.T @ items.pairs.laplacian(items.pairs.scores(fitted.theta)[1]).toarray() @ to_theta
    prior = np.r_[np.full(s, 1 / (BROADER * fitted.variances.system)), np.full(n, 1 / fitted.variances.item)]
    covariance = np.linalg.inv(np.diag(prior) + fisher)
    assert fitted.covariance == pytest.approx(covariance[:s, :s], abs=1e-9)
    assert fitted.of_answers == pytest.approx((covariance @ fisher @ covariance)[:s, :s], abs=1e-9)


@pytest.mark.parametrize("variances", [Variances(1.0, 0.5), Variances(0.3, 1.0)])
def test_many_answers_show_how_far_systems_and_their_summaries_differ(variances):
    found = [effects.likely_variances(drawn(40, 20, 12_000, variances, seed)[0]) for seed in range(4)]
    assert np.mean(np.log(found), axis=0) == pytest.approx(np.log(variances), abs=0.2)


def bound(items: Items, variances: Variances) -> float:
    """The evidence's lower bound with the prior of the variances, by brute force from a dense prior."""
    n, pairs = len(items), items.pairs
    prior = variances.system * (items.system[:, None] == items.system) + variances.item * np.eye(n)
    contrasts = pairs.contrasts(np.ones(len(pairs))).toarray()
    both = pairs.wins + pairs.losses
    f, v = np.zeros(len(pairs)), np.zeros(len(pairs))
    for _ in range(300):
        p, slope = kernel.expected(f, v)
        pull = contrasts.T @ (both * slope * f + pairs.wins - both * p)
        covariance = np.linalg.inv(np.linalg.inv(prior) + contrasts.T @ ((both * slope)[:, None] * contrasts))
        mean = covariance @ pull
        f, v = (f + contrasts @ mean) / 2, (v + np.einsum("ij,jk,ik->i", contrasts, covariance, contrasts)) / 2
    nodes, weights = np.polynomial.hermite_e.hermegauss(11)
    logs = -np.logaddexp(0, -(f[:, None] + np.sqrt(v)[:, None] * nodes)) @ weights / weights.sum()
    inverse = np.linalg.inv(prior)
    divergence = np.trace(inverse @ covariance) + mean @ inverse @ mean - n
    divergence += np.linalg.slogdet(prior)[1] - np.linalg.slogdet(covariance)[1]
    off = (np.log(variances) - np.log([USUAL_SYSTEM, USUAL_ITEM])) / LOG_VARIANCE_SPREAD
    return float(pairs.wins @ logs + pairs.losses @ (logs - f) - divergence / 2 - off @ off / 2)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_variances_have_more_evidence(seed):
    items, _alpha = drawn(5, 6, 60, Variances(2.0, 1.0), seed)
    found = effects.likely_variances(items)
    best = bound(items, found)
    for of_system, of_item in ((1.03, 1.0), (0.97, 1.0), (1.0, 1.03), (1.0, 0.97), (3.0, 1.0), (1.0, 0.3)):
        assert bound(items, Variances(of_system * found.system, of_item * found.item)) < best


def test_the_variances_are_the_same_wherever_they_are_sought_from(monkeypatch):
    items, _alpha = drawn(12, 20, 400, Variances(1.0, 0.5), 0)
    found = effects.likely_variances(items)
    first, steps = effects._likelier, iter(range(10**6))

    def from_afar(items: Items, now: np.ndarray, usual: np.ndarray) -> np.ndarray:
        return now + 3.0 if next(steps) == 0 else first(items, now, usual)

    monkeypatch.setattr(effects, "_likelier", from_afar)
    assert effects.likely_variances(items) == pytest.approx(found, rel=1e-6)


@pytest.mark.parametrize("sizes", [(2, 1, 1), (2, 20, 20), (12, 3, 5000), (2, 100, 3000)])
def test_answers_that_never_contradict_each_other_have_variances_too(sizes):
    systems, topics, count = sizes
    rng = np.random.default_rng(0)
    first = rng.integers(systems, size=count)
    second = (first + rng.integers(1, systems, size=count)) % systems
    won = (first < second).astype(float)
    found = effects.likely_variances(Items.of(systems, rng.integers(topics, size=count), first, second, won, 1 - won))
    assert found.system > found.item > 0


def test_answers_by_a_coin_show_no_difference():
    rng = np.random.default_rng(0)
    first = rng.integers(8, size=4000)
    second = (first + rng.integers(1, 8, size=4000)) % 8
    won = rng.integers(0, 2, 4000).astype(float)
    items = Items.of(8, rng.integers(10, size=4000), first, second, won, 1 - won)
    assert max(effects.likely_variances(items)) < 0.05


def test_a_part_of_a_large_study_stands_for_it():
    items, _ = drawn(60, 40, 9000, Variances(1.0, 0.5), 2)
    some = items.some(300, 5)
    assert len(some) <= 300
    assert len(np.unique(some.topic)) >= 5
    assert set(np.unique(some.system)) == set(range(some.systems))


def test_nothing_is_known_without_answers():
    none = np.zeros(0, dtype=np.int64)
    fitted = effects.fit(Items.of(0, none, none, none, np.zeros(0), np.zeros(0)))
    assert len(fitted.alpha) == len(fitted.theta) == 0
