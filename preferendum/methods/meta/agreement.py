"""Does a metric order summaries as people do?

Scores are matrices, one row a system and one column a topic; nan marks a summary without a score. Every figure
is computed for many resamples at once: resample b draws system s `resamples.systems[b, s]` times and topic t
`resamples.topics[b, t]` times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from preferendum.methods.meta import correlation
from preferendum.methods.meta.correlation import Coefficient, without_dust
from preferendum.methods.meta.resampling import Resamples
from preferendum.results.metrics import Level

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
LEVELS: tuple[Level, ...] = get_args(Level)
COEFFICIENTS: Mapping[str, Coefficient] = {
    "pearson": correlation.pearson,
    "spearman": correlation.spearman,
    "kendall": correlation.kendall,
}


def correlate(human: Matrix, metric: Matrix, level: Level, coefficient: Coefficient, resamples: Resamples) -> Vector:
    """(b,): the correlation of a metric with people.

    `human` (s, t); `metric` (s, t), or (b, s, t) with one matrix a resample. At the level of summaries: within each
    topic, then the mean over the topics where it is defined. Of systems: between the systems' means over topics.
    Global: over all summaries as one pool. A summary counts where both people and the metric gave it a score.
    """
    if not len(resamples.systems):
        return np.empty(0)
    metric = without_dust(metric if metric.ndim == 3 else metric[None])
    human = without_dust(human)[None]
    present = np.isfinite(human) & np.isfinite(metric)
    human, metric = np.where(present, human, 0.0), np.where(present, metric, 0.0)
    match level:
        case "summary":
            by_topic = _by_topic(coefficient, human, metric, present, resamples)
            return _mean(by_topic, resamples.topics)
        case "system":
            times = resamples.topics[:, None, :] * present
            counts = times.sum(axis=2)
            drawn = resamples.systems * (counts > 0)
            counts = np.maximum(counts, 1)
            by_people, by_metric = (without_dust((times * scores).sum(axis=2) / counts) for scores in (human, metric))
            return coefficient(by_people, by_metric, drawn)
        case "global":
            weights = resamples.systems[:, :, None] * resamples.topics[:, None, :] * present
            human, scores, drawn = (rows.reshape(len(rows), -1) for rows in (human, metric, weights))
            return coefficient(human, scores, drawn)


def whole_data(human: Matrix, metric: Matrix, level: Level) -> list[tuple[Vector, Vector]]:
    """What people and a metric say of the same items, (n,) and (n,): for each topic, or once of systems or of all."""
    human, metric = without_dust(human), without_dust(metric)
    present = np.isfinite(human) & np.isfinite(metric)
    if level == "summary":
        return [(h[own], m[own]) for h, m, own in zip(human.T, metric.T, present.T, strict=True)]
    if level == "global":
        return [(human[present], metric[present])]
    counts = present.sum(axis=1)
    means = (np.where(present, scores, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0] for scores in (human, metric))
    by_people, by_metric = map(without_dust, means)
    return [(by_people, by_metric)]


@dataclass(frozen=True, slots=True)
class Shares:
    """Equation 1: averaged over the topics where people order any pair, and over all pairs as one pool."""

    mean: Vector
    pooled: Vector


def within_topics(human: Matrix, metric: Matrix, coefficient: Coefficient) -> Vector:
    """(t,): a correlation, or equation 1, of what people and a metric say of each topic's summaries."""
    human, metric = without_dust(human), without_dust(metric)
    present = np.isfinite(human) & np.isfinite(metric)
    human, metric = np.where(present, human, 0.0), np.where(present, metric, 0.0)
    values: Vector = _by_topic(coefficient, human[None], metric[None], present[None], Resamples.whole(*human.shape))[0]
    return values


def agreement(human: Matrix, metric: Matrix, resamples: Resamples) -> Shares:
    """(b,), (b,): of the pairs of summaries of a topic that people order, the share that the metric orders alike."""
    if not len(resamples.systems):
        return Shares(np.empty(0), np.empty(0))
    metric = without_dust(metric if metric.ndim == 3 else metric[None])
    human = without_dust(human)[None]
    present = np.isfinite(human) & np.isfinite(metric)
    human, metric = np.where(present, human, 0.0), np.where(present, metric, 0.0)
    both = _by_topic(
        lambda x, y, w: np.stack(correlation.agreement_counts(x, y, w), axis=1), human, metric, present, resamples
    )
    alike, ordered = both[:, 0], both[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(ordered > 0, alike / ordered, np.nan)
        pooled = (resamples.topics * alike).sum(axis=1) / (resamples.topics * ordered).sum(axis=1)
    return Shares(_mean(shares, resamples.topics), pooled)


def agreement_of_mixed(human: Matrix, a: Matrix, b: Matrix, swapped: NDArray[np.bool_]) -> Vector:
    """(k,): the mean of `agreement` over topics for k mixtures of two metrics
    (`preferendum.methods.meta.resampling.Statistic`).

    All three scored the same summaries.
    """
    present = np.isfinite(human)
    drawn = np.broadcast_to(swapped, (len(swapped), *human.shape))
    rows = [without_dust(scores) for scores in (human, a, b)]
    shares = []
    for t, own in enumerate(present.T):
        by_people, of_a, of_b = (scores[None, own, t] for scores in rows)
        alike, ordered = correlation.mixed_agreement_counts(by_people, of_a, of_b, drawn[:, own, t].astype(np.float64))
        if ordered:
            shares.append(alike / ordered)
    return np.mean(shares, axis=0) if shares else np.full(len(swapped), np.nan)


def undefined_topics(human: Matrix, metric: Matrix) -> int:
    """In how many topics a correlation is undefined: too few summaries, or all of them tied."""
    present = np.isfinite(human) & np.isfinite(metric)
    spread = [
        min(len(np.unique(without_dust(scores[own, topic]))) for scores in (human, metric))
        for topic, own in enumerate(present.T)
    ]
    return sum(kinds < 2 for kinds in spread)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """The share of pairs on which people and metric agree, ties included; scores within `epsilon` count as tied."""

    value: float
    epsilon: float


def pairwise_accuracy(human: Matrix, metric: Matrix, epsilon: float | None = None) -> Accuracy:
    """Tie-aware pairwise accuracy: (ordered alike + tied in both) / all pairs, within topics, then averaged over them.

    Without `epsilon` the one that gives the highest accuracy is taken, the smallest of such (tie calibration: Deutsch,
    Foster & Freitag, EMNLP 2023). It is chosen on the very data that it is reported on, and flatters by a little.
    """
    gaps, if_ordered, if_tied = (np.concatenate(rows) for rows in zip(*_pairs(human, metric), strict=True))
    if not len(gaps):
        return Accuracy(math.nan, math.nan)
    order = np.argsort(gaps)
    gaps, if_ordered, if_tied = gaps[order], if_ordered[order], if_tied[order]
    # Entry k: the accuracy if the k pairs with the smallest gaps are ties.
    accuracy = np.concatenate([[0.0], np.cumsum(if_tied)]) + np.concatenate([np.cumsum(if_ordered[::-1])[::-1], [0.0]])
    if epsilon is None:
        thresholds = np.unique(np.concatenate([[0.0], gaps]))
        after = np.searchsorted(gaps, thresholds, side="right")
        best = int(np.argmax(np.round(accuracy[after], 12)))
        return Accuracy(float(accuracy[after[best]]), float(thresholds[best]))
    return Accuracy(float(accuracy[np.searchsorted(gaps, epsilon, side="right")]), epsilon)


def _pairs(human: Matrix, metric: Matrix) -> list[tuple[Vector, Vector, Vector]]:
    """Topic by topic: the metric's gap in each pair, and what the pair earns if the metric orders it or ties it."""
    topics = []
    for h, m in zip(without_dust(human).T, without_dust(metric).T, strict=True):
        own = np.isfinite(h) & np.isfinite(m)
        first, second = np.triu_indices(int(own.sum()), 1)
        if len(first):
            by_people, by_metric = (np.sign(x[own][first] - x[own][second]) for x in (h, m))
            gap = without_dust(np.abs(m[own][first] - m[own][second]))
            topics.append((gap, (by_people * by_metric > 0) / len(first), (by_people == 0) / len(first)))
    share = max(len(topics), 1)
    return [(gap, ordered / share, tied / share) for gap, ordered, tied in topics] or [(np.empty(0),) * 3]


def _by_topic(
    statistic: Callable[[Matrix, Matrix, Matrix], Vector],
    human: Matrix,
    metric: Matrix,
    present: NDArray[np.bool_],
    resamples: Resamples,
) -> Matrix:
    """(b, ..., t): a statistic of (b, s) rows, topic by topic."""
    b = max(len(metric), len(resamples.systems))
    columns = []
    for t in range(human.shape[2]):
        weights = np.broadcast_to(resamples.systems * present[:, :, t], (b, human.shape[1]))
        columns.append(statistic(human[:, :, t], metric[:, :, t], weights))
    return np.stack(columns, axis=-1)


def _mean(by_topic: Matrix, times: Matrix) -> Vector:
    """(b,): the mean of (b, t) values over the topics drawn, where they are defined."""
    defined = np.isfinite(by_topic)
    drawn = times * defined
    total = drawn.sum(axis=1)
    summed: Vector = (drawn * np.where(defined, by_topic, 0.0)).sum(axis=1)
    means: Vector = np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)
    return means
