"""From judgments to a preference matrix, and from there to utilities (section 4.1 of the paper; docs/model.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation import kernel, zermelo
from evaluation.evidence import Judgments, Settings
from evaluation.uncertainty import Covariance

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def wins(judgments: Judgments, n: int) -> sparse.csr_array:
    """W (n, n): the weight with which row was preferred to column; a tie is half a win each way.

    Equal judgments give equal bits in whatever order they come: sums of weights that are not exact in floating point
    run from the smallest to the largest.
    """
    row = np.concatenate([judgments.a, judgments.b])
    col = np.concatenate([judgments.b, judgments.a])
    data = np.concatenate([judgments.outcome, 1 - judgments.outcome]) * np.tile(judgments.weight, 2)
    won = data != 0
    row, col, data = row[won], col[won], data[won]
    if not _sum_is_exact(data):
        order = np.lexsort((data, col, row))
        row, col, data = row[order], col[order], data[order]
    matrix = sparse.csr_array((data, (row, col)), shape=(n, n))
    matrix.sum_duplicates()
    return matrix


def _sum_is_exact(data: Vector) -> bool:
    """Whether sums of these weights never round: whole 1024ths, and not too many of them."""
    scaled = data * 1024
    return bool(np.all(scaled == np.rint(scaled)) and scaled.sum() < 2**53)


def smooth(W: sparse.csr_array, S: Matrix) -> Matrix:
    """M = S'WS (section 4.1): the updates a_hat (x) b_hat of all judgments at once. W has few rows and columns."""
    rows = np.flatnonzero(np.diff(W.indptr))
    columns = np.unique(W.indices)
    few = W[rows][:, columns]
    return S[rows].T @ (few @ S[columns])


@dataclass(frozen=True)
class Estimate:
    """The utilities that a topic's judgments speak for, and how sure they are.

    `wins` (n,): weight of the judgments that each sentence won, as observed. `kernel` holds the parameters of the
    kernel prior (variance, share of the similarity) where there is one.
    """

    fit: zermelo.Fit
    wins: Vector
    kernel: tuple[float, float] | None
    _spread: Callable[[], Covariance]
    _again: Callable[[Judgments], Vector]
    _judgments: Judgments

    @cached_property
    def covariance(self) -> Covariance:
        """How sure the utilities are together; worked out when it is asked for, since it takes longer than the fit."""
        return self._spread()

    @property
    def utilities(self) -> Vector:
        """(n,): log strengths, centred on 0."""
        return self.fit.utilities

    @property
    def strengths(self) -> Vector:
        """(n,): they sum to 1."""
        return self.fit.strengths

    def resample(self, rng: np.random.Generator, draws: int) -> Matrix:
        """(draws, n): utilities estimated anew from as many judgments, drawn with replacement."""
        m = len(self._judgments)
        counts = rng.multinomial(m, np.full(m, 1 / m), size=draws) if m else np.zeros((draws, 0))
        return np.array([self._again(_weighted(self._judgments, count)) for count in counts])


def estimate(
    judgments: Judgments, n: int, similarity: Matrix | None, settings: Settings, start: Vector | None = None
) -> Estimate:
    """Utilities of n sentences from judgments on some of them, smoothed as `settings.smooth` says.

    `similarity` (n, n) is not needed without smoothing. Raises `zermelo.Undetermined` and `zermelo.NotConverged`.
    """
    W = wins(judgments, n)
    if settings.smooth == "kernel":
        assert similarity is not None
        fitted = kernel.fit(kernel.Pairs.of(W), similarity)
        theta = fitted.theta
        strengths = np.exp(theta - theta.max())
        fit = zermelo.Fit(
            strengths / strengths.sum(), theta - theta.mean(), fitted.residual, fitted.iterations, 0.0, theta
        )

        def again(resampled: Judgments) -> Vector:
            pairs = kernel.Pairs.of(wins(resampled, n))
            theta = kernel.fit_with(pairs, similarity, fitted.variance, fitted.share).theta
            return theta - theta.mean()

        parameters = (fitted.variance, fitted.share)
        return Estimate(fit, W.sum(axis=1), parameters, lambda: Covariance.centred(fitted.covariance), again, judgments)
    weighed = _similarity(similarity, settings)
    M = W if weighed is None else smooth(W, weighed)
    fit = zermelo.fit(M, settings.prior, start=start)

    def refit(resampled: Judgments) -> Vector:
        again = wins(resampled, n)
        return zermelo.fit(
            again if weighed is None else smooth(again, weighed), settings.prior, start=fit.log_strengths
        ).utilities

    def spread() -> Covariance:
        return Covariance.centred(_covariance(fit, M, judgments, weighed))

    return Estimate(fit, W.sum(axis=1), None, spread, refit, judgments)


def _covariance(fit: zermelo.Fit, M: Matrix | sparse.csr_array, judgments: Judgments, weighed: Matrix | None) -> Matrix:
    """Of log v: the inverse Hessian; with smoothing (`weighed`) the sandwich, since M is not what people said."""
    v = np.exp(fit.log_strengths)
    dense = M.toarray() if isinstance(M, sparse.csr_array) else M
    both = dense + dense.T
    np.fill_diagonal(both, 0)
    curvature = both * np.outer(v, v) / np.square(np.add.outer(v, v))
    hessian = np.diag(curvature.sum(1) + 2 * fit.prior * v / np.square(1 + v)) - curvature
    inverse = np.linalg.pinv(hessian, hermitian=True)
    if weighed is not None:
        share = v[:, None] / np.add.outer(v, v)
        a, b = weighed[judgments.a], weighed[judgments.b]
        won = a * (b @ (1 - share).T) - b * (a @ share.T)
        lost = b * (a @ (1 - share).T) - a * (b @ share.T)
        outcome = judgments.outcome[:, None]
        scores = judgments.weight[:, None] * (outcome * won + (1 - outcome) * lost)
        half = scores @ inverse
        inverse = half.T @ half
    return np.asarray(inverse)


def _similarity(similarity: Matrix | None, settings: Settings) -> Matrix | None:
    if settings.smooth == "none":
        return None
    assert similarity is not None
    return similarity**3 if settings.smooth == "sharpened" else similarity


def _weighted(judgments: Judgments, count: Vector) -> Judgments:
    return Judgments(judgments.a, judgments.b, judgments.outcome, judgments.weight * count, judgments.annotator)
