"""Systems put in order over topics, with intervals, the ranks that each may have, and which differences are sure.

Two questions can be asked, and `over` says which. "judgments": on these topics, how far could the scores move if
other people had judged, or other pairs been asked? "topics": how far could they move on other topics like these? The
second takes the topics for a sample, has wider answers, and needs at least two of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

Over = Literal["judgments", "topics"]
LEVEL = 0.05

# Means that differ by less are equal: what is left is the order in which floats were added.
_DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Standing:
    """What one topic says of the systems: `scores` (s,), their `covariance` (s, s), and the judgments beneath."""

    systems: tuple[str, ...]
    scores: NDArray[np.float64]
    covariance: NDArray[np.float64]
    judgments: int


@dataclass(frozen=True, slots=True)
class SystemResult:
    """A system's mean score over its topics. `se`, `low`, `high` are None where nothing can be said of them.

    `rank`: 1 is best, equals share it; `rank_low` to `rank_high`: 1 + the number of systems that are significantly
    better, to the number of those that are not significantly worse (itself included).
    """

    system: str
    score: float
    se: float | None
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    topics: int


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one system's mean score is than another's, over the topics that both summarized.

    `p`: two-sided, adjusted for the number of pairs looked at (Holm 1979); `significant`: p <= .05. `low`, `high` are
    the unadjusted 95% interval. All four are None where nothing can be said.
    """

    better: str
    worse: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    significant: bool | None
    topics: int


@dataclass(frozen=True, slots=True)
class _Mean:
    """A mean over topics, its standard error, and the degrees of freedom that this has."""

    value: float
    se: float | None
    freedom: float
    topics: int

    @property
    def margin(self) -> float | None:
        return None if self.se is None else self.se * float(stdtrit(self.freedom, 1 - LEVEL / 2))

    @property
    def p(self) -> float | None:
        if self.se is None:
            return None
        if self.se == 0:
            return 1.0 if self.value == 0 else 0.0
        return float(2 * stdtr(self.freedom, -abs(self.value) / self.se))


def rank_systems(
    standings: Sequence[Standing], over: Over = "judgments", differences: Sequence[Difference] | None = None
) -> tuple[SystemResult, ...]:
    """The systems by mean score, best first; equals by name.

    Topics without judgments do not count, but for a system that has no others. `differences`: what `compare_systems`
    says of the same, if it is at hand.
    """
    table = _Table(standings, over)
    means = {system: table.mean(system) for system in table.systems}
    differences = compare_systems(standings, over) if differences is None else differences
    systems = sorted(means, key=lambda system: (-round(means[system].value, _DECIMALS), system))
    ordered = [round(means[system].value, _DECIMALS) for system in systems]
    ranking = []
    for system in systems:
        mean = means[system]
        rank = 1 + ordered.index(round(mean.value, _DECIMALS))
        better = sum(d.worse == system for d in differences if d.significant)
        worse = sum(d.better == system for d in differences if d.significant)
        ranking.append(
            SystemResult(
                system=system,
                score=mean.value,
                se=mean.se,
                low=None if mean.margin is None else max(0.0, mean.value - mean.margin),
                high=None if mean.margin is None else mean.value + mean.margin,
                rank=rank,
                rank_low=min(rank, 1 + better),
                rank_high=max(rank, len(systems) - worse),
                topics=mean.topics,
            )
        )
    return tuple(ranking)


def compare_systems(standings: Sequence[Standing], over: Over = "judgments") -> tuple[Difference, ...]:
    """Every two systems that share a topic, once."""
    table = _Table(standings, over)
    pairs = [(a, b, table.difference(a, b)) for a, b in combinations(sorted(table.systems), 2)]
    shared = [(a, b, mean) for a, b, mean in pairs if mean is not None]
    adjusted = holm([mean.p for _, _, mean in shared])
    differences = []
    for (a, b, mean), p in zip(shared, adjusted, strict=True):
        sign = 1.0 if mean.value >= 0 else -1.0
        value = sign * mean.value
        differences.append(
            Difference(
                better=a if sign > 0 else b,
                worse=b if sign > 0 else a,
                difference=value,
                low=None if mean.margin is None else value - mean.margin,
                high=None if mean.margin is None else value + mean.margin,
                p=p,
                significant=None if p is None else p <= LEVEL,
                topics=mean.topics,
            )
        )
    return tuple(differences)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values adjusted such that all of them together err at most at the stated level (Holm 1979); None stays."""
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for k, (p, i) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - k) * p))
        adjusted[i] = largest
    return adjusted


class _Table:
    """Scores by topic and system, with the covariances that the judgments leave them."""

    def __init__(self, standings: Sequence[Standing], over: Over) -> None:
        self.over = over
        self.systems = tuple(dict.fromkeys(system for standing in standings for system in standing.systems))
        self.column = {system: k for k, system in enumerate(self.systems)}
        self.judged = np.array([standing.judgments > 0 for standing in standings], dtype=bool)
        self.scores = np.full((len(standings), len(self.systems)), np.nan)
        self.covariances: list[NDArray[np.float64]] = []
        for row, standing in enumerate(standings):
            places = [self.column[system] for system in standing.systems]
            self.scores[row, places] = standing.scores
            covariance = np.zeros((len(self.systems), len(self.systems)))
            covariance[np.ix_(places, places)] = standing.covariance
            self.covariances.append(covariance)

    def mean(self, system: str) -> _Mean:
        contrast = np.zeros(len(self.systems))
        contrast[self.column[system]] = 1.0
        mean = self._mean(contrast)
        assert mean is not None  # a system is here because it has a summary
        return mean

    def difference(self, a: str, b: str) -> _Mean | None:
        contrast = np.zeros(len(self.systems))
        contrast[self.column[a]], contrast[self.column[b]] = 1.0, -1.0
        return self._mean(contrast)

    def _mean(self, contrast: NDArray[np.float64]) -> _Mean | None:
        """The mean of contrast @ scores over the topics that have all of them; None where no topic has."""
        columns = np.flatnonzero(contrast)
        there = ~np.isnan(self.scores[:, columns]).any(axis=1)
        rests_on_judgments = bool((there & self.judged).any())
        if rests_on_judgments:
            there &= self.judged
        rows = np.flatnonzero(there)
        if len(rows) == 0:
            return None
        sample = self.scores[np.ix_(rows, columns)] @ contrast[columns]
        value = float(sample.mean())
        if not rests_on_judgments:
            return _Mean(value, None, np.inf, len(rows))
        small = np.ix_(columns, columns)
        variances = [float(contrast[columns] @ self.covariances[row][small] @ contrast[columns]) for row in rows]
        se = float(np.sqrt(max(sum(variances), 0.0))) / len(rows)
        if self.over == "judgments":
            return _Mean(value, se, np.inf, len(rows))
        if len(rows) < 2:
            return _Mean(value, None, np.inf, len(rows))
        # What varies from topic to topic contains what the judgments leave open, unless by luck it shows less of it.
        spread = float(sample.std(ddof=1)) / float(np.sqrt(len(rows)))
        return _Mean(value, max(se, spread), len(rows) - 1.0, len(rows))
