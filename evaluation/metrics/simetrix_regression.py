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

from evaluation.evidence import Evidence, Settings, evidence
from evaluation.metrics import registry
from evaluation.metrics.input_similarity import TOPIC_WORDS
from evaluation.metrics.registry import Family, Metric, MissingEvidence, Need, Options, UnknownMetric, register
from formats import read

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

TEXTS_ALONE = ("js", "js-smoothed", "kl", "kl-summary", "unigram", "multinomial")
BESIDE_BACKGROUND = {
    "cosine": ("background",),
    **dict.fromkeys(("cosine-topic", "topic-share", "topic-fraction"), tuple(TOPIC_WORDS)),
}
FEATURES = (*TEXTS_ALONE, *BESIDE_BACKGROUND)


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """What is learnt from: features X (m, 10) and human scores y (m,) of one topic's summaries by machines."""

    sentences: tuple[str, ...]
    X: Matrix
    y: Vector


def predicted(X: Matrix, y: Vector, new: Matrix) -> Vector:
    """Least squares on standardized features: what the (m, f) with their y (m,) say of the new (s, f).

    Not a number in a feature counts as its mean; a feature that never varies tells nothing.
    """
    mean, sd = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    varies = sd > 1e-12 * np.maximum(np.abs(mean), 1)

    def design(features: Matrix) -> Matrix:
        standardized = np.nan_to_num((features[:, varies] - mean[varies]) / sd[varies])
        return np.column_stack([np.ones(len(features)), standardized])

    coefficients = np.linalg.lstsq(design(X), y, rcond=None)[0]
    return np.asarray(design(new) @ coefficients)


@dataclass(frozen=True, slots=True)
class Regression:
    """The metric. `dimension`: which human score, None for the only one there is; `train`: a file of other topics."""

    name: str
    features: tuple[Metric, ...]
    dimension: str | None
    train: str | None
    examples: tuple[Examples, ...] = ()

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS} if self.train else {Need.DOCUMENTS, Need.HUMAN_SCORES})

    @property
    def signature(self) -> str:
        learnt = f"the topics of {self.train}" if self.train else "the other topics"
        scores = f"human {self.dimension}" if self.dimension else "the human scores"
        names = ", ".join(metric.name.partition(":")[0] for metric in self.features)
        words = self.features[FEATURES.index("cosine-topic")].signature
        return (
            f"{scores} by least squares on {names}, standardized, learnt from machines' summaries of {learnt}; {words}"
        )

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        teaching = topics if self.train is None else [evidence(topic) for topic in read(Path(self.train)).topics]
        dimension = self._dimension_of(teaching)
        examples = tuple(_examples(teaching, registry.prepared(self.features, teaching), dimension))
        features = tuple(registry.prepared(self.features, topics))
        return replace(self, features=features, dimension=dimension, examples=examples)

    def score(self, topic: Evidence) -> Vector:
        """What topics with other documents teach. Raises `MissingEvidence` where they are too few."""
        others = [examples for examples in self.examples if examples.sentences != topic.sentences]
        learnt = sum(len(examples.y) for examples in others)
        if learnt <= len(self.features) + 1:
            raise MissingEvidence(
                f"{self.name} learns from the human scores of {len(self.features) + 2} summaries of other topics or "
                f"more, and for topic {topic.topic_id} there are {learnt}"
            )
        X, y = (np.concatenate([getattr(examples, name) for examples in others]) for name in ("X", "y"))
        return predicted(X, y, _values(self.features, topic))

    def _dimension_of(self, topics: Iterable[Evidence]) -> str:
        names = sorted({name for topic in topics for summary in topic.summaries for name in summary.human})
        if self.dimension in names:
            return self.dimension
        if self.dimension is None and len(names) == 1:
            return names[0]
        there_are = f"there are: {', '.join(names)}" if names else "there are no human scores"
        raise UnknownMetric(f"{self.name}: say which human score it predicts, as in dimension=overall; {there_are}")


def _values(features: Sequence[Metric], topic: Evidence) -> Matrix:
    """(summaries, features)"""
    return np.column_stack([metric.score(topic) for metric in features])


def _examples(topics: Iterable[Evidence], features: Sequence[Metric], dimension: str) -> Iterable[Examples]:
    for topic in topics:
        scored = tuple(summary for summary in topic.summaries if dimension in summary.human and not summary.person)
        if scored and topic.sentences:
            y = np.array([summary.human[dimension] for summary in scored])
            yield Examples(topic.sentences, _values(features, replace(topic, summaries=scored)), y)


def _make(asked: str, options: Options, settings: Settings) -> Regression:
    def feature(name: str) -> Metric:
        taken = [option for option in BESIDE_BACKGROUND.get(name, ()) if option in options]
        return registry.metric(":".join([name, *(f"{option}={options[option]}" for option in taken)]), settings)

    features = tuple(map(feature, FEATURES))
    return Regression(asked, features, options.get("dimension") or None, options.get("train") or None)


register(
    Family(
        ("simetrix-regression",),
        "a human score predicted from the ten metrics of SIMetrix, learnt from other topics",
        {
            "dimension": "=overall: which human score",
            "train": "=FILE: learn from other topics, of another year say",
            **TOPIC_WORDS,
        },
        _make,
    )
)
