"""Means over topics where some systems lack summaries: least squares of system + topic.

Topics differ in how high anything scores there, so means over different topics cannot be compared. A missing score
counts as `system + topic` expects, fitted to all scores that there are by least squares; then all means are over the
same topics (the missing plot technique: Yates, Empire Journal of Experimental Agriculture 1933). Means of whole tables
stay as they are. With C_t y_t the scores of topic t less their mean there, and the Laplacian L = sum_t C_t, the
systems' effects are L^+ sum_t C_t y_t: two systems that share no topic are compared through others. Systems that no
chain of shared topics connects are never compared; each such group has topics of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Additive:
    """The fit of scores that are there where `has` (topics, systems) says so."""

    def __init__(self, has: Flags) -> None:
        topics, systems = has.shape
        row, column = np.nonzero(has)
        links = coo_array((np.ones(len(row)), (row, topics + column)), shape=(topics + systems,) * 2)
        self._groups, group = connected_components(links, directed=False)
        self._of_topic, self._of_system = group[:topics], group[topics:]
        self.has = has
        #: (topics, systems): whether the system counts in the topic, with a score of its own or without.
        self.counts = self._of_topic[:, None] == self._of_system
        self._n = np.maximum(has.sum(axis=1), 1)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is missing, so that plain means are over the same topics."""
        return bool((self.has == self.counts).all())

    def filled(self, scores: Matrix) -> Matrix:
        """(..., topics, systems): the scores, and in place of missing ones what is expected; 0 where nothing counts."""
        own = np.where(self.has, scores, 0.0)
        if self.is_whole:
            return own
        ahead = np.where(self.has, own - (own.sum(axis=-1) / self._n)[..., None], 0.0)
        effects = (ahead.sum(axis=-2) @ self._inverse)[..., None, :]
        level = np.where(self.has, own - effects, 0.0).sum(axis=-1) / self._n
        return np.where(self.counts & ~self.has, effects + level[..., None], own)

    def means(self, scores: Matrix) -> Matrix:
        """(..., systems): of the scores, over the same topics."""
        return np.asarray(self.filled(scores).sum(axis=-2) / self._number)

    @cached_property
    def equivalent(self) -> Matrix:
        """(s, s): so many topics with both systems and no others would compare them as surely."""
        own = np.diag(self._inverse)
        resistance = own[:, None] + own - 2 * self._inverse
        return np.divide(2.0, resistance, out=np.ones(resistance.shape), where=resistance > 0)

    def parts(self, topic: int, systems: list[int], rows: Matrix) -> Matrix:
        """(k, s): what k rows of scores of a topic's systems add to the means of all; nothing where it has none."""
        if not systems:
            return np.zeros((len(rows), len(self._inverse)))
        level, group = rows.mean(axis=1), len(self._inverse) + self._of_topic[topic]
        weights = self._weights
        return np.asarray((rows - level[:, None]) @ weights[:, systems].T + np.outer(level, weights[:, group]))

    def covariance(self, by_topic: Iterable[tuple[list[int], ArrayLike]]) -> Matrix:
        """(s, s): of the means, from the places and the covariance of each topic's systems."""
        s = len(self._inverse)
        summed = np.zeros((self._weights.shape[1],) * 2)
        for topic, (systems, own) in enumerate(by_topic):
            if systems:
                matrix = np.asarray(own, dtype=np.float64).reshape(len(systems), -1)
                ahead, group = matrix - matrix.mean(axis=0), s + self._of_topic[topic]
                with_level = ahead.mean(axis=1)
                summed[np.ix_(systems, systems)] += ahead - with_level[:, None]
                summed[systems, group] += with_level
                summed[group, systems] += with_level
                summed[group, group] += matrix.mean()
        return np.asarray(self._weights @ summed @ self._weights.T)

    @property
    def _number(self) -> NDArray[np.int64]:
        """(s,): over how many topics the mean of each system is."""
        return np.asarray(np.maximum(self.counts.sum(axis=0), 1))

    @cached_property
    def _inverse(self) -> Matrix:
        """(s, s): L^+; 0 between groups."""
        has = self.has.astype(np.float64)
        laplacian = np.diag(has.sum(axis=0)) - has.T @ (has / self._n[:, None])
        together = (self._of_system[:, None] == self._of_system).astype(np.float64)
        constant = together / together.sum(axis=0)
        return np.asarray(np.linalg.inv(laplacian + constant) - constant)

    @cached_property
    def _weights(self) -> Matrix:
        """(s, s + groups): the means from sum_t C_t y_t and, for each group, from the sum of its topics' means."""
        share = (self.has / self._n[:, None]).sum(axis=0)
        together = self._of_system[:, None] == self._of_system
        of_group = self._of_system[:, None] == np.arange(self._groups)
        of_level = (of_group, -np.where(together, share, 0.0) @ self._inverse)
        level, of_effects = (own / self._number[:, None] for own in of_level)
        return np.hstack([self._inverse + of_effects, level])


def means_of_missing(scores: Iterable[tuple[Hashable, str, float | None]]) -> dict[str, float]:
    """The mean by system of scores by topic and system, over the same topics; none where nothing is missing."""
    rows = list(scores)
    topics = {topic: k for k, topic in enumerate(dict.fromkeys(topic for topic, _system, _score in rows))}
    systems = {system: k for k, system in enumerate(dict.fromkeys(system for _topic, system, _score in rows))}
    table = np.full((len(topics), len(systems)), np.nan)
    for topic, system, score in rows:
        table[topics[topic], systems[system]] = np.nan if score is None else score
    fit = Additive(np.isfinite(table))
    return {} if fit.is_whole else dict(zip(systems, fit.means(table).tolist(), strict=True))
