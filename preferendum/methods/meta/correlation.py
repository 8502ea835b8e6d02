"""How two rows of scores are correlated, for many resamples at once.

Every function takes `x` and `y` of shape (b, n) or (1, n) and weights `w` (b, n), and gives (b,) coefficients. A
weight says how often an item was drawn in that resample; 0 leaves it out. A coefficient is not a number where it is
undefined, because fewer than two items remain or all of them are tied.

With weights of 1 these are scipy's `pearsonr`, `spearmanr` and `kendalltau` (tau-b); scipy has no weighted forms of
them, and a thousand calls for a thousand resamples would take a thousand times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

Rows = NDArray[np.float64]
Table = NDArray[np.float32]
Coefficient = Callable[[Rows, Rows, Rows], NDArray[np.float64]]

# Tables of all pairs are made for so many numbers at a time, and for no more items than this.
_CELLS = 4_000_000
_ITEMS = 3_000
_SIGNIFICANT = 12
# Of so many items all orders are counted: 5,040.
_COUNTED_OUT = 7


def without_dust(scores: Rows) -> Rows:
    """Scores rounded to 12 significant digits, so that what differs only by the order of additions is tied."""
    with np.errstate(all="ignore"):
        digits = np.where(scores == 0, 0, np.floor(np.log10(np.abs(scores))))
        unit = 10.0 ** (_SIGNIFICANT - 1 - digits)
        rounded: Rows = np.where(np.isfinite(unit) & (unit > 0), np.round(scores * unit) / unit, scores)
    return rounded


def pearson(x: Rows, y: Rows, w: Rows) -> NDArray[np.float64]:
    """The product-moment correlation."""
    total = w.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        dx = x - (w * x).sum(axis=1, keepdims=True) / total
        dy = y - (w * y).sum(axis=1, keepdims=True) / total
        xx, yy = (w * dx * dx).sum(axis=1), (w * dy * dy).sum(axis=1)
        r: NDArray[np.float64] = (w * dx * dy).sum(axis=1) / np.sqrt(xx * yy)
    # What is constant may come out as a variance of a few bits.
    flat = (xx <= 1e-24 * (w * x * x).sum(axis=1)) | (yy <= 1e-24 * (w * y * y).sum(axis=1))
    return np.where(flat, np.nan, np.clip(r, -1, 1))


def spearman(x: Rows, y: Rows, w: Rows) -> NDArray[np.float64]:
    """Pearson's correlation of the ranks; ties share the mean of theirs."""
    if x.shape[1] > _ITEMS:
        return _one_by_one(lambda x, y: float(scipy.stats.spearmanr(x, y).statistic), x, y, w)
    return _in_blocks(lambda x, y, w: pearson(_ranks(x, w), _ranks(y, w), w), x, y, w)


def kendall(x: Rows, y: Rows, w: Rows) -> NDArray[np.float64]:
    """Kendall's tau-b: pairs in the same order less pairs in opposite order, corrected for ties on both sides."""
    if x.shape[1] > _ITEMS:
        return _one_by_one(lambda x, y: float(scipy.stats.kendalltau(x, y).statistic), x, y, w)

    def tau(x: Rows, y: Rows, w: Rows) -> NDArray[np.float64]:
        in_x, in_y = _signs(x), _signs(y)
        untied = _over_pairs(np.abs(in_x), w) * _over_pairs(np.abs(in_y), w)
        return _divide(_over_pairs(in_x * in_y, w), np.sqrt(untied))

    return _in_blocks(tau, x, y, w)


def p_values(r: NDArray[np.float64], n: NDArray[np.int64]) -> NDArray[np.float64]:
    """Two-sided p-values of Pearson or Spearman correlations of n items, scipy's; not a number for fewer than three.

    P(|T| >= |r| sqrt(df / (1 - r^2))) of Student's t with df = n - 2.
    """
    df = np.maximum(n - 2, 1) / 2
    return np.where(n < 3, np.nan, special.betainc(df, 0.5, np.clip(1 - r * r, 0, 1)))


def spearman_p_value(x: NDArray[np.float64], y: NDArray[np.float64], r: float) -> float:
    """Two-sided p-value of Spearman's r, exact for so few items that all orders can be counted: Student's t would be
    sure of three in order."""
    if not 2 < len(x) <= _COUNTED_OUT or np.isnan(r):
        return float(p_values(np.array([r]), np.array([len(x)]))[0])
    ranks, others = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    products = np.abs((others - others.mean())[_orders(len(x))] @ ranks)
    return float(np.mean(products >= products[0] - 1e-9))


@cache
def _orders(n: int) -> NDArray[np.int64]:
    """(n!, n): every order of n items, the given one first."""
    return np.array(list(permutations(range(n))))


def kendall_p_value(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Two-sided p-value of Kendall's tau, exact for few items without ties; not a number where it is undefined."""
    is_defined = len(x) > 2 and np.ptp(x) > 0 and np.ptp(y) > 0
    return float(scipy.stats.kendalltau(x, y).pvalue) if is_defined else np.nan


def agreement(human: Rows, metric: Rows, w: Rows) -> NDArray[np.float64]:
    """Zopf (2018), equation 1: of the pairs that people order, the share that the metric orders alike.

    A metric's tie on such a pair counts one half.
    """
    ordered_alike, ordered = agreement_counts(human, metric, w)
    return _divide(ordered_alike, ordered)


def agreement_counts(human: Rows, metric: Rows, w: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(b,), (b,): weight of the pairs that both order alike (a metric's tie: half of it), and that people order."""

    def counts(human: Rows, metric: Rows, w: Rows) -> NDArray[np.float64]:
        by_people = _signs(human)
        ordered = _over_pairs(np.abs(by_people), w)
        return np.stack([(ordered + _over_pairs(by_people * _signs(metric), w)) / 2, ordered], axis=1)

    both = _in_blocks(counts, human, metric, w)
    return both[:, 0], both[:, 1]


def mixed_agreement_counts(human: Rows, a: Rows, b: Rows, swapped: Rows) -> tuple[NDArray[np.float64], float]:
    """(k,) and a number: the counts of `agreement_counts` for k mixtures of two metrics of the same n items.

    `human`, `a`, `b` (1, n); `swapped` (k, n): 1 where b's score stands in the place of a's. A pair is ordered by two
    scores of a, two of b or one of each, so that three tables serve all mixtures.
    """
    by_people, kept = _signs(human)[0], 1 - swapped
    of_a, of_b = (by_people * _signs(metric)[0] for metric in (a, b))
    of_each = by_people * np.sign(a[0][:, None] - b[0])
    alike = kept * (kept @ of_a / 2 + swapped @ of_each.T) + swapped * (swapped @ of_b) / 2
    ordered = float(np.abs(by_people).sum()) / 2
    return (ordered + alike.sum(axis=1)) / 2, ordered


def _signs(x: Rows) -> Table:
    """(b, n, n): 1 where the row's item is above the column's, -1 where below, 0 where tied."""
    signs: Table = np.sign(x[:, :, None] - x[:, None, :]).astype(np.float32)
    return signs


def _over_pairs(table: Table, w: Rows) -> NDArray[np.float64]:
    """(b,): the sum of a symmetric table over all unordered pairs of drawn items; its diagonal is 0."""
    half: NDArray[np.float64] = (_weighed(table, w) * w).sum(axis=1) / 2
    return half


def _ranks(x: Rows, w: Rows) -> Rows:
    """(b, n): mid-ranks among the drawn items, up to a constant."""
    return _weighed((_signs(x) + np.float32(1)) / np.float32(2), w)


def _weighed(table: Table, w: Rows) -> Rows:
    """(b, n): the rows of (b, n, n) or of one (1, n, n), summed with weights.

    Sums of signs or halves, so many times each, are exact in single precision, in which they take half as long.
    """
    times = w.astype(np.float32)
    summed: Table = times @ table[0].T if len(table) == 1 else np.matmul(table, times[:, :, None])[:, :, 0]
    return summed.astype(np.float64)


def _divide(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(a, b, out=np.full_like(a, np.nan), where=b > 0)


def _in_blocks(coefficient: Coefficient, x: Rows, y: Rows, w: Rows) -> NDArray[np.float64]:
    """Apply to so many resamples at a time that the tables of pairs fit into memory."""
    if len(x) == len(y) == 1:
        return coefficient(x, y, w)
    size = max(1, _CELLS // max(1, x.shape[1] ** 2))
    blocks = [slice(start, start + size) for start in range(0, len(w), size)]
    return np.concatenate([coefficient(x if len(x) == 1 else x[s], y if len(y) == 1 else y[s], w[s]) for s in blocks])


def _one_by_one(
    coefficient: Callable[[NDArray[np.float64], NDArray[np.float64]], float], x: Rows, y: Rows, w: Rows
) -> NDArray[np.float64]:
    """scipy's own, for each resample written out; for more items than a table of their pairs has room."""
    coefficients = []
    for b, times in enumerate(w.astype(np.int64)):
        own = np.repeat(x[b % len(x)], times), np.repeat(y[b % len(y)], times)
        varies = all(len(row) > 1 and np.ptp(row) > 0 for row in own)
        coefficients.append(coefficient(*own) if varies else np.nan)
    return np.array(coefficients)
