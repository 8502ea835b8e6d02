"""Utilities with a prior that lets similar sentences share what is known of them (docs/model.md, Smoothing).

theta ~ N(0, K) with K = variance (share S + (1 - share) I), S the similarity matrix: Bradley-Terry judges over a
Gaussian process, after Simpson and Gurevych (TACL 2018). The mode is found by Newton's method and the two parameters
by Laplace's approximation of the evidence (Rasmussen and Williams 2006, section 3.4), in the space of the judged pairs
where they are fewer than the sentences, else in that of the sentences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse, special

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

VARIANCES = (0.25, 1.0, 4.0, 16.0)
SHARES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every two sentences that were compared, once: `first` < `second` (k,), weights of the wins either way (k,)."""

    n: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    wins: Vector
    losses: Vector

    @classmethod
    def of(cls, wins: sparse.csr_array) -> Pairs:
        """The pairs of a matrix of wins (n, n)."""
        entries = wins.tocoo()
        row, col, data = entries.row, entries.col, entries.data
        keep = row != col
        row, col, data = row[keep], col[keep], data[keep]
        n = wins.shape[0]
        key = np.minimum(row, col).astype(np.int64) * n + np.maximum(row, col)
        pair, place = np.unique(key, return_inverse=True)
        forward = np.bincount(place, np.where(row < col, data, 0.0), len(pair))
        backward = np.bincount(place, np.where(row > col, data, 0.0), len(pair))
        return cls(n, pair // n, pair % n, forward, backward)

    @property
    def differences(self) -> sparse.csr_array:
        """(k, n): D with D theta = theta[first] - theta[second]."""
        k = len(self.first)
        data = np.tile([1.0, -1.0], k)
        indices = np.stack([self.first, self.second], 1).ravel()
        return sparse.csr_array((data, indices, np.arange(0, 2 * k + 1, 2)), shape=(k, self.n))


@dataclass(frozen=True, slots=True)
class KernelFit:
    """The mode of theta (n,), its covariance (n, n), the evidence for the prior, and what vouches for them."""

    theta: Vector
    covariance: Matrix
    log_evidence: float
    variance: float
    share: float
    residual: float
    iterations: int


def fit(pairs: Pairs, similarity: Matrix, tol: float = 1e-9) -> KernelFit:
    """The mode under the prior of greatest evidence among `VARIANCES` and `SHARES`."""
    best: KernelFit | None = None
    for share in SHARES:
        for variance in VARIANCES:
            fitted = fit_with(pairs, similarity, variance, share, tol)
            if best is None or fitted.log_evidence > best.log_evidence:
                best = fitted
    assert best is not None
    return best


def fit_with(
    pairs: Pairs, similarity: Matrix, variance: float, share: float, tol: float = 1e-9, max_iterations: int = 100
) -> KernelFit:
    """The mode under the prior with these parameters. Raises `ArithmeticError` where Newton's method fails."""
    differences = pairs.differences
    k_d = variance * (share * (differences @ similarity).T + (1 - share) * differences.T.toarray())
    gram = differences @ k_d
    both = pairs.wins + pairs.losses
    f = np.zeros(len(both))
    alpha = np.zeros(len(both))
    for iteration in range(max_iterations):
        p = special.expit(f)
        score = pairs.wins - both * p
        residual = float(np.abs(score - alpha).max(initial=0.0))
        weight = both * p * (1 - p)
        root = np.sqrt(weight)
        factor = linalg.cholesky(np.eye(len(f)) + root[:, None] * gram * root, lower=True)
        if residual <= tol:
            break
        b = weight * f + score
        alpha = b - root * linalg.cho_solve((factor, True), root * (gram @ b))
        f = gram @ alpha
    else:
        raise ArithmeticError(f"no convergence in {max_iterations} iterations: the residual is still {residual:.3g}")
    likelihood = float(pairs.wins @ special.log_expit(f) + pairs.losses @ special.log_expit(-f))
    evidence = likelihood - 0.5 * float(alpha @ f) - float(np.log(np.diag(factor)).sum())
    half = linalg.solve_triangular(factor, root[:, None] * k_d.T, lower=True)
    covariance = variance * (share * similarity + (1 - share) * np.eye(pairs.n)) - half.T @ half
    return KernelFit(k_d @ alpha, covariance, evidence, variance, share, residual, iteration)
