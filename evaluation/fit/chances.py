"""The chance that a sentence is preferred to another one of its topic, corrected for what the prior takes from it.

    fitted_j = mean over k != j of P_jk,    P_jk = v_j / (v_j + v_k)
    value_j  = fitted_j + n / (2 m) sum over the judgments of j of (y - P)

n sentences, m judgments of pairs that were drawn at random, y the share of the win that went to j, P what the fit
expected of it before it knew this judgment. A prior and smoothing draw chances towards 1/2, in all topics alike, so
that a mean over a hundred topics is as wrong as one of them and far surer of itself. The sum puts back what they took:
since these pairs are drawn at random, each sum of values with weights that sum to 0 is unbiased however wrong the fit
is, for the fit is used for what it predicts and the judgments for what it misses (the difference estimator of Cassel,
Särndal and Wretman, Biometrika 1976). Values are therefore not held to [0, 1]; their mean is 1/2.

Pairs that were asked for because the fit knows little of them (`evaluation.fit.sampling`) help the fit and have no part
in the sum: they are close pairs, where the fit errs otherwise than elsewhere, and with them a coin tells systems apart
in a fifth of the studies. Without a random pair nobody can say how sure values are.

Before it knew a judgment: one step of Newton's method without it (Pregibon 1981). With V the variance of the difference
of the two utilities at the mode, the log odds f become f - V (y - P) / (1 - V P (1 - P)); without all c judgments of a
pair, f - V sum (y - P) / (1 - c V P (1 - P)).

Errors. Which sentences were asked about is chance as well, so the values err by nearly the same and independently:
their standard error is s n / sqrt(2 (m - 1) (n - 1)), s^2 the mean square of y - P. Sums of values have the variance of
sums of independent numbers. benchmarks/coverage.py counts how often that holds.

Judgments of one pair share what the fit does not know of it: b, the mean product of two of their y - P, with P before
it knew the pair. Where a pair is drawn anew for each judgment, that makes no difference. If each pair that is drawn is
judged c times, as a study may ask for, sums vary more, and what is expected of a judgment must not rest on the others
of its pair. So s^2 becomes s^2 + (D - 1) b, with D the variance of the numbers of judgments over all n (n - 1) / 2
pairs, divided by their mean: 1 where each judgment is of a pair drawn anew, c (1 - share of the pairs that are drawn)
where each has c. And P is that before the fit knew the share (D - 1) / (D - 1 + mean) of the others, which is of those
that came together. D counts as 1 where chance may have it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evaluation.fit.kernel import Pairs
from evaluation.fit.similarity import slices

Vector = NDArray[np.float64]

# A pair that decides its own prediction by more than this has no prediction without its judgments.
_LARGEST_LEVERAGE = 0.95
# So many standard deviations of D, sqrt(2 / number of pairs) where pairs are drawn anew each time, may be chance.
_BY_CHANCE = 3.0


@dataclass(frozen=True, slots=True)
class Chances:
    """`fitted` (n,): of the fit, in [0, 1]; `values` (n,): corrected, with mean 1/2; `error`: standard error of each
    value, None without judgments of random pairs."""

    fitted: Vector
    values: Vector
    error: float | None

    @classmethod
    def without_judgments(cls, n: int) -> Chances:
        """All sentences alike."""
        return cls(np.full(n, 0.5), np.full(n, 0.5), None)


def fitted_chances(utilities: Vector) -> Vector:
    """(n,): how probably each sentence is preferred to another one drawn at random; 1/2 for the only one of a topic."""
    n = len(utilities)
    if n < 2:
        return np.full(n, 0.5)
    sums = [expit(utilities[rows, None] - utilities).sum(axis=1) for rows in slices(n, n)]
    chances: Vector = (np.concatenate(sums) - 0.5) / (n - 1)
    return chances


def chances(utilities: Vector, pairs: Pairs, variances: Vector, weights: Vector) -> Chances:
    """The chances of n sentences with utilities (n,).

    `pairs`: those judgments of random pairs that these were estimated from; `variances` (k,): of the pairs'
    differences; `weights` (m,): of the judgments.
    """
    n = len(utilities)
    if not len(weights):
        fitted = fitted_chances(utilities)
        return Chances(fitted, fitted, None)
    gaps = utilities[pairs.first] - utilities[pairs.second]
    judged = pairs.wins + pairs.losses
    total, effective = float(judged.sum()), _effective(weights)
    unit = effective / total
    excess = _excess(unit * judged, n)
    share = excess / (excess + effective / _pairs(n))
    others = 1 + share * np.maximum(judged - 1, 0.0)
    won = 1 - _expected(gaps, others - share * pairs.losses, others, variances)
    lost = _expected(gaps, share * pairs.wins, others, variances)
    square = float((pairs.wins * won**2 + pairs.losses * lost**2).sum()) / total
    square += excess * _shared(pairs, _expected(gaps, pairs.wins, judged, variances), unit)
    fitted = fitted_chances(utilities)
    return Chances(
        fitted=fitted,
        values=fitted + n / (2 * total) * pairs.spread(pairs.wins * won - pairs.losses * lost),
        error=float(np.sqrt(square * n**2 / (2 * max(effective - 1, 1) * (n - 1)))),
    )


def _expected(gaps: Vector, wins: Vector | float, judged: Vector | float, variances: Vector) -> Vector:
    """(k,): P of pairs from their fitted log odds, without so many judgments, of which the first won `wins`."""
    expected = expit(gaps)
    leverage = np.minimum(variances * judged * expected * (1 - expected), _LARGEST_LEVERAGE)
    return np.asarray(expit(gaps - variances * (wins - judged * expected) / (1 - leverage)))


def _excess(judged: Vector, n: int) -> float:
    """D - 1; 0 where pairs come again no more often than chance may have it."""
    total = float(judged.sum())
    excess = float(judged @ judged) / total - total / _pairs(n) - 1
    return excess if excess > _BY_CHANCE * np.sqrt(2 / _pairs(n)) else 0.0


def _shared(pairs: Pairs, expected: Vector, unit: float) -> float:
    """b; 0 where no pair was judged twice. A weight of 1 counts `unit`."""
    wins, losses = unit * pairs.wins, unit * pairs.losses
    judged, surplus = wins + losses, wins * (1 - expected) - losses * expected
    products = float(judged @ judged - judged.sum())
    alone = float((wins * (1 - expected) ** 2 + losses * expected**2).sum())
    return max(float(surplus @ surplus) - alone, 0.0) / products if products >= 1 else 0.0


def _pairs(n: int) -> float:
    return n * (n - 1) / 2


def _effective(weights: Vector) -> float:
    """As many judgments of equal weight would say as much (Kish 1965)."""
    ordered = np.sort(weights)
    return float(ordered.sum() ** 2 / np.square(ordered).sum())
