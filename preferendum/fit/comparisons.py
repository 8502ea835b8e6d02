"""Who won how often against whom: what Zermelo's score equations need of a preference matrix, dense or sparse.

With M the preference matrix, N = M + M' without its diagonal holds how often two sentences were compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Sparse = sparse.csr_array[Any, Any]
Preferences = Matrix | Sparse

# Elements of a block of rows: what is added, divided and summed at once stays in the processor's cache.
_BLOCK = 1 << 16


class Comparisons(Protocol):
    """`wins`, `losses` (n,): row and column sums of M without its diagonal."""

    n: int
    wins: Vector
    losses: Vector

    def per_strength(self, v: Vector) -> Vector:
        """(n,): sum_j N_ij / (v_i + v_j); times v_i it is how often i is expected to win."""

    def curvature(self, v: Vector) -> Callable[[Vector], Vector]:
        """x -> R x, with R_ij = N_ij / (v_i + v_j)^2."""


def comparisons(preferences: Preferences) -> Comparisons:
    """Raises `ValueError` for a matrix that is not square or holds what cannot be a weight."""
    if len(preferences.shape) != 2 or preferences.shape[0] != preferences.shape[1]:
        raise ValueError(f"a preference matrix must be square, not {' x '.join(map(str, preferences.shape))}")
    if sparse.issparse(preferences):
        return SparseComparisons(preferences.tocsr().astype(np.float64, copy=False))
    return DenseComparisons(np.ascontiguousarray(preferences, dtype=np.float64))


class DenseComparisons:
    """Works on blocks of rows: half the time of whole matrices, and hardly any memory."""

    def __init__(self, preferences: Matrix) -> None:
        self._m, self.n = preferences, len(preferences)
        self._room = np.empty(_BLOCK + self.n)
        self._at: Vector | None = None
        self._r: Callable[[Vector], Vector] = np.zeros_like
        ones = np.ones(self.n)
        self.wins, self.losses, least = np.empty(self.n), np.zeros(self.n), 0.0
        for a, b in self._blocks():
            block = preferences[a:b]
            self.wins[a:b] = block @ ones
            self.losses += ones[a:b] @ block
            least = min(least, float(block.min()))
        _refuse_non_weights(self.wins, least)
        self.wins -= np.diagonal(preferences)
        self.losses -= np.diagonal(preferences)

    def per_strength(self, v: Vector) -> Vector:
        total, ones = np.zeros(self.n), np.ones(self.n)
        if self._at is not None and np.array_equal(v, self._at):  # N_ij / (v_i + v_j) = R_ij (v_i + v_j)
            return v * self._r(ones) + self._r(v)
        for a, b in self._blocks():
            share = self._sums(v[a:b], v)
            np.divide(self._m[a:b], share, out=share)
            share.reshape(-1)[a :: self.n + 1] = 0.0
            total[a:b] += share @ ones
            total += ones[a:b] @ share
        return total

    def curvature(self, v: Vector) -> Callable[[Vector], Vector]:
        """The product with R, as a function.

        Of R only the upper triangle is filled: read by columns, as BLAS does, it is the lower one.
        """
        r = np.empty((self.n, self.n))
        for a, b in self._blocks():
            sums = self._sums(v[a:b], v[a:])
            block = np.add(self._m[a:b, a:], self._m[a:, a:b].T, out=r[a:b, a:])
            block /= np.square(sums, out=sums)
        np.fill_diagonal(r, 0.0)
        self._at, self._r = v, lambda x: np.asarray(blas.dsymv(1.0, r.T, x, lower=1))
        return self._r

    def _blocks(self) -> Iterator[tuple[int, int]]:
        rows = max(1, _BLOCK // max(self.n, 1))
        return ((a, min(self.n, a + rows)) for a in range(0, self.n, rows))

    def _sums(self, rows: Vector, columns: Vector) -> Matrix:
        room = self._room[: len(rows) * len(columns)].reshape(len(rows), len(columns))
        return np.add(rows[:, None], columns, out=room)


class SparseComparisons:
    """Works on the entries of M."""

    def __init__(self, preferences: Sparse) -> None:
        self.n = int(preferences.shape[0])
        self._indices, self._indptr = preferences.indices, preferences.indptr
        self._in_row = np.diff(preferences.indptr)
        on_diagonal = np.repeat(np.arange(self.n), self._in_row) == preferences.indices
        self._data = np.where(on_diagonal, 0.0, preferences.data)
        m, ones = self._like(self._data), np.ones(self.n)
        self.wins, self.losses = m @ ones, m.T @ ones
        _refuse_non_weights(self.wins, float(self._data.min(initial=0.0)))

    def per_strength(self, v: Vector) -> Vector:
        share, ones = self._like(self._data / self._sums(v)), np.ones(self.n)
        return np.asarray(share @ ones + share.T @ ones)

    def curvature(self, v: Vector) -> Callable[[Vector], Vector]:
        forward = self._like(self._data / np.square(self._sums(v)))
        backward = forward.T
        return lambda x: np.asarray(forward @ x + backward @ x)

    def _sums(self, v: Vector) -> Vector:
        sums = np.repeat(v, self._in_row)
        sums += v.take(self._indices)
        return sums

    def _like(self, data: Vector) -> Sparse:
        return sparse.csr_array((data, self._indices, self._indptr), shape=(self.n, self.n))


def _refuse_non_weights(wins: Vector, least: float) -> None:
    if not np.isfinite(wins).all() or least < 0:
        raise ValueError("preferences are weights: finite, and never negative")
