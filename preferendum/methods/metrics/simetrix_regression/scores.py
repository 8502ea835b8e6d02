"""A human score, predicted from what all metrics that need no references say of a summary.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013: linear regression on the ten features of SIMetrix. No topic is scored by what was learnt from
its own summaries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings, evidence
from preferendum.formats import read
from preferendum.methods.metrics.input_similarity import TOPIC_WORDS
from preferendum.methods.metrics.trained.files import KINDS
from preferendum.methods.metrics.trained.linear import combined, least_squares
from preferendum.metrics import registry
from preferendum.metrics.registry import Metric, MissingEvidence, Need, Options, UnknownMetric

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

BESIDE_BACKGROUND = {
    "cosine": ("background",),
    **dict.fromkeys(("cosine-topic", "topic-share", "topic-fraction"), tuple(TOPIC_WORDS)),
}
FEATURES = KINDS["simetrix"].features


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """What is learnt from: features X (m, 10) and human scores y (m,) of one topic's summaries by machines."""

    sentences: tuple[str, ...]
    X: Matrix
    y: Vector


@dataclass(frozen=True, slots=True)
class Simetrix:
    """What trained metrics of the kind `simetrix` read of summaries."""

    metrics: tuple[Metric, ...]

    @classmethod
    def of(cls, names: Sequence[str], options: Options) -> Self:
        """Features by name; options of topic words and background as metrics have them."""

        def named(name: str) -> str:
            taken = [option for option in BESIDE_BACKGROUND.get(name, ()) if option in options]
            return ":".join([name, *(f"{option}={options[option]}" for option in taken)])

        return cls(tuple(registry.metric(named(name)) for name in names))

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS})

    @property
    def signature(self) -> str:
        beside = [metric.signature for metric in self.metrics if metric.name.partition(":")[0] in BESIDE_BACKGROUND]
        return beside[0] if beside else self.metrics[0].signature

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        return replace(self, metrics=tuple(registry.prepared(self.metrics, topics)))

    def values(self, topic: Evidence) -> Matrix:
        """(summaries, features)"""
        return np.column_stack([metric.score(topic) for metric in self.metrics])


@dataclass(frozen=True, slots=True)
class Regression:
    """The metric. `dimension`: which human score, None for the only one there is; `train`: a file of other topics."""

    name: str
    features: Simetrix
    dimension: str | None
    train: str | None
    examples: tuple[Examples, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        return self.features.needs | (frozenset() if self.train else {Need.HUMAN_SCORES})

    @property
    def signature(self) -> str:
        learnt = f"the topics of {self.train}" if self.train else "the other topics"
        scores = f"human {self.dimension}" if self.dimension else "the human scores"
        return (
            f"{scores} by least squares on {', '.join(FEATURES)}, standardized, learnt from machines' summaries of "
            f"{learnt}; {self.features.signature}"
        )

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        teaching = topics if self.train is None else [evidence(topic) for topic in read(Path(self.train)).topics]
        dimension = self._dimension_of(teaching)
        examples = tuple(_examples(teaching, self.features.prepared(teaching), dimension))
        return replace(self, features=self.features.prepared(topics), dimension=dimension, examples=examples)

    def score(self, topic: Evidence) -> Vector:
        """What topics with other documents teach. Raises `MissingEvidence` where they are too few."""
        others = [examples for examples in self.examples if examples.sentences != topic.sentences]
        summaries = sum(len(examples.y) for examples in others)
        if summaries <= len(FEATURES) + 1:
            raise MissingEvidence(
                f"{self.name} learns from the human scores of {len(FEATURES) + 2} summaries of other topics or more, "
                f"and for topic {topic.topic_id} there are {summaries}"
            )
        X, y = (np.concatenate([getattr(examples, name) for examples in others]) for name in ("X", "y"))
        return combined(least_squares(FEATURES, X, y), FEATURES, self.features.values(topic))

    def _dimension_of(self, topics: Iterable[Evidence]) -> str:
        names = sorted({name for topic in topics for summary in topic.summaries for name in summary.human})
        if self.dimension in names:
            return self.dimension
        if self.dimension is None and len(names) == 1:
            return names[0]
        there_are = f"there are: {', '.join(names)}" if names else "there are no human scores"
        raise UnknownMetric(f"{self.name}: say which human score it predicts, as in dimension=overall; {there_are}")


def _examples(topics: Iterable[Evidence], features: Simetrix, dimension: str) -> Iterable[Examples]:
    for topic in topics:
        scored = tuple(summary for summary in topic.summaries if dimension in summary.human and not summary.person)
        if scored and topic.sentences:
            y = np.array([summary.human[dimension] for summary in scored])
            yield Examples(topic.sentences, features.values(replace(topic, summaries=scored)), y)


def make(asked: str, options: Options, _: Settings | None) -> Regression:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    features = Simetrix.of(FEATURES, options)
    return Regression(asked, features, options.get("dimension") or None, options.get("train") or None)
