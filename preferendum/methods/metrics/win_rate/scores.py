"""The win rates that preferences between whole summaries give, as a metric among the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings
from preferendum.metrics.registry import MissingEvidence, Need, Options
from preferendum.scoring.summary_answers import answers_of, summaries_there
from preferendum.scoring.win_rate import win_rates


@dataclass(frozen=True, slots=True)
class WinRate:
    """The metric: how often a summary is preferred to the others of its topic. `rates`: by topic and system."""

    name: str
    rates: Mapping[str, Mapping[str, float]] | None = None

    @property
    def needs(self) -> frozenset[Need]:
        """Nothing in a single topic: without answers, the win rates of its systems in others count."""
        return frozenset()

    @property
    def signature(self) -> str:
        return "win rate: Bradley and Terry's model with random effects of systems and summaries, all topics together"

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        answers = answers_of(topics)
        if not len(answers):
            raise MissingEvidence(f"{self.name} needs preferences between summaries, and there are none")
        rates = win_rates(answers, summaries_there(topics, answers)).by_topic()
        return replace(
            self, rates={topic: dict(zip(own.systems, own.score.tolist(), strict=True)) for topic, own in rates}
        )

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """Not a number for a system without judgments."""
        if self.rates is None:
            return self.prepared([topic]).score(topic)
        own = self.rates[topic.topic_id]
        return np.array([own.get(summary.system, np.nan) for summary in topic.summaries])


def make(asked: str, _options: Options, _settings: Settings | None) -> WinRate:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    return WinRate(asked)
