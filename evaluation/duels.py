"""Who met whom how often: what the score equations of `zermelo` ask of a preference matrix, dense or sparse.

With M the preference matrix, N = M + M' without its diagonal holds the duels. Rough answers (single precision) show
the way, exact ones (double precision, straight from M) decide when it is at its end.
"""

from __future__ import annotations

import threading
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
# x -> R x for a vector of the operator's own precision, and that precision.
Curvature = tuple[Callable[[NDArray[Any]], NDArray[Any]], type[np.float32] | type[np.float64]]

# Elements of a block of rows: what is added, divided and summed at once stays in the processor's cache.
_BLOCK = 1 << 17
# Rows that are transposed at once.
_PANEL = 512
# Single precision holds N / (v_i + v_j)^2 as long as no |log v| is larger.
_ROUGH_RANGE = 20.0


class Duels(Protocol):
    """`wins`, `losses` (n,): row and column sums of M without its diagonal."""

    n: int
    wins: Vector
    losses: Vector

    def encounters(self, v: Vector) -> Vector:
        """(n,): sum_j N_ij / (v_i + v_j), exact."""

    def tangent(self, v: Vector, rough: bool) -> tuple[Vector, Curvature]:
        """`encounters`, at least rough ones, and R with R_ij = N_ij / (v_i + v_j)^2, rough or exact.

        R holds until the next call.
        """


def duels(preferences: Preferences) -> Duels:
    """Raises `ValueError` for a matrix that is not square or holds what cannot be a weight."""
    if len(preferences.shape) != 2 or preferences.shape[0] != preferences.shape[1]:
        raise ValueError(f"a preference matrix is square, not {' x '.join(map(str, preferences.shape))}")
    if sparse.issparse(preferences):
        return SparseDuels(preferences)
    return DenseDuels(np.ascontiguousarray(preferences, dtype=np.float64))


def in_single_range(v: Vector) -> bool:
    """Whether rough answers can be given at these strengths."""
    limit = np.exp(_ROUGH_RANGE)
    return bool(v.max(initial=1.0) < limit and v.min(initial=1.0) > 1 / limit)


class DenseDuels:
    """Works on blocks of rows. For the Hessian it holds one upper triangle in single precision: R where it last was."""

    def __init__(self, preferences: Matrix) -> None:
        self._m = preferences
        self.n = n = len(preferences)
        self.wins, self.losses, ones = np.empty(n), np.zeros(n), np.ones(n)
        least = 0.0
        for a, b in _blocks(0, n, n):
            block = preferences[a:b]
            self.wins[a:b] = block @ ones
            self.losses += ones[: b - a] @ block
            least = min(least, float(block.min()))
        _refuse_non_weights(self.wins, least)
        diagonal = np.diagonal(preferences)
        self.wins -= diagonal
        self.losses -= diagonal
        self._rough = np.empty((0, 0), np.float32)
        self._rough_at: NDArray[np.float32] | None = None

    def encounters(self, v: Vector) -> Vector:
        n, total, ones = self.n, np.zeros(self.n), np.ones(self.n)
        store = _scratch.doubles(_BLOCK + n)
        for a, b in _blocks(0, n, n):
            share = store[: (b - a) * n].reshape(b - a, n)
            np.add(v[a:b, None], v, out=share)
            np.divide(self._m[a:b], share, out=share)
            share.reshape(-1)[a :: n + 1] = 0.0  # a sentence against itself
            total[a:b] += share @ ones
            total += ones[: b - a] @ share
        return total

    def tangent(self, v: Vector, rough: bool) -> tuple[Vector, Curvature]:
        if not rough:
            exact = (self._m + self._m.T) / np.square(np.add.outer(v, v))
            np.fill_diagonal(exact, 0.0)
            return self.encounters(v), (exact.__matmul__, np.float64)
        total = self._place(v.astype(np.float32))
        # What is filled is the upper triangle; read by columns, as BLAS does, it is the lower one.
        transposed = self._rough.T
        return total, (lambda x: blas.ssymv(1.0, transposed, x, lower=1), np.float32)

    def _place(self, v: NDArray[np.float32]) -> Vector:
        """Bring R to these strengths, in place, for R and N are too large to hold both; the rough `encounters`."""
        n, before, total, ones = self.n, self._rough_at, np.zeros(self.n, np.float32), np.ones(self.n, np.float32)
        store = _scratch.singles(2 * (_BLOCK + n)).reshape(2, -1)
        if before is None:
            self._rough = np.empty((n, n), np.float32)
        for panel in range(0, n, _PANEL):
            end = min(n, panel + _PANEL)
            if before is None:
                self._fill(panel, end)
            for a, b in _blocks(panel, end, n - panel):
                size, shape = (b - a) * (n - a), (b - a, n - a)
                now, ratio = store[0, :size].reshape(shape), store[1, :size].reshape(shape)
                np.add(v[a:b, None], v[a:], out=now)
                if before is None:
                    np.reciprocal(now, out=ratio)
                else:
                    np.add(before[a:b, None], before[a:], out=ratio)
                    np.divide(ratio, now, out=ratio)
                np.square(ratio, out=ratio)
                block = np.multiply(self._rough[a:b, a:], ratio, out=self._rough[a:b, a:])
                np.multiply(block, now, out=now)
                total[a:b] += now @ ones[a:]
                total[b:] += ones[: b - a] @ now[:, b - a :]
        self._rough_at = v
        return total.astype(np.float64)

    def _fill(self, a: int, b: int) -> None:
        """Write rows a to b of N, from column a on."""
        panel = self._rough[a:b, a:]
        np.add(self._m[a:b, a:], self._m[a:, a:b].T, out=panel, casting="same_kind")
        np.fill_diagonal(panel, 0.0)


def totals(places: NDArray[np.integer[Any]], weights: Vector, n: int) -> Vector:
    """(n,): the sum of the weights at each place."""
    return np.bincount(places, weights, n).astype(np.float64, copy=False)


def _blocks(start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    """Cut rows start to end, that many elements wide, into blocks that stay in the cache."""
    rows = max(1, _BLOCK // max(width, 1))
    for a in range(start, end, rows):
        yield a, min(end, a + rows)


class _Scratch(threading.local):
    """Room for one block, kept from fit to fit: asking the system for memory costs more than the arithmetic in it."""

    def __init__(self) -> None:
        self._doubles = np.empty(0)

    def doubles(self, size: int) -> Vector:
        if len(self._doubles) < size:
            self._doubles = np.empty(size)
        return self._doubles[:size]

    def singles(self, size: int) -> NDArray[np.float32]:
        return self.doubles(-(-size // 2)).view(np.float32)[:size]


_scratch = _Scratch()


class SparseDuels:
    """Holds every pair of sentences that met once, as the upper triangle of N by rows."""

    def __init__(self, preferences: Sparse) -> None:
        m = sparse.coo_array(preferences)
        off = m.row != m.col
        row, col, data = m.row[off], m.col[off], m.data[off].astype(np.float64)
        self.n = m.shape[0]
        self.wins = totals(row, data, self.n)
        self.losses = totals(col, data, self.n)
        _refuse_non_weights(self.wins, float(data.min(initial=0.0)))
        upper = sparse.csr_array((data, (np.minimum(row, col), np.maximum(row, col))), shape=m.shape)
        upper.sum_duplicates()
        self._upper = upper
        self._row = np.repeat(np.arange(self.n, dtype=upper.indices.dtype), np.diff(upper.indptr))

    def encounters(self, v: Vector) -> Vector:
        return self._sums(self._upper.data / self._denominators(v))

    def tangent(self, v: Vector, rough: bool) -> tuple[Vector, Curvature]:
        denominators = self._denominators(v)
        share = self._upper.data / denominators
        total = self._sums(share)
        share /= denominators
        kind = np.float32 if rough else np.float64
        upper = self._like(share.astype(kind, copy=False))
        lower = upper.T
        return total, (lambda x: upper @ x + lower @ x, kind)

    def _denominators(self, v: Vector) -> Vector:
        total: Vector = v[self._row]
        total += v[self._upper.indices]
        return total

    def _sums(self, data: Vector) -> Vector:
        matrix, ones = self._like(data), np.ones(self.n)
        total: Vector = matrix @ ones + matrix.T @ ones
        return total

    def _like(self, data: NDArray[Any]) -> sparse.csr_array:
        return sparse.csr_array((data, self._upper.indices, self._upper.indptr), shape=self._upper.shape)


def _refuse_non_weights(wins: Vector, least: float) -> None:
    if not np.isfinite(wins).all() or least < 0:
        raise ValueError("preferences are weights: finite, and never negative")
