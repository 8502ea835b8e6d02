"""How many judgments does agreement with people take? Figure 3 of Zopf (2018).

In each of so many runs the judgments of a topic are put in a random order; what the first n of them say is scored and
held against people (equation 1). Metrics without judgments are flat lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.evidence import Evidence, Judgments
from evaluation.meta.agreement import Matrix, Vector, agreement
from evaluation.meta.resampling import Resamples
from evaluation.metrics.preferences import Preferences
from evaluation.metrics.registry import Metric
from evaluation.scoring.simulate import seed_for
from evaluation.statistics import finite
from formats.results import (
    Baseline,
    Convergence,
    ConvergencePoint,
    MetricConvergence,
    Passing,
    TopicConvergence,
)

RUNS = 100
#: Sizes of samples; all judgments are one more.
SIZES = (10, 20, 50, 100, 200, 500)
#: A curve is carried on to so many times the judgments that there are.
FURTHEST = 10


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
    """All topics, of which at least one has judgments, `at` so many judgments a topic; None stands for all of them.

    `watched` counts the topics for who waits.
    """
    most = max(len(topic.judgments) for topic in topics)
    sizes = sorted({most if size is None else min(size, most) for size in at})
    parts = [topic_runs(topic, dimension, metrics, sizes, runs, seed) for topic in watched(topics)]
    return convergence(parts, dimension, sizes, runs, seed, {metric.name: metric.signature for metric in metrics})


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
) -> Convergence:
    """The agreement of all topics: its mean over topics, then mean and standard deviation over runs."""
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
    passings = tuple(_passing(metric, baseline) for metric in metrics for baseline in baselines)
    return Convergence(dimension, runs, seed, tuple(sizes), metrics, baselines, passings)


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


def _passing(metric: MetricConvergence, baseline: Baseline) -> Passing:
    """From which number of judgments on the metric agrees better than the baseline; None: from none that was tried."""
    first: int | None = None
    for point in metric.points:
        if point.agreement is None or baseline.agreement is None or point.agreement <= baseline.agreement:
            first = None
        elif first is None:
            first = point.judgments
    expected = _expected(metric.points, baseline.agreement) if first is None else None
    return Passing(metric.metric, baseline.metric, first, expected)


def _expected(points: Sequence[ConvergencePoint], baseline: float | None) -> int | None:
    """With how many judgments the curve may pass the baseline; None where that is not in sight.

    Carried on as a - b / sqrt(n), as standard errors shrink; by least squares, weighted by n: more judgments say more.
    """
    defined = [(point.judgments, point.agreement) for point in points if point.agreement is not None]
    if len(defined) < 3 or baseline is None:
        return None
    n, reached = np.array(defined, dtype=np.float64).T
    slope, level = np.polyfit(n**-0.5, reached, 1, w=np.sqrt(n))
    if level <= baseline or slope >= 0:
        return None
    needed = (slope / (baseline - level)) ** 2
    return max(math.ceil(needed), int(n[-1]) + 1) if needed <= FURTHEST * n[-1] else None
