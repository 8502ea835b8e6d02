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

from evaluation.duels import Matrix, Sparse, Vector, totals
from evaluation.threads import on_one_thread
from evaluation.zermelo import SAFE_STEP, NotConverged

# The grid of the two parameters. Log variance has a normal prior around USUAL_VARIANCE, so that a handful of
# judgments, which say nothing of it, does not make everyone sure that all sentences are equal.
VARIANCES = 2.0 ** np.arange(-2, 5)
SHARES = np.array([0.05, 0.35, 0.65, 0.95])
USUAL_VARIANCE = 3.0
LOG_VARIANCE_SPREAD = 1.0
# The evidence is that of at most so many pairs, evenly chosen: enough for two numbers.
PAIRS_FOR_EVIDENCE = 300
# e to minus this is as good as nothing beside 1: the parameters are right to 1e-8 without it.
NEGLIGIBLE = 21.0


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

    def some(self, most: int) -> Pairs:
        """At most so many of them, evenly spaced."""
        if len(self) <= most:
            return self
        kept = np.linspace(0, len(self) - 1, most).astype(np.int64)
        return Pairs(self.n, self.first[kept], self.second[kept], self.wins[kept], self.losses[kept])

    def among_those_met(self) -> tuple[Pairs, NDArray[np.int64]]:
        """The same pairs of those sentences alone that are in one, and which these are."""
        met, place = np.unique(np.concatenate([self.first, self.second]), return_inverse=True)
        first, second = place[: len(self)], place[len(self) :]
        return Pairs(len(met), first, second, self.wins, self.losses), met

    def scores(self, theta: Vector) -> tuple[Vector, Vector]:
        """g(theta) (n,), wins observed - wins expected; and the curvature of each pair's log-likelihood (k,)."""
        p = special.expit(theta[self.first] - theta[self.second])
        both = self.wins + self.losses
        surplus = self.wins - both * p
        return self.spread(surplus), both * p * (1 - p)

    def spread(self, x: Vector) -> Vector:
        """D'x (n,) for one number a pair (k,)."""
        return totals(self.first, x, self.n) - totals(self.second, x, self.n)

    def laplacian(self, weight: Vector) -> Sparse:
        """D' diag(weight) D (n, n)."""
        a, b = self.first, self.second
        data = np.concatenate([weight, weight, -weight, -weight])
        places = (np.concatenate([a, b, a, b]), np.concatenate([a, b, b, a]))
        return sparse.csr_array((data, places), shape=(self.n, self.n))


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
def parameters(pairs: Pairs, similarity: Matrix | None) -> Parameters:
    """The posterior means of the variance and of the share (which is 0 without a similarity)."""
    pairs, met = pairs.some(PAIRS_FOR_EVIDENCE).among_those_met()
    alike = None if similarity is None else similarity[np.ix_(met, met)]
    shares = np.zeros(1) if similarity is None else SHARES
    log_weight = np.array([_log_weights(_space(pairs, _prior(len(met), alike, share))) for share in shares])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    return Parameters(float(weight.sum(axis=0) @ VARIANCES), float(weight.sum(axis=1) @ shares))


def _log_weights(space: _Space) -> Vector:
    """What the evidence and the variance's own prior say of each variance in turn, for one share.

    Beyond the most probable variance each doubling takes away more than the one before: where that leaves nothing
    that would count beside the best, -inf.
    """
    weights = np.full(len(VARIANCES), -np.inf)
    f, v = np.zeros(len(space.pairs)), np.zeros(len(space.pairs))
    for k, variance in enumerate(VARIANCES):
        evidence, f, v = _log_evidence(space, variance, f, v)
        weights[k] = evidence - (np.log(variance / USUAL_VARIANCE) / LOG_VARIANCE_SPREAD) ** 2 / 2
        if k and 2 * weights[k] - weights[k - 1] < weights.max() - NEGLIGIBLE:
            break
    return weights


def _log_evidence(space: _Space, variance: float, f: Vector, v: Vector) -> tuple[float, Vector, Vector]:
    """A close lower bound of the log probability of the judgments for differences f ~ N(0, variance * D prior D').

    It is that of the Gaussian nearest to the posterior (see `posterior`), whose means and variances (k,) it returns
    as well; they are sought from `f` and `v` on. Laplace's approximation is cheaper and prefers variances that are
    too small where judgments are few.
    """
    wins, losses = space.pairs.wins, space.pairs.losses
    for _ in range(20):
        p, slope = _expected(f, v)
        weight = (wins + losses) * slope
        b = weight * f + wins - (wins + losses) * p
        before, (f, v) = f, space.update(variance, weight, b)
        if np.abs(f - before).max(initial=0.0) < 1e-2:
            break
    divergence = (space.log_determinant - weight @ v + f @ (b - weight * f)) / 2
    return float(wins @ _expected_log(f, v) + losses @ _expected_log(-f, v) - divergence), f, v


@on_one_thread
def mode(
    pairs: Pairs, similarity: Matrix | None, chosen: Parameters, tol: float = 1e-10, max_iterations: int = 100
) -> Mode:
    """The utilities of greatest posterior density under a prior with these parameters. Raises `NotConverged`.

    Newton's method on beta = K^-1 theta: (I + L K) step = g(theta) - beta, with L the Laplacian of the pairs. That
    operator is symmetric in the inner product x'Ky, so that conjugate gradients solve it without any inverse.
    """

    def k(x: Vector) -> Vector:
        alike: Vector = x if similarity is None else similarity @ x
        return chosen.variance * (chosen.share * alike + (1 - chosen.share) * x)

    beta, theta = np.zeros(pairs.n), np.zeros(pairs.n)
    before = (beta, theta)
    step, k_step, slope = beta, theta, 0.0
    for iteration in range(max_iterations):
        score, curvature = pairs.scores(theta)
        missing = score - beta
        if float(missing @ k_step) < -0.1 * slope:  # too far: go back, and take a step that cannot lead downhill
            length = min(0.5, SAFE_STEP / float(np.ptp(k_step)))
            beta, theta = before[0] + length * step, before[1] + length * k_step
            k_step, slope = np.zeros(pairs.n), 0.0
            continue
        k_missing = k(missing)
        residual = float(np.abs(k_missing).max(initial=0.0))
        if residual <= tol:
            return Mode(theta, chosen, residual, iteration)
        step, k_step = _solve(pairs, curvature, k, missing, k_missing)
        before, slope = (beta, theta), float(missing @ k_step)
        beta, theta = beta + step, theta + k_step
    raise NotConverged(residual, max_iterations)


def _solve(
    pairs: Pairs, curvature: Vector, k: Callable[[Vector], Vector], r: Vector, k_r: Vector
) -> tuple[Vector, Vector]:
    """The x with (I + L K) x = r, to a thousandth, and K x."""
    x, k_x = np.zeros_like(r), np.zeros_like(r)
    p, k_p = r, k_r
    rho = first = float(r @ k_r)
    for _ in range(20 + 2 * len(r)):
        if rho <= 1e-6 * first:
            break
        a_p = p + pairs.spread(curvature * (k_p[pairs.first] - k_p[pairs.second]))
        alpha = rho / float(k_p @ a_p)
        x, k_x, r = x + alpha * p, k_x + alpha * k_p, r - alpha * a_p
        k_r = k(r)
        rho, last = float(r @ k_r), rho
        p, k_p = r + (rho / last) * p, k_r + (rho / last) * k_p
    return x, k_x


@dataclass(frozen=True, slots=True)
class Posterior:
    """What the judgments and the prior say together: mean (n,) and covariance (n, n) of theta."""

    mean: Vector
    covariance: Matrix


@on_one_thread
def posterior(pairs: Pairs, similarity: Matrix | None, found: Mode, max_iterations: int = 20) -> Posterior:
    """The Gaussian nearest to the posterior in Kullback and Leibler's sense (Opper and Archambeau 2009), from its mode.

    Laplace's approximation takes score and curvature at the mode; this takes their means under the Gaussian itself,
    since a sentence that won all its few comparisons is likely to be better than its mode, and less sure. Works in the
    space of the pairs where they are no more than the sentences, else in that of the sentences.
    """
    variance, share = found.parameters.variance, found.parameters.share
    space = _space(pairs, _prior(pairs.n, similarity, share))
    f, v = found.theta[pairs.first] - found.theta[pairs.second], np.zeros(len(pairs))
    both = pairs.wins + pairs.losses
    for _ in range(max_iterations):
        p, slope = _expected(f, v)
        before = np.concatenate([f, v])
        f, v = space.update(variance, both * slope, both * slope * f + pairs.wins - both * p)
        if np.abs(np.concatenate([f, v]) - before).max(initial=0.0) < 1e-4:
            break
    return space.posterior()


def _prior(n: int, similarity: Matrix | None, share: float) -> Matrix:
    """K (n, n) for a variance of 1."""
    prior = np.zeros((n, n)) if similarity is None else share * similarity
    prior[np.diag_indices(n)] += 1 - share
    return prior


_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(11)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def _expected(f: Vector, v: Vector) -> tuple[Vector, Vector]:
    """The means of s and s' under normal distributions with means f and variances v (k,), s the logistic function."""
    p = special.expit(f[:, None] + np.sqrt(v)[:, None] * _NODES)
    return p @ _WEIGHTS, (p * (1 - p)) @ _WEIGHTS


def _expected_log(f: Vector, v: Vector) -> Vector:
    """The means of log s under the same distributions."""
    means: Vector = special.log_expit(f[:, None] + np.sqrt(v)[:, None] * _NODES) @ _WEIGHTS
    return means


class _Space(Protocol):
    """Gaussian posteriors of the same pairs under priors that differ in their variance."""

    pairs: Pairs
    log_determinant: float

    def update(self, variance: float, weight: Vector, b: Vector) -> tuple[Vector, Vector]:
        """Means and variances (k,) of the differences with precision `weight` (k,) and precision times value b (k,).

        `log_determinant` is then that of I + K L, with L the Laplacian of the weights.
        """

    def posterior(self) -> Posterior:
        """That of the last update."""


def _space(pairs: Pairs, prior: Matrix) -> _Space:
    """Whichever takes less time. `prior` (n, n): K for a variance of 1."""
    return _PairSpace(pairs, prior) if len(pairs) <= pairs.n else _SentenceSpace(pairs, prior)


class _PairSpace:
    """By a factor of the pairs' size."""

    def __init__(self, pairs: Pairs, prior: Matrix) -> None:
        self.pairs = pairs
        self.log_determinant = 0.0
        self._prior = prior
        self._rows = prior[pairs.first] - prior[pairs.second]
        self._gram = self._rows[:, pairs.first] - self._rows[:, pairs.second]

    def update(self, variance: float, weight: Vector, b: Vector) -> tuple[Vector, Vector]:
        self._variance, self._root = variance, np.sqrt(weight)
        # Symmetric: the transpose lies in the order that LAPACK works on in place.
        inner = (self._root[:, None] * self._gram * (variance * self._root)).T
        inner[np.diag_indices(len(b))] += 1.0
        self._factor = _cholesky(inner)
        self.log_determinant = 2 * float(np.log(np.diag(self._factor)).sum())
        forced = self._root * (variance * (self._gram @ b))
        self._alpha = b - self._root * linalg.cho_solve((self._factor, True), forced, check_finite=False)
        inverse = np.square(linalg.lapack.dtrtri(self._factor, lower=1)[0]).sum(axis=0)
        return variance * (self._gram @ self._alpha), np.maximum((1 - inverse) / weight, 0.0)

    def posterior(self) -> Posterior:
        rows = self._variance * self._rows
        half = linalg.solve_triangular(self._factor, self._root[:, None] * rows, lower=True)
        return Posterior(rows.T @ self._alpha, self._variance * self._prior - half.T @ half)


class _SentenceSpace:
    """By a factor of the sentences' size, of K^-1 + L."""

    def __init__(self, pairs: Pairs, prior: Matrix) -> None:
        self.pairs = pairs
        self.log_determinant = 0.0
        factor = _cholesky(np.array(prior, order="F"))
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

    def posterior(self) -> Posterior:
        lower = np.tril(self._covariance)
        return Posterior(self._mean, lower + np.tril(lower, -1).T)


def _cholesky(matrix: Matrix) -> Matrix:
    """The lower factor, in the place of a matrix in Fortran's order."""
    return linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
