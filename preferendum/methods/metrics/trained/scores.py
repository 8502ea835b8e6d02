"""Metrics that were trained, whatever their kind: a linear combination of features, read from a file.

A topic that a metric was trained on is scored by what was learnt without it, never by the metric itself: that is
`trained:FILE:in-sample`, so that the word stands wherever such scores are reported.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings
from preferendum.formats.checks.complaints import message
from preferendum.formats.records import Refused
from preferendum.methods.metrics.simetrix_regression import scores as simetrix_regression
from preferendum.methods.metrics.trained import IN_SAMPLE
from preferendum.methods.metrics.trained.classy import Classy
from preferendum.methods.metrics.trained.files import Linear, Source, TrainedMetric, read_trained_metric
from preferendum.methods.metrics.trained.linear import combined
from preferendum.methods.metrics.trained.prefscore import Prefscore
from preferendum.metrics.registry import MissingEvidence, Need, Options, UnknownMetric

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


class Features(Protocol):
    """What metrics of one kind read of a topic's summaries."""

    @property
    def needs(self) -> frozenset[Need]: ...

    @property
    def signature(self) -> str: ...

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        """Having seen all topics, where they rest on others than the one that is scored."""

    def values(self, topic: Evidence) -> Matrix:
        """(summaries, features), in the order of their names; not a number where there is nothing to say."""


#: By the name of a kind (`trained_metrics.KINDS`): what gives the values of features, by name, with options.
KINDS: Mapping[str, Callable[[tuple[str, ...], Mapping[str, str]], Features]] = {
    "classy": lambda names, _options: Classy(names),
    "prefscore": Prefscore.of,
    "simetrix": simetrix_regression.Simetrix.of,
}


def digest(topic: Evidence) -> str:
    """A digest of the texts that tell whether two topics are the same: its documents, or without any its references."""
    return hashlib.sha256(repr(topic.sentences or topic.references).encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The metric. `in_sample`: score also what it was trained on by itself."""

    name: str
    metric: TrainedMetric
    features: Features
    names: tuple[str, ...]
    in_sample: bool = False

    @classmethod
    def of(cls, name: str, metric: TrainedMetric, *, in_sample: bool = False) -> Trained:
        linears = (metric.linear, *(part.linear for part in metric.left_out))
        names = tuple(dict.fromkeys(feature for linear in linears for feature in linear.features))
        return cls(name, metric, KINDS[metric.kind](names, metric.options), names, in_sample)

    @property
    def needs(self) -> frozenset[Need]:
        return self.features.needs

    @property
    def signature(self) -> str:
        metric = self.metric
        weights = ", ".join(f"{name} {weight:.4g}" for name, (weight, _mean) in metric.linear.features.items())
        target = f" for human {metric.target}" if metric.target else ""
        peers = {"machines": ", machines' summaries", "all": ", all peers"}.get(metric.peers, "")
        own = "in-sample: topics that it learnt from are scored like others" if self.in_sample else self._own_topics
        return (
            f"{metric.kind} by {metric.method}{target}{peers}: {weights}, intercept {metric.linear.intercept:.4g}; "
            f"{'; '.join(map(_described, metric.sources))}; {own}; {self.features.signature}"
        )

    @property
    def _own_topics(self) -> str:
        parts = len(self.metric.left_out)
        return f"these topics by what was learnt without them ({parts} parts)" if parts else "none of these topics"

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        return replace(self, features=self.features.prepared(topics))

    def score(self, topic: Evidence) -> Vector:
        """Raises `MissingEvidence` for a topic that it was trained on, where nothing was learnt without that one."""
        return combined(self._linear_for(topic), self.names, self.features.values(topic))

    def is_taught_by(self, topic: Evidence) -> bool:
        """Whether the topic can be scored in-sample alone."""
        own = digest(topic)
        is_left_out = any(own in part.topics for part in self.metric.left_out)
        return not is_left_out and any(own in source.topics.values() for source in self.metric.sources)

    def _linear_for(self, topic: Evidence) -> Linear:
        if self.in_sample:
            return self.metric.linear
        if self.is_taught_by(topic):
            raise MissingEvidence(
                f"{self.name} was trained on topic {topic.topic_id}; {self.name}:{IN_SAMPLE} scores it all the same"
            )
        own = digest(topic)
        return next((part.linear for part in self.metric.left_out if own in part.topics), self.metric.linear)


def _described(source: Source) -> str:
    use = "learnt from" if source.use == "learnt" else "features chosen by"
    return f"{use} {source.name} ({len(source.topics)} topics, {source.summaries} summaries, texts {source.texts[:8]})"


def opened(path: Path, name: str, *, in_sample: bool = False) -> Trained:
    """The metric of a file, under this name. Raises `UnknownMetric`."""
    try:
        with path.open("rb") as file:
            metric = read_trained_metric(file, path.name)
    except OSError as error:
        raise UnknownMetric(f"{name}: {error.strerror or error}") from None
    except Refused as refused:
        raise UnknownMetric(f"{name}: {'; '.join(map(message, refused.complaints[:3]))}") from None
    return Trained.of(name, metric, in_sample=in_sample)


def make(asked: str, options: Options, _: Settings | None) -> Trained:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    return opened(Path(options["FILE"]), asked, in_sample=IN_SAMPLE in options)
