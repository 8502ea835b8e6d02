"""From judgments to a preference matrix, and from there to utilities (section 4.1 of the paper; docs/model.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from evaluation import kernel, uncertainty, zermelo
from evaluation.duels import Matrix, Sparse, Vector
from evaluation.evidence import Judgments, Settings
from evaluation.uncertainty import Covariance


def wins(judgments: Judgments, n: int) -> Sparse:
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


def smooth(W: Sparse, S: Matrix) -> Matrix:
    """M = S'WS (section 4.1): the updates a_hat (x) b_hat of all judgments at once. W has few rows and columns."""
    rows = np.flatnonzero(np.diff(W.indptr))
    columns = np.unique(W.indices)
    few = W[rows][:, columns]
    return np.asarray(S[rows].T @ (few @ S[columns]))


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

    def again(self, judgments: Judgments) -> Vector:
        """(n,): utilities from other judgments of the same sentences; what the smoothing learnt from these is kept.

        Raises `zermelo.Undetermined` where they have no finite maximum without a prior.
        """
        return self._again(judgments)

    def resample(self, rng: np.random.Generator, draws: int) -> Matrix:
        """(draws, n): utilities estimated anew from as many judgments, drawn with replacement.

        They show how far the estimate varies with the judgments, not how far it is off: `covariance` holds both.
        Raises `zermelo.Undetermined` where a draw without a prior has no finite maximum.
        """
        m = len(self._judgments)
        counts = rng.multinomial(m, np.full(m, 1 / m), size=draws) if m else np.zeros((draws, 0))
        drawn = (replace(self._judgments, weight=self._judgments.weight * count) for count in counts)
        return np.array([self._again(judgments) for judgments in drawn]).reshape(draws, len(self.wins))


def estimate(
    judgments: Judgments, n: int, similarity: Matrix | None, settings: Settings, start: Vector | None = None
) -> Estimate:
    """Utilities of n sentences from judgments on some of them, smoothed as `settings.smooth` says.

    `similarity` (n, n) may be None without smoothing; `start` (n,): utilities to start from, which change nothing but
    the time. Raises `zermelo.Undetermined` and `zermelo.NotConverged`.
    """
    if settings.smooth == "none":
        return _unsmoothed(judgments, n, settings.prior, start)
    if similarity is None:
        raise ValueError(f"smoothing {settings.smooth!r} needs a similarity")
    if settings.smooth == "kernel":
        return _with_kernel(judgments, n, similarity)
    weights = similarity if settings.smooth == "paper" else similarity**3
    return _smoothed(judgments, n, similarity, weights, settings.prior, start)


def _unsmoothed(judgments: Judgments, n: int, prior: float, start: Vector | None) -> Estimate:
    W = wins(judgments, n)
    fit = zermelo.fit(W, prior, start=start)

    def spread() -> Covariance:
        pairs = kernel.Pairs.of(W)
        return uncertainty.about(fit.utilities, pairs, None) if prior else uncertainty.fisher(fit.utilities, pairs)

    def again(drawn: Judgments) -> Vector:
        return zermelo.fit(wins(drawn, n), prior, start=fit.log_strengths).utilities

    return Estimate(fit, _totals(W), None, spread, again, judgments)


def _smoothed(
    judgments: Judgments, n: int, similarity: Matrix, weights: Matrix, prior: float, start: Vector | None
) -> Estimate:
    W = wins(judgments, n)
    fit = zermelo.fit(smooth(W, weights), prior, start=start)

    def spread() -> Covariance:
        return uncertainty.about(fit.utilities, kernel.Pairs.of(W), similarity)

    def again(drawn: Judgments) -> Vector:
        return zermelo.fit(smooth(wins(drawn, n), weights), prior, start=fit.log_strengths).utilities

    return Estimate(fit, _totals(W), None, spread, again, judgments)


def _with_kernel(judgments: Judgments, n: int, similarity: Matrix) -> Estimate:
    W = wins(judgments, n)
    pairs = kernel.Pairs.of(W)
    chosen = kernel.parameters(pairs, similarity)
    found = kernel.mode(pairs, similarity, chosen)
    fit = zermelo.Fit.of(found.theta, found.residual, found.iterations)

    def spread() -> Covariance:
        return uncertainty.about(fit.utilities, pairs, similarity, found)

    def again(drawn: Judgments) -> Vector:
        theta: Vector = kernel.mode(kernel.Pairs.of(wins(drawn, n)), similarity, chosen).theta
        centred: Vector = theta - theta.mean()
        return centred

    return Estimate(fit, _totals(W), (chosen.variance, chosen.share), spread, again, judgments)


def _totals(W: Sparse) -> Vector:
    return np.asarray(W @ np.ones(W.shape[1]))
