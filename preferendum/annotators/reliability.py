"""How far each annotator's answers follow what the others find important, estimated together with the utilities.

The model: annotator k prefers a to b with probability s(beta_k (theta_a - theta_b)), theta ~ N(0, spread^2).
Annotators are of four kinds, and what is known of beta_k before they answer is a mixture: most are attentive, around a
slope that is usual in this crowd, some careless (around half of it), some toss coins (0), some answer the wrong way
round. How many of each and what is usual is learnt from the crowd (empirical Bayes), so that a crowd without clickers
loses nothing. No annotator sets the standard for their own answers: beta_k is fitted to the differences of theta
without k (the cavity of expectation propagation), with their variance. A batch relative of Crowd-BT (Chen et al. 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit, log_expit

from preferendum.annotators.answers import rows_of_each
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit import newton
from preferendum.fit.kernel import Pairs

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Rows = NDArray[np.int64]

#: The slopes that are weighed against each other, and which of them may be usual.
BETAS = np.linspace(-1.0, 2.5, 71)
USUAL = (0.6, 0.8, 1.0, 1.2, 1.4, 1.7)
#: Mean and standard deviation of the slopes of each kind, as parts of the usual one, and how many annotators of it were
#: seen before, so to say (a Dirichlet prior): attentive, careless, coin, inverted.
KINDS = ((1.0, 0.2), (0.5, 0.3), (0.0, 0.1), (-1.0, 0.3))
EXPECTED = np.array([4.0, 0.5, 0.5, 0.25])
#: Prior standard deviations of the utilities; the likeliest is taken (Laplace's approximation).
SPREADS = (0.4, 0.7, 1.2, 2.0)
#: How exactly the utilities are found (see `newton.solve`), and in how many iterations at most.
TOLERANCE = 1e-10
ITERATIONS = 100
ROUNDS = 12
SETTLED = 0.005
#: Who gave more than this share of a topic's judgments is left out by a new fit; others by one Newton step.
DOMINANT = 0.2


@dataclass(frozen=True, slots=True)
class Utilities:
    """One topic's utilities under known reliabilities: mode (n,) and covariance (n, n), Laplace's approximation.

    `counted` (m,): the judgments that they rest on; methods accept the others, too. `evidence`: log marginal
    likelihood, up to terms that do not depend on the spread.
    """

    judgments: Judgments
    counted: NDArray[np.bool_]
    beta: Vector
    spread: float
    theta: Vector
    covariance: Matrix
    evidence: float

    def without(self, annotator: int, rows: Rows) -> tuple[Vector, Vector]:
        """Mean and variance of theta_a - theta_b at these judgments of one annotator, had they judged nothing."""
        own = rows[self.counted[rows]]
        if len(own) > DOMINANT * self.counted.sum():
            others = self.counted & (self.judgments.annotator != annotator)
            return fit(self.judgments, others, self.beta, self.spread, self.theta).differences(rows)
        mean, variance = self.differences(rows)
        if not len(own):
            return mean, variance
        beta = self.beta[annotator]
        p = expit(beta * (self.theta[self.judgments.a[own]] - self.theta[self.judgments.b[own]]))
        curvature = beta**2 * p * (1 - p)
        between, within = self._covariances(rows, own), self._covariances(own, own)
        # C without k, by Woodbury: X C X' (1 - W G)^-1, and from there one Newton step away from their answers
        response = np.linalg.solve((np.eye(len(own)) - curvature[:, None] * within).T, between.T).T
        mean = mean - response @ (beta * (self.judgments.outcome[own] - p))
        return mean, variance + np.sum(response * curvature * between, axis=1)

    def differences(self, rows: Rows) -> tuple[Vector, Vector]:
        """Mean and variance of theta_a - theta_b at these judgments."""
        a, b, C = self.judgments.a[rows], self.judgments.b[rows], self.covariance
        return self.theta[a] - self.theta[b], C[a, a] + C[b, b] - 2 * C[a, b]

    def _covariances(self, rows: Rows, columns: Rows) -> Matrix:
        a, b = self.judgments.a[rows][:, None], self.judgments.b[rows][:, None]
        c, d = self.judgments.a[columns][None], self.judgments.b[columns][None]
        C = self.covariance
        return C[a, c] - C[a, d] - C[b, c] + C[b, d]


def fit(
    judgments: Judgments, counted: NDArray[np.bool_], beta: Vector, spread: float, start: Vector | None = None
) -> Utilities:
    """The likeliest utilities of one topic under known reliabilities, by Newton's method.

    Parameters
    ----------
    judgments
        The m judgments of the topic. Sentences are numbered from 0; those after the last one that is named are left
        out.
    counted : (m,)
        Which judgments count.
    beta : (annotators,)
        The reliability of each annotator.
    spread
        The variance of utilities under the prior.
    start : (n,)
        Utilities to start from. They only save time.

    Raises
    ------
    newton.NotConverged
        The equations could not be solved.
    """
    posterior = _Posterior(judgments, counted, beta, spread)
    n = posterior.pairs.n
    theta = newton.solve(posterior, np.zeros(n) if start is None else start, TOLERANCE, ITERATIONS).theta
    factor = cho_factor(posterior.hessian(theta))
    evidence = posterior.log_density(theta) - float(np.log(np.diag(factor[0])).sum()) - n * np.log(spread)
    return Utilities(judgments, counted, beta, spread, theta, cho_solve(factor, np.eye(n)), evidence)


class _Posterior:
    """That of one topic's theta (n,) under known slopes, and the equations of its mode."""

    def __init__(self, judgments: Judgments, counted: NDArray[np.bool_], beta: Vector, spread: float) -> None:
        n = int(max(judgments.a.max(initial=-1), judgments.b.max(initial=-1))) + 1
        weight, outcome = judgments.weight[counted], judgments.outcome[counted]
        self.pairs = Pairs(n, judgments.a[counted], judgments.b[counted], weight * outcome, weight * (1 - outcome))
        self._slope = beta[judgments.annotator[counted]]
        self._precision = 1 / spread**2

    def log_density(self, theta: Vector) -> float:
        """Up to a constant."""
        x = self._log_odds(theta)
        log_likelihood = self.pairs.wins @ log_expit(x) + self.pairs.losses @ log_expit(-x)
        return float(log_likelihood - self._precision * (theta @ theta) / 2)

    def gradient(self, theta: Vector) -> Vector:
        surplus = self.pairs.wins - (self.pairs.wins + self.pairs.losses) * expit(self._log_odds(theta))
        return self.pairs.spread(self._slope * surplus) - self._precision * theta

    def residual(self, gradient: Vector) -> float:
        """What no error of theta exceeds: H has a non-negative inverse, and H 1 = 1 / spread^2."""
        return float(np.abs(gradient).max(initial=0.0)) / self._precision

    def largest_error(self, theta: Vector, gradient: Vector) -> float:
        return self.residual(gradient)

    def hessian(self, theta: Vector) -> Matrix:
        """H (n, n), the negative one."""
        p = expit(self._log_odds(theta))
        curvature = (self.pairs.wins + self.pairs.losses) * self._slope**2 * p * (1 - p)
        n = self.pairs.n
        links = np.bincount(self.pairs.first * n + self.pairs.second, curvature, n * n).reshape(n, n)
        links = links + links.T
        return np.asarray(np.diag(links.sum(axis=1) + self._precision) - links)

    def inverse_hessian(self, theta: Vector) -> Callable[[Vector], Vector]:
        factor = cho_factor(self.hessian(theta))
        return lambda gradient: np.asarray(cho_solve(factor, gradient))

    def _log_odds(self, theta: Vector) -> Vector:
        return np.asarray(self._slope * (theta[self.pairs.first] - theta[self.pairs.second]))


@dataclass(frozen=True, slots=True)
class Reliability:
    """`beta`, `sd` (K,): each annotator's slope, posterior means and standard deviations, and which one is `usual`;
    `mean`, `variance`: by topic, at each judgment, of theta_a - theta_b without its annotator's judgments; `topics`:
    the utilities estimated with it."""

    beta: Vector
    sd: Vector
    usual: float
    topics: tuple[Utilities, ...]
    mean: tuple[Vector, ...]
    variance: tuple[Vector, ...]

    @property
    def weights(self) -> Vector:
        """(K,): how much their judgments count in a fit: all of it if they are as attentive as usual, nothing if less
        than a coin."""
        return np.clip(self.beta / self.usual, 0.0, 1.0)


def estimate(
    topics: Sequence[Judgments],
    annotators: int,
    counted: Sequence[NDArray[np.bool_]] | None = None,
    *,
    weigh: bool = True,
) -> Reliability:
    """Reliabilities of the annotators, numbered from 0 over all topics, together with the topics' utilities.

    `counted`: by topic, which judgments the utilities and reliabilities rest on; all, if not given. With `weigh` off
    all are taken to be equally reliable. The same judgments in the same order give the same numbers.
    """
    counted = [np.ones(len(judgments), dtype=bool) for judgments in topics] if counted is None else counted
    beta, sd, usual = np.ones(annotators), np.zeros(annotators), 1.0
    utilities = [_likeliest(judgments, counts, beta) for judgments, counts in zip(topics, counted, strict=True)]
    cavities = [_cavities(topic) for topic in utilities]
    for _ in range(ROUNDS if weigh else 0):
        before, (beta, sd, usual) = beta, _posteriors(utilities, cavities, annotators)
        utilities = [fit(topic.judgments, topic.counted, beta, topic.spread, topic.theta) for topic in utilities]
        cavities = [_cavities(topic) for topic in utilities]
        if np.abs(beta - before).max(initial=0.0) < SETTLED:
            break
    return Reliability(
        beta, sd, usual, tuple(utilities), tuple(mean for mean, _ in cavities), tuple(v for _, v in cavities)
    )


def weighed(evidence: Evidence, settings: Settings) -> Evidence:
    """The evidence with each judgment weighed as the settings say.

    It rests on nothing but the topic's own judgments, so that the topic's version says all about it.
    """
    if not settings.weigh_annotators:
        return evidence
    return replace(evidence, judgments=weigh(evidence.judgments, evidence.kinds))


def weigh(judgments: Judgments, kinds: Sequence[str] = ()) -> Judgments:
    """One topic's judgments, each weighed by how reliable its annotator is on this topic among those of their kind."""
    of_each = np.array(kinds or ("",) * (int(judgments.annotator.max(initial=-1)) + 1))[judgments.annotator]
    weight = judgments.weight.copy()
    for kind in np.unique(of_each):
        rows = np.flatnonzero(of_each == kind)
        annotators, numbers = np.unique(judgments.annotator[rows], return_inverse=True)
        own = Judgments(judgments.a[rows], judgments.b[rows], judgments.outcome[rows], weight[rows], numbers)
        weight[rows] *= estimate([own], len(annotators)).weights[numbers]
    return replace(judgments, weight=weight)


def _likeliest(judgments: Judgments, counted: NDArray[np.bool_], beta: Vector) -> Utilities:
    return max((fit(judgments, counted, beta, spread) for spread in SPREADS), key=lambda fitted: fitted.evidence)


def _cavities(utilities: Utilities) -> tuple[Vector, Vector]:
    """The mean and the variance, by judgment, of the difference without all judgments of its annotator."""
    judgments = utilities.judgments
    mean, variance = np.zeros(len(judgments)), np.zeros(len(judgments))
    for annotator, rows in rows_of_each(judgments.annotator):
        mean[rows], variance[rows] = utilities.without(annotator, rows)
    return mean, np.maximum(variance, 0.0)


def _posteriors(
    utilities: Sequence[Utilities], cavities: Sequence[tuple[Vector, Vector]], annotators: int
) -> tuple[Vector, Vector, float]:
    """(K,) each: mean and standard deviation of each slope, given the answers that count; and the usual slope."""
    log_likelihood = np.zeros((annotators, len(BETAS)))
    for topic, (mean, variance) in zip(utilities, cavities, strict=True):
        rows = np.flatnonzero(topic.counted)
        y, annotator = topic.judgments.outcome[rows], topic.judgments.annotator[rows]
        weight = topic.judgments.weight[rows]
        for column, beta in enumerate(BETAS):
            x = beta * mean[rows] / np.sqrt(1 + np.pi * beta**2 * variance[rows] / 8)
            of_answers = weight * (y * log_expit(x) + (1 - y) * log_expit(-x))
            log_likelihood[:, column] += np.bincount(annotator, of_answers, annotators)
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    _, prior, usual = max((_mixture(likelihood, usual) for usual in USUAL), key=lambda mixture: mixture[0])
    chances = likelihood * prior
    chances /= chances.sum(axis=1, keepdims=True)
    mean = chances @ BETAS
    return mean, np.sqrt(np.maximum(chances @ BETAS**2 - mean**2, 0.0)), usual


def _mixture(likelihood: Matrix, usual: float) -> tuple[float, Vector, float]:
    """How likely a crowd is in which this slope is usual, and the prior of a slope in it, by expectation-maximisation.

    `likelihood` (K, BETAS): of each annotator's answers.
    """
    kinds = np.array([np.exp(-(((BETAS - usual * mean) / (usual * sd)) ** 2) / 2) for mean, sd in KINDS])
    kinds /= kinds.sum(axis=1, keepdims=True)
    of_kind = likelihood @ kinds.T
    shares = EXPECTED / EXPECTED.sum()
    for _ in range(50):
        belongs = of_kind * shares
        belongs /= belongs.sum(axis=1, keepdims=True)
        shares = (belongs.sum(axis=0) + EXPECTED) / (len(likelihood) + EXPECTED.sum())
    evidence = np.log(of_kind @ shares).sum() + EXPECTED @ np.log(shares) - (np.log(usual) / 0.3) ** 2 / 2
    return float(evidence), shares @ kinds, usual
