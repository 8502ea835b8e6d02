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
of the two utilities at the mode, the log odds f become f - V (y - P) / (1 - V P (1 - P)).

Errors. Which sentences were asked about is chance as well, so the values err by nearly the same and independently:
their standard error is s n / sqrt(2 (m - 1) (n - 1)), s^2 the mean square of y - P. Sums of values have the variance of
sums of independent numbers. benchmarks/coverage.py counts how often that holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evaluation.fit.kernel import Pairs
from evaluation.fit.similarity import slices

Vector = NDArray[np.float64]

# A judgment that decides its own prediction by more than this has no prediction without it.
_LARGEST_LEVERAGE = 0.95


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
    won, lost = _surprise(gaps, variances), _surprise(-gaps, variances)
    total = float((pairs.wins + pairs.losses).sum())
    surplus = pairs.spread(pairs.wins * won - pairs.losses * lost)
    square = float((pairs.wins * won**2 + pairs.losses * lost**2).sum()) / total
    fitted = fitted_chances(utilities)
    return Chances(
        fitted=fitted,
        values=fitted + n / (2 * total) * surplus,
        error=float(np.sqrt(square * n**2 / (2 * max(_effective(weights) - 1, 1) * (n - 1)))),
    )


def _surprise(gaps: Vector, variances: Vector) -> Vector:
    """1 - P of judgments that the first of two sentences won, from the fitted log odds and their variances."""
    missed = expit(-gaps)
    leverage = np.minimum(variances * missed * (1 - missed), _LARGEST_LEVERAGE)
    return np.asarray(expit(variances * missed / (1 - leverage) - gaps))


def _effective(weights: Vector) -> float:
    """As many judgments of equal weight would say as much (Kish 1965)."""
    ordered = np.sort(weights)
    return float(ordered.sum() ** 2 / np.square(ordered).sum())
