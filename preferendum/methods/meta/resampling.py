"""Resampling and tests: the uncertainty of a figure, and whether a difference is more than chance.

A matrix of scores has one row a system and one column a topic; nan marks a missing summary. Randomness is drawn from a
seed or a `Generator`, and a randomised p-value is (1 + hits) / (1 + draws): the observed arrangement is one of those
that could have been drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from preferendum.results.metrics import Over

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]
Halves = NDArray[np.float32]
Seed = int | np.random.Generator
Swapped = NDArray[np.bool_]
Statistic = Callable[[Matrix, Matrix, Swapped], Vector]
"""Of two metrics' scores (s, t) each, mixed in k ways: (k,) values. Where `swapped`, of a shape that goes with
(k, s, t), is true the second metric's score stands, else the first's."""

# Differences as exact as people write them; .31 - .27 and .42 - .40 are not twice apart in floats.
_DECIMALS = 10
_DUST = 1e-9
_EXACT_TOPICS = 12
_CELLS = 2_000_000


@dataclass(frozen=True, slots=True)
class Resamples:
    """How often each system (b, s) and each topic (b, t) is drawn in each of b resamples."""

    systems: Matrix
    topics: Matrix

    @property
    def cases(self) -> int:
        """How many independent ones are drawn: the systems or the topics, whichever are fewer."""
        drawn = [own.shape[1] for own in (self.systems, self.topics) if (own != 1).any()]
        return min(drawn, default=0)

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


def permutation_test(a: Matrix, b: Matrix, statistic: Statistic, over: Over, draws: int, seed: Seed) -> float:
    """Is metric a's statistic different from metric b's? Two-sided p.

    If the metrics were interchangeable, swapping their scores for a system, a topic or a single summary would change
    nothing (Deutsch, Dror & Roth, TACL 2021). As there, each metric is first brought to mean 0 and variance 1, so that
    what is swapped is on one scale.
    """
    rng = np.random.default_rng(seed)
    a, b = _standardized(a), _standardized(b)

    def difference(swapped: Swapped) -> Vector:
        return statistic(a, b, swapped) - statistic(a, b, ~swapped)

    observed = abs(float(difference(np.zeros((1, 1, 1), dtype=np.bool_))[0]))
    shape = {"systems": (a.shape[0], 1), "topics": (1, a.shape[1]), "both": a.shape}[over]
    drawn = (rng.random((size, *shape)) < 0.5 for size in _blocks(draws, a.size))
    # A statistic that a permutation leaves undefined speaks for no difference.
    hits = sum(int(np.sum(~(np.abs(difference(swapped)) < observed - 1e-12))) for swapped in drawn)
    return (1 + hits) / (1 + draws)


def of_mixed(statistic: Callable[[Matrix], Vector]) -> Statistic:
    """A statistic that takes (k, s, t) score matrices and gives (k,) values, of matrices mixed from two metrics."""
    return lambda a, b, swapped: statistic(np.where(swapped, b, a))


def _standardized(scores: Matrix) -> Matrix:
    if not np.isfinite(scores).any():
        return scores
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
    return t, float(2 * scipy.stats.t.sf(abs(t), n - 3))


@dataclass(frozen=True, slots=True)
class PairTests:
    """Tests of whether two systems differ, over the topics that both have; p-values, nan where a test has nothing.

    `difference`: mean score of the first less that of the second. `unpaired`: Student's t for two samples, pooled;
    `t`: paired; `wilcoxon`: signed ranks; `swap`, `swap_w`: the two systems' scores exchanged on topics chosen by coin;
    `hybrid_t`, `hybrid_w`: exchanged on topics drawn with replacement. The statistic of `swap` and `hybrid_t` is |T|
    of the paired t-test, that of `swap_w` and `hybrid_w` is |W| of the signed ranks.
    """

    first: int
    second: int
    topics: int
    difference: float
    unpaired: float
    t: float
    wilcoxon: float
    swap: float
    swap_w: float
    hybrid_t: float
    hybrid_w: float


def paired_tests(scores: Matrix, draws: int, seed: Seed) -> list[PairTests]:
    """Every pair of systems (rows) over topics (columns), by the tests of Rankel et al. (EMNLP 2011).

    The pairs share the coins. On 12 topics or fewer all ways to exchange are counted out and `swap` and `swap_w` are
    exact.
    """
    rng = np.random.default_rng(seed)
    pairs = np.array(list(combinations(range(len(scores)), 2)), dtype=np.int64).reshape(-1, 2)
    differences = np.round(scores[pairs[:, 0]] - scores[pairs[:, 1]], _DECIMALS)
    common = np.isfinite(differences)
    randomised = np.full((len(pairs), 4), np.nan)
    masks, kind = np.unique(common, axis=0, return_inverse=True)
    for k, mask in enumerate(masks):
        if mask.any():
            alike = kind.ravel() == k  # the pairs that have these topics in common, and no others
            own = differences[alike][:, mask]
            randomised[alike] = np.column_stack([*_swapped(own, draws, rng), *_redrawn(own, draws, rng)])
    return [
        PairTests(
            int(first),
            int(second),
            int(own.sum()),
            float(difference[own].mean()) if own.any() else math.nan,
            _unpaired_t(scores[first, own], scores[second, own]),
            _paired_t(difference[own]),
            signed_ranks(difference[own]),
            *randomised[k].tolist(),
        )
        for k, ((first, second), difference, own) in enumerate(zip(pairs, differences, common, strict=True))
    ]


def _swapped(differences: Matrix, draws: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """(pairs,), (pairs,): p-values by |T| and |W| when differences (pairs, topics) change their signs by coin.

    |T| orders all exchanges as the absolute sum does, since the squares stay.
    """
    topics = differences.shape[1]
    ranks = np.sign(differences) * scipy.stats.rankdata(np.abs(differences), axis=1)
    is_exact = topics <= _EXACT_TOPICS
    drawn = [_every_sign(topics)] if is_exact else _coins(topics, draws, rng, len(differences))
    hits = np.zeros((2, len(differences)), dtype=np.int64)
    for signs in drawn:
        for row, statistics in zip(hits, (differences, ranks), strict=True):
            row += _at_least(np.abs(signs @ statistics.T), np.abs(statistics.sum(axis=1)))
    both = hits / 2**topics if is_exact else (1 + hits) / (1 + draws)
    return both[0], both[1]


def _every_sign(topics: int) -> Matrix:
    """(2^topics, topics): every way to exchange two systems' scores."""
    return np.array(list(product((-1.0, 1.0), repeat=topics)))


def _coins(topics: int, draws: int, rng: np.random.Generator, pairs: int) -> Iterator[Matrix]:
    for size in _blocks(draws, pairs):
        yield rng.choice([-1.0, 1.0], size=(size, topics))


def _redrawn(differences: Matrix, draws: int, rng: np.random.Generator) -> tuple[Vector, Vector]:
    """(pairs,), (pairs,): p-values by |T| and |W| on topics drawn with replacement, then exchanged by coin."""
    pairs, topics = differences.shape
    size, seed = max(1, _CELLS // topics**2), int(rng.integers(2**63))
    parts = [_redrawn_hits(differences[k : k + size], draws, seed) for k in range(0, pairs, size)]
    by_t, by_w = (1 + np.concatenate(parts, axis=1)) / (1 + draws)
    return by_t, by_w


def _redrawn_hits(differences: Matrix, draws: int, seed: int) -> NDArray[np.int64]:
    """(2, pairs): in how many draws |T| and |W| reach those observed.

    A topic drawn twice is exchanged twice, each time by a coin of its own: its sum of signs is binomial.
    """
    pairs, topics = differences.shape
    rng = np.random.default_rng(seed)
    below = _below(differences)
    once = np.ones((1, topics))
    by_t, by_w = _squared_t(once, once, differences)[0], _absolute_w(once, once, differences, below)[0]
    hits = np.zeros((2, pairs), dtype=np.int64)
    for size in _blocks(draws, max(pairs, topics**2)):
        drawn = rng.multinomial(topics, np.full(topics, 1 / topics), size=size).astype(np.float64)
        signs = 2.0 * rng.binomial(drawn.astype(np.int64), 0.5) - drawn
        hits[0] += _at_least(_squared_t(drawn, signs, differences), by_t)
        hits[1] += _at_least(_absolute_w(drawn, signs, differences, below), by_w)
    return hits


def _squared_t(drawn: Matrix, signs: Matrix, differences: Matrix) -> Matrix:
    """(b, pairs): T squared of the paired t-test: n mean^2 / variance; infinite without a variance, 0 without a mean.

    `drawn` (b, topics): how often each topic; `signs`: the sum of its signs.
    """
    n = differences.shape[1]
    mean = signs @ differences.T / n
    squares = drawn @ (differences**2).T
    variance = squares - n * mean**2
    variance[variance <= _DUST * squares] = 0.0
    squared = np.divide(n * (n - 1) * mean**2, variance, out=np.full_like(mean, np.inf), where=variance > 0)
    return np.where(n * mean**2 <= _DUST * squares, 0.0, squared)


def _below(differences: Matrix) -> Halves:
    """(topics * topics, pairs): 1 where the one topic's |Z| is below the other's, 1/2 where equal; the other's sign."""
    sizes = np.abs(differences)
    below = (1 + np.sign(sizes[:, None, :] - sizes[:, :, None])) / 2 * np.sign(differences)[:, None, :]
    table: Halves = below.reshape(len(differences), -1).T.astype(np.float32)
    return table


def _absolute_w(drawn: Matrix, signs: Matrix, differences: Matrix, below: Halves) -> Matrix:
    """(b, pairs): |W|, the sum of signed ranks; ranks are among the topics drawn, equals share the mean of theirs.

    A topic's rank is 1/2, and for each topic drawn 1 if that is below, 1/2 if equal: W is bilinear in what is drawn and
    in signs. Halves are exact in single precision.
    """
    both = drawn[:, :, None].astype(np.float32) * signs[:, None, :].astype(np.float32)
    return np.abs(both.reshape(len(drawn), -1) @ below + signs @ np.sign(differences).T / 2)


def _at_least(statistics: Matrix, observed: Vector) -> NDArray[np.int64]:
    """(pairs,): how many of (b, pairs) statistics reach the observed ones, up to rounding."""
    counts: NDArray[np.int64] = np.sum(statistics >= observed * (1 - _DUST), axis=0)
    return counts


def _blocks(draws: int, pairs: int) -> Iterator[int]:
    """So many draws at a time that their statistics fit into memory."""
    size = max(1, _CELLS // pairs)
    yield from (min(size, draws - done) for done in range(0, draws, size))


def _unpaired_t(first: Vector, second: Vector) -> float:
    if len(first) < 2:
        return math.nan
    if np.ptp(first) == np.ptp(second) == 0:
        return 1.0 if first[0] == second[0] else math.nan
    (mean, sd), (other_mean, other_sd) = ((own.mean(), own.std(ddof=1)) for own in (first, second))
    return float(scipy.stats.ttest_ind_from_stats(mean, sd, len(first), other_mean, other_sd, len(second)).pvalue)


def _paired_t(differences: Vector) -> float:
    if len(differences) < 2:
        return math.nan
    if np.ptp(differences) == 0:  # no spread to hold the mean against
        return 1.0 if differences[0] == 0 else math.nan
    n = len(differences)
    t = float(differences.mean() / differences.std(ddof=1)) * math.sqrt(n)
    return float(2 * special.stdtr(n - 1, -abs(t)))


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
        return float(scipy.stats.wilcoxon(nonzero, method="exact").pvalue)
    return float(scipy.stats.wilcoxon(nonzero, correction=True, method="approx").pvalue)
