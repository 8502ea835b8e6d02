"""The statistics that pages need, too, where the judgments of the last second are counted: plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import NamedTuple

from preferendum.results.annotators import Figure
from preferendum.results.scores import SystemResult

Z95 = 1.959963984540054
LEVEL = 0.05
#: Means that differ by less are equal: what is left is the order in which floats were added.
DECIMALS = 12
#: Of so many systems every two are compared one by one and shown; of more, only what that leaves of their ranks.
MOST_COMPARED = 200


def wilson(k: float, n: int) -> tuple[float, float]:
    """The 95% interval of k of n (Wilson 1927); n must not be 0."""
    p = k / n
    centre, margin = p + Z95**2 / (2 * n), Z95 * math.sqrt(p * (1 - p) / n + Z95**2 / (4 * n**2))
    low, high = ((centre + sign * margin) / (1 + Z95**2 / n) for sign in (-1, 1))
    return low if k else 0.0, high if k < n else 1.0


def quantile(planned_share: float | None) -> float:
    """How many standard errors a 95% interval reaches to either side: at one look, or at every look until all planned
    judgments are in; `planned_share` (more than 0) of them is there (preferendum.scoring.stopping)."""
    if planned_share is None:
        return Z95
    return NormalDist().inv_cdf(1 - LEVEL / 4) / math.sqrt(planned_share)


def z_of(p: float, tests: int, planned_share: float | None) -> float:
    """How many standard errors give a difference this p-value, adjusted for so many tests; by the same rules."""
    sides, root = (2, 1.0) if planned_share is None else (4, math.sqrt(planned_share))
    return -NormalDist().inv_cdf(p / sides / tests) / root


def share(k: int, n: int, p: float | None = None, chance: float | None = None) -> Figure:
    """k of n with its interval; both None where n is 0. (scipy's `binomtest` is a hundred times slower.)"""
    low, high = wilson(k, n) if n else (None, None)
    return Figure(k / n if n else None, n, low, high, p, chance)


class Mean(NamedTuple):
    """A system's mean score, with its standard error and 95% interval where they are known; it has scores of its own in
    so many topics, and none in as many as it is `lacking`."""

    system: str
    score: float
    se: float | None
    low: float | None
    high: float | None
    topics: int
    lacking: int = 0


def rank(
    means: Iterable[Mean], better: Mapping[str, int], worse: Mapping[str, int], *, is_tested: bool = True
) -> tuple[SystemResult, ...]:
    """The systems by mean score, best first, equals by name.

    Ranks are those that remain possible with so many systems significantly `better`, and `worse`, than each (0 where it
    is not named); None where nothing is tested.
    """
    means = tuple(means)
    rounded = {mean.system: round(mean.score, DECIMALS) for mean in means}
    ordered = sorted(rounded.values(), reverse=True)
    places = {score: place for place, score in reversed([*enumerate(ordered, 1)])}
    results = []
    for mean in sorted(means, key=lambda mean: (-rounded[mean.system], mean.system)):
        place = places[rounded[mean.system]]
        results.append(
            SystemResult(
                system=mean.system,
                score=mean.score,
                se=mean.se,
                low=mean.low,
                high=mean.high,
                rank=place,
                rank_low=min(place, 1 + better.get(mean.system, 0)) if is_tested else None,
                rank_high=max(place, len(ordered) - worse.get(mean.system, 0)) if is_tested else None,
                topics=mean.topics,
                lacking=mean.lacking,
            )
        )
    return tuple(results)
