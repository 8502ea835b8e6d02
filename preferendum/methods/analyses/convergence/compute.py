"""How agreement grows with judgments, for a study's page: a topic and a number of judgments at a time, none twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from preferendum.evidence import Evidence, Settings
from preferendum.methods.analyses.convergence.report import RUNS, SIZES, TopicRuns, agreements, convergence, samples
from preferendum.methods.meta.peers import Part, all_peers, among
from preferendum.methods.meta.resampling import Matrix, Vector
from preferendum.methods.metrics.preferences.scores import Preferences
from preferendum.metrics.names import AS_PRINTED, PREFERENCES
from preferendum.metrics.registry import metric
from preferendum.results import Convergence, SampledAgreement, StudyConvergence, TopicSamples, from_json
from preferendum.results.scores import rests_on_answers
from preferendum.statistics import finite
from preferendum.work import MOST_SENTENCES, AtWork
from preferendum.work.scores import Scores

SEED = 0

#: What people said of a topic's summaries, by whose summaries and in which dimension: a score by system.
Human = Mapping[Part, Mapping[str, float]]


def compute(study: AtWork) -> Iterator[None]:
    """Keep the samples of each topic, a number of judgments at a time; then publish the curves of all together."""
    by_people = humans(study.scores)
    having = [topic for topic in study.topics if topic.name in by_people]
    topics = [topic for topic in having if topic.sentences <= MOST_SENTENCES]
    samples = {topic.name: from_json(TopicSamples, topic.kept) for topic in topics if topic.kept is not None}
    waiting = [topic for topic in topics if topic.name not in samples or samples[topic.name].remaining]
    for done, topic in enumerate(waiting, len(topics) - len(waiting)):
        study.note({"sampled": done, "to_sample": len(topics)})
        loaded = study.evidence(topic)
        if loaded is None:
            return
        begun = samples[topic.name].samples if topic.name in samples else ()
        kinds = Counter(loaded[0].kinds[number] for number in loaded[0].judgments.annotator.tolist())
        for step in sampled(*loaded, by_people[topic.name], begun):
            study.keep_of_topic(topic, TopicSamples(kinds, step.samples, step.remaining))
            yield
    if not waiting:  # the next turn reads the samples back and combines them
        study.publish(_combined(study.scores, samples, len(having) - len(topics)))
    yield


def _combined(scores: Scores, samples: Mapping[str, TopicSamples], left_out: int) -> dict[Part, StudyConvergence]:
    """The curves of each part, with the number of judgments of its topics, by kind of annotators."""
    topics = {name: SampledTopic(sum(own.judgments.values()), own.samples) for name, own in samples.items()}
    combined = {}
    for part, curves in converged(scores, topics).items():
        judgments = Counter[str]()
        for name, topic in topics.items():
            if topic.metrics(part):
                judgments.update(samples[name].judgments)
        combined[part] = StudyConvergence(curves, judgments, left_out)
    return combined


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
