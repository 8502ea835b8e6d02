"""Find the strengths under which every sentence wins as often as it did (section 4.2 of the paper; docs/model.md).

The model is Zermelo's (1929), known as Bradley and Terry's: i is preferred to j with probability v_i / (v_i + v_j).
With M the (smoothed) preference matrix, N = M + M' and theta = log v, the score equations are

    wins_i + prior = sum_j N_ij v_i / (v_i + v_j) + 2 prior v_i / (1 + v_i)        for every sentence i,

where `prior` counts pseudo-wins and as many pseudo-losses against a phantom of strength 1 (Newman 2023). `plain`
iterates equation 3; `fit` solves the same equations by Newton's method with conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, cg

from preferendum.fit import newton
from preferendum.fit.comparisons import Matrix, Preferences, Vector, comparisons
from preferendum.fit.threads import on_one_thread


class Undetermined(ValueError):
    """Without a prior no finite maximum exists: some sentences never lost to the rest, or never met it (Ford 1957).

    `unbeaten` holds the indices of such a group of sentences, the smallest there is.
    """

    def __init__(self, unbeaten: tuple[int, ...], groups: int) -> None:
        self.unbeaten = unbeaten
        self.groups = groups
        shown = ", ".join(map(str, unbeaten[:5])) + (f" and {len(unbeaten) - 5} more" if len(unbeaten) > 5 else "")
        super().__init__(
            f"the strengths are undetermined: no sentence outside of sentence(s) {shown} was ever "
            f"preferred to one of them ({groups} strongly connected components in all); ask for more judgments, or use "
            "a small prior such as 0.1"
        )


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


# How exactly a step is solved for: what is left of the gradient, relative to it.
FORCING = 2e-3
# How far a step may change a difference of two utilities, and no start is farther out: where chances are 0 or 1, H says
# nothing.
REACH = 8.0
FARTHEST = 20.0


@on_one_thread
def fit(
    preferences: Preferences,
    prior: float = 1.0,
    tol: float = 1e-9,
    start: Vector | None = None,
    max_iterations: int = 200,
) -> Fit:
    """The strengths that solve the score equations of Bradley and Terry's model, by Newton's method.

    The equations hold to `tol`. With a prior, every log v is also right to 10 `tol`, or as far as floating point
    allows; without one, as far as floating point allows.

    Parameters
    ----------
    preferences : (n, n)
        Dense or sparse: the weight with which row was preferred to column. The diagonal is ignored.
    prior
        Virtual wins, and as many losses, of each against one of utility 0; 0 for none.
    tol
        What the largest residual of the equations may be.
    start : (n,)
        Utilities to start from, such as those of the last fit; the result does not depend on it. For smoothed
        preferences the default, the log odds of wins, is nearer than the last fit.
    max_iterations
        Newton steps after which it gives up.

    Raises
    ------
    Undetermined
        The prior is 0 and no finite maximum exists.
    newton.NotConverged
        The equations do not hold to `tol` after so many steps.
    """
    equations = _ScoreEquations(preferences, prior)
    if equations.say_nothing:
        return Fit.of(np.zeros(equations.n), 0.0, 0)
    theta = equations.guess() if start is None else np.clip(start, -FARTHEST, FARTHEST)
    theta = theta if prior else theta - theta.mean()
    solution = newton.solve(equations, theta, tol, max_iterations)
    return Fit.of(solution.theta, solution.residual, solution.iterations)


def plain(preferences: Preferences, prior: float = 1.0, tol: float = 1e-9, max_iterations: int = 1_000_000) -> Fit:
    """Zermelo's own iteration (equation 3, with the inverse that the print lost): the reference that `fit` is held to.

    Arguments and errors as those of `fit`. It starts from equal strengths and takes hundreds of iterations where `fit`
    takes five; since its steps shrink slowly, it also waits for them to be much smaller than `tol`. Each iteration
    sets the level common to all log v so that the phantom of the prior wins as often as it should.
    """
    equations = _ScoreEquations(preferences, prior)
    theta, residual = np.zeros(equations.n), 0.0
    if equations.say_nothing:
        return Fit.of(theta, residual, 0)
    for iteration in range(max_iterations):
        gradient = equations.gradient(theta)
        residual = equations.residual(gradient)
        following = theta + np.log(equations.wins / (equations.wins - gradient))
        following -= _common_level(following, prior)
        if residual <= tol and np.abs(following - theta).max() <= 1e-4 * tol:
            return Fit.of(theta, residual, iteration)
        theta = following
    raise newton.NotConverged(residual, max_iterations)


def _common_level(theta: Vector, prior: float) -> float:
    """The c at which sum_i (1 - v_i / e^c) / (1 + v_i / e^c) = 0; without a prior, the mean of log v."""
    if prior == 0:
        return float(theta.mean())
    return float(scipy.optimize.brentq(lambda level: np.tanh((theta - level) / 2).sum(), theta.min(), theta.max()))


class _ScoreEquations:
    """Those of a preference matrix with a prior, in theta = log v (n,).

    H = diag(V R v + pull) - V R V, with V = diag(v) and R_ij = N_ij / (v_i + v_j)^2.
    """

    def __init__(self, preferences: Preferences, prior: float) -> None:
        if not 0 <= prior < np.inf:
            raise ValueError(f"a prior is a number of virtual wins, 0 or more, not {prior}")
        self.comparisons = comparisons(preferences)
        self.n, self.prior = self.comparisons.n, prior
        if prior == 0:
            _refuse_undetermined(preferences)
        self.wins, self.losses = self.comparisons.wins + prior, self.comparisons.losses + prior

    @property
    def say_nothing(self) -> bool:
        """Whether no sentence meets another or the phantom."""
        return self.n == 0 or (self.n == 1 and self.prior == 0)

    def guess(self) -> Vector:
        """(n,): log v if every sentence had met none but average ones; where one never won or lost, less than that."""
        least = 1e-3 * (self.wins + self.losses)
        if not least.all():
            return np.zeros(self.n)
        return np.log(np.maximum(self.wins, least) / np.maximum(self.losses, least))

    def gradient(self, theta: Vector) -> Vector:
        """(n,): wins observed - wins expected, pseudo-wins included."""
        v = np.exp(theta)
        return self.wins - v * (self.comparisons.per_strength(v) + 2 * self.prior / (1 + v))

    def residual(self, gradient: Vector) -> float:
        """The largest gradient, relative to the wins or the losses, whichever are fewer.

        Where they are less than 1e-5 of the two together, to that: the sums themselves are not more exact.
        """
        fewer = np.maximum(np.minimum(self.wins, self.losses), 1e-5 * (self.wins + self.losses))
        return float((np.abs(gradient) / fewer).max())

    def largest_error(self, theta: Vector, gradient: Vector) -> float:
        """H has a non-negative inverse, and H 1 = pull, so that the largest |gradient_i| / pull_i bounds H^-1 gradient.

        Infinite without a prior.
        """
        return float((np.abs(gradient) / self._pull(np.exp(theta))).max()) if self.prior else np.inf

    def inverse_hessian(self, theta: Vector) -> Callable[[Vector], Vector]:
        """The product with the inverse of H, by conjugate gradients on H scaled to a unit diagonal.

        In that scale, diag(1 / root) H diag(1 / root), H hardly bends along `level`, where all log v move together: the
        preconditioner makes up for it. Without a prior H does not bend there at all; it is made to, which changes no
        step that keeps the mean.
        """
        v = np.exp(theta)
        curvature, pull = self.comparisons.curvature(v), self._pull(v)
        diagonal = v * curvature(v) + pull
        root = np.sqrt(diagonal)
        scaled, level = v / root, root / np.linalg.norm(root)
        bend, boost = (0.0, diagonal.sum() / pull.sum() - 1) if self.prior else (1.0, 0.0)
        hessian = _operator(lambda x: x - scaled * curvature(scaled * x) + bend * (level @ x) * level, self.n)
        precondition = _operator(lambda x: x + boost * (level @ x) * level, self.n)

        def inverse(gradient: Vector) -> Vector:
            return self._within_reach(cg(hessian, gradient / root, rtol=FORCING, M=precondition)[0] / root)

        return inverse

    def _pull(self, v: Vector) -> Vector:
        """(n,): the prior's part of H."""
        return 2 * self.prior * v / np.square(1 + v)

    def _within_reach(self, step: Vector) -> Vector:
        """The step, shortened until it changes no difference of utilities, the phantom's among them, by more."""
        low, high = float(step.min()), float(step.max())
        if self.prior:
            low, high = min(low, 0.0), max(high, 0.0)
        else:
            step = step - step.mean()
        return step * (REACH / (high - low)) if high - low > REACH else step


def _operator(product: Callable[[Vector], Vector], n: int) -> LinearOperator:
    return LinearOperator((n, n), matvec=product, dtype=np.float64)


def _refuse_undetermined(preferences: Preferences) -> None:
    """Raises `Undetermined` where the graph of who was preferred to whom is not strongly connected."""
    n = preferences.shape[0]
    if n < 2 or (isinstance(preferences, np.ndarray) and _reaches_all(preferences) and _reaches_all(preferences.T)):
        return
    graph = sparse.csr_array(preferences)
    graph.eliminate_zeros()
    components, component = csgraph.connected_components(graph, connection="strong")
    if components == 1:
        return
    winner, loser = graph.nonzero()
    beaten = np.zeros(components, dtype=bool)
    beaten[component[loser[component[winner] != component[loser]]]] = True
    sizes = np.where(beaten, n + 1, np.bincount(component, minlength=components))
    raise Undetermined(tuple(np.flatnonzero(component == np.argmin(sizes)).tolist()), components)


def _reaches_all(preferences: Matrix) -> bool:
    """Whether wins lead from the first sentence to every other: quick to see where the matrix is dense."""
    missing = np.arange(1, len(preferences))
    frontier = np.zeros(1, dtype=np.int64)
    while len(frontier) and len(missing):
        met = (preferences[np.ix_(frontier, missing)] > 0).any(axis=0)
        frontier, missing = missing[met], missing[~met]
    return len(missing) == 0
