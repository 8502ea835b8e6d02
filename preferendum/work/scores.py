"""All scores of a study's summaries, by people and by metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from preferendum.metrics.names import WIN_RATE
from preferendum.results.metrics import Basis
from preferendum.results.scores import MIXED

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Matrices of one row a system and one column a topic, nan where there is no score.

    `human`: by dimension; `metrics`: by the metric's name; `signatures` likewise. `machines`: of each system, whether
    no person wrote its summaries. `counts`: of each topic, its judgments and its sentences, where these are known.
    `without_each`: by the metric's name, (g, systems, topics), by how much its scores would be less without each of g
    annotators, where that is known.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    human: Mapping[str, Matrix]
    metrics: Mapping[str, Matrix]
    signatures: Mapping[str, str]
    machines: tuple[bool, ...]
    counts: tuple[tuple[int, int], ...] = ()
    without_each: Mapping[str, Matrix] = field(default_factory=dict)

    @property
    def basis(self) -> Basis | None:
        return Basis.of(self.counts) if self.counts else None

    def can_test(self, *metrics: str) -> bool:
        """Whether enough is judged for tests of these metrics. Win rates are never tested as metrics: those of a topic
        rest on the answers about all, so that over topics a coin tells 70% of the pairs of systems apart."""
        if WIN_RATE in metrics:
            return False
        return self.basis is None or not any(map(self.basis.is_early_for, metrics))

    def judged(self, *dimensions: str) -> Scores:
        """The topics and the systems with a human score in any of these dimensions.

        Other systems would only widen intervals, and metrics would compare pairs that people never saw.
        """
        human = {dimension: self.human[dimension] for dimension in dimensions}
        is_scored = np.asarray(np.isfinite(np.stack([*human.values()])).any(axis=0))
        systems, topics = np.asarray(is_scored.any(axis=1)), np.asarray(is_scored.any(axis=0))
        kept = np.ix_(systems, topics)
        return Scores(
            tuple(compress(self.systems, systems)),
            tuple(compress(self.topics, topics)),
            {dimension: matrix[kept] for dimension, matrix in human.items()},
            {name: matrix[kept] for name, matrix in self.metrics.items()},
            self.signatures,
            tuple(compress(self.machines, systems)),
            tuple(compress(self.counts, topics)),
            {name: moved[:, systems][:, :, topics] for name, moved in self.without_each.items()},
        )

    def unmixed(self) -> Scores:
        """Leave out the scores that rest on simulated judgments in addition to people's."""
        return replace(self, metrics={name: own for name, own in self.metrics.items() if MIXED not in name})
