"""How agreement grows with judgments, for a study's page: a topic and a number of judgments at a time, none twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from preferendum.evidence import Evidence, Settings
from preferendum.methods.meta.convergence import RUNS, SIZES, TopicRuns, agreements, convergence, samples
from preferendum.methods.meta.resampling import Matrix, Vector
from preferendum.methods.meta.scores import Scores
from preferendum.methods.meta.study_reports import Part, all_peers, among
from preferendum.methods.metrics.preferences.scores import Preferences
from preferendum.metrics.names import AS_PRINTED, PREFERENCES
from preferendum.metrics.registry import metric
from preferendum.results import Convergence, SampledAgreement
from preferendum.results.scores import rests_on_answers
from preferendum.statistics import finite

#: A run of a longer topic takes so long that hundreds of them are left to the command line.
MOST_SENTENCES = 1_000
SEED = 0

#: What people said of a topic's summaries, by whose summaries and in which dimension: a score by system.
Human = Mapping[Part, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class SampledTopic:
    """A topic's agreement with so many of its judgments, for every requested number up to all of them."""

    judgments: int
    samples: tuple[SampledAgreement, ...]

    def runs(self, name: str, part: Part, size: int) -> Vector:
        """(RUNS,): with at most so many judgments."""
        size = min(size, self.judgments)
        for sample in self.samples:
            if (sample.metric, (sample.peers, sample.dimension), sample.judgments) == (name, part, size):
                return np.broadcast_to(np.array(sample.runs, dtype=np.float64), RUNS)
        raise KeyError(name, part, size)

    def metrics(self, part: Part) -> list[str]:
        own = (sample.metric for sample in self.samples if (sample.peers, sample.dimension) == part)
        return list(dict.fromkeys(own))


@dataclass(frozen=True, slots=True)
class Step:
    """The samples of a topic so far, and how many numbers of judgments remain."""

    samples: tuple[SampledAgreement, ...]
    remaining: int


def metrics_for(settings: Settings) -> list[Preferences]:
    """The study's own score and that of the paper."""
    names = dict.fromkeys([f"{PREFERENCES}{settings.score}", AS_PRINTED])
    metrics = (metric(name, settings) for name in names)
    return [own for own in metrics if isinstance(own, Preferences)]


def sampled(topic: Evidence, settings: Settings, human: Human, begun: Sequence[SampledAgreement]) -> Iterator[Step]:
    """The agreement with so many judgments for every metric, a number at a time; what has `begun` is not done again."""
    sizes = [*(size for size in SIZES if size < len(topic.judgments)), len(topic.judgments)]
    systems = [summary.system for summary in topic.summaries]
    columns = {part: np.array([graded.get(system, np.nan) for system in systems]) for part, graded in human.items()}
    ready = {(sample.metric, sample.judgments) for sample in begun}
    metrics = metrics_for(settings)
    to_do = {own: [size for size in sizes if (own.name, size) not in ready] for own in metrics}
    remaining = sum(map(len, to_do.values()))
    done = tuple(begun)
    for own, missing in to_do.items():
        score = own.scorer(topic)
        for size in missing:
            scores = score(samples(topic, size, RUNS, SEED))
            by_part = {part: agreements(column, scores).tolist() for part, column in columns.items()}
            done += tuple(
                SampledAgreement(own.name, size, peers, dimension, tuple(map(finite, runs)))
                for (peers, dimension), runs in by_part.items()
            )
            remaining -= 1
            yield Step(done, remaining)


def humans(scores: Scores) -> dict[str, Human]:
    """People's scores of summaries, by topic; only topics that have some."""
    by_topic: dict[str, dict[Part, dict[str, float]]] = {}
    for peers in all_peers(scores):
        own = among(scores, peers)
        for dimension, matrix in own.human.items():
            for row, column in np.argwhere(np.isfinite(matrix)).tolist():
                of_part = by_topic.setdefault(own.topics[column], {}).setdefault((peers, dimension), {})
                of_part[own.systems[row]] = float(matrix[row, column])
    return dict(by_topic)


def converged(scores: Scores, topics: Mapping[str, SampledTopic]) -> dict[Part, Convergence]:
    """The curves of all topics together, among whose summaries and in which dimension there are any, with the metrics
    that rest on no judgments as they are over the same topics."""
    reports = {}
    for peers in all_peers(scores):
        own = among(scores, peers)
        for dimension in own.human:
            part: Part = (peers, dimension)
            in_part = {name: topic for name, topic in topics.items() if topic.metrics(part)}
            if in_part:
                reports[part] = _converged(own, part, in_part)
    return reports


def _converged(scores: Scores, part: Part, topics: Mapping[str, SampledTopic]) -> Convergence:
    most = max(topic.judgments for topic in topics.values())
    sizes = sorted({min(size, most) for size in (*SIZES, most)})
    flat = [name for name in scores.metrics if not rests_on_answers(name)]
    runs = [
        TopicRuns(
            name,
            topic.judgments,
            {own: np.stack([topic.runs(own, part, size) for size in sizes]) for own in topic.metrics(part)},
            {
                other: _of_topic(scores.human[part[1]], scores.metrics[other], scores.topics.index(name))
                for other in flat
            },
        )
        for name, topic in topics.items()
    ]
    basis = scores.judged(part[1]).basis
    return convergence(runs, part[1], sizes, RUNS, SEED, scores.signatures, basis)


def _of_topic(human: Matrix, metric: Matrix, column: int) -> float:
    return float(agreements(human[:, column], metric[None, :, column])[0])
