"""Do the annotators agree, with each other and with themselves?

Pure functions of arrays. Values come as two arrays (m,): the unit that was judged (a pair of sentences, a summary; any
integers from 0) and the value that it was given, one entry a judgment, each by another annotator; who it was makes no
difference here. For a pair of sentences the value says which one was preferred, not which side. What cannot be told is
not a number, never a perfect score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evaluation.resampling import Interval, Seed, interval

Units = NDArray[np.int64]
Values = NDArray[np.float64]
Scale = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True, slots=True)
class Share:
    """k of n, with a Wilson interval (1927); all nan where n is 0."""

    k: int
    n: int
    value: float
    low: float
    high: float


def share(k: int, n: int, level: float = 0.95) -> Share:
    """k of n with its Wilson interval. (scipy's `binomtest` has the same; a thousand people would wait for it.)"""
    if n == 0:
        return Share(0, 0, math.nan, math.nan, math.nan)
    z, p = float(special.ndtri((1 + level) / 2)), k / n
    centre, margin = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((centre + sign * margin) / (1 + z * z / n) for sign in (-1, 1))
    return Share(k, n, p, low if k else 0.0, high if k < n else 1.0)


def krippendorff_alpha(units: Units, values: Values, scale: Scale = "nominal") -> float:
    """1 - observed / expected disagreement (Krippendorff, "Computing Krippendorff's alpha-reliability", 2011).

    Units that fewer than two annotators judged say nothing. Undefined where all values are equal: nobody can tell
    whether people who never differ would notice a difference. On the ratio scale values must not be negative.
    """
    kinds, patterns, times = _patterns(units, values)
    return float(_alphas(kinds, patterns, scale, times[None])[0])


def alpha_interval(
    units: Units, values: Values, scale: Scale = "nominal", draws: int = 1000, seed: Seed = 0, level: float = 0.95
) -> Interval:
    """Alpha between the percentiles of a bootstrap over the units that two or more annotators judged."""
    kinds, patterns, times = _patterns(units, values)
    n = times.sum()
    if not n:
        return Interval(math.nan, math.nan, math.nan)
    drawn = np.random.default_rng(seed).multinomial(int(n), times / n, size=draws).astype(np.float64)
    value = float(_alphas(kinds, patterns, scale, times[None])[0])
    return interval(value, _alphas(kinds, patterns, scale, drawn), level)


def _patterns(units: Units, values: Values) -> tuple[Values, NDArray[np.float64], NDArray[np.float64]]:
    """What was said of units with two or more values, units of which the same was said taken together.

    The values that occur (k,); how often a unit was given each (p, k); how many units that is true of (p,). Drawing
    units with replacement is drawing patterns as often as they occur, and of them there are few.
    """
    paired = np.bincount(units)[units] >= 2 if len(units) else np.zeros(0, dtype=bool)
    kinds, kind = np.unique(values[paired], return_inverse=True)
    _, unit = np.unique(units[paired], return_inverse=True)
    counts = np.zeros((int(unit.max(initial=-1)) + 1, len(kinds)))
    np.add.at(counts, (unit, kind), 1)
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    return kinds, patterns, times.astype(np.float64)


def _alphas(
    kinds: Values, counts: NDArray[np.float64], scale: Scale, times: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(b,): alpha when there are `times[b, p]` units with the counts of row p."""
    found = np.full(len(times), np.nan)
    if not len(counts):
        return found
    totals = times @ counts
    if scale != "ordinal":
        distances = _distances(kinds, totals[0], scale)
        disagreements = times @ _disagreement(counts, distances)
        expected = ((totals @ distances) * totals).sum(axis=1)
    else:  # here a distance depends on how often values occur, so that every resample has its own
        disagreements, expected = np.empty(len(times)), np.empty(len(times))
        for b, total in enumerate(totals):
            distances = _distances(kinds, total, scale)
            disagreements[b] = times[b] @ _disagreement(counts, distances)
            expected[b] = total @ distances @ total
    n = totals.sum(axis=1)
    alphas: NDArray[np.float64] = 1 - np.divide((n - 1) * disagreements, expected, out=found, where=expected > 0)
    return alphas


def _disagreement(counts: NDArray[np.float64], distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """(u,): the summed distances of all pairs of values within each unit, per annotator that could differ."""
    within: NDArray[np.float64] = (counts @ distances * counts).sum(axis=1) / (counts.sum(axis=1) - 1)
    return within


def _distances(kinds: NDArray[np.float64], totals: NDArray[np.float64], scale: Scale) -> NDArray[np.float64]:
    """(k, k): the squared difference of any two values that occur."""
    c, k = kinds[:, None], kinds[None, :]
    distances: NDArray[np.float64]
    match scale:
        case "nominal":
            distances = (c != k).astype(np.float64)
        case "interval":
            distances = np.square(c - k)
        case "ratio":
            distances = np.square(np.divide(c - k, c + k, out=np.zeros((len(kinds),) * 2), where=c + k > 0))
        case "ordinal":  # the values between the two, and half of each of them
            rank = np.cumsum(totals) - totals / 2
            distances = np.square(rank[:, None] - rank[None, :])
    return distances


def percent_agreement(units: Units, values: Values) -> Share:
    """Of all pairs of annotators who judged the same unit, those who gave it the same value.

    The interval treats these pairs as independent, which they are where two people judged each unit.
    """
    _, patterns, times = _patterns(units, values)
    sizes = patterns.sum(axis=1)
    alike = times @ (patterns * (patterns - 1)).sum(axis=1) / 2
    return share(round(alike), round(times @ (sizes * (sizes - 1)) / 2))


def kappa(first: Values, second: Values) -> float:
    """Cohen's kappa (1960) of two annotators, who gave each unit `first[u]` and `second[u]`, nan for none.

    Undefined if both gave one value only.
    """
    both = np.isfinite(first) & np.isfinite(second)
    first, second = first[both], second[both]
    if not len(first):
        return math.nan
    observed = float(np.mean(first == second))
    kinds = np.union1d(first, second)
    by_chance = float(sum(np.mean(first == kind) * np.mean(second == kind) for kind in kinds))
    return math.nan if len(kinds) < 2 else (observed - by_chance) / (1 - by_chance)


@dataclass(frozen=True, slots=True)
class SideBias:
    """How often the left one was preferred, and the two-sided p-value of that under fair sides; ties are left out."""

    left: Share
    p: float


def fair(k: int, n: int) -> float:
    """The two-sided p-value of k of n under even chances, exact; nan where n is 0."""
    return min(1.0, 2 * float(special.bdtr(min(k, n - k), n, 0.5))) if n else math.nan


def side_bias(left: int, right: int) -> SideBias:
    """Does somebody prefer a side, whatever stands there? Exact binomial test."""
    n = left + right
    return SideBias(share(left, n), fair(left, n))


def repeats(first: Values, again: Values) -> Share:
    """One person's answers to pairs seen twice: how often the same sentence was preferred again.

    `first`, `again` (n,): the preferred sentence (not the side), 0.5 or any other code for a tie; nan for no answer.
    """
    both = np.isfinite(first) & np.isfinite(again)
    return share(int(np.sum(first[both] == again[both])), int(both.sum()))


@dataclass(frozen=True, slots=True)
class Circles:
    """Circular triads (a over b over c over a) among the triples of which every pair was judged.

    `by_chance`: the share that answers by coin would have. `zeta`: Kendall & Babington Smith's coefficient of
    consistence (1940), where every pair of the n items was judged; else nan.
    """

    circular: int
    triples: int
    share: Share
    by_chance: float
    zeta: float


def circles(wins: NDArray[np.float64]) -> Circles:
    """How often one person's preferences run in circles.

    `wins` (n, n): how often row was preferred to column. Who won a pair more often won it; even pairs count as
    not judged.
    """
    beats = (wins > wins.T).astype(np.int64)
    judged = beats + beats.T
    triples = int(np.sum(judged @ judged * judged)) // 6
    circular = int(np.sum(beats @ beats * beats.T)) // 3
    n = len(beats)
    complete = n >= 3 and int(judged.sum()) == n * (n - 1)
    most = (n**3 - n) / 24 if n % 2 else (n**3 - 4 * n) / 24
    zeta = 1 - circular / most if complete else math.nan
    return Circles(circular, triples, share(circular, triples), 0.25, zeta)
