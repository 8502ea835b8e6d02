"""Intervals and p-values of samples. What pages work out, too, is in plain Python in
`preferendum.results.statistics`."""

from __future__ import annotations

import base64
import math

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from preferendum.results import Bounded, Figure
from preferendum.results.statistics import DECIMALS, Z95, wilson

Vector = NDArray[np.float64]


#: Resampled values that differ by less are equal.
EQUAL = 10.0**-DECIMALS


def finite(value: float | None) -> float | None:
    """The number, as records keep it: None where it is not finite."""
    return float(value) if value is not None and math.isfinite(value) else None


def packed(numbers: NDArray[np.floating], kind: str = "<f8") -> str:
    """The bytes of the numbers, row by row: exact, and written in a hundredth of the time of their digits."""
    return base64.b64encode(numbers.astype(kind).tobytes()).decode()


def percentile_interval(resampled: Vector, level: float = 0.95) -> tuple[float, float]:
    """The middle `level` of the resampled values (the percentile interval of Efron & Tibshirani 1993); nan for none."""
    defined = resampled[np.isfinite(resampled)]
    if not len(defined):
        return math.nan, math.nan
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bounded(value: float, resampled: Vector) -> Bounded:
    """The value with its percentile interval, as records keep it; none without resamples, or where all are alike: that
    says nothing of samples that were not drawn."""
    low, high = percentile_interval(resampled)
    return (
        Bounded(finite(value), finite(low), finite(high)) if high - low > EQUAL else Bounded(finite(value), None, None)
    )


def bounded_share(value: float, resampled: Vector, n: int) -> Bounded:
    """A mean of shares with its percentile interval; where all resamples are alike, Wilson's interval (1927) of n
    independent ones.
    """
    own = bounded(value, resampled)
    if own.value is None or own.low is not None or not len(resampled) or not n:
        return own
    return Bounded(own.value, *wilson(n * own.value, n))


def fisher_interval(r: float, n: int) -> tuple[float | None, float | None]:
    """The 95% interval of Pearson's correlation of n pairs by Fisher's z; none below four pairs or where |r| is 1."""
    if n < 4 or not abs(r) < 1:
        return None, None
    z, margin = math.atanh(r), Z95 / math.sqrt(n - 3)
    return math.tanh(z - margin), math.tanh(z + margin)


def mean(sample: Vector, chance: float | None = None) -> Figure:
    """The mean of a sample, with its 95% interval by the normal distribution where values differ."""
    n = len(sample)
    if n < 2 or np.ptp(sample) == 0:
        return Figure(float(sample[0]) if n else None, n, chance=chance)
    value, margin = float(sample.mean()), Z95 * float(sample.std(ddof=1)) / math.sqrt(n)
    return Figure(value, n, value - margin, value + margin, chance=chance)


def median(sample: Vector) -> Figure:
    """The median between those order statistics that hold it in 95 of 100 samples, whatever the distribution."""
    n = len(sample)
    if not n:
        return Figure(None, 0)
    value = float(np.median(sample))
    if special.bdtr(0, n, 0.5) > 0.025:
        return Figure(value, n)
    ordered = np.sort(sample)
    beyond = math.ceil(special.bdtrik(0.025, n, 0.5))
    return Figure(value, n, float(ordered[beyond - 1]), float(ordered[n - beyond]))


def robust_z(values: Vector) -> Vector:
    """How far each value is from the median of all: (x - median) / (1.4826 MAD).

    Values that are nan stay so; with fewer than three other values, or without any spread, all are nan.
    """
    finite = values[np.isfinite(values)]
    if len(finite) < 3:
        return np.full(len(values), np.nan)
    centre = np.median(finite)
    spread = 1.4826 * np.median(np.abs(finite - centre))
    return np.asarray((values - centre) / spread) if spread > 0 else np.full(len(values), np.nan)


def even_odds_p(k: int, n: int) -> float | None:
    """The two-sided p-value of k of n under even odds, exact; None where n is 0."""
    return min(1.0, 2 * float(special.bdtr(min(k, n - k), n, 0.5))) if n else None


def holm(p: Vector) -> Vector:
    """P-values adjusted such that all of them together err at most at the stated level (Holm 1979); nan stays so."""
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    adjusted = p.copy()
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return adjusted


def benjamini_hochberg(p: Vector) -> Vector:
    """p-values adjusted so that at most the level's share of what is found is false (Benjamini & Hochberg 1995)."""
    adjusted = np.full(len(p), np.nan)
    defined = np.isfinite(p)
    if defined.any():
        adjusted[defined] = scipy.stats.false_discovery_control(p[defined])
    return adjusted
