"""From judgments to a preference matrix, and from there to utilities (section 4.1 of the paper; docs/model.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy import sparse

from preferendum.evidence import Judgments, Settings
from preferendum.fit import kernel, uncertainty, zermelo
from preferendum.fit.chances import Chances, LikelihoodFor, chances, directions
from preferendum.fit.comparisons import Matrix, Sparse, Vector
from preferendum.fit.kernel import Pairs, Posterior
from preferendum.fit.similarity import Similarity
from preferendum.fit.uncertainty import Covariance

#: Up to so many sentences the preference matrix is smoothed: it and what Newton's method makes of it take 400 MB.
MOST_SMOOTHED = 4000


def wins(judgments: Judgments, n: int) -> Sparse:
    """W (n, n): the weight with which row was preferred to column; a tie is half a win each way.

    Equal judgments in any order give equal bits: sums of weights that are not exact in floating point run from the
    smallest to the largest.
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


class TooManySentences(ValueError):
    """M has n x n numbers whatever was judged, and so has what is computed from it."""

    def __init__(self, n: int) -> None:
        self.sentences, self.most = n, MOST_SMOOTHED
        super().__init__(
            f"a smoothed preference matrix is computed for topics of at most {MOST_SMOOTHED:,} sentences, not of {n:,}"
        )


def smooth(W: Sparse, S: Similarity) -> Matrix:
    """M = S'WS (section 4.1): the updates a_hat (x) b_hat of all judgments at once. W has few rows and columns.

    Raises `TooManySentences`.
    """
    if len(S) > MOST_SMOOTHED:
        raise TooManySentences(len(S))
    rows = np.flatnonzero(np.diff(W.indptr))
    columns = np.unique(W.indices).astype(np.int64)
    return np.asarray(S.rows(rows).T @ (W[rows][:, columns] @ S.rows(columns)))


@dataclass(frozen=True)
class Estimate:
    """The utilities estimated from a topic's judgments, and their uncertainty.

    `wins` (n,): weight of the judgments that each sentence won, as observed. `prior`: virtual wins, and as many losses,
    of every sentence; None with a kernel prior, whose parameters (variance, share of the similarity) `kernel` holds
    and which has a `posterior`.
    """

    fit: zermelo.Fit
    wins: Vector
    prior: float | None
    kernel: tuple[float, float] | None
    posterior: Callable[[], Posterior] | None
    _spread: Callable[[], Covariance]
    _differences: Callable[[], tuple[Pairs, Vector]]
    _again: Callable[[Judgments], Estimate]
    _judgments: Judgments

    @cached_property
    def covariance(self) -> Covariance:
        """The covariance of the utilities; computed on first use, since it takes longer than the fit."""
        return self._spread()

    @cached_property
    def chances(self) -> Chances:
        """How probably each sentence is preferred to another one of the topic."""
        return self.chances_by(lambda systems: None)

    def chances_by(self, likelihood_for: LikelihoodFor) -> Chances:
        """The chances of sentences where pairs were drawn that tell systems apart."""
        by_lot = self._judgments.some(self._judgments.design > 0)
        return chances(self.utilities, *self._of_pairs(by_lot), by_lot, likelihood_for)

    def directions(self, weights: Matrix, likelihood_for: LikelihoodFor) -> Matrix:
        """(m, s): how far judgments of pairs drawn by lot move sums of chances (`chances.directions`)."""
        by_lot = self._judgments.some(self._judgments.design > 0)
        return directions(by_lot, self._of_pairs(by_lot)[0], weights, likelihood_for)

    def _of_pairs(self, judgments: Judgments) -> tuple[Pairs, Vector]:
        """The pairs that some of the judgments are of, and the variances of their differences."""
        pairs, variances = self._differences()
        if len(judgments) == self.judgments:
            return pairs, variances
        some = Pairs.of(wins(judgments, pairs.n))
        return some, variances[np.searchsorted(pairs.numbers, some.numbers)]

    @property
    def utilities(self) -> Vector:
        """(n,): log strengths, centred on 0."""
        return self.fit.utilities

    @property
    def strengths(self) -> Vector:
        """(n,): they sum to 1."""
        return self.fit.strengths

    @property
    def judgments(self) -> int:
        """How many it rests on."""
        return len(self._judgments)

    def again(self, judgments: Judgments) -> Estimate:
        """From other judgments of the same sentences; what the smoothing learnt from these is kept.

        Raises `zermelo.Undetermined` where they have no finite maximum without a prior.
        """
        return self._again(judgments)


def estimate(
    judgments: Judgments,
    n: int,
    similarity: Similarity | None,
    settings: Settings,
    start: Vector | None = None,
    beside: Estimate | None = None,
) -> Estimate:
    """Utilities of n sentences from judgments on some of them, smoothed as `settings.smooth` says.

    Parameters
    ----------
    judgments
        Pairs of sentences, numbered from 0 to n - 1, with shares of wins.
    n
        The number of sentences.
    similarity
        Of the sentences; it may be None without smoothing.
    settings
        How judgments become utilities: smoothing and prior.
    start : (n,)
        Utilities to start from. They only save time.
    beside
        An estimate from the same judgments and similarity. It only saves time.

    Raises
    ------
    zermelo.Undetermined
        Without a prior no finite maximum exists.
    newton.NotConverged
        The equations could not be solved.
    TooManySentences
        There are too many for the smoothing of the paper.
    """
    if settings.smooth == "none":
        return _with_prior(judgments, n, None, settings.prior, start, beside)
    if similarity is None:
        raise ValueError(f"smoothing {settings.smooth!r} needs a similarity")
    if settings.smooth == "paper":
        return _with_prior(judgments, n, similarity, settings.prior, None, beside)
    return _with_kernel(judgments, n, similarity)


def _with_prior(
    judgments: Judgments,
    n: int,
    similarity: Similarity | None,
    prior: float,
    start: Vector | None,
    beside: Estimate | None = None,
) -> Estimate:
    """Zermelo's fit of the wins; smoothed, where there is a similarity."""
    W = wins(judgments, n)
    fit = zermelo.fit(W if similarity is None else smooth(W, similarity), prior, start=start)

    def spread() -> Covariance:
        if similarity is None and not prior:
            return uncertainty.fisher(fit.utilities, Pairs.of(W))
        if similarity is not None and beside is not None and beside.posterior is not None and n <= uncertainty.DENSE:
            return uncertainty.around(fit.utilities, beside.posterior())
        return uncertainty.about(fit.utilities, Pairs.of(W), similarity)

    @cache
    def differences() -> tuple[Pairs, Vector]:
        return _with_variances(W, spread())

    def again(drawn: Judgments) -> Estimate:
        return _with_prior(drawn, n, similarity, prior, None if similarity is not None else fit.log_strengths)

    return Estimate(fit, _totals(W), prior, None, None, spread, differences, again, judgments)


def _with_kernel(
    judgments: Judgments, n: int, similarity: Similarity, learnt: kernel.Parameters | None = None
) -> Estimate:
    W = wins(judgments, n)
    pairs = Pairs.of(W)
    chosen = learnt or kernel.parameters(pairs, similarity)
    mode = kernel.mode(pairs, similarity, chosen)
    fit = zermelo.Fit.of(mode.theta, mode.residual, mode.iterations)

    @cache
    def posterior() -> Posterior:
        return kernel.posterior(pairs, similarity, mode)

    def spread() -> Covariance:
        if n > uncertainty.DENSE:
            return uncertainty.about(fit.utilities, pairs, similarity, mode)
        return uncertainty.around(fit.utilities, posterior())

    @cache
    def differences() -> tuple[Pairs, Vector]:
        if n > uncertainty.DENSE and len(pairs) > uncertainty.MOST_PAIRS:
            return _with_variances(W, spread())
        return pairs, kernel.variances(pairs, similarity, mode)

    def again(drawn: Judgments) -> Estimate:
        return _with_kernel(drawn, n, similarity, chosen)

    shown = (chosen.variance, chosen.share)
    return Estimate(fit, _totals(W), None, shown, posterior, spread, differences, again, judgments)


def _with_variances(W: Sparse, covariance: Covariance) -> tuple[Pairs, Vector]:
    """The pairs and how far off their differences may be: a little more than their variances at the mode."""
    pairs = Pairs.of(W)
    return pairs, np.square(covariance.difference(pairs.first, pairs.second))


def _totals(W: Sparse) -> Vector:
    return np.asarray(W @ np.ones(W.shape[1]))
