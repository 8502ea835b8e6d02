"""Utilities under a prior that lets similar sentences share what is known of them (docs/model.md, Smoothing).

theta ~ N(0, K) with K = variance (share S + (1 - share) I), S the similarity matrix: Bradley and Terry's judges over a
Gaussian process, after Simpson and Gurevych (TACL 2018). With g(theta) = wins observed - wins expected, the mode is
theta = K g(theta). Its two parameters are averaged over a grid, weighed by their evidence and a weak prior of their
own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse, special
from scipy.sparse.linalg import LinearOperator, cg

from preferendum.fit import newton
from preferendum.fit.comparisons import Matrix, Sparse, Vector
from preferendum.fit.similarity import Similarity, slices
from preferendum.fit.threads import on_one_thread

# Up to so many sentences a Newton step is solved for with a factor of their size, beyond with conjugate gradients.
MOST_FACTORED = 100
# How exactly these solve for it.
FORCING = 1e-4
# The grid of the two parameters. Log variance has a normal prior around USUAL_VARIANCE, so that a handful of
# judgments, which say nothing of it, does not make everyone sure that all sentences are equal.
VARIANCES = 2.0 ** np.arange(-2, 5)
SHARES = np.array([0.05, 0.35, 0.65, 0.95])
USUAL_VARIANCE = 3.0
LOG_VARIANCE_SPREAD = 1.0
# The means and variances under the next prior variance are sought from so far beyond those under the last one on, in
# differences between the last two: that takes a fourth fewer steps.
ONWARD = 0.8
# The evidence is that of at most so many pairs, evenly chosen: enough for two numbers.
PAIRS_FOR_EVIDENCE = 300
# e to minus this is negligible next to 1: the parameters are right to 1e-8 without it.
NEGLIGIBLE = 21.0
# The nearest Gaussian is found in 5 to 8 steps. Else whole steps may go to and fro for ever, which half ones do not.
STEPS, WHOLE_STEPS = 40, 8


def totals(places: NDArray[np.int64], weights: Vector, n: int) -> Vector:
    """(n,): the sum of the weights at each place."""
    return np.bincount(places, weights, n).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every two sentences that were compared, once: `first` < `second` (k,), weights of the wins either way (k,)."""

    n: int
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    wins: Vector
    losses: Vector

    @classmethod
    def of(cls, wins: Sparse) -> Pairs:
        """The pairs of a matrix of wins (n, n), in the order of their indices."""
        entries = wins.tocoo()
        off = entries.row != entries.col
        row, col, data = entries.row[off].astype(np.int64), entries.col[off].astype(np.int64), entries.data[off]
        n = int(wins.shape[0])
        pair, place = np.unique(np.minimum(row, col) * n + np.maximum(row, col), return_inverse=True)
        forward = totals(place, np.where(row < col, data, 0.0), len(pair))
        backward = totals(place, np.where(row > col, data, 0.0), len(pair))
        return cls(n, pair // max(n, 1), pair % max(n, 1), forward, backward)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """(k,): one for every two sentences; they ascend."""
        return self.first * self.n + self.second

    def some(self, most: int) -> Pairs:
        """At most so many of them, evenly spaced."""
        if len(self) <= most:
            return self
        kept = np.linspace(0, len(self) - 1, most).astype(np.int64)
        return Pairs(self.n, self.first[kept], self.second[kept], self.wins[kept], self.losses[kept])

    def among_those_met(self) -> tuple[Pairs, NDArray[np.int64]]:
        """The pairs, numbered among the sentences alone that are in one, and which these are."""
        met, place = np.unique(np.concatenate([self.first, self.second]), return_inverse=True)
        first, second = place[: len(self)], place[len(self) :]
        return Pairs(len(met), first, second, self.wins, self.losses), met

    def scores(self, theta: Vector) -> tuple[Vector, Vector]:
        """g(theta) (n,), wins observed - wins expected; and the curvature of each pair's log-likelihood (k,)."""
        p = special.expit(theta[self.first] - theta[self.second])
        both = self.wins + self.losses
        surplus = self.wins - both * p
        return self.spread(surplus), both * p * (1 - p)

    def log_likelihood(self, theta: Vector) -> float:
        """The logarithm of the chance of these wins."""
        ahead = theta[self.first] - theta[self.second]
        return float(self.wins @ special.log_expit(ahead) + self.losses @ special.log_expit(-ahead))

    def spread(self, x: Vector) -> Vector:
        """D'x (n,) for one number a pair (k,)."""
        return totals(self.first, x, self.n) - totals(self.second, x, self.n)

    def contrasts(self, weight: Vector) -> Sparse:
        """diag(weight) D (k, n)."""
        places = np.stack([self.first, self.second], axis=1).ravel()
        data = np.stack([weight, -weight], axis=1).ravel()
        return sparse.csr_array((data, places, np.arange(0, len(data) + 1, 2)), shape=(len(self), self.n))

    def laplacian(self, weight: Vector) -> Sparse:
        """D' diag(weight) D (n, n)."""
        return sparse.csr_array(self.contrasts(np.ones(len(self))).T @ self.contrasts(weight))


@dataclass(frozen=True, slots=True)
class Parameters:
    """Of K: the variance of a utility, and the share of it that similar sentences have in common."""

    variance: float
    share: float


@dataclass(frozen=True, slots=True)
class Mode:
    """theta (n,) with its parameters; `residual` is the largest |theta - K g(theta)|, `iterations` Newton's."""

    theta: Vector
    parameters: Parameters
    residual: float
    iterations: int


@on_one_thread
def parameters(pairs: Pairs, similarity: Similarity | None) -> Parameters:
    """The posterior means of the variance and of the share (which is 0 without a similarity)."""
    pairs, met = pairs.some(PAIRS_FOR_EVIDENCE).among_those_met()
    alike = None if similarity is None else similarity.among(met)
    shares = np.zeros(1) if similarity is None else SHARES
    log_weight = np.array([_log_weights(_space(pairs, _prior(len(met), alike, share))) for share in shares])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return Parameters(float(weight.sum(axis=0) @ VARIANCES), float(weight.sum(axis=1) @ shares))


def _log_weights(space: Space) -> Vector:
    """The log weight of each of `VARIANCES` for one share: its evidence and its prior.

    Beyond the most probable variance each doubling lowers it by more than the one before. Where what is left is
    negligible next to the best: -inf.
    """
    weights = np.full(len(VARIANCES), -np.inf)
    before = last = np.zeros((2, len(space.pairs)))
    for k, variance in enumerate(VARIANCES):
        f, v = last + ONWARD * (last - before) if k > 1 else last
        evidence, *moments = log_evidence(space, variance, f, np.maximum(v, 0.0))
        before, last = last, np.array(moments)
        weights[k] = evidence - (np.log(variance / USUAL_VARIANCE) / LOG_VARIANCE_SPREAD) ** 2 / 2
        if k and 2 * weights[k] - weights[k - 1] < weights.max() - NEGLIGIBLE:
            break
    return weights


def log_evidence(space: Space, variance: float, f: Vector, v: Vector) -> tuple[float, Vector, Vector]:
    """A close lower bound of the log probability of the judgments for differences f ~ N(0, variance * D prior D').

    It is that of the Gaussian nearest to the posterior (see `posterior`), whose means and variances (k,) it returns
    as well; they are sought from `f` and `v` on. Laplace's approximation is cheaper and prefers variances that are
    too small where judgments are few.
    """
    wins, losses = space.pairs.wins, space.pairs.losses
    for step in range(STEPS):
        p, slope = expected(f, v)
        weight = (wins + losses) * slope
        b = weight * f + wins - (wins + losses) * p
        before, (f, v) = (f, v), space.update(variance, weight, b)
        if np.abs(f - before[0]).max(initial=0.0) < 1e-2 or step == STEPS - 1:
            break
        if step >= WHOLE_STEPS:
            f, v = (f + before[0]) / 2, (v + before[1]) / 2
    divergence = (space.log_determinant - weight @ v + f @ (b - weight * f)) / 2
    log_p = _expected_log(f, v)  # and log s(-x) = log s(x) - x
    return float(wins @ log_p + losses @ (log_p - f) - divergence), f, v


@on_one_thread
def mode(
    pairs: Pairs, similarity: Similarity | None, chosen: Parameters, tol: float = 1e-10, max_iterations: int = 100
) -> Mode:
    """The utilities of greatest posterior density under a prior with these parameters, by Newton's method.

    g(theta) is 0 for a sentence without judgments: the equations are those of the others, and its utility follows.

    Parameters
    ----------
    pairs
        The pairs of the n sentences that were judged, with wins either way.
    similarity
        Of the sentences; None for a prior that knows no similar sentences.
    chosen
        The parameters of the prior.
    tol
        What the largest residual of the equations may be.
    max_iterations
        Newton steps after which it gives up.

    Raises
    ------
    newton.NotConverged
        The equations do not hold to `tol` after so many steps.
    """
    if not len(pairs):
        return Mode(np.zeros(pairs.n), chosen, 0.0, 0)
    inside, met = pairs.among_those_met()
    equations = _PosteriorEquations(inside, None if similarity is None else similarity.among(met), chosen)
    solution = newton.solve(equations, np.zeros((2, inside.n)), tol, max_iterations)
    theta = np.zeros(pairs.n)
    if similarity is not None and inside.n < pairs.n:
        surplus = inside.scores(solution.theta[1])[0]
        theta = chosen.variance * chosen.share * similarity.product(surplus, met)
    theta[met] = solution.theta[1]
    return Mode(theta, chosen, solution.residual, solution.iterations)


@dataclass(frozen=True, slots=True)
class _PosteriorEquations:
    """theta = K g(theta), for (beta, theta) (2, n) with theta = K beta, so that K need not be inverted.

    With r = g(theta) - beta the log posterior's gradient is K r in beta and r in theta. `gradient` is both, (K r, r),
    and a step (x, K x), so that their product is twice the slope. Newton's has (I + L K) x = r, with L = D' W D the
    Laplacian of the pairs under their curvatures.
    """

    pairs: Pairs
    similarity: Matrix | None
    chosen: Parameters

    def gradient(self, beta_and_theta: Matrix) -> Matrix:
        beta, theta = beta_and_theta
        r = self.pairs.scores(theta)[0] - beta
        return np.stack([self._k(r), r])

    def residual(self, gradient: Matrix) -> float:
        """The largest |theta - K g(theta)|."""
        return float(np.abs(gradient[0]).max(initial=0.0))

    def largest_error(self, beta_and_theta: Matrix, gradient: Matrix) -> float:
        return self.residual(gradient)

    def inverse_hessian(self, beta_and_theta: Matrix) -> Callable[[Matrix], Matrix]:
        curvature = self.pairs.scores(beta_and_theta[1])[1]
        return self._factored(curvature) if self.pairs.n <= MOST_FACTORED else self._iterated(np.sqrt(curvature))

    def _factored(self, curvature: Vector) -> Callable[[Matrix], Matrix]:
        K = self.chosen.variance * _prior(self.pairs.n, self.similarity, self.chosen.share)
        factor = linalg.lu_factor(np.identity(self.pairs.n) + self._laplacian(curvature) @ K, check_finite=False)

        def inverse(gradient: Matrix) -> Matrix:
            x = linalg.lu_solve(factor, gradient[1], check_finite=False)
            return np.stack([x, K @ x])

        return inverse

    def _laplacian(self, weight: Vector) -> Matrix:
        pairs = self.pairs
        L = np.diag(totals(pairs.first, weight, pairs.n) + totals(pairs.second, weight, pairs.n))
        L[pairs.first, pairs.second] = L[pairs.second, pairs.first] = -weight
        return L

    def _iterated(self, root: Vector) -> Callable[[Matrix], Matrix]:
        """In the space of the pairs: x = r - B'y with (I + B K B') y = B K r, where B'B = L."""
        B = self.pairs.contrasts(root)
        back, k = B.T, len(root)
        hessian = LinearOperator((k, k), matvec=lambda y: y + B @ self._k(back @ y), dtype=np.float64)

        def inverse(gradient: Matrix) -> Matrix:
            y, _ = cg(hessian, B @ gradient[0], rtol=FORCING)
            answered = back @ y
            return np.stack([gradient[1] - answered, gradient[0] - self._k(answered)])

        return inverse

    def _k(self, x: Vector) -> Vector:
        variance, share = self.chosen.variance, self.chosen.share
        alike: Vector = x if self.similarity is None else linalg.blas.dsymv(1.0, self.similarity.T, x, lower=1)
        return variance * (share * alike + (1 - share) * x)


@dataclass(frozen=True, slots=True)
class Posterior:
    """What the judgments and the prior say together: mean (n,) and covariance (n, n) of theta."""

    mean: Vector
    covariance: Matrix


@dataclass(frozen=True, slots=True)
class Conditioned:
    """The same where n x n numbers are too many: mean (n,), covariance K - `half`' `half`, with `half` (k, n)."""

    mean: Vector
    half: Matrix


@on_one_thread
def posterior(pairs: Pairs, similarity: Similarity | None, at: Mode) -> Posterior:
    """The Gaussian nearest to the posterior in Kullback and Leibler's sense (Opper and Archambeau 2009), from its mode.

    Laplace's approximation takes score and curvature at the mode; this takes their means under the Gaussian itself,
    since a sentence that won all its few comparisons is likely to be better than its mode, and less sure. Works in the
    space of the pairs where they are no more than the sentences, else in that of the sentences.
    """
    alike = None if similarity is None else similarity.among(np.arange(pairs.n))
    prior = _prior(pairs.n, alike, at.parameters.share)
    space = _space(pairs, prior)
    _approach(space, at)
    return space.posterior(prior)


@on_one_thread
def conditioned(pairs: Pairs, similarity: Similarity, at: Mode) -> Conditioned:
    """The Gaussian nearest to the posterior without K, in the space of the pairs."""
    share = at.parameters.share
    rows = np.empty((len(pairs), pairs.n), order="F")
    for some in slices(len(pairs), pairs.n):
        a, b = pairs.first[some], pairs.second[some]
        rows[some] = share * (similarity.rows(a) - similarity.rows(b))
    places = np.arange(len(pairs))
    rows[places, pairs.first] += 1 - share
    rows[places, pairs.second] -= 1 - share
    space = _PairSpace(pairs, rows)
    _approach(space, at)
    return space.conditioned()


def _approach(space: Space, at: Mode, max_iterations: int = 20) -> None:
    """Update it until means and variances are those under the Gaussian itself."""
    pairs, variance = space.pairs, at.parameters.variance
    f, v = at.theta[pairs.first] - at.theta[pairs.second], np.zeros(len(pairs))
    both = pairs.wins + pairs.losses
    for _ in range(max_iterations):
        p, slope = expected(f, v)
        before = np.concatenate([f, v])
        f, v = space.update(variance, both * slope, both * slope * f + pairs.wins - both * p)
        if np.abs(np.concatenate([f, v]) - before).max(initial=0.0) < 1e-4:
            break


@on_one_thread
def variances(pairs: Pairs, similarity: Similarity | None, at: Mode) -> Vector:
    """(k,): of the pairs' differences, by Laplace's approximation at the mode."""
    inside, met = pairs.among_those_met()
    space = _space(inside, _prior(inside.n, None if similarity is None else similarity.among(met), at.parameters.share))
    return space.update(at.parameters.variance, inside.scores(at.theta[met])[1], np.zeros(len(pairs)))[1]


def _prior(n: int, similarity: Matrix | None, share: float) -> Matrix:
    """K (n, n) for a variance of 1."""
    prior = np.zeros((n, n)) if similarity is None else share * similarity
    prior[np.diag_indices(n)] += 1 - share
    return prior


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def expected(f: Vector, v: Vector) -> tuple[Vector, Vector]:
    """The means of s and s' under normal distributions with means f and variances v (k,), s the logistic function."""
    t = np.tanh((f[:, None] + np.sqrt(v)[:, None] * _NODES) / 2)  # 2 s - 1, in a fourth of the time
    return (1 + t @ _WEIGHTS) / 2, (1 - t**2) @ _WEIGHTS / 4


def expected_slopes(f: Vector, v: Vector) -> tuple[Vector, Vector]:
    """The means of s' and s'' under the same distributions."""
    t = np.tanh((f[:, None] + np.sqrt(v)[:, None] * _NODES) / 2)
    slopes = 1 - t**2
    return slopes @ _WEIGHTS / 4, -(t * slopes) @ _WEIGHTS / 4


def _expected_log(f: Vector, v: Vector) -> Vector:
    """The means of log s under the same distributions."""
    # In a ninth of the time of log_expit; it would overflow beyond -700, where no utility lies.
    means: Vector = -np.log1p(np.exp(-f[:, None] - np.sqrt(v)[:, None] * _NODES)) @ _WEIGHTS
    return means


class Space(Protocol):
    """Gaussian posteriors of the same pairs under priors that differ in their variance."""

    pairs: Pairs
    log_determinant: float

    def update(self, variance: float, weight: Vector, b: Vector) -> tuple[Vector, Vector]:
        """Means and variances (k,) of the differences with precision `weight` (k,) and precision times value b (k,).

        `log_determinant` is then that of I + K L, with L the Laplacian of the weights.
        """


class _KernelSpace(Space, Protocol):
    """Those that give the posterior itself, too."""

    def posterior(self, prior: Matrix) -> Posterior:
        """That of the last update, under the prior that it was made with; it uses up the space."""


def _space(pairs: Pairs, prior: Matrix) -> _KernelSpace:
    """Whichever takes less time. `prior` (n, n): K for a variance of 1."""
    if len(pairs) <= pairs.n:
        return _PairSpace(pairs, prior[pairs.first] - prior[pairs.second])
    return _SentenceSpace(pairs, prior)


class _PairSpace:
    """By a factor of the pairs' size."""

    def __init__(self, pairs: Pairs, rows: Matrix) -> None:
        """`rows` (k, n): the prior's covariances of the pairs' differences with the sentences."""
        self.pairs = pairs
        self.log_determinant = 0.0
        self._rows = rows
        self._gram = rows[:, pairs.first] - rows[:, pairs.second]

    def update(self, variance: float, weight: Vector, b: Vector) -> tuple[Vector, Vector]:
        self._variance, self._root = variance, np.sqrt(weight)
        inner = self._gram * (variance * self._root)
        inner *= self._root[:, None]
        inner[np.diag_indices(len(b))] += 1.0
        self._factor = _cholesky(inner.T)  # symmetric: the transpose lies in the order that LAPACK works on in place
        self.log_determinant = 2 * float(np.log(np.diag(self._factor)).sum())
        forced = self._root * (variance * (self._gram @ b))
        self._alpha = b - self._root * linalg.cho_solve((self._factor, True), forced, check_finite=False)
        inverse_factor = linalg.lapack.dtrtri(self._factor, lower=1)[0]
        inverse_diagonal = np.einsum("ij,ij->j", inverse_factor, inverse_factor)
        return variance * (self._gram @ self._alpha), np.maximum((1 - inverse_diagonal) / weight, 0.0)

    def posterior(self, prior: Matrix) -> Posterior:
        result = self.conditioned()
        covariance = result.half.T @ result.half
        return Posterior(result.mean, np.subtract(self._variance * prior, covariance, out=covariance))

    def conditioned(self) -> Conditioned:
        """That of the last update, in the place of the rows."""
        mean = self._variance * (self._rows.T @ self._alpha)
        self._rows *= (self._variance * self._root)[:, None]
        half = linalg.solve_triangular(self._factor, self._rows, lower=True, overwrite_b=True, check_finite=False)
        return Conditioned(mean, half)


class _SentenceSpace:
    """By a factor of the sentences' size, of K^-1 + L."""

    def __init__(self, pairs: Pairs, prior: Matrix) -> None:
        self.pairs = pairs
        self.log_determinant = 0.0
        factor = _cholesky(prior.T)  # symmetric: the transpose lies in Fortran's order
        self._log_prior = 2 * float(np.log(np.diag(factor)).sum())
        self._precision = linalg.lapack.dpotri(factor, lower=1, overwrite_c=True)[0]

    def update(self, variance: float, weight: Vector, b: Vector) -> tuple[Vector, Vector]:
        pairs = self.pairs
        first, second = pairs.first, pairs.second
        inner = self._precision / variance  # of all these matrices only the lower triangle means anything
        inner[np.diag_indices(pairs.n)] += totals(first, weight, pairs.n) + totals(second, weight, pairs.n)
        inner[second, first] -= weight
        factor = _cholesky(inner)
        log_determinant = 2 * float(np.log(np.diag(factor)).sum())
        self.log_determinant = log_determinant + self._log_prior + pairs.n * float(np.log(variance))
        covariance = linalg.lapack.dpotri(factor, lower=1, overwrite_c=True)[0]
        mean = linalg.blas.dsymv(1.0, covariance, pairs.spread(b), lower=1)
        self._mean, self._covariance = mean, covariance
        own = np.diag(covariance)
        return mean[first] - mean[second], own[first] + own[second] - 2 * covariance[second, first]

    def posterior(self, prior: Matrix) -> Posterior:
        covariance = self._covariance
        for i in range(self.pairs.n):
            covariance[i, i + 1 :] = covariance[i + 1 :, i]
        return Posterior(self._mean, covariance)


def _cholesky(matrix: Matrix) -> Matrix:
    """The lower factor, in the place of a matrix in Fortran's order."""
    factor: Matrix
    factor, failed_at = linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1)  # scipy's own checks take longer than it
    if failed_at:
        raise linalg.LinAlgError(f"not positive definite: minor {failed_at}")
    return factor
