"""How many judgments does agreement with people take? Figure 3 of Zopf (2018).

In each run the judgments of a topic are put in a random order; the scores by the first n of them are compared with
people's (equation 1). Metrics without judgments are flat lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from preferendum.evidence import Evidence, Judgments
from preferendum.methods.meta.agreement import Matrix, Vector, agreement
from preferendum.methods.meta.resampling import Resamples
from preferendum.methods.metrics.preferences.scores import Preferences
from preferendum.metrics.registry import Metric
from preferendum.results import (
    Baseline,
    Basis,
    Bounded,
    Convergence,
    ConvergencePoint,
    MetricConvergence,
    Passing,
    TopicConvergence,
)
from preferendum.results.agreement import UNKNOWN
from preferendum.results.statistics import LEVEL
from preferendum.scoring.simulate import seed_for
from preferendum.statistics import finite

RUNS = 100
#: Sizes of samples; all judgments are one more.
SIZES = (10, 20, 50, 100, 200, 500)


@dataclass(frozen=True, slots=True)
class TopicRuns:
    """One topic's agreement with people: by metric (sizes, runs) from samples, and that of metrics without judgments.

    nan where people order no pair, or where a sample determines no utilities.
    """

    topic: str
    judgments: int
    sampled: Mapping[str, Matrix]
    flat: Mapping[str, float]


def convergence_report(
    topics: Sequence[Evidence],
    dimension: str,
    metrics: Sequence[Metric],
    at: Collection[int | None],
    runs: int = RUNS,
    seed: int = 0,
    watched: Callable[[Sequence[Evidence]], Iterable[Evidence]] = iter,
) -> Convergence:
    """Convergence over all topics `at` so many judgments a topic; None stands for all. One topic must have judgments.

    `watched` shows progress over the topics.
    """
    most = max(len(topic.judgments) for topic in topics)
    sizes = sorted({most if size is None else min(size, most) for size in at})
    parts = [topic_runs(topic, dimension, metrics, sizes, runs, seed) for topic in watched(topics)]
    basis = Basis.of((len(topic.judgments), len(topic.sentences)) for topic in topics)
    signatures = {metric.name: metric.signature for metric in metrics}
    return convergence(parts, dimension, sizes, runs, seed, signatures, basis)


def topic_runs(
    topic: Evidence, dimension: str, metrics: Sequence[Metric], sizes: Sequence[int], runs: int = RUNS, seed: int = 0
) -> TopicRuns:
    """Score a topic from samples of its judgments, and by the metrics that rest on none. Sizes ascend."""
    human = np.array([summary.human.get(dimension, np.nan) for summary in topic.summaries])
    sampled, flat = {}, {}
    for metric in metrics:
        if isinstance(metric, Preferences):
            score = metric.scorer(topic)
            rows = [agreements(human, score(samples(topic, size, runs, seed))) for size in sizes]
            sampled[metric.name] = np.stack([np.broadcast_to(row, runs) for row in rows])
        else:
            flat[metric.name] = float(agreements(human, metric.score(topic)[None])[0])
    return TopicRuns(topic.topic_id, len(topic.judgments), sampled, flat)


def samples(topic: Evidence, size: int, runs: int, seed: int) -> Iterator[Judgments]:
    """So many of the topic's judgments, without replacement, in the order in which they were given, for each run.

    Where there are no more than that, all of them, once. A larger sample of a run holds the smaller one.
    """
    m = len(topic.judgments)
    if size >= m:
        yield topic.judgments
        return
    for run in range(runs):
        order = np.random.default_rng((*seed_for(seed, topic.topic_id), run)).permutation(m)
        chosen = np.zeros(m, dtype=np.bool_)
        chosen[order[:size]] = True
        yield topic.judgments.some(chosen)


def agreements(human: Vector, scores: Matrix) -> Vector:
    """(b,): equation 1 for each of (b, summaries)."""
    return agreement(human[:, None], scores[:, :, None], Resamples.whole(len(human), 1)).mean


def convergence(
    topics: Sequence[TopicRuns],
    dimension: str,
    sizes: Sequence[int],
    runs: int,
    seed: int,
    signatures: Mapping[str, str],
    basis: Basis | None = None,
) -> Convergence:
    """The agreement of all topics: its mean over topics, then mean and standard deviation over runs.

    `basis`: what the study has; while it is too early for tests, nothing is passed.
    """
    sampled = {name: np.stack([topic.sampled[name] for topic in topics]) for name in topics[0].sampled}
    baselines = tuple(
        Baseline(
            name,
            signatures[name],
            finite(float(_mean(np.array([topic.flat[name] for topic in topics])))),
            {topic.topic: finite(topic.flat[name]) for topic in topics},
        )
        for name in topics[0].flat
    )
    metrics = tuple(
        MetricConvergence(
            name,
            signatures[name],
            _points(values, sizes),
            tuple(
                TopicConvergence(topic.topic, topic.judgments, _points(own[None], sizes))
                for topic, own in zip(topics, values, strict=True)
            ),
        )
        for name, values in sampled.items()
    )
    level = LEVEL / max(len(metrics) * len(baselines), 1)
    is_early = basis is not None and basis.is_early
    passings = tuple(_passing(metric, baseline, level, is_early) for metric in metrics for baseline in baselines)
    return Convergence(dimension, runs, seed, tuple(sizes), metrics, baselines, passings, basis)


def _points(values: Matrix, sizes: Sequence[int]) -> tuple[ConvergencePoint, ...]:
    """One for each size, from (topics, sizes, runs)."""
    by_run = _mean(values)
    return tuple(
        ConvergencePoint(
            size,
            finite(float(_mean(row))),
            finite(float(np.std(row[np.isfinite(row)], ddof=1))) if np.isfinite(row).sum() > 1 else None,
            int(np.isnan(values[:, k]).sum()),
        )
        for k, (size, row) in enumerate(zip(sizes, by_run, strict=True))
    )


def _mean(values: Matrix) -> Vector:
    """Over the first axis, of what is defined."""
    defined = np.isfinite(values)
    count = defined.sum(axis=0)
    summed = np.where(defined, values, 0.0).sum(axis=0)
    return np.asarray(np.divide(summed, count, out=np.full(count.shape, np.nan), where=count > 0))


def _passing(metric: MetricConvergence, baseline: Baseline, level: float, is_early: bool) -> Passing:
    """From which number of judgments on the metric is shown to agree better than the baseline."""
    ahead = [_ahead(metric, baseline, k, level) for k in range(len(metric.points))]
    first: int | None = None
    for point, own in zip(metric.points, ahead, strict=True):
        if is_early or own.low is None or own.low <= 0:
            first = None
        elif first is None:
            first = point.judgments
    return Passing(metric.metric, baseline.metric, first, ahead[-1] if ahead else UNKNOWN)


def _ahead(metric: MetricConvergence, baseline: Baseline, k: int, level: float) -> Bounded:
    """The difference of agreement with the k-th number of judgments, paired over topics, with Student's interval.

    The interval ends where differences of agreement do, at -1 and 1. No interval without a spread between topics.
    """
    pairs = [(topic.points[k].agreement, baseline.topics[topic.topic]) for topic in metric.topics]
    differences = np.array([own - other for own, other in pairs if own is not None and other is not None])
    n = len(differences)
    if n < 2 or np.ptp(differences) < 1e-12:
        return Bounded(finite(differences.mean()) if n else None, None, None)
    mean = float(differences.mean())
    margin = float(scipy.stats.t.ppf(1 - level / 2, n - 1) * differences.std(ddof=1) / math.sqrt(n))
    return Bounded(mean, max(mean - margin, -1.0), min(mean + margin, 1.0))
