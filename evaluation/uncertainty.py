"""How sure an estimate of the utilities is (docs/model.md, Uncertainty).

Everything speaks of utilities centred on 0, so of differences: the level of all sentences together says nothing. A
standard error is the square root of the mean squared error to be expected, spread and bias: an estimate that leans on
a prior or on smoothed judgments is off even where it hardly varies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from evaluation import kernel
from evaluation.duels import Matrix, Sparse, Vector

# Up to here all covariances are held; beyond, they are worked out from the sparse precision when they are asked for.
DENSE = 4000


class Covariance(Protocol):
    """Mean squared errors and their mixed products, of n utilities centred on 0."""

    def errors(self) -> Vector:
        """(n,): the standard error of each utility."""

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Vector:
        """The standard errors of utilities[a] - utilities[b], for index arrays of one dimension."""

    def of(self, weights: Matrix) -> Matrix:
        """(s, s): the covariance of weights @ utilities, for weights (s, n)."""


@dataclass(frozen=True, slots=True)
class DenseCovariance:
    """All of it: `matrix` (n, n)."""

    matrix: Matrix

    @classmethod
    def centred(cls, matrix: Matrix) -> DenseCovariance:
        """Of theta - mean(theta), where `matrix` is that of theta."""
        rows = matrix - matrix.mean(axis=0)
        return cls(rows - rows.mean(axis=1, keepdims=True))

    def errors(self) -> Vector:
        return np.sqrt(np.maximum(np.diag(self.matrix), 0.0))

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Vector:
        variance = self.matrix[a, a] + self.matrix[b, b] - 2 * self.matrix[a, b]
        return np.sqrt(np.maximum(variance, 0.0))

    def of(self, weights: Matrix) -> Matrix:
        return weights @ self.matrix @ weights.T


@dataclass(frozen=True, slots=True)
class SparseCovariance:
    """The inverse of diag(`diagonal`) - `links`, plus the outer product of `shift` with itself.

    `links` (n, n) is sparse, symmetric, not negative. Errors and differences take two terms of the inverse's series,
    right to a percent where sentences were compared with several others; `of` is exact.
    """

    diagonal: Vector
    links: Sparse
    shift: Vector

    def errors(self) -> Vector:
        return np.sqrt(self._variances())

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Vector:
        from_a, from_b = self.links[a], self.links[b]
        direct = np.asarray(self.links[a, b]).ravel()
        shared = from_a.multiply(from_b) @ (1 / self.diagonal)
        mixed = (direct + shared) / (self.diagonal[a] * self.diagonal[b]) + self.shift[a] * self.shift[b]
        variances = self._variances()
        return np.sqrt(np.maximum(variances[a] + variances[b] - 2 * mixed, 0.0))

    def of(self, weights: Matrix) -> Matrix:
        centred = weights - weights.mean(axis=1, keepdims=True)
        solved = np.array([self._solve(row) for row in centred]).reshape(centred.shape)
        shifted = centred @ self.shift
        covariance: Matrix = centred @ solved.T + np.outer(shifted, shifted)
        return covariance

    def _variances(self) -> Vector:
        around = self.links.multiply(self.links) @ (1 / self.diagonal)
        variances: Vector = 1 / self.diagonal + around / self.diagonal**2 + self.shift**2
        return variances

    def _solve(self, row: Vector) -> Vector:
        precision = sparse.diags_array(self.diagonal) - self.links
        solution, failed = sparse.linalg.cg(precision, row, rtol=1e-8, M=sparse.diags_array(1 / self.diagonal))
        if failed:
            raise ArithmeticError("the covariance of a sum of utilities did not converge")
        return np.asarray(solution)


def about(
    utilities: Vector, pairs: kernel.Pairs, similarity: Matrix | None, found: kernel.Mode | None = None
) -> Covariance:
    """The mean squared errors of any estimate of the utilities (n,).

    The judgments as they were observed, with a Gaussian prior whose parameters they choose, say where the truth may
    be: around `mean` with `covariance`. Around the estimate that is the covariance plus the outer product of
    mean - estimate with itself, which holds what smoothing and pseudo-wins have moved. `found`: the prior's mode, if it
    is at hand.
    """
    found = found or kernel.mode(pairs, similarity, kernel.parameters(pairs, similarity))
    if pairs.n > DENSE and similarity is None:
        weight = pairs.scores(found.theta)[1]
        shift = found.theta - found.theta.mean() - utilities + utilities.mean()
        return _sparse(pairs, weight, 1 / found.parameters.variance, shift)
    known = kernel.posterior(pairs, similarity, found)
    shift = known.mean - utilities
    return DenseCovariance.centred(known.covariance + np.outer(shift, shift))


def fisher(utilities: Vector, pairs: kernel.Pairs) -> Covariance:
    """The (pseudo-)inverse of the Fisher information, for estimates without a prior, since the level is free."""
    weight = pairs.scores(utilities)[1]
    if pairs.n > DENSE:
        return _sparse(pairs, weight, 0.0, np.zeros(pairs.n))
    information = pairs.laplacian(weight).toarray()
    level = information.trace() / max(pairs.n, 1) ** 2
    return DenseCovariance.centred(linalg.inv(information + level, check_finite=False))


def _sparse(pairs: kernel.Pairs, weight: Vector, own: float, shift: Vector) -> SparseCovariance:
    laplacian = pairs.laplacian(weight)
    diagonal = laplacian.diagonal()
    return SparseCovariance(diagonal + own, sparse.diags_array(diagonal).tocsr() - laplacian, shift)
