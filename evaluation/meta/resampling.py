"""Resampling and tests: how sure a figure is, and whether a difference is more than chance.

A matrix of scores has one row a system and one column a topic; nan marks a summary that is missing. Everything random
comes from a seed or a `Generator`, and a randomised p-value is (1 + hits) / (1 + draws): the observed arrangement is
one of those that could have been drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Over = Literal["systems", "topics", "both"]
Seed = int | np.random.Generator

# Differences as exact as people write them; .31 - .27 and .42 - .40 are not twice apart in floats.
_DECIMALS = 10
_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Resamples:
    """How often each system (b, s) and each topic (b, t) is drawn in each of b resamples."""

    systems: Matrix
    topics: Matrix

    @classmethod
    def whole(cls, systems: int, topics: int) -> Resamples:
        """Everything once: the data as they are."""
        return cls(np.ones((1, systems)), np.ones((1, topics)))

    @classmethod
    def drawn(cls, systems: int, topics: int, over: Over, draws: int, seed: Seed) -> Resamples:
        """Bootstrap: as many systems, topics or both as there are, drawn with replacement."""
        rng = np.random.default_rng(seed)
        by_system = _counts(rng, systems, draws) if over != "topics" else np.ones((draws, systems))
        by_topic = _counts(rng, topics, draws) if over != "systems" else np.ones((draws, topics))
        return cls(by_system, by_topic)


def _counts(rng: np.random.Generator, n: int, draws: int) -> Matrix:
    return rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)


def permutation_test(
    a: Matrix, b: Matrix, statistic: Callable[[Matrix], Vector], over: Over, draws: int, seed: Seed
) -> float:
    """Is metric a's statistic different from metric b's? Two-sided p.

    `statistic` takes (k, s, t) score matrices and gives (k,) values. If the metrics were interchangeable, swapping
    their scores for a system, a topic or a single summary would change nothing (Deutsch, Dror & Roth, TACL 2021). As
    there, each metric is first brought to mean 0 and variance 1, so that what is swapped is on one scale.
    """
    rng = np.random.default_rng(seed)
    a, b = _standardized(a), _standardized(b)
    observed = abs(float(statistic(a[None])[0] - statistic(b[None])[0]))
    shape = {"systems": (a.shape[0], 1), "topics": (1, a.shape[1]), "both": a.shape}[over]
    hits, done = 0, 0
    block = max(1, _CELLS // a.size)
    while done < draws:
        k = min(block, draws - done)
        swapped = rng.random((k, *shape)) < 0.5
        difference = statistic(np.where(swapped, b, a)) - statistic(np.where(swapped, a, b))
        # A statistic that a permutation leaves undefined speaks for no difference.
        hits += int(np.sum(~(np.abs(difference) < observed - 1e-12)))
        done += k
    return (1 + hits) / (1 + draws)


def _standardized(scores: Matrix) -> Matrix:
    spread = np.nanstd(scores)
    centred: Matrix = scores - np.nanmean(scores)
    return centred / spread if spread > 0 else centred


def williams(with_a: float, with_b: float, between: float, n: int) -> tuple[float, float]:
    """Does a correlate better than b with a third variable, on the same n items? Student's t with n - 3, two-sided p.

    Williams (1959) as in Steiger (1980), equation 7: `with_a`, `with_b` are the correlations of the two with the third,
    `between` the one of the two with each other. Not a number for fewer than 4 items or an undefined correlation.
    """
    if n < 4 or not all(map(math.isfinite, (with_a, with_b, between))):
        return math.nan, math.nan
    determinant = 1 - with_a**2 - with_b**2 - between**2 + 2 * with_a * with_b * between
    mean = (with_a + with_b) / 2
    below = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    if with_a == with_b:
        return 0.0, 1.0
    if below <= 0:
        return math.copysign(math.inf, with_a - with_b), 0.0
    t = (with_a - with_b) * math.sqrt((n - 1) * (1 + between) / below)
    return t, float(2 * stats.t.sf(abs(t), n - 3))


@dataclass(frozen=True, slots=True)
class PairTests:
    """Tests of whether two systems differ, over the topics that both have; p-values, nan where a test has nothing.

    `difference`: mean score of the first less that of the second.
    """

    first: int
    second: int
    topics: int
    difference: float
    t: float
    wilcoxon: float
    swap: float
    hybrid: float


def paired_tests(scores: Matrix, draws: int, seed: Seed) -> list[PairTests]:
    """Every pair of systems (rows) over topics (columns), by the four tests of Rankel et al. (EMNLP 2011).

    The paired t-test; Wilcoxon's signed ranks; the swap test, which exchanges the two systems' scores on topics chosen
    by coin; and its bootstrap hybrid, which does so on topics drawn with replacement. The pairs share the coins.
    """
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(len(scores)), 2)), dtype=np.int64).reshape(-1, 2)
    differences = np.round(scores[pairs[:, 0]] - scores[pairs[:, 1]], _DECIMALS)
    common = np.isfinite(differences)
    swap, hybrid = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    masks, kind = np.unique(common, axis=0, return_inverse=True)
    for k, mask in enumerate(masks):
        if mask.any():
            alike = kind.ravel() == k  # the pairs that have these topics in common, and no others
            swap[alike], hybrid[alike] = _randomised(differences[alike][:, mask], draws, rng)
    return [
        PairTests(
            int(first),
            int(second),
            int(own.sum()),
            float(difference[own].mean()) if own.any() else math.nan,
            _paired_t(difference[own]),
            signed_ranks(difference[own]),
            float(swap[k]),
            float(hybrid[k]),
        )
        for k, ((first, second), difference, own) in enumerate(zip(pairs, differences, common, strict=True))
    ]


def _randomised(differences: Matrix, draws: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """(pairs,), (pairs,): p-values of the swap test and of its hybrid, from differences (pairs, topics)."""
    pairs, topics = differences.shape
    observed = np.abs(differences.sum(axis=1)) - 1e-12
    hits = np.zeros((2, pairs), dtype=np.int64)
    block = max(1, _CELLS // pairs)
    for done in range(0, draws, block):
        size = min(block, draws - done)
        coins = rng.choice([-1.0, 1.0], size=(size, topics))
        # A topic drawn twice is exchanged twice, each time by a coin of its own: its sum of signs is binomial.
        drawn = rng.multinomial(topics, np.full(topics, 1 / topics), size=size)
        signs = 2.0 * rng.binomial(drawn, 0.5) - drawn
        hits += np.array([np.sum(np.abs(signs @ differences.T) >= observed, axis=0) for signs in (coins, signs)])
    swap, hybrid = (1 + hits) / (1 + draws)
    return swap, hybrid


def _paired_t(differences: Vector) -> float:
    if len(differences) < 2:
        return math.nan
    if np.ptp(differences) == 0:  # no spread to hold the mean against
        return 1.0 if differences[0] == 0 else math.nan
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def signed_ranks(differences: Vector) -> float:
    """Wilcoxon's signed-rank test, two-sided: exact for fewer than 50 differences without ties and zeros.

    Otherwise by the normal approximation with continuity correction, zeros set aside, as published figures have it
    (R's `wilcox.test`); scipy's default leaves the correction out.
    """
    rounded = np.round(differences, _DECIMALS)
    nonzero = rounded[rounded != 0]
    if not len(nonzero):
        return 1.0 if len(rounded) else math.nan
    exact = len(rounded) < 50 and len(nonzero) == len(rounded) and len(np.unique(np.abs(nonzero))) == len(nonzero)
    if exact:
        return float(stats.wilcoxon(nonzero, method="exact").pvalue)
    return float(stats.wilcoxon(nonzero, correction=True, method="approx").pvalue)
