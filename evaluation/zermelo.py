"""Find the strengths under which every sentence wins as often as it did (section 4.2 of the paper; docs/model.md).

The model is Zermelo's (1929), known as Bradley and Terry's: i is preferred to j with probability v_i / (v_i + v_j).
With M the (smoothed) preference matrix, N = M + M' and theta = log v, the score equations are

    wins_i + prior = sum_j N_ij v_i / (v_i + v_j) + 2 prior v_i / (1 + v_i)        for every sentence i,

where `prior` counts pseudo-wins and as many pseudo-losses against a phantom of strength 1 (Newman 2023). `plain`
iterates equation 3; `fit` solves the same equations by truncated Newton steps with conjugate gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import brentq
from scipy.sparse import csgraph

from evaluation.duels import Curvature, Matrix, Preferences, Vector, duels, in_single_range
from evaluation.threads import on_one_thread


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
    log_strengths: Vector

    @classmethod
    def of(cls, log_strengths: Vector, residual: float, iterations: int) -> Fit:
        """The fit with these log v, on whatever scale they are."""
        if len(log_strengths) == 0:
            return cls(log_strengths, log_strengths, residual, iterations, log_strengths)
        v = np.exp(log_strengths - log_strengths.max())
        return cls(v / v.sum(), log_strengths - log_strengths.mean(), residual, iterations, log_strengths)


# Closer than this, relative to the wins, Newton's method needs no guard and rough equations no longer lead.
_NEAR = 1e-3
# A Newton step that changes no difference of two utilities by more than this cannot lead downhill: there
# (e^x - 1 - x) / x^2 < 1 (Bach 2010, on self-concordant logistic losses).
SAFE_STEP = 1.7
# How exactly the last step of all is solved for.
_LAST = 1e-3
# A step may try more than that, but not everything that a rough Hessian says.
_BOLD = 8.0


@on_one_thread
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

    It stops when the exact equations hold to `tol` and, beyond that, either prove every log v right to 10 `tol` or
    get no better by another step, which is as far as floating point goes.
    """
    equations = _Equations(preferences, prior)
    if equations.n == 0:
        return Fit.of(np.empty(0), 0.0, 0)
    theta = equations.guess() if start is None else np.array(start, dtype=np.float64)
    if prior == 0:
        theta -= theta.mean()
    theta, hessian, moved, iterations = _approach(equations, theta, max_iterations)
    return _settle(equations, theta, hessian, moved, iterations, tol, max_iterations)


def _approach(equations: _Equations, theta: Vector, max_iterations: int) -> tuple[Vector, _Hessian, float, int]:
    """Newton steps on rough equations until they are `_NEAR`, or say no more.

    A step at whose end the slope points back has gone too far: a safe one is taken in its place.
    """
    origin, step, slope, residual = theta, np.zeros_like(theta), 0.0, np.inf
    iterations = 0
    while True:
        iterations += 1
        v = np.exp(theta)
        encounters, curvature = equations.met.tangent(v, rough=in_single_range(v))
        gradient = equations.gradient(v, encounters)
        if float(gradient @ step) < -0.1 * slope:
            theta = origin + equations.within(SAFE_STEP, step)
            step, slope = np.zeros_like(theta), 0.0
            continue
        hessian = _Hessian(curvature, v, equations.pull(v))
        before, residual = residual, equations.residual(gradient)
        step = equations.within(_BOLD, hessian.solve(gradient, min(0.01, residual)))
        origin, slope = theta, float(gradient @ step)
        theta = theta + step
        if residual <= _NEAR or residual > 0.9 * before or iterations >= max_iterations:
            return theta, hessian, float(np.abs(step).max()), iterations


def _settle(
    equations: _Equations,
    theta: Vector,
    hessian: _Hessian,
    moved: float,
    iterations: int,
    tol: float,
    max_iterations: int,
) -> Fit:
    """Steps on the exact equations, all with the same Hessian while each makes the residual ten times smaller.

    When one does not, the Hessian is renewed, and when that was not enough, renewed in double precision. `moved`: how
    far a log v is from where the Hessian belongs. A last step that surely makes the error small enough is taken on
    trust: looking again would cost more than all else that it takes.
    """
    residual, longest = np.inf, np.inf
    rough, fresh = True, False
    for iteration in range(iterations, max_iterations + 1):
        v = np.exp(theta)
        gradient = equations.gradient(v, equations.met.encounters(v))
        before, residual = residual, equations.residual(gradient)
        error = equations.largest_error(v, gradient)
        if residual <= tol:
            exhausted = residual == 0 or (not rough and residual > 0.5 * before and longest <= 1e-6)
            if error <= 10 * tol or exhausted:
                return Fit.of(theta, residual, iteration)
            if error * (_LAST + 2 * moved) <= tol:
                return Fit.of(theta + hessian.solve(gradient, _LAST), residual, iteration)
        if residual > 0.1 * before:
            rough = rough and not fresh and in_single_range(v)
            hessian, fresh, moved = _Hessian(equations.met.tangent(v, rough)[1], v, equations.pull(v)), True, 0.0
        else:
            fresh = False
        forcing = min(0.1, max(1e-6, tol / error))
        step = equations.within(SAFE_STEP, hessian.solve(gradient, forcing))
        longest = float(np.abs(step).max())
        moved += longest
        theta = theta + step
    raise NotConverged(residual, max_iterations)


def plain(preferences: Preferences, prior: float = 1.0, tol: float = 1e-9, max_iterations: int = 1_000_000) -> Fit:
    """Zermelo's own iteration (equation 3, with the inverse that the print lost): the reference that `fit` is held to.

    Arguments and errors as those of `fit`. It starts from equal strengths and takes hundreds of iterations where `fit`
    takes five; since its steps shrink slowly, it also waits for them to be much smaller than `tol`. The scale common
    to all strengths is set anew each time: to where the phantom of the prior wins as often as it should.
    """
    equations = _Equations(preferences, prior)
    n = equations.n
    if n == 0:
        return Fit.of(np.empty(0), 0.0, 0)
    wins = equations.met.wins + prior
    v = np.ones(n)
    for iteration in range(max_iterations):
        encounters = equations.met.encounters(v)
        residual = equations.residual(equations.gradient(v, encounters))
        following = wins / (encounters + 2 * prior / (1 + v)) if n > 1 or prior else v
        following = following * _common_scale(following, prior)
        if residual <= tol and np.abs(np.log(following / v)).max() <= 1e-4 * tol:
            return Fit.of(np.log(v), residual, iteration)
        v = following
    raise NotConverged(residual, max_iterations)


def _common_scale(v: Vector, prior: float) -> float:
    """The c at which sum_i (1 - c v_i) / (1 + c v_i) = 0; without a prior, where the mean of log v is 0."""
    log_v = np.log(v)
    if prior == 0:
        return float(np.exp(-log_v.mean()))
    return float(np.exp(-brentq(lambda level: np.tanh((log_v - level) / 2).sum(), log_v.min(), log_v.max())))


class _Equations:
    """The score equations of a preference matrix with a prior."""

    def __init__(self, preferences: Preferences, prior: float) -> None:
        if not 0 <= prior < np.inf:
            raise ValueError(f"a prior counts pseudo-wins: 0 or more of them, not {prior}")
        self.met = duels(preferences)
        self.n, self.prior = self.met.n, prior
        if prior == 0:
            _refuse_undetermined(preferences)
        both = self.met.wins + self.met.losses + 2 * prior
        self._scale = np.maximum(np.minimum(self.met.wins, self.met.losses) + prior, 1e-5 * both)

    def guess(self) -> Vector:
        """(n,): log v if every sentence had met none but average ones; where one never won or lost, less than that."""
        least = 1e-3 * (self.met.wins + self.met.losses + 2 * self.prior)
        won, lost = self.met.wins + self.prior, self.met.losses + self.prior
        if self.prior == 0 and not least.all():
            return np.zeros(self.n)
        return np.log(np.maximum(won, least) / np.maximum(lost, least))

    def gradient(self, v: Vector, encounters: Vector) -> Vector:
        """(n,): wins observed - wins expected, pseudo-wins included."""
        return self.met.wins - v * encounters + self.prior * (1 - v) / (1 + v)

    def pull(self, v: Vector) -> Vector:
        """(n,): the prior's part of the Hessian's diagonal."""
        return 2 * self.prior * v / np.square(1 + v)

    def residual(self, gradient: Vector) -> float:
        """The largest gradient, relative to the wins or the losses, whichever are fewer.

        Where they are less than 1e-5 of the two together, to that: the sums themselves are not more exact.
        """
        return 0.0 if self.n == 1 and self.prior == 0 else float((np.abs(gradient) / self._scale).max())

    def largest_error(self, v: Vector, gradient: Vector) -> float:
        """What no error of a log v exceeds, to first order; infinite without a prior.

        The Hessian H has a non-negative inverse, and H times 1 is the prior's pull, so that the largest
        |gradient_i| / pull_i bounds H^-1 gradient.
        """
        return float((np.abs(gradient) / self.pull(v)).max()) if self.prior > 0 else np.inf

    def within(self, reach: float, step: Vector) -> Vector:
        """The step, shortened until it changes no difference of utilities, the phantom's among them, by more."""
        low, high = float(step.min()), float(step.max())
        if self.prior > 0:
            low, high = min(low, 0.0), max(high, 0.0)
        return step * (reach / (high - low)) if high - low > reach else step


class _Hessian:
    """-Hessian of the log-likelihood: diag(h) - V R V, in the precision of R."""

    def __init__(self, curvature: Curvature, v: Vector, pull: Vector) -> None:
        self._r, kind = curvature
        self._v = v.astype(kind)
        self._h = self._v * self._r(self._v) + pull.astype(kind)
        self._pull = float(pull.sum())

    def solve(self, gradient: Vector, forcing: float) -> Vector:
        """The step x with H x = gradient to a relative `forcing`, by preconditioned conjugate gradients."""
        v, h, matrix = self._v, self._h, self._r
        scale = float(np.abs(gradient).max())
        if scale == 0:
            return np.zeros_like(gradient)
        r = (gradient / scale).astype(v.dtype)
        x = np.zeros_like(r)
        p = z = self._precondition(r)
        rho = enough = float(r @ z)
        enough *= forcing**2
        for _ in range(10 * len(x)):
            q = h * p - v * matrix(v * p)
            curved = float(p @ q)
            if rho <= 0 or curved <= 0:
                break
            alpha = r.dtype.type(rho / curved)
            x += alpha * p
            r -= alpha * q
            z = self._precondition(r)
            last, rho = rho, float(r @ z)
            if rho <= enough:
                break
            p = z + r.dtype.type(rho / last) * p
        if self._pull == 0:
            x -= x.mean()
        return x.astype(np.float64) * scale

    def _precondition(self, r: NDArray[Any]) -> NDArray[Any]:
        z: NDArray[Any] = r / self._h
        z += r.dtype.type(float(r.sum()) / self._pull) if self._pull > 0 else -z.mean()
        return z


def _refuse_undetermined(preferences: Preferences) -> None:
    """Raises `Undetermined` where the graph of who was preferred to whom is not strongly connected."""
    n = preferences.shape[0]
    if n < 2 or (isinstance(preferences, np.ndarray) and _reaches_all(preferences) and _reaches_all(preferences.T)):
        return
    graph = sparse.csr_array(preferences)
    graph.eliminate_zeros()
    groups, group = csgraph.connected_components(graph, connection="strong")
    if groups == 1:
        return
    edges = graph.tocoo()
    beaten = np.zeros(groups, dtype=bool)
    beaten[group[edges.col[group[edges.row] != group[edges.col]]]] = True
    sizes = np.where(beaten, n + 1, np.bincount(group, minlength=groups))
    raise Undetermined(tuple(np.flatnonzero(group == np.argmin(sizes)).tolist()), groups)


def _reaches_all(preferences: Matrix) -> bool:
    """Whether wins lead from the first sentence to every other: quick to see where the matrix is dense."""
    missing = np.arange(1, len(preferences))
    frontier = np.zeros(1, dtype=np.int64)
    while len(frontier) and len(missing):
        met = (preferences[np.ix_(frontier, missing)] > 0).any(axis=0)
        frontier, missing = missing[met], missing[~met]
    return len(missing) == 0
