"""Intervals and p-values of scores near their bounds, where a standard error is not the same everywhere.

Win rates are sums of chances P, so a score moves by less, for the same change of the systems' alpha, the nearer these
are to 0 and 1, and the information on alpha, sums of P (1 - P), falls in proportion. Along the direction of alpha that
changes a score most for what it costs in likelihood, let tau count standard errors from the estimate. With

    kappa = w''(0) / w'(0)

score and information grow as exp(kappa tau), and the log-likelihood falls as that of a Poisson count: its signed root
at z standard errors from the estimate, and where it is q, are

    r(z)^2 = 2 (kappa z - log(1 + kappa z)) / kappa^2,    z(q) = (exp(y) - 1) / kappa,  exp(y) - 1 - y = (kappa q)^2 / 2

for kappa > 0. Of n wins in n answers that is what deviance says of no loss in n (profile likelihood: Cox and Hinkley
1974, chapter 9; McCullagh and Nelder 1989, chapter 7). Towards the bound, where kappa < 0, errors are not taken to be
smaller than at the estimate.

A score that sums chances near 0 and chances near 1 may have no skew at all, and each of its two parts much. The
interval of a score is put together of those of its parts, as if these were independent (Zou and Donner 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
#: Where kappa times standard errors is less, the first two terms of the series are right to a billionth.
SMALL = 1e-4
STEPS = 8


def signed_root(z: Matrix, kappa: Matrix) -> Matrix:
    """r of z standard errors, z >= 0, in the direction in which errors grow by `kappa` if that is positive."""
    x = np.maximum(kappa, 0.0) * np.where(np.isfinite(z), z, 0.0)
    grown = np.maximum(x, SMALL)
    root = np.sqrt(2 * (grown - np.log1p(grown))) / np.where(x > SMALL, kappa, 1.0)
    return np.where(x > SMALL, root, z * (1 - x / 3))


def reach(q: Matrix, kappa: Matrix) -> Matrix:
    """So many standard errors have a root of q in that direction."""
    x = np.maximum(kappa, 0.0) * np.where(np.isfinite(q), q, 0.0)
    grown = np.maximum(x, SMALL)
    y = np.log1p(grown + grown**2 / 2)  # from above, Newton's method comes down to the root
    for _ in range(STEPS):
        y -= (np.expm1(y) - y - grown**2 / 2) / np.expm1(y)
    return np.where(x > SMALL, np.expm1(y) / np.where(x > SMALL, kappa, 1.0), q * (1 + x / 3))


@dataclass(frozen=True, slots=True)
class Halves:
    """The `share` of scores' variances that is of chances below one half, whose errors grow upwards by the kappa
    `up`; those of the others grow downwards, by `down`."""

    share: Matrix
    up: Matrix
    down: Matrix

    @classmethod
    def of(cls, skew: Matrix) -> Halves:
        """Take scores whose errors all grow alike, upwards if `skew` is positive."""
        return cls(np.where(skew > 0, 1.0, 0.0), skew, -skew)

    def reach(self, q: Matrix) -> tuple[Matrix, Matrix]:
        """How many standard errors have a root of q, downwards and upwards."""
        share = self.share
        with np.errstate(invalid="ignore"):
            down = np.sqrt((1 - share) * reach(q, self.down) ** 2 + share * q**2)
            up = np.sqrt(share * reach(q, self.up) ** 2 + (1 - share) * q**2)
        return np.where(np.isfinite(q), down, q), np.where(np.isfinite(q), up, q)


def skewness(bends: Matrix, moved: Matrix, covariance: Matrix) -> Matrix:
    """(s, s): kappa of the row's score less the column's.

    `bends` (s, s): second derivatives of the row's score, each a sum of functions of alpha_row - alpha_j;
    `covariance` (s, s): of the scores; `moved` (s, s): that of alpha with the scores.
    """
    own = np.diag(moved)[:, None] - moved.T  # (row, j): how far the direction of the row's score moves row from j
    weighed = bends * own
    total = bends.sum(axis=1)[:, None]
    ahead = (weighed * own).sum(axis=1)[:, None] - 2 * (weighed.sum(axis=1)[:, None] * moved - weighed @ moved)
    ahead += total * moved**2 - 2 * moved * (bends @ moved) + bends @ moved**2
    variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
    return divided(ahead - ahead.T, variance)


def halves(weighed: Matrix, bent: Matrix) -> Matrix:
    """(3, s): the share, up and down of `Halves` for each score, a row. `weighed`, `bent` (s, n): what each chance
    brings to the score's variance, and to its second derivative."""
    rising = (weighed * (bent > 0)).sum(axis=1)
    parts = np.stack([rising, weighed.sum(axis=1) - rising]).clip(0)
    whole, risen = parts.sum(axis=0), np.maximum(bent, 0.0).sum(axis=1)
    up, down = divided(np.stack([risen, risen - bent.sum(axis=1)]), parts)
    return np.stack([np.divide(parts[0], whole, out=np.zeros(len(whole)), where=whole > 0), up, down])


def divided(second: Matrix, variance: Matrix) -> Matrix:
    cubed = np.maximum(variance, 0.0) ** 1.5
    return np.divide(second, cubed, out=np.zeros(second.shape), where=cubed > 0)
