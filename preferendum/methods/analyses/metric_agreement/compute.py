"""How well metrics order a study's summaries as people do, at once; then with intervals, a metric at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from preferendum.methods.analyses.metric_agreement.report import (
    Sampling,
    dimension_agreement,
    metric_agreement,
    metric_differences,
)
from preferendum.methods.meta.peers import Part, all_peers, among, with_metrics
from preferendum.results import DimensionAgreement
from preferendum.results.scores import MIXED, rests_on_answers
from preferendum.work import AtWork, Keys
from preferendum.work.scores import Scores

#: Figures without intervals, which take a moment.
AT_ONCE = Sampling(draws=0)

Agreements = dict[Part, DimensionAgreement]


def compute(study: AtWork) -> Iterator[None]:
    """Publish the agreement without intervals.

    What does not rest on judgments is reused if its scores are unchanged.
    """
    is_same = study.noted() == {"texts_version": study.texts_version}
    before = study.kept(DimensionAgreement) if is_same else {}
    study.publish(agreements(study.scores, before), {"texts_version": study.texts_version})
    yield


def compute_intervals(study: AtWork) -> Iterator[None]:
    """Keep the agreement with intervals, and test the differences between metrics, a metric at a time."""
    now, begun = study.kept(DimensionAgreement, of="metrics"), study.kept(DimensionAgreement)
    for part, agreement in now.items():
        for step in bounded(study.scores, part, agreement, begun.get(part), Sampling()):
            study.keep(part, step)
            yield
    study.finish(now.keys())


def agreements(scores: Scores, before: Mapping[Keys, DimensionAgreement] | None = None) -> Agreements:
    """How every metric agrees with people in every dimension, among machines and, if there are people, among all.

    Without intervals, which takes a moment. `before`: what was worked out earlier from the same scores of all metrics
    but preferences: theirs are not worked out again.
    """
    return {
        (whose, dimension): _agreement(own, dimension, (before or {}).get((whose, dimension)))
        for whose, own in ((whose, among(scores, whose)) for whose in all_peers(scores))
        for dimension in own.human
    }


def bounded(
    scores: Scores, part: Keys, now: DimensionAgreement, begun: DimensionAgreement | None, sampling: Sampling
) -> Iterator[DimensionAgreement]:
    """The agreement with intervals and the differences of the first metric from the others, a step at a time.

    `now`: without them; `begun`: what has them already. What is still the same is kept, so nothing is yielded where all
    of it is.
    """
    peers: Any
    peers, dimension = part
    scores = among(scores, peers).judged(dimension)
    resamples = sampling.resamples(scores)
    older = {metric.metric: metric for metric in begun.metrics} if begun else {}
    done = {
        metric.metric: older[metric.metric]
        for metric in now.metrics
        if metric.metric in older and older[metric.metric].is_of_same_scores(metric)
    }
    is_whole = begun is not None and len(done) == len(begun.metrics) and len(begun.differences) == len(now.metrics) - 1
    for metric in now.metrics:
        if metric.metric not in done:
            done[metric.metric] = metric_agreement(metric.metric, scores, dimension, resamples, sampling.level)
            yield replace(now, metrics=tuple(done.values()))
            is_whole = False
    if not is_whole:
        ordered = tuple(done[metric.metric] for metric in now.metrics)
        yield replace(now, metrics=ordered, differences=metric_differences(scores, dimension, resamples, sampling))


def _moves(name: str) -> bool:
    """Whether every judgment changes the metric's scores. Those with simulated judgments, too, are updated in turns."""
    return rests_on_answers(name) and MIXED not in name


def _agreement(scores: Scores, dimension: str, before: DimensionAgreement | None) -> DimensionAgreement:
    older = {} if before is None else {metric.metric: metric for metric in before.metrics}
    kept = {name: older[name] for name in scores.metrics if name in older and not _moves(name)}
    moving = with_metrics(scores, [name for name in scores.metrics if name not in kept])
    agreement = dimension_agreement(moving, dimension, AT_ONCE)
    rows = kept | {metric.metric: metric for metric in agreement.metrics}
    return replace(agreement, metrics=tuple(rows[name] for name in scores.metrics))
