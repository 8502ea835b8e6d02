"""Agreement of metrics with people, as records for the command line and the worker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import stdtr, stdtrit

from preferendum.methods.meta import correlation
from preferendum.methods.meta.agreement import (
    COEFFICIENTS,
    LEVELS,
    Matrix,
    Vector,
    agreement,
    agreement_of_mixed,
    correlate,
    pairwise_accuracy,
    undefined_topics,
    whole_data,
    within_topics,
)
from preferendum.methods.meta.resampling import Resamples, Statistic, of_mixed, permutation_test, williams
from preferendum.results import (
    Bounded,
    Correlation,
    DimensionAgreement,
    MetricAgreement,
    MetricDifference,
    SignificantTopics,
    Tested,
    TopicCorrelations,
)
from preferendum.results.metrics import Level, Over
from preferendum.results.statistics import LEVEL
from preferendum.statistics import EQUAL, bounded, bounded_share, finite, fisher_interval, holm
from preferendum.work.scores import Scores

#: Differences between correlations of fewer systems have no p-value: three in a row are chance.
FEWEST_SYSTEMS = 5
#: Between which a share lies.
SHARES = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Sampling:
    """What intervals and permutations vary, how often and from which seed, and the level of significance.

    Without draws there are neither intervals nor p-values of differences, and the rest at once.
    """

    over: Over = "both"
    draws: int = 1000
    seed: int = 0
    level: float = LEVEL

    def resamples(self, scores: Scores) -> Resamples:
        return Resamples.drawn(len(scores.systems), len(scores.topics), self.over, self.draws, self.seed)


def dimension_agreement(
    scores: Scores,
    dimension: str,
    sampling: Sampling,
    *,
    with_differences: bool = False,
    watched: Callable[[Sequence[str]], Iterable[str]] = iter,
) -> DimensionAgreement:
    """Agreement of every metric with people in a dimension; `with_differences` of the first from the others.

    `watched` shows progress over the metrics.
    """
    scores = scores.judged(dimension)
    resamples = sampling.resamples(scores)
    metrics = tuple(
        metric_agreement(name, scores, dimension, resamples, sampling.level) for name in watched([*scores.metrics])
    )
    differences = metric_differences(scores, dimension, resamples, sampling) if with_differences else ()
    return DimensionAgreement(dimension, len(scores.topics), len(scores.systems), metrics, differences, scores.basis)


def metric_agreement(
    name: str, scores: Scores, dimension: str, resamples: Resamples, level: float = LEVEL
) -> MetricAgreement:
    """Everything about one metric, with percentile intervals from the resamples; no p-values while it is early."""
    human, metric = scores.human[dimension], scores.metrics[name]
    whole = Resamples.whole(*human.shape)
    value, resampled = agreement(human, metric, whole), agreement(human, metric, resamples)
    each = [agreement(human, own, whole) for own in _without_each(name, scores)]
    without = np.array([(own.mean[0], own.pooled[0]) for own in each]).reshape(-1, 2)
    accuracy = pairwise_accuracy(human, metric)
    is_tested = scores.can_test(name)
    n = resamples.cases
    topics = tuple(_topics(scores.topics, human, metric, is_tested))
    return MetricAgreement(
        metric=name,
        signature=scores.signatures[name],
        agreement=_widened(bounded_share(float(value.mean[0]), resampled.mean, n), without[:, 0], SHARES),
        agreement_pooled=_widened(bounded_share(float(value.pooled[0]), resampled.pooled, n), without[:, 1], SHARES),
        correlations={at: _correlations(human, metric, at, resamples) for at in LEVELS},
        significant={kind: _significant(topics, kind, level) for kind in COEFFICIENTS},
        accuracy=finite(accuracy.value),
        epsilon=finite(accuracy.epsilon),
        undefined_topics=undefined_topics(human, metric),
        topics=topics,
    )


def _without_each(name: str, scores: Scores) -> Iterable[Matrix]:
    """The metric's scores without each annotator whose answers they rest on, where that is known."""
    return (scores.metrics[name] - moved for moved in scores.without_each.get(name, ()))


def _error(without: Vector) -> float:
    """The standard error between annotators of a figure, from its values without each of them (the jackknife)."""
    return math.sqrt((len(without) - 1) * float(np.var(without))) if len(without) > 1 else 0.0


def _widened(interval: Bounded, without: Vector, within: tuple[float, float]) -> Bounded:
    """The wider of two intervals: from resamples, and between annotators, without whom the figure has these values.
    `within`: the bounds of such a figure."""
    if interval.value is None or interval.low is None or interval.high is None or len(without) < 2:
        return interval
    margin = float(stdtrit(len(without) - 1, 1 - LEVEL / 2)) * _error(without)
    low, high = np.clip([interval.value - margin, interval.value + margin], *within).tolist()
    return replace(interval, low=min(interval.low, low), high=max(interval.high, high))


def _on_both_sides(interval: Bounded, within: tuple[float, float]) -> Bounded:
    """The interval; none where the value is itself an end of it, and no bound of such a figure: of three systems most
    resamples have two, whose correlation is 1 or -1, so that they all lie on one side."""
    value, (least, most) = interval.value, within
    if value is None or interval.low is None or interval.high is None:
        return interval
    is_end = (least + EQUAL < value <= interval.low + EQUAL) or (interval.high - EQUAL <= value < most - EQUAL)
    return Bounded(value, None, None) if is_end else interval


def _p_between(value: float, without: Vector) -> float:
    """Two-sided, that a figure is 0 between annotators; 0 where nothing is known of them."""
    error = _error(without)
    return 2 * float(stdtr(len(without) - 1, -abs(value) / error)) if error > 0 else 0.0


def _correlations(human: Matrix, metric: Matrix, level: Level, resamples: Resamples) -> dict[str, Correlation]:
    data = whole_data(human, metric, level)
    whole = Resamples.whole(*human.shape)
    correlations = {}
    for kind, coefficient in COEFFICIENTS.items():
        value = float(correlate(human, metric, level, coefficient, whole)[0])
        interval = _on_both_sides(bounded(value, correlate(human, metric, level, coefficient, resamples)), (-1.0, 1.0))
        n = len(data) - undefined_topics(human, metric) if level == "summary" else len(data[0][0])
        low, high = fisher_interval(value, n) if level == "system" and kind == "pearson" else (None, None)
        correlations[kind] = Correlation(
            interval.value, interval.low, interval.high, n=n, fisher_low=low, fisher_high=high
        )
    return correlations


def _p_values(kind: str, values: Vector, data: Sequence[tuple[Vector, Vector]]) -> Vector:
    """(t,): of coefficients of one kind, one for each pair of columns."""
    if kind == "kendall":
        return np.array([correlation.kendall_p_value(*both) for both in data])
    if kind == "spearman":
        return np.array([correlation.spearman_p_value(*both, r) for both, r in zip(data, values, strict=True)])
    return correlation.p_values(values, np.array([len(by_people) for by_people, _ in data]))


def _topics(names: Sequence[str], human: Matrix, metric: Matrix, is_tested: bool) -> Iterable[TopicCorrelations]:
    data = whole_data(human, metric, "summary")
    shares = within_topics(human, metric, correlation.agreement)
    values = {kind: within_topics(human, metric, coefficient) for kind, coefficient in COEFFICIENTS.items()}
    p = {kind: _p_values(kind, column, data) for kind, column in values.items()}
    for k, name in enumerate(names):
        yield TopicCorrelations(
            name,
            len(data[k][0]),
            finite(shares[k]),
            {kind: finite(column[k]) for kind, column in values.items()},
            {kind: finite(column[k]) if is_tested else None for kind, column in p.items()},
        )


def _significant(topics: Sequence[TopicCorrelations], kind: str, level: float) -> SignificantTopics:
    defined = [(topic.values[kind], topic.p[kind]) for topic in topics]
    tested = [(value, p) for value, p in defined if value is not None and p is not None]
    values = [value for value, p in tested if p < level]
    share = len(values) / len(tested) if tested else None
    return SignificantTopics(len(tested), len(values), share, min(values, default=None), max(values, default=None))


def metric_differences(
    scores: Scores, dimension: str, resamples: Resamples, sampling: Sampling
) -> tuple[MetricDifference, ...]:
    """The first metric less each of the others, p-values corrected for all of them."""
    first, *others = scores.metrics
    differences = [_difference((first, other), scores, dimension, resamples, sampling) for other in others]
    adjusted = zip(
        _corrected([difference.agreement.p for difference in differences]),
        _corrected([difference.pearson.p for difference in differences]),
        _corrected([difference.williams_p for difference in differences]),
        strict=True,
    )
    return tuple(
        replace(
            difference,
            agreement=replace(difference.agreement, holm=agreement_p),
            pearson=replace(difference.pearson, holm=pearson_p),
            williams_holm=williams_p,
        )
        for difference, (agreement_p, pearson_p, williams_p) in zip(differences, adjusted, strict=True)
    )


def _corrected(p: Sequence[float | None]) -> list[float | None]:
    return [finite(adjusted) for adjusted in holm(np.array(p, dtype=np.float64))]


def _difference(
    names: tuple[str, str], scores: Scores, dimension: str, resamples: Resamples, sampling: Sampling
) -> MetricDifference:
    """Two metrics on the summaries that both of them and people scored."""
    matrices = scores.human[dimension], *(scores.metrics[name] for name in names)
    present = np.logical_and.reduce([np.isfinite(matrix) for matrix in matrices])
    human, a, b = (np.where(present, matrix, np.nan) for matrix in matrices)
    rng = np.random.default_rng(sampling.seed)
    whole = Resamples.whole(*human.shape)

    def agrees(scores: Matrix, drawn: Resamples = whole) -> Vector:
        return agreement(human, scores, drawn).mean

    def correlates(scores: Matrix, drawn: Resamples = whole) -> Vector:
        return correlate(human, scores, "system", correlation.pearson, drawn)

    def tested(statistic: Callable[..., Vector], mixed: Statistic, is_tested: bool, most: float) -> Tested:
        value = float(statistic(a)[0] - statistic(b)[0])
        moved = [statistic(np.where(present, own, np.nan))[0] for own in _without_each(names[0], scores)]
        without = np.array(moved) - statistic(b)[0]
        own = _on_both_sides(bounded(value, statistic(a, resamples) - statistic(b, resamples)), (-most, most))
        interval = _widened(own, without, (-most, most))
        if not (sampling.draws and is_tested):
            return Tested(interval.value, interval.low, interval.high, p=None)
        p = permutation_test(a, b, mixed, sampling.over, sampling.draws, rng)
        return Tested(interval.value, interval.low, interval.high, p=max(p, _p_between(value, without)))

    n = int(present.any(axis=1).sum())
    agreements = tested(agrees, partial(agreement_of_mixed, human), scores.can_test(*names), 1.0)
    has_p = scores.can_test(*names) and n >= FEWEST_SYSTEMS
    correlations = tested(correlates, of_mixed(correlates), has_p, 2.0)
    between = float(correlate(a, b, "system", correlation.pearson, whole)[0])
    t, p = williams(float(correlates(a)[0]), float(correlates(b)[0]), between, n)
    return MetricDifference(*names, agreements, correlations, finite(t), finite(p) if has_p else None)
