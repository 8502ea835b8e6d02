"""What a study's pages say of metrics and people: which metrics, and among whose summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from preferendum.evidence import Evidence
from preferendum.methods.meta.reports import Sampling, dimension_agreement, metric_agreement, metric_differences
from preferendum.methods.meta.scores import Scores
from preferendum.metrics.registry import JACKKNIFE, without_one_reference
from preferendum.results import DimensionAgreement
from preferendum.results.metrics import Peers
from preferendum.results.scores import MIXED, rests_on_answers

#: Figures without intervals, which take a moment.
AT_ONCE = Sampling(draws=0)

#: Among whose summaries, and in which dimension.
Part = tuple[Peers, str]
Agreements = dict[Part, DimensionAgreement]


def names_for(topic: Evidence, chosen: Sequence[str]) -> tuple[str, ...]:
    """The metrics that a topic's summaries are scored with; with people among the peers, by one reference less, too."""
    has_people = any(summary.person for summary in topic.summaries)
    return with_jackknifed(chosen) if has_people else tuple(chosen)


def with_jackknifed(chosen: Sequence[str]) -> tuple[str, ...]:
    """Metrics, then those among them that can score by one reference less, doing so."""
    return tuple(dict.fromkeys([*chosen, *map(without_one_reference, chosen)]))


def agreements(scores: Scores, before: Mapping[Part, DimensionAgreement] | None = None) -> Agreements:
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
    scores: Scores, part: Part, now: DimensionAgreement, begun: DimensionAgreement | None, sampling: Sampling
) -> Iterator[DimensionAgreement]:
    """The agreement with intervals and the differences of the first metric from the others, a step at a time.

    `now`: without them; `begun`: what has them already. What is still the same is kept, so nothing is yielded where all
    of it is.
    """
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


def all_peers(scores: Scores) -> tuple[Peers, ...]:
    """Among whose summaries a study compares metrics with people."""
    return ("machines",) if all(scores.machines) else ("machines", "all")


def judged_among(scores: Scores) -> Iterator[tuple[Peers, Scores]]:
    """Among machines and, if there are people, among all: the topics where people scored a summary in any dimension."""
    for peers in all_peers(scores):
        own = among(scores, peers)
        if own.human:
            yield peers, own.judged(*own.human)


def among(scores: Scores, peers: Peers) -> Scores:
    """The scores of machines alone; or of all, by metrics that score machines by one reference less, as people are.

    Without dimensions in which none of them was scored by people.
    """
    jackknifed = {name for name in scores.metrics if name.endswith(f":{JACKKNIFE}")}
    if peers == "all":
        return _with_metrics(scores, [name for name in scores.metrics if without_one_reference(name) == name])
    machines = np.array(scores.machines, dtype=np.bool_)
    own = replace(
        scores,
        systems=tuple(compress(scores.systems, machines)),
        human={name: own for name, matrix in scores.human.items() if np.isfinite(own := matrix[machines]).any()},
        metrics={name: matrix[machines] for name, matrix in scores.metrics.items()},
        machines=tuple(compress(scores.machines, machines)),
        without_each={name: moved[:, machines] for name, moved in scores.without_each.items()},
    )
    return _with_metrics(own, [name for name in own.metrics if name not in jackknifed])


def _with_metrics(scores: Scores, names: Collection[str]) -> Scores:
    return replace(scores, metrics={name: scores.metrics[name] for name in names})


def _moves(name: str) -> bool:
    """Whether every judgment changes the metric's scores. Those with simulated judgments, too, are updated in turns."""
    return rests_on_answers(name) and MIXED not in name


def _agreement(scores: Scores, dimension: str, before: DimensionAgreement | None) -> DimensionAgreement:
    older = {} if before is None else {metric.metric: metric for metric in before.metrics}
    kept = {name: older[name] for name in scores.metrics if name in older and not _moves(name)}
    moving = _with_metrics(scores, [name for name in scores.metrics if name not in kept])
    agreement = dimension_agreement(moving, dimension, AT_ONCE)
    rows = kept | {metric.metric: metric for metric in agreement.metrics}
    return replace(agreement, metrics=tuple(rows[name] for name in scores.metrics))
