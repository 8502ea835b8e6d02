"""Which systems of one topic differ: tests of the differences of their scores, from how sure these are together.

The same figures as evaluation.ranking.compare_systems gives for one topic (tests hold it to them): worked out where a
page is drawn, since hundreds of tests at every judgment would keep scores waiting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from annotate.judges import Z95

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """Two systems, the better first, and whether that may be chance; None where nothing can be said."""

    better: str
    worse: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    significant: bool


def compare(
    scores: Mapping[str, float], systems: Sequence[str], covariance: Sequence[Sequence[float]]
) -> list[Difference]:
    """Every two systems once; p-values two-sided, adjusted for the number of pairs (Holm 1979).

    `covariance` (s, s) of the scores, in the order of `systems`.
    """
    place = {system: k for k, system in enumerate(systems)}
    pairs = []
    for a, b in combinations(sorted(scores), 2):
        i, j = place[a], place[b]
        variance = covariance[i][i] + covariance[j][j] - covariance[i][j] - covariance[j][i]
        pairs.append((a, b, scores[a] - scores[b], math.sqrt(max(variance, 0.0))))
    adjusted = holm([_p(value, se) for _a, _b, value, se in pairs])
    found = []
    for (a, b, value, se), p in zip(pairs, adjusted, strict=True):
        better, worse = (a, b) if value >= 0 else (b, a)
        size, margin = abs(value), Z95 * se
        found.append(Difference(better, worse, size, size - margin, size + margin, p, p <= LEVEL))
    return found


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted such that all of them together err at most at the stated level."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for k, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, (len(p_values) - k) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def _p(value: float, se: float) -> float:
    if se == 0:
        return 1.0 if value == 0 else 0.0
    return math.erfc(abs(value) / se / math.sqrt(2))
