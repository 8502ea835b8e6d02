"""Find the strengths under which every sentence wins as often as it did (section 4.2 of the paper; docs/model.md).

The model is Zermelo's (1929), known as Bradley and Terry's: i is preferred to j with probability v_i / (v_i + v_j).
With M the (smoothed) preference matrix, N = M + M' and theta = log v, the score equations are

    wins_i + prior = sum_j N_ij v_i / (v_i + v_j) + 2 prior v_i / (1 + v_i)        for every sentence i,

where `prior` counts pseudo-wins and as many pseudo-losses against a phantom of strength 1 (Newman 2023). `plain`
iterates equation 3; `fit` solves the same equations by truncated Newton steps with conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Preferences = Matrix | sparse.sparray | sparse.spmatrix


class Undetermined(ValueError):
    """Without a prior no finite maximum exists: some sentences never lost to the rest, or never met it (Ford 1957).

    `unbeaten` holds the indices of such a group of sentences, the smallest there is.
    """

    def __init__(self, unbeaten: tuple[int, ...], groups: int) -> None:
        self.unbeaten = unbeaten
        self.groups = groups
        shown = ", ".join(map(str, unbeaten[:5])) + (f" and {len(unbeaten) - 5} more" if len(unbeaten) > 5 else "")
        super().__init__(
            f"the judgments leave the strengths undetermined: nothing outside of sentence(s) {shown} was ever "
            f"preferred to one of them ({groups} groups hold together in all); ask for more judgments, or use a "
            "small prior such as 0.1"
        )


class NotConverged(ArithmeticError):
    """The score equations do not hold after the last iteration that was allowed."""

    def __init__(self, residual: float, iterations: int) -> None:
        self.residual = residual
        self.iterations = iterations
        super().__init__(f"no convergence in {iterations} iterations: the largest residual is still {residual:.3g}")


@dataclass(frozen=True, slots=True)
class Fit:
    """Strengths and what vouches for them.

    `strengths` (n,) sum to 1; `utilities` (n,) = log strengths, centred on 0; `residual`: the largest
    |wins observed - wins expected| of a sentence, relative to its wins or its losses, whichever are fewer (pseudo-wins
    and pseudo-losses included); `iterations` of Newton's or Zermelo's kind; `log_strengths` (n,) = log v on the scale
    on which the phantom of the prior has log v = 0 (without a prior: centred on 0).
    """

    strengths: Vector
    utilities: Vector
    residual: float
    iterations: int
    prior: float
    log_strengths: Vector


def fit(
    preferences: Preferences,
    prior: float = 1.0,
    tol: float = 1e-9,
    start: Vector | None = None,
    max_iterations: int = 200,
) -> Fit:
    """The strengths that solve the score equations, by Newton's method.

    `preferences` (n, n), dense or sparse: weight with which row was preferred to column; the diagonal is ignored.
    `start` (n,): utilities to start from, those of the last fit, say; the result does not depend on it.
    Raises `Undetermined` where prior is 0 and no finite maximum exists, and `NotConverged`.
    """
    duels = _duels(preferences)
    _check(duels, preferences, prior)
    if duels.n == 0:
        return _fitted(np.empty(0), 0.0, 0, prior)
    theta = np.zeros(duels.n) if start is None else np.array(start, dtype=np.float64)
    if prior == 0:
        theta -= theta.mean()
    gradient = _gradient(duels, theta, prior)
    for iteration in range(max_iterations):
        residual = _residual(duels, gradient, prior)
        hessian = _Hessian(duels, theta, prior)
        step = hessian.solve(gradient, forcing=min(0.1, residual))
        if residual <= tol and np.abs(step).max() <= 10 * tol:
            return _fitted(theta, residual, iteration, prior)
        theta, gradient = _advance(duels, theta, step, gradient, prior)
    raise NotConverged(_residual(duels, gradient, prior), max_iterations)


def plain(preferences: Preferences, prior: float = 1.0, tol: float = 1e-9, max_iterations: int = 100_000) -> Fit:
    """Zermelo's own iteration (equation 3, with the inverse that the print lost): the reference that `fit` is held to.

    Arguments and errors as those of `fit`. It starts from equal strengths, and takes thousands of iterations where
    `fit` takes five.
    """
    duels = _duels(preferences)
    _check(duels, preferences, prior)
    if duels.n == 0:
        return _fitted(np.empty(0), 0.0, 0, prior)
    v = np.ones(duels.n)
    for iteration in range(max_iterations):
        encounters = duels.encounters(v) + 2 * prior / (1 + v)
        gradient = duels.wins + prior - v * encounters
        residual = _residual(duels, gradient, prior)
        following = (duels.wins + prior) / encounters
        if prior == 0:
            following /= np.exp(np.log(following).mean())
        step = np.abs(np.log(following / v)).max()
        if residual <= tol and step <= 1e-4 * tol:
            return _fitted(np.log(v), residual, iteration, prior)
        v = following
    raise NotConverged(residual, max_iterations)


class _Duels(Protocol):
    """N = M + M' without its diagonal, and what the score equations ask of it."""

    n: int
    wins: Vector
    losses: Vector

    def encounters(self, v: Vector) -> Vector:
        """(n,): sum_j N_ij / (v_i + v_j)."""

    def curvature(self, v: Vector) -> Callable[[Vector], Vector]:
        """x -> R x with R_ij = N_ij / (v_i + v_j)^2."""


class _DenseDuels:
    def __init__(self, preferences: Matrix) -> None:
        wins = np.array(preferences, dtype=np.float64)
        np.fill_diagonal(wins, 0.0)
        self.n = len(wins)
        self.wins, self.losses = wins.sum(1), wins.sum(0)
        self.both = wins + wins.T

    def encounters(self, v: Vector) -> Vector:
        return (self.both / np.add.outer(v, v)).sum(1)

    def curvature(self, v: Vector) -> Callable[[Vector], Vector]:
        return (self.both / np.square(np.add.outer(v, v))).__matmul__


class _SparseDuels:
    def __init__(self, preferences: sparse.sparray | sparse.spmatrix) -> None:
        wins = sparse.coo_array(preferences)
        off = (wins.row != wins.col) & (wins.data != 0)
        row, col, data = wins.row[off], wins.col[off], wins.data[off].astype(np.float64)
        self.n = wins.shape[0]
        self.wins = np.bincount(row, data, self.n)
        self.losses = np.bincount(col, data, self.n)
        low, high = np.minimum(row, col), np.maximum(row, col)
        upper = sparse.coo_array((data, (low, high)), shape=wins.shape).tocsr()
        upper.sum_duplicates()
        self._upper = upper
        self._row = np.repeat(np.arange(self.n), np.diff(upper.indptr))
        self._col = upper.indices

    def encounters(self, v: Vector) -> Vector:
        shares = self._upper.data / (v[self._row] + v[self._col])
        return np.bincount(self._row, shares, self.n) + np.bincount(self._col, shares, self.n)

    def curvature(self, v: Vector) -> Callable[[Vector], Vector]:
        data = self._upper.data / np.square(v[self._row] + v[self._col])
        upper = sparse.csr_array((data, self._upper.indices, self._upper.indptr), shape=self._upper.shape)
        lower = upper.T
        return lambda x: upper @ x + lower @ x


def _duels(preferences: Preferences) -> _Duels:
    if sparse.issparse(preferences):
        return _SparseDuels(preferences)
    return _DenseDuels(np.asarray(preferences))


def _check(duels: _Duels, preferences: Preferences, prior: float) -> None:
    if prior < 0:
        raise ValueError(f"a prior counts pseudo-wins and cannot be negative, as {prior} is")
    if prior > 0 or duels.n < 2:
        return
    graph = sparse.csr_array(preferences)
    graph.setdiag(0)
    graph.eliminate_zeros()
    groups, group = csgraph.connected_components(graph, connection="strong")
    if groups == 1:
        return
    edges = graph.tocoo()
    between = group[edges.row] != group[edges.col]
    beaten = np.zeros(groups, dtype=bool)
    beaten[group[edges.col[between]]] = True
    sizes = np.where(beaten, duels.n + 1, np.bincount(group, minlength=groups))
    raise Undetermined(tuple(np.flatnonzero(group == np.argmin(sizes)).tolist()), groups)


def _gradient(duels: _Duels, theta: Vector, prior: float) -> Vector:
    """(n,): wins observed - wins expected, pseudo-wins included."""
    v = np.exp(theta)
    return duels.wins - v * duels.encounters(v) + prior * (1 - v) / (1 + v)


def _residual(duels: _Duels, gradient: Vector, prior: float) -> float:
    return float((np.abs(gradient) / (np.minimum(duels.wins, duels.losses) + prior)).max()) if duels.n > 1 else 0.0


class _Hessian:
    """-Hessian of the log-likelihood at theta: diag(h) - V R V."""

    def __init__(self, duels: _Duels, theta: Vector, prior: float) -> None:
        self.v = np.exp(theta)
        self.curvature = duels.curvature(self.v)
        pull = 2 * prior * self.v / np.square(1 + self.v)
        self.diagonal = self.v * self.curvature(self.v) + pull
        self.pull = float(pull.sum())

    def __matmul__(self, x: Vector) -> Vector:
        return self.diagonal * x - self.v * self.curvature(self.v * x)

    def solve(self, gradient: Vector, forcing: float) -> Vector:
        """The step x with H x = gradient to a relative `forcing`, by preconditioned conjugate gradients."""
        x = np.zeros_like(gradient)
        r = gradient.copy()
        z = self._precondition(r)
        p = z
        rho = rho0 = float(r @ z)
        if rho0 <= 0:
            return x
        for _ in range(10 * len(x) + 10):
            q = self @ p
            alpha = rho / float(p @ q)
            x = x + alpha * p
            r = r - alpha * q
            z = self._precondition(r)
            rho, last = float(r @ z), rho
            if rho <= forcing**2 * rho0:
                break
            p = z + (rho / last) * p
        return x if self.pull > 0 else x - x.mean()

    def _precondition(self, r: Vector) -> Vector:
        z = r / self.diagonal
        return z + r.sum() / self.pull if self.pull > 0 else z - z.mean()


def _advance(
    duels: _Duels, theta: Vector, step: Vector, gradient: Vector, prior: float
) -> tuple[Vector, Vector]:
    """Go along the step, less far where the slope at its end says that it went too far."""
    step = step * min(1.0, 4.0 / max(float(np.abs(step).max()), 1e-300))
    slope = float(gradient @ step)
    length = 1.0
    for _ in range(30):
        following = theta + length * step
        gradient = _gradient(duels, following, prior)
        end = float(gradient @ step)
        if end >= -0.5 * slope:
            break
        length *= max(0.1, slope / (slope - end))
    return following, gradient


def _fitted(theta: Vector, residual: float, iterations: int, prior: float) -> Fit:
    if len(theta) == 0:
        return Fit(theta, theta, residual, iterations, prior, theta)
    strengths = np.exp(theta - theta.max())
    return Fit(strengths / strengths.sum(), theta - theta.mean(), residual, iterations, prior, theta)
