"""How sure an estimate of the utilities is (docs/model.md, Uncertainty).

Everything speaks of utilities centred on 0, so of differences: the level of all sentences together says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance (n, n) of the utilities, centred on 0."""

    matrix: Matrix

    @classmethod
    def centred(cls, matrix: Matrix) -> Covariance:
        """Of theta - mean(theta), where `matrix` is the covariance of theta."""
        rows = matrix - matrix.mean(axis=0)
        return cls(rows - rows.mean(axis=1, keepdims=True))

    def errors(self) -> Vector:
        """(n,): the standard error of each utility."""
        return np.sqrt(np.maximum(np.diag(self.matrix), 0.0))

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> Vector:
        """The standard errors of utilities[a] - utilities[b], for indices of any one shape."""
        variance = self.matrix[a, a] + self.matrix[b, b] - 2 * self.matrix[a, b]
        return np.sqrt(np.maximum(variance, 0.0))

    def error(self, weights: Matrix) -> Vector:
        """The standard errors of weights @ utilities, for weights of shape (..., n)."""
        weights = np.asarray(weights, dtype=np.float64)
        return np.sqrt(np.maximum(np.einsum("...i,...i->...", weights @ self.matrix, weights), 0.0))

    def draws(self, rng: np.random.Generator, draws: int) -> Matrix:
        """(draws, n): deviations from the utilities, normal with this covariance."""
        values, vectors = np.linalg.eigh(self.matrix)
        return rng.standard_normal((draws, len(values))) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
