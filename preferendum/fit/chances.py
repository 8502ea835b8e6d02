"""The chance that a sentence is preferred to another one of its topic, corrected for what the prior takes from it.

    fitted_j = mean over k != j of P_jk,    P_jk = v_j / (v_j + v_k)
    value_j  = fitted_j + n / (2 m) sum over the judgments of j of d (y - P)

n sentences, m judgments of pairs that were drawn by lot, d the pair's design weight, y the share of the win that j
had, P what the fit expected of it without this judgment. A prior and smoothing draw chances towards 1/2, in all topics
alike, so a mean over a hundred topics has the bias of one of them and a far smaller error. The sum restores what they
took: since these pairs are drawn by lot, each sum of values with weights that sum to 0 is unbiased however wrong the
fit is, for the fit only predicts and the judgments supply what it misses (the difference estimator of Cassel, Särndal
and Wretman, Biometrika 1976). Values are therefore not held to [0, 1]; their mean is 1/2.

Design weights. Where all pairs have the same chance to be drawn, d is 1. Some have a greater one because they separate
systems (`preferendum.scoring.asking`). Their judgments say how many times likelier they would have been drawn from the
pairs that were left if these had been equally likely: u. No pair is drawn twice, so with N pairs, k judged in all, i
of them before this one, d = 1 + (N - k) / (N - i) (u - 1): each pair then has a weight of 1 in the mean (Horvitz and
Thompson, JASA 1952; the formula, without replacement, is that of Farquhar, Gal and Rainforth, ICLR 2021). A draw may
depend only on what was known before it, answers included.

Pairs that were chosen because the fit knows least about them have no such chance (u is 0). They help the fit and are
left out of the sum: they are close pairs, where the fit errs differently, and with them a coin separates systems in a
fifth of the studies. Without a pair drawn by lot the error of values is unknown.

P without a judgment is one step of Newton's method away (Pregibon 1981). With V the variance of the difference
of the two utilities at the mode, the log odds f become f - V (y - P) / (1 - V P (1 - P)); without all c judgments of a
pair, f - V sum (y - P) / (1 - c V P (1 - P)).

Errors. Which sentences were judged is chance as well, so the errors of values are nearly equal and independent:
their standard error is s n / sqrt(2 (m - 1) (n - 1)), s^2 the mean square of y - P. Sums of values have the variance of
sums of independent numbers. benchmarks/archive/coverage.py counts how often that holds.

Judgments of one pair share what the fit does not know of it: b, the mean product of two of their y - P, with P before
it knew the pair. That makes no difference where each judgment has its own draw. If each pair that is drawn is judged c
times, as a study may require, sums vary more, and what is expected of a judgment must not rest on the others of its
pair. So s^2 becomes s^2 + (D - 1) b, with D the variance of the numbers of judgments over all n (n - 1) / 2 pairs,
divided by their mean: 1 where each judgment has its own draw, c (1 - share of the pairs that are drawn) where each
pair has c. And P is that before the fit knew the share (D - 1) / (D - 1 + mean) of the others, which is of those that
were drawn together. D counts as 1 where chance may explain it.

Where design weights are not 1, pairs were chosen that separate systems. The sum above would need answers about all
pairs, weighted as if equally likely. A sum of values needs only answers that connect its sentences, so each judgment
also counts by q N, q the probability of its pair in the mixture that judgments are drawn from
(`preferendum.scoring.asking`; the likeliest run out first), N the number of pairs, and with L the Laplacian of q N / n

    values = fitted + L^-1 x,    x_j = n / (2 m) sum over the judgments of j of d q N (y - P)

which is the sum above where q is the same for all. It is unbiased if what the fit misses of a pair is what it misses of
the one sentence less what it misses of the other; anything else is left to the fit, and to a share of random pairs.
Where q is not known, it is the same for all, and nothing is assumed. A sum of values has a variance of s^2 times the
sum over its k pairs of (d q N)^2 g, g the square of the difference of its weights (Hansen and Hurwitz, Annals of
Mathematical Statistics 1943), with P before the fit knew the pair. How much of g chance has drawn is taken out: the sum
over the pairs of d q N g is known to be k times its mean over all pairs (a difference estimator again).

Each annotator's judgments add their own part of either sum, `shares`; from these
`preferendum.scoring.between_annotators` estimates how far annotators differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import linalg
from scipy.special import expit

from preferendum.evidence import Judgments
from preferendum.fit.comparisons import Matrix, Sparse
from preferendum.fit.kernel import Pairs, totals
from preferendum.fit.similarity import slices
from preferendum.formats.answers import HALF

Vector = NDArray[np.float64]
#: How many times likelier pairs (n, n) were in a draw of those that tell these systems apart (None: all there are);
#: None where that is not known.
LikelihoodFor = Callable[[tuple[str, ...] | None], NDArray[np.float32] | None]

#: The share of pairs drawn as if all were equally likely, in a mixture with telling ones.
RANDOM_SHARE = 0.2
# With a smaller share of all pairs drawn it makes no difference that none is drawn twice; nor with so few left.
_FEW = 0.02
# A pair that decides its own prediction by more than this has no prediction without its judgments.
_LARGEST_LEVERAGE = 0.95
# So many standard deviations of D, sqrt(2 / number of pairs) where each judgment has its own draw, may be chance.
_BY_CHANCE = 3.0


@dataclass(frozen=True, slots=True)
class Shares:
    """What each of g annotators brings: `judged` (g,), the weight of their judgments, which sums to 1; `added` (n, g),
    what these add to the fitted chances. Of judgments of pairs drawn by lot. `of_answers`: see `AnnotatorShares`."""

    judged: Vector
    added: Matrix
    of_answers: float = 1.0


@dataclass(frozen=True, slots=True)
class Chances:
    """`fitted` (n,): of the fit, in [0, 1]; `values` (n,): corrected, with mean 1/2.

    `error`: the standard error of each value where all design weights are 1; `unequal`: how sure values are, where they
    are not; `shares`: of the annotators in the correction. None is known without judgments of pairs drawn by lot.
    """

    fitted: Vector
    values: Vector
    error: float | None = None
    unequal: _Unequal | None = None
    shares: Shares | None = None

    @classmethod
    def without_judgments(cls, n: int) -> Chances:
        """Equal for all sentences."""
        return cls(np.full(n, 0.5), np.full(n, 0.5))

    def covariance(self, weights: Matrix) -> Matrix:
        """(s, s): of weights @ values, for weights (s, n) whose rows sum to 0; nan where it is unknown."""
        if self.unequal is not None:
            return self.unequal.covariance(weights)
        square = np.nan if self.error is None else self.error**2
        return square * (weights @ weights.T)


@dataclass(frozen=True, slots=True)
class _Unequal:
    """`contrasts` (k, n): of the pairs; `spread`: the variance that a pair adds on average; `even`: how much of it
    an average pair of all that might have been drawn adds; `own` (k,): what each of these adds to that; `factor`: of
    the Laplacian."""

    contrasts: Sparse
    spread: float
    even: float
    own: Vector
    factor: Matrix | None

    @classmethod
    def of(cls, pairs: Pairs, counts: Vector, surplus: Vector, factor: Matrix | None) -> _Unequal:
        """`counts` (k,): d q N; `surplus` (k,): what the answers about each pair add where that is 1."""
        importance = np.square(counts)
        effective = _effective(importance)
        spread = float(importance @ np.square(surplus)) / float(importance.sum()) * effective / max(effective - 1, 1)
        usual = float(importance.sum() / counts.sum())
        even = usual * 2 * len(pairs) / (pairs.n - 1)
        return cls(pairs.contrasts(np.ones(len(pairs))), spread, even, importance - usual * counts, factor)

    def covariance(self, weights: Matrix) -> Matrix:
        """(s, s): of sums of values."""
        divided = _divided(self.factor, weights.T)
        moved = self.contrasts @ divided
        return np.asarray(self.spread * (self.even * weights @ divided + moved.T @ (self.own[:, None] * moved)))


def fitted_chances(utilities: Vector) -> Vector:
    """(n,): how probably each sentence is preferred to another one drawn at random; 1/2 for the only one of a topic."""
    n = len(utilities)
    if n < 2:
        return np.full(n, 0.5)
    sums = [expit(utilities[rows, None] - utilities).sum(axis=1) for rows in slices(n, n)]
    chances: Vector = (np.concatenate(sums) - 0.5) / (n - 1)
    return chances


def chances(
    utilities: Vector,
    pairs: Pairs,
    variances: Vector,
    judgments: Judgments,
    likelihood_for: LikelihoodFor = lambda systems: None,
) -> Chances:
    """The chances of n sentences to be preferred to another sentence of the topic.

    Parameters
    ----------
    utilities : (n,)
        Log strengths of the sentences, as they were estimated.
    pairs
        The k pairs that the judgments are of.
    variances : (k,)
        Of the differences of these pairs' utilities.
    judgments
        Those of pairs drawn by lot, among what the utilities were estimated from.
    likelihood_for
        How likely pairs were drawn; called if design weights are not 1.

    Returns
    -------
    Chances
        Values with what their errors rest on; the module says how they are computed.
    """
    if not len(judgments):
        fitted = fitted_chances(utilities)
        return Chances(fitted, fitted)
    design = _Design.of(judgments, pairs, likelihood_for)
    if design.is_equal:
        return _of_equal(utilities, pairs, variances, judgments)
    return _of_unequal(utilities, pairs, variances, judgments, design)


def directions(judgments: Judgments, pairs: Pairs, weights: Matrix, likelihood_for: LikelihoodFor) -> Matrix:
    """(m, s): how far each judgment moves sums of values, with `weights` (s, n), for each n / (2 m) of what it says
    beyond the fit. The other arguments are those of `chances`."""
    design = _Design.of(judgments, pairs, likelihood_for)
    moved = _divided(design.factor, weights.T)
    counts = design.counts[_places(judgments, pairs)]
    return np.asarray(counts[:, None] * (moved[judgments.a] - moved[judgments.b]))


@dataclass(frozen=True, slots=True)
class _Design:
    """How much answers about the pairs count: `counts` (k,), d q N; `factor`: of the Laplacian, None where q is equal
    for all."""

    counts: Vector
    factor: Matrix | None

    @classmethod
    def of(cls, judgments: Judgments, pairs: Pairs, likelihood_for: LikelihoodFor) -> _Design:
        weights = _design_weights(judgments, pairs)
        mixture = None if np.all(weights == 1) else _mixture(judgments, likelihood_for, len(pairs))
        if mixture is None:
            return cls(weights, None)
        laplacian = (np.diag(mixture.sum(axis=1)) - mixture) / pairs.n
        factor = linalg.cholesky(laplacian + 1 / pairs.n, lower=True, check_finite=False)
        return cls(weights * mixture[pairs.first, pairs.second], factor)

    @property
    def is_equal(self) -> bool:
        return self.factor is None and bool(np.all(self.counts == 1))


def _of_equal(utilities: Vector, pairs: Pairs, variances: Vector, judgments: Judgments) -> Chances:
    """Where all pairs were equally likely."""
    n, ties = len(utilities), _ties(judgments, pairs)
    gaps = utilities[pairs.first] - utilities[pairs.second]
    judged = pairs.wins + pairs.losses
    total, effective = float(judged.sum()), _effective(judgments.weight)
    unit = effective / total
    excess = _excess(unit * judged, n)
    share = excess / (excess + effective / _pairs(n))
    others = 1 + share * np.maximum(judged - 1, 0.0)
    won = 1 - _expected(gaps, others - share * pairs.losses, others, variances)
    lost = _expected(gaps, share * pairs.wins, others, variances)
    # A tie is half a win and half a loss to the fit, yet one judgment, whose square is that of half the difference.
    squares = pairs.wins * won**2 + pairs.losses * lost**2 - ties * ((won + lost) / 2) ** 2
    # Where all answers are ties, they could still have been decided: never surer than with one that was.
    square = max(float(squares.sum()) / total, 0.25 / effective)
    square += excess * _shared(pairs, ties, _expected(gaps, pairs.wins, judged, variances), unit)
    fitted = fitted_chances(utilities)
    return Chances(
        fitted=fitted,
        values=fitted + n / (2 * total) * pairs.spread(pairs.wins * won - pairs.losses * lost),
        error=float(np.sqrt(square * n**2 / (2 * max(effective - 1, 1) * (n - 1)))),
        shares=_shares(judgments, pairs, n / (2 * total) * won, n / (2 * total) * lost, None),
    )


def _of_unequal(utilities: Vector, pairs: Pairs, variances: Vector, judgments: Judgments, design: _Design) -> Chances:
    """Where some pairs had a greater chance to be drawn."""
    n, judged = pairs.n, pairs.wins + pairs.losses
    expected = _expected(utilities[pairs.first] - utilities[pairs.second], pairs.wins, judged, variances)
    surplus, unit = pairs.wins - judged * expected, n / (2 * float(judged.sum()))
    fitted = fitted_chances(utilities)
    values = fitted + _divided(design.factor, pairs.spread(unit * design.counts * surplus))
    each = unit * design.counts
    shares = _shares(judgments, pairs, each * (1 - expected), each * expected, design.factor)
    return Chances(
        fitted, values, unequal=_Unequal.of(pairs, design.counts, unit * surplus, design.factor), shares=shares
    )


def _shares(judgments: Judgments, pairs: Pairs, won: Vector, lost: Vector, factor: Matrix | None) -> Shares:
    """`won`, `lost` (k,): what a win of the first sentence of each pair adds to it, and what a loss takes from it."""
    n, annotators = pairs.n, int(judgments.annotator.max()) + 1
    place = _places(judgments, pairs)
    share = np.where(judgments.a < judgments.b, judgments.outcome, 1 - judgments.outcome)
    surplus = judgments.weight * (share * won[place] - (1 - share) * lost[place])
    gained, given = judgments.annotator * n + pairs.first[place], judgments.annotator * n + pairs.second[place]
    added = totals(gained, surplus, annotators * n) - totals(given, surplus, annotators * n)
    judged = totals(judgments.annotator, judgments.weight, annotators)
    return Shares(judged / judged.sum(), _divided(factor, added.reshape(annotators, n).T))


def _mixture(judgments: Judgments, likelihood_for: LikelihoodFor, drawn: int) -> Matrix | None:
    """(n, n): how many times likelier pairs are than if all were equally likely, where some of the judgments are of
    pairs that were drawn so, and others of mixtures of telling pairs with some of these; and `drawn` pairs were."""
    each = 1 / len(judgments)
    numbers = Counter(judgments.drawn_for[judgments.design != 1].tolist())
    telling = [
        ((1 - RANDOM_SHARE) * number * each, likelihood)
        for systems, number in numbers.items()
        if (likelihood := likelihood_for(systems)) is not None
    ]
    if not telling:
        return None
    mixture = np.full(telling[0][1].shape, 1 - sum(share for share, _ in telling))
    for share, likelihood in telling:
        mixture += share * likelihood
    np.fill_diagonal(mixture, 0.0)
    return _without_replacement(mixture, drawn / _pairs(len(mixture)))


def _without_replacement(mixture: Matrix, share: float) -> Matrix | None:
    """How many times likelier pairs are (n, n) once a share of all pairs is drawn, none twice: 1 - exp(-t x) of those
    that are x times likelier, with the t that makes them so many. None where nearly all are drawn, and so are equally
    likely.
    """
    if share < _FEW:
        return mixture
    if share > 1 - _FEW:
        return None
    every = mixture[np.triu_indices(len(mixture), 1)]
    time = scipy.optimize.brentq(
        lambda t: float(np.mean(-np.expm1(-t * every))) - share, 0.0, -np.log(1 - share) / every.min()
    )
    return np.asarray(-np.expm1(-time * mixture) / share)


def _divided(factor: Matrix | None, columns: Matrix) -> Matrix:
    """Columns (n, ...) that sum to 0, divided by the Laplacian with this factor."""
    return columns if factor is None else np.asarray(linalg.cho_solve((factor, True), columns, check_finite=False))


def _design_weights(judgments: Judgments, pairs: Pairs) -> Vector:
    """(k,): d of each pair, from the u of the first judgment that was made of it."""
    every, firsts = np.unique(_numbers(judgments, pairs), return_index=True)
    first = firsts[np.searchsorted(every, pairs.numbers)]
    before = np.argsort(np.argsort(first))
    left = (_pairs(pairs.n) - len(pairs)) / (_pairs(pairs.n) - before)
    return np.asarray(1 + left * (judgments.design[first] - 1))


def _numbers(judgments: Judgments, pairs: Pairs) -> NDArray[np.int64]:
    """(m,): of the judgments' pairs, as `pairs` numbers its own."""
    return np.minimum(judgments.a, judgments.b) * pairs.n + np.maximum(judgments.a, judgments.b)


def _places(judgments: Judgments, pairs: Pairs) -> NDArray[np.int64]:
    """(m,): the pair of each judgment."""
    return np.searchsorted(pairs.numbers, _numbers(judgments, pairs))


def _expected(gaps: Vector, wins: Vector | float, judged: Vector | float, variances: Vector) -> Vector:
    """(k,): P of pairs from their fitted log odds, without `judged` judgments; `wins`: those for the first sentence."""
    expected = expit(gaps)
    leverage = np.minimum(variances * judged * expected * (1 - expected), _LARGEST_LEVERAGE)
    return np.asarray(expit(gaps - variances * (wins - judged * expected) / (1 - leverage)))


def _excess(judged: Vector, n: int) -> float:
    """D - 1; 0 where chance may explain how often pairs were repeated."""
    total = float(judged.sum())
    excess = float(judged @ judged) / total - total / _pairs(n) - 1
    return excess if excess > _BY_CHANCE * np.sqrt(2 / _pairs(n)) else 0.0


def _ties(judgments: Judgments, pairs: Pairs) -> Vector:
    """(k,): the weight of the judgments of each pair that prefer neither."""
    weights = np.where(judgments.outcome == HALF, judgments.weight, 0.0)
    return totals(_places(judgments, pairs), weights, len(pairs))


def _shared(pairs: Pairs, ties: Vector, expected: Vector, unit: float) -> float:
    """b; 0 where no pair was judged twice. A weight of 1 counts `unit`."""
    wins, losses = unit * pairs.wins, unit * pairs.losses
    judged, surplus = wins + losses, wins * (1 - expected) - losses * expected
    products = float(judged @ judged - judged.sum())
    alone = float((wins * (1 - expected) ** 2 + losses * expected**2 - unit * ties / 4).sum())
    return max(float(surplus @ surplus) - alone, 0.0) / products if products >= 1 else 0.0


def _pairs(n: int) -> float:
    return n * (n - 1) / 2


def _effective(weights: Vector) -> float:
    """The number of judgments of equal weight that would say as much (Kish 1965)."""
    ordered = np.sort(weights)
    return float(ordered.sum() ** 2 / np.square(ordered).sum())
