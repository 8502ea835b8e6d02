"""Training metrics on human scores, and saying how well they do on topics that taught them nothing.

P. Rankel, J. Conroy & J. Schlesinger, "Better metrics to automatically predict the quality of a text summary",
Algorithms 5(4), 2012, section 5: every subset of the 13 features is fitted on one set of topics; the one that best
correlates with people's scores of the systems of another set is fitted again, on that. Where there is one set, its even
and its odd topics take these parts, and the chosen features are fitted on all of it.

Topics with the same documents are never parted. The same is done without a tenth of them at a time, the choice of
features included, so that these can be scored by what was learnt from others.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from preferendum.about import __version__
from preferendum.evidence import Evidence
from preferendum.methods.analyses.metric_agreement.report import Sampling, dimension_agreement
from preferendum.methods.metrics.trained.files import BASE, LeftOut, Linear, Source, TrainedMetric
from preferendum.methods.metrics.trained.files import KINDS as WRITTEN
from preferendum.methods.metrics.trained.linear import combined, least_squares
from preferendum.methods.metrics.trained.scores import KINDS, Features, digest
from preferendum.methods.training.subset_regression import METHODS, Examples, Method, are_determined
from preferendum.results.metrics import DimensionAgreement, Peers
from preferendum.results.training import IN_SAMPLE, LEFT_OUT, TopicExamples, TrainingReport
from preferendum.statistics import finite
from preferendum.work.scores import Scores

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Subsets = NDArray[np.bool_]

#: Into how many parts topics are put to be left out in turn, if there are so many.
PARTS = 10
FEWEST_TOPICS, FEWEST_SYSTEMS = 4, 3
#: How exact coefficients are while subsets are compared.
ROUGHLY = 1e-4


class TooLittle(ValueError):
    """There are too few human scores to learn from; the message says how many are needed."""


@dataclass(frozen=True, slots=True)
class Training:
    """How to train. `features`: of the method's kind, or none for all of them; `options`: what they need to know.

    `source`, `chosen_by`: names of the topics to learn from, and of those that features are first fitted on.
    """

    method: str
    target: str
    peers: Peers = "machines"
    features: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    chosen_by: str = ""

    @property
    def trainer(self) -> Trainer:
        return TRAINERS[self.method]

    @property
    def names(self) -> tuple[str, ...]:
        return self.features or WRITTEN[self.trainer.kind].features

    def reader(self) -> Features:
        """What gives the features' values."""
        return KINDS[self.trainer.kind](self.names, self.options)


class Trainer(Protocol):
    """How metrics of one method are learnt."""

    @property
    def kind(self) -> str: ...

    def learn(self, table: Table, first: Table | None) -> Linear:
        """`first`: other topics, on which subsets of features are fitted to be compared on those of `table`."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Summaries of several topics by row, with their features `names` and human scores.

    `system`, `group` (m,): the numbers of each summary's system and documents.
    """

    names: tuple[str, ...]
    examples: Examples
    system: NDArray[np.int64]
    group: NDArray[np.int64]

    def rows(self, rows: NDArray[np.bool_]) -> Table:
        own = self.examples
        return Table(
            self.names, Examples(own.X[rows], own.human[rows], own.target), self.system[rows], self.group[rows]
        )

    @classmethod
    def of(cls, topics: Sequence[TopicExamples], names: Sequence[str], target: str, lenient: bool = False) -> Table:
        """`lenient`: with summaries that lack some features.

        People's scores in dimensions other than the target are kept if every summary here has them.
        """
        systems, digests = ({name: k for k, name in enumerate(dict.fromkeys(own))} for own in _identities(topics))
        rows = [(topic, k) for topic in topics for k in range(len(topic.systems))]
        X = np.array([_row(topic.columns, topic.features[k], names) for topic, k in rows]).reshape(len(rows), -1)
        dimensions = sorted({name for topic in topics for name in topic.dimensions} | {target})
        human = np.array([_row(topic.dimensions, topic.human[k], dimensions) for topic, k in rows])
        at = dimensions.index(target)
        human = human.reshape(len(rows), len(dimensions))
        kept = np.isfinite(human[:, at]) & (np.isfinite(X).any(axis=1) if lenient else np.isfinite(X).all(axis=1))
        whole = np.isfinite(human[kept]).all(axis=0)
        whole[at] = True
        return cls(
            tuple(names),
            Examples(X[kept], human[np.ix_(kept, whole)], int(whole[:at].sum())),
            np.array([systems[topic.systems[k]] for topic, k in compress(rows, kept)], dtype=np.int64),
            np.array([digests[topic.digest] for topic, _k in compress(rows, kept)], dtype=np.int64),
        )


def _identities(topics: Sequence[TopicExamples]) -> tuple[Iterator[str], Iterator[str]]:
    return chain.from_iterable(topic.systems for topic in topics), (topic.digest for topic in topics)


def _row(names: Sequence[str], values: Sequence[float | None], wanted: Sequence[str]) -> list[float]:
    own = dict(zip(names, values, strict=True))
    return [np.nan if (value := own.get(name)) is None else value for name in wanted]


@dataclass(frozen=True, slots=True)
class SubsetTrainer:
    """CLASSY: the best of all subsets of its features, by one of its methods."""

    method: Method
    kind: str = "classy"

    def learn(self, table: Table, first: Table | None) -> Linear:
        if first is None:
            is_odd = np.searchsorted(np.unique(table.group), table.group) % 2 == 1
            best = self._best(table.rows(~is_odd), table.rows(is_odd), table)
        else:
            best = self._best(first, table, table)
        columns = np.flatnonzero(best)
        (intercept, *weights) = self.method(table.examples, columns[None, :])[0].tolist()
        return Linear(intercept, {table.names[k]: (weights[k], None) for k in columns.tolist()})

    def _best(self, teaching: Table, choosing: Table, whole: Table) -> NDArray[np.bool_]:
        """Fitted on `teaching`, the subset that correlates best with people on `choosing`; (f,)."""
        best, chosen = -np.inf, None
        for columns in _by_size(_subsets(whole.names)):
            columns = columns[are_determined(teaching.examples.X, columns) & are_determined(whole.examples.X, columns)]
            if len(columns):
                coefficients = self.method(teaching.examples, columns, ROUGHLY)
                r = np.nan_to_num(system_correlations(coefficients, choosing), nan=-np.inf)
                if r.max() > best:
                    best, chosen = r.max(), columns[r.argmax()]
        if chosen is None:
            raise TooLittle("in the topics at hand no feature varies together with the human scores of systems")
        return np.isin(np.arange(len(whole.names)), chosen)


@dataclass(frozen=True, slots=True)
class LeastSquaresTrainer:
    """All features of SIMetrix, by least squares; what is not a number counts as its mean."""

    kind: str = "simetrix"

    def learn(self, table: Table, first: Table | None) -> Linear:
        if first is not None:
            X, y = (np.concatenate(both) for both in zip(_xy(table), _xy(first), strict=True))
            return least_squares(table.names, X, y)
        return least_squares(table.names, *_xy(table))


def _xy(table: Table) -> tuple[Matrix, Vector]:
    return table.examples.X, table.examples.y


#: By the name of a method (`preferendum.methods.metrics.trained.files.KINDS`).
TRAINERS: Mapping[str, Trainer] = {
    **{name: SubsetTrainer(method) for name, method in METHODS.items()},
    "least-squares": LeastSquaresTrainer(),
}


def system_correlations(coefficients: Matrix, table: Table) -> Vector:
    """(s,): Pearson's, of systems' mean predicted and human scores, by each of s rows (1 + f) of coefficients."""
    count = np.bincount(table.system)
    is_there = count > 0
    sums = np.zeros((len(count), table.examples.X.shape[1] + 1))
    np.add.at(sums, table.system, np.column_stack([table.examples.X, table.examples.y]))
    means = sums[is_there] / count[is_there, None]
    centred = means - means.mean(axis=0)
    predicted, human = centred[:, :-1] @ coefficients[:, 1:].T, centred[:, -1]
    size = np.linalg.norm(predicted, axis=0) * np.linalg.norm(human)
    enough = size > 1e-12 * max(1.0, float(size.max(initial=0)))
    return np.where(enough, human @ predicted / np.where(enough, size, 1), np.nan)


def _subsets(names: Sequence[str]) -> Subsets:
    """(2^g - 1, f): of the features, those against the references of the topic and of its base chosen together."""
    groups = list(dict.fromkeys(name.removeprefix(BASE) for name in names))
    chosen = np.array([*product((False, True), repeat=len(groups))][1:])
    return chosen[:, [groups.index(name.removeprefix(BASE)) for name in names]]


def _by_size(subsets: Subsets) -> Iterator[NDArray[np.int64]]:
    """The subsets of each size as columns (s, k), the smallest first."""
    size = subsets.sum(axis=1)
    for k in np.unique(size).tolist():
        yield np.nonzero(subsets[size == k])[1].reshape(-1, k)


def topic_examples(topic: Evidence, training: Training, reader: Features) -> TopicExamples:
    """A topic's training examples: those of its summaries that the training uses."""
    own = tuple(summary for summary in topic.summaries if training.peers == "all" or not summary.person)
    topic = replace(topic, summaries=own)
    dimensions = tuple(sorted({name for summary in own for name in summary.human}))
    values = reader.values(topic) if own else np.empty((0, len(training.names)))
    return TopicExamples(
        topic=topic.topic_id,
        digest=digest(topic),
        texts=_texts(topic),
        systems=tuple(summary.system for summary in own),
        machines=tuple(not summary.person for summary in own),
        columns=training.names,
        features=tuple(tuple(map(finite, row)) for row in values.tolist()),
        dimensions=dimensions,
        human=tuple(tuple(summary.human.get(name) for name in dimensions) for summary in own),
    )


def _texts(topic: Evidence) -> str:
    summaries = [(summary.system, summary.sentences, sorted(summary.human.items())) for summary in topic.summaries]
    return sha256_of((topic.sentences, topic.references, topic.base_references, summaries))


def sha256_of(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Course:
    """Training, as a few steps that may be taken one at a time: `whole`, then what is learnt without each part.

    `topics`: those that are learnt from; `first`: others, on which features are fitted to be chosen.
    """

    training: Training
    topics: tuple[TopicExamples, ...]
    first: tuple[TopicExamples, ...] = ()

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The digests of topics that are left out together."""
        digests = list(dict.fromkeys(topic.digest for topic in self._scored))
        number = min(PARTS, len(digests))
        return tuple(tuple(digests[k::number]) for k in range(number))

    @property
    def steps(self) -> int:
        return 1 + len(self.parts)

    def check(self) -> None:
        """Raises `TooLittle`."""
        for topics in filter(None, (self.topics, self.first)):
            table = Table.of(topics, self._names, self.training.target, self._is_lenient)
            groups, systems = len(np.unique(table.group)), len(np.unique(table.system))
            if groups < FEWEST_TOPICS or systems < FEWEST_SYSTEMS:
                raise TooLittle(
                    f"training takes human scores for {self.training.target} of {FEWEST_SYSTEMS} systems on "
                    f"{FEWEST_TOPICS} topics with documents of their own, with all features, and there are "
                    f"{systems} on {groups}"
                )

    def step(self, number: int) -> LeftOut:
        """What is learnt from all topics (0), or without the topics of a part."""
        left_out = self.parts[number - 1] if number else ()

        def table(topics: Sequence[TopicExamples]) -> Table:
            kept = [topic for topic in topics if topic.digest not in left_out]
            return Table.of(kept, self._names, self.training.target, self._is_lenient)

        first = table(self.first) if self.first else None
        return LeftOut(left_out, self.training.trainer.learn(table(self.topics), first))

    def trained(self, steps: Sequence[LeftOut]) -> TrainedMetric:
        """The metric, once all steps are taken."""
        training = self.training
        sources = [Source(training.source, "learnt", *_described(self.topics))]
        if self.first:
            use = "chosen" if training.trainer.kind == "classy" else "learnt"
            sources.append(Source(training.chosen_by, use, *_described(self.first)))  # type: ignore[arg-type]
        return TrainedMetric(
            kind=training.trainer.kind,
            method=training.method,
            target=training.target,
            peers=training.peers,
            linear=steps[0].linear,
            sources=tuple(sources),
            left_out=tuple(steps[1:]),
            options=dict(training.options),
            program_version=__version__,
        )

    def report(self, metric: TrainedMetric) -> TrainingReport:
        """Its agreement with people on the topics that it learnt from, and that of features that are metrics."""
        chosen = Counter(name for part in metric.left_out for name in part.linear.features)
        kept = {name: chosen[name] for name in metric.linear.features}
        return TrainingReport(self._agreement(metric), len(metric.left_out), kept)

    def _agreement(self, metric: TrainedMetric) -> DimensionAgreement:
        without = {digest: part.linear for part in metric.left_out for digest in part.topics}
        columns = {LEFT_OUT: without, IN_SAMPLE: dict.fromkeys(without, metric.linear)}
        scores = {
            name: [combined(linears[topic.digest], topic.columns, _matrix(topic)) for topic in self._scored]
            for name, linears in columns.items()
        }
        for name in self._beside:
            scores[name] = [_matrix(topic)[:, topic.columns.index(name)] for topic in self._scored]
        agreement = dimension_agreement(self._scores(scores), self.training.target, Sampling(draws=0))
        return replace(agreement, metrics=tuple(replace(row, topics=()) for row in agreement.metrics))

    @property
    def _beside(self) -> Sequence[str]:
        return [name for name in ("rouge-2", "rouge-su4", "js") if name in self._names]

    @property
    def _scored(self) -> list[TopicExamples]:
        """The topics with any human score for the target, and a summary at all."""
        return [topic for topic in self.topics if self.training.target in topic.dimensions]

    def _scores(self, by_metric: Mapping[str, Sequence[Vector]]) -> Scores:
        topics = self._scored
        systems = sorted({system for topic in topics for system in topic.systems})
        machine = {own: is_one for topic in topics for own, is_one in zip(topic.systems, topic.machines, strict=True)}

        def matrix(columns: Sequence[Vector]) -> Matrix:
            whole = np.full((len(systems), len(topics)), np.nan)
            for k, (topic, column) in enumerate(zip(topics, columns, strict=True)):
                whole[[systems.index(system) for system in topic.systems], k] = column
            return whole

        target = self.training.target
        human = [np.array([_row(topic.dimensions, row, [target])[0] for row in topic.human]) for topic in topics]
        return Scores(
            tuple(systems),
            tuple(topic.topic for topic in topics),
            {target: matrix(human)},
            {name: matrix(columns) for name, columns in by_metric.items()},
            dict.fromkeys(by_metric, ""),
            tuple(machine[system] for system in systems),
        )

    @property
    def _is_lenient(self) -> bool:
        return self.training.trainer.kind != "classy"

    @property
    def _names(self) -> tuple[str, ...]:
        """The features that no topic lacks: without references in one, or without those of an earlier set, no topic is
        judged by such."""
        topics = [_matrix(topic) for topic in (*self._scored, *self.first)]
        is_there = np.array([np.isfinite(values).any(axis=0) for values in topics]).all(axis=0)
        return tuple(compress(self.training.names, np.broadcast_to(is_there, len(self.training.names))))


def _matrix(topic: TopicExamples) -> Matrix:
    return np.array(topic.features, dtype=np.float64).reshape(len(topic.systems), len(topic.columns))


def _described(topics: Sequence[TopicExamples]) -> tuple[str, int, dict[str, str]]:
    return (
        sha256_of([topic.texts for topic in topics]),
        sum(len(topic.systems) for topic in topics),
        {topic.topic: topic.digest for topic in topics},
    )
