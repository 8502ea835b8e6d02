"""The uncertainty of an estimate of the utilities (docs/model.md, Uncertainty).

All utilities are centred on 0, since only their differences mean anything. A standard error is the square root of the
expected mean squared error, which includes spread and bias: an estimate that rests on a prior or on smoothed judgments
is biased even where it hardly varies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from preferendum.fit import kernel
from preferendum.fit.comparisons import Matrix, Sparse, Vector
from preferendum.fit.similarity import KEPT, Similarity, slices

# Up to here all covariances are held; beyond, they are computed on request: from the similarities and the pairs, or
# where these are too many, too, from the sparse precision, which leaves similarities out.
DENSE = KEPT
MOST_PAIRS = 2000


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
        """Make `matrix`, the covariance of theta, that of theta - mean(theta), in its place."""
        matrix -= matrix.mean(axis=0)
        matrix -= matrix.mean(axis=1, keepdims=True)
        return cls(matrix)

    def errors(self) -> Vector:
        return np.sqrt(np.maximum(np.diag(self.matrix), 0.0))

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Vector:
        variance = self.matrix[a, a] + self.matrix[b, b] - 2 * self.matrix[a, b]
        return np.sqrt(np.maximum(variance, 0.0))

    def of(self, weights: Matrix) -> Matrix:
        return weights @ self.matrix @ weights.T


@dataclass(frozen=True, slots=True)
class ConditionedCovariance:
    """K - `half`' `half` + the outer product of `shift` with itself, all centred, with K the kernel's prior.

    `half` (k, n), `shift` (n,).
    """

    similarity: Similarity
    parameters: kernel.Parameters
    half: Matrix
    shift: Vector

    @classmethod
    def centred(
        cls, similarity: Similarity, parameters: kernel.Parameters, half: Matrix, shift: Vector
    ) -> ConditionedCovariance:
        """Make `half` and `shift` of theta, whose mean is not 0, those of theta - mean(theta); `half` in its place."""
        half -= half.mean(axis=1, keepdims=True)
        return cls(similarity, parameters, half, shift - shift.mean())

    def errors(self) -> Vector:
        n, share = len(self.shift), self.parameters.share
        means = share * self.similarity.product(np.full(n, 1 / n), np.arange(n)) + (1 - share) / n
        prior = self.parameters.variance * (1 - 2 * means + means.mean())
        variances = prior - np.einsum("ij,ij->j", self.half, self.half) + self.shift**2
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Vector:
        mixed = self.parameters.share * self.similarity.pairs(a, b) + (1 - self.parameters.share) * (a == b)
        variances = 2 * self.parameters.variance * (1 - mixed) + (self.shift[a] - self.shift[b]) ** 2
        for some in slices(len(self.half), len(a)):
            gap = self.half[some, a] - self.half[some, b]
            variances -= np.einsum("ij,ij->j", gap, gap)
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))

    def of(self, weights: Matrix) -> Matrix:
        centred = weights - weights.mean(axis=1, keepdims=True)
        share = self.parameters.share
        prior = share * self.similarity.product(centred, np.arange(len(self.shift))) + (1 - share) * centred
        halves, shifted = self.half @ centred.T, centred @ self.shift
        covariance: Matrix = self.parameters.variance * prior @ centred.T - halves.T @ halves
        return covariance + np.outer(shifted, shifted)


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
    utilities: Vector, pairs: kernel.Pairs, similarity: Similarity | None, mode: kernel.Mode | None = None
) -> Covariance:
    """The mean squared errors of any estimate of the utilities (n,).

    The observed judgments, with a Gaussian prior whose parameters they choose, say where the truth may be: around
    `mean` with `covariance`. Around the estimate that is the covariance plus the outer product of mean - estimate with
    itself, the shift due to smoothing and pseudo-wins. `mode`: the prior's mode, if it is known.
    """
    mode = mode or kernel.mode(pairs, similarity, kernel.parameters(pairs, similarity))
    if pairs.n > DENSE and (similarity is None or len(pairs) > MOST_PAIRS):
        weight = pairs.scores(mode.theta)[1]
        shift = mode.theta - mode.theta.mean() - utilities + utilities.mean()
        return _sparse(pairs, weight, 1 / mode.parameters.variance, shift)
    if pairs.n > DENSE and similarity is not None:
        given = kernel.conditioned(pairs, similarity, mode)
        return ConditionedCovariance.centred(similarity, mode.parameters, given.half, given.mean - utilities)
    return around(utilities, kernel.posterior(pairs, similarity, mode))


def around(utilities: Vector, posterior: kernel.Posterior) -> Covariance:
    """The uncertainty from where the judgments say that the truth may be."""
    shift = posterior.mean - utilities
    return DenseCovariance.centred(posterior.covariance + np.outer(shift, shift))


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
