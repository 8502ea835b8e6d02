"""How often a system's summaries are preferred to others': its win rate (docs/model.md).

Under the model of `preferendum.fit.effects`, fitted to the answers about all topics at once,

    win rate of system i               w_i = mean over systems j != i of E[1 / (1 + exp(-(alpha_i - alpha_j + d)))]
    of its summary in topic t          mean over the topic's other summaries of 1 / (1 + exp(theta_tj - theta_ti))

with d ~ N(0, 2 s_d^2), the deviations of the two summaries of another topic of the kind. Errors are those of the joint
posterior, by the delta method. They include the variance between topics, so they hold for other topics. Each annotator
adds their own part to the win rates: that of their answers' y - P in a step of Newton's method. From these parts
`preferendum.scoring.between_annotators` estimates how far annotators differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from preferendum.fit import effects
from preferendum.fit.chances import Shares
from preferendum.fit.effects import Effects, Items, Parts, Places, TopicItems, Variances
from preferendum.fit.kernel import expected, expected_slopes, totals
from preferendum.fit.similarity import slices
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import HALF
from preferendum.results import Standing, SystemResult
from preferendum.results.statistics import Mean
from preferendum.scoring.ranking import Estimates
from preferendum.scoring.scores import Scores
from preferendum.scoring.skewness import Halves, halves, skewness

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: X (s, m) -> the slopes of scores in the utilities (s, s), which are symmetric, times X.
Sloped = Callable[[Matrix], Matrix]

#: What is left of a slope of win rates, at most 1/4, when all is said.
NO_SLOPE = 1e-15
#: So many numbers about a topic's summaries are worked out at once: they stay in the processor's cache.
AT_ONCE = 1 << 17
NONE = np.zeros(0, dtype=np.int64)
#: Win rates lie between them.
ENDS = (0.0, 1.0)
#: Where nearly all answers are ties, outcomes vary still by so much of what a coin's do.
LEAST_DISPERSION = 0.2
#: What deviations are taken to vary by where answers name no topic (`Answers`): nothing that counts.
NO_DEVIATION = 1e-9


@dataclass(frozen=True, slots=True)
class Answers:
    """The judgments of summaries of all topics, one entry an answer.

    `topic`, `first`, `second` (m,): indices of the topic and of the two systems; `outcome` (m,): the first one's share
    of the win (1, 0, .5 a tie); `weight` (m,): how much it counts; `annotator` (m,): who, by one number in the whole
    study, -1 where that is not known. One topic without a name: answers do not say what they are about.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    topic: Places
    first: Places
    second: Places
    outcome: Vector
    weight: Vector
    annotator: Places

    def __len__(self) -> int:
        return len(self.topic)

    def some(self, kept: Flags) -> Answers:
        """The answers that are kept (m,)."""
        names = ("topic", "first", "second", "outcome", "weight", "annotator")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})


@dataclass(frozen=True, slots=True)
class SummaryRates:
    """Win rates of a topic's summaries, which rest on so many `judgments`: `score` (n,), nan for one alone, standard
    `errors` (n,) and their `halves` (n,). How they vary together is nowhere needed."""

    systems: tuple[str, ...]
    score: Vector
    errors: Vector
    halves: Halves
    judgments: int

    def means(self) -> list[Mean]:
        """The scores that there are, with intervals where answers are about the topic."""
        ones, errors = np.ones(len(self.score)), self.errors if self.judgments else self.errors * np.nan
        estimates = Estimates(self.score, errors, ones * np.inf, ones, self.halves)
        return [mean for mean in estimates.means(self.systems, *ENDS) if np.isfinite(mean.score)]


@dataclass(frozen=True, slots=True)
class WinRates:
    """`standing`: of the systems that answers are about, over the whole study; `effects`: the fit beneath, whose
    systems are `judged` (s,) among those of the answers. `has` (topics, systems): whether there is a summary;
    `utilities`: the same systems by alpha less the mean alpha, the logarithms of their strengths."""

    answers: Answers
    has: Flags
    judged: Places
    effects: Effects
    standing: Standing
    utilities: Standing

    def by_topic(self) -> Iterator[tuple[str, SummaryRates]]:
        """The win rates of each topic's summaries whose systems answers are about, there or elsewhere."""
        items = self.effects.topics()
        following = next(items, None)
        for number, topic in enumerate(self.answers.topics):
            is_answered = following is not None and following.topic == number
            yield topic, _of_topic(self, number, following if is_answered else None)
            following = next(items, None) if is_answered else following


def win_rates(answers: Answers, has: Flags | None = None, variances: Variances | None = None) -> WinRates:
    """Fit the answers. `has` (topics, systems): the summaries there are; if not given, those that answers are about.

    Raises `newton.NotConverged`.
    """
    about = np.zeros((len(answers.topics), len(answers.systems)), dtype=np.bool_)
    about[answers.topic, answers.first] = about[answers.topic, answers.second] = True
    judged = np.flatnonzero(about.any(axis=0))
    answers = replace(answers, weight=answers.weight / dispersion(answers))
    fitted = fit(answers, judged, variances)
    return rates_of(answers, about if has is None else has | about, judged, fitted)


def rates_of(answers: Answers, has: Flags, judged: Places, fitted: Effects) -> WinRates:
    """The win rates of answers with the weights that they were `fitted` with."""
    return WinRates(answers, has, judged, fitted, *_standings(answers, judged, fitted))


def in_topics(answers: Answers, results: Iterable[SystemResult]) -> tuple[SystemResult, ...]:
    """Results of all topics together, with the number of topics where each system was judged."""
    both = np.concatenate([answers.first, answers.second]), np.tile(answers.topic, 2)
    judged = Counter(answers.systems[k] for k, _topic in set(zip(*(side.tolist() for side in both), strict=True)))
    number = len(set(answers.topic.tolist()))
    return tuple(replace(own, topics=judged[own.system], lacking=number - judged[own.system]) for own in results)


def fit(answers: Answers, judged: Places, variances: Variances | None = None) -> Effects:
    """The effects of the `judged` systems, with the weights that answers have. Raises `newton.NotConverged`."""
    return effects.fit(*items_of(answers, judged, variances))


def items_of(answers: Answers, judged: Places, variances: Variances | None = None) -> tuple[Items, Variances]:
    """The answers as items of the `judged` systems, and the variances, the likeliest if not given."""
    first, second = (np.searchsorted(judged, side) for side in (answers.first, answers.second))
    won, lost = answers.weight * answers.outcome, answers.weight * (1 - answers.outcome)
    items = Items.of(len(judged), answers.topic, first, second, won, lost)
    if variances is None and answers.topics == ("",):  # in one topic, all that differs may be the systems
        variances = Variances(sum(effects.likely_variances(items)), NO_DEVIATION)
    return items, variances or effects.likely_variances(items)


def dispersion(answers: Answers) -> float:
    """How much outcomes vary compared with those of a coin: less, the more of them are ties."""
    ties = answers.weight[answers.outcome == HALF].sum() / max(answers.weight.sum(), 1e-9)
    return max(1 - float(ties), LEAST_DISPERSION)


@on_one_thread
def _standings(answers: Answers, judged: Places, fitted: Effects) -> tuple[Standing, Standing]:
    """Make the standings of win rates and of utilities."""
    names = tuple(answers.systems[k] for k in judged)
    rates, sloped = between_systems(fitted)
    moved = sloped(fitted.covariance).T
    covariance = sloped(moved)
    slopes, bends = _curves(fitted)
    skew = skewness(bends, moved, covariance)
    apart = np.diag(moved)[:, None] - moved.T
    own = halves(slopes * apart, bends * apart**2)
    of_utilities = _from_mean(_from_mean(fitted.covariance).T)
    annotators = _Annotators.of(answers, judged, fitted)
    return (
        annotators.standing(Scores(names, rates, covariance, len(answers), skew=skew, halves=own), sloped, fitted),
        annotators.standing(Scores(names, _from_mean(fitted.alpha), of_utilities, len(answers)), _from_mean, fitted),
    )


def _from_mean(X: Matrix) -> Matrix:
    """X (s, ...), each row less the mean of all."""
    return np.asarray(X - X.sum(axis=0) / max(len(X), 1))


@dataclass(frozen=True, slots=True)
class _Annotators:
    """Who gave the answers: their `numbers`, empty where some are not known; which share of the answers each gave; and
    how far they pull alpha, `pulls` (s, g)."""

    numbers: list[int]
    judged: Vector
    pulls: Matrix

    @classmethod
    def of(cls, answers: Answers, judged: Places, fitted: Effects) -> _Annotators:
        if not len(answers) or answers.annotator.min() < 0:
            return cls([], np.zeros(0), np.zeros((len(judged), 0)))
        numbers, who = np.unique(answers.annotator, return_inverse=True)
        pulls = _pulls(fitted, _surplus(answers, judged, fitted, who))
        weight = totals(who, answers.weight, len(numbers))
        return cls(numbers.tolist(), weight / weight.sum(), pulls)

    def standing(self, scores: Scores, sloped: Sloped, fitted: Effects) -> Standing:
        """The scores, which answer so to alpha, with what each annotator adds to them."""
        if not self.numbers:
            return scores.standing
        share = np.trace(sloped(sloped(fitted.of_answers).T)) / np.trace(scores.covariance)
        shares = Shares(self.judged, sloped(fitted.covariance @ self.pulls), float(share))
        return replace(scores, shares=shares).standing_by(self.numbers)


def _pulls(fitted: Effects, surplus: sparse.csr_array) -> Matrix:
    """(systems, annotators): the sum of A times `surplus` (items, annotators) over topics, one in memory at a time."""
    pulls = np.zeros((len(fitted.alpha), surplus.shape[1]))
    for topic in fitted.topics():
        own = surplus[topic.items]
        some = np.unique(own.indices)
        pulls[np.ix_(topic.systems, some)] += topic.A @ own[:, some].toarray()
    return pulls


def _surplus(answers: Answers, judged: Places, fitted: Effects, who: Places) -> sparse.csr_array:
    """(items, annotators): what each annotator's answers say of alpha. Wins observed - wins expected of the mode lack
    what its deviations have taken; with it they are the score of the marginal likelihood, to first order."""
    first, second, surplus = surpluses(answers, judged, fitted)
    delta, p = fitted.deviations, expit(fitted.theta[first] - fitted.theta[second])
    surplus = surplus + answers.weight * p * (1 - p) * (delta[first] - delta[second])
    entries = (np.concatenate([surplus, -surplus]), (np.concatenate([first, second]), np.tile(who, 2)))
    return sparse.coo_array(entries, shape=(len(fitted.items), int(who.max(initial=-1)) + 1)).tocsr()


def surpluses(answers: Answers, judged: Places, fitted: Effects) -> tuple[Places, Places, Vector]:
    """Compute of each answer (m,) the two items that it is about, and what the first won - what it was expected to."""
    items = fitted.items
    numbers = items.topic * len(judged) + items.system
    first, second = (
        np.searchsorted(numbers, answers.topic * len(judged) + np.searchsorted(judged, side))
        for side in (answers.first, answers.second)
    )
    return first, second, answers.weight * (answers.outcome - expit(fitted.theta[first] - fitted.theta[second]))


def between_systems(fitted: Effects) -> tuple[Vector, Sloped]:
    """Win rates (s,) in other topics, and how they answer to alpha."""
    s, alpha, spread = len(fitted.alpha), fitted.alpha, np.full(len(fitted.alpha), fitted.between_summaries)
    rates, others = np.zeros(s), max(s - 1, 1)
    for k in range(s):
        chances = expected(alpha[k] - alpha[k + 1 :], spread[k + 1 :])[0]
        rates[k] += chances.sum()
        rates[k + 1 :] += 1 - chances
    root = _root_of_slopes(lambda gaps: expected(gaps, spread)[1], alpha)
    total = (root @ root.sum(axis=0))[:, None]
    return rates / others, lambda X: np.asarray((total * X - root @ (root.T @ X)) / others)


def _root_of_slopes(slopes: Callable[[Vector], Vector], utilities: Vector) -> Matrix:
    """(n, r) with root @ root.T = the slopes of chances at the distances of each two utilities, by Cholesky's method
    with pivots: they are smooth, and so of a rank of some dozens, however many these are."""
    left, rows = slopes(np.zeros(len(utilities))), np.empty((0, len(utilities)))
    while left.max(initial=0.0) > NO_SLOPE:
        k = left.argmax()
        rows = np.vstack([rows, (slopes(utilities - utilities[k]) - rows[:, k] @ rows) / np.sqrt(left[k])])
        left = left - rows[-1] ** 2
        left[k] = 0.0
    return rows.T


def _curves(fitted: Effects) -> tuple[Matrix, Matrix]:
    """(s, s), (s, s): first and second derivatives of each system's win rate, by its distance from each other one."""
    s, alpha = len(fitted.alpha), fitted.alpha
    slopes, bends = np.zeros((2, s, s))
    for k in range(s):
        of_k = expected_slopes(alpha[k] - alpha[k + 1 :], np.full(s - k - 1, fitted.between_summaries))
        slopes[k, k + 1 :], bends[k, k + 1 :] = of_k
    others = max(s - 1, 1)
    return (slopes + slopes.T) / others, (bends - bends.T) / others


def _of_topic(rates: WinRates, number: int, topic: TopicItems | None) -> SummaryRates:
    """`topic`: where answers are about it. With M = I + `common` (A - I), 1 where no answer is about a summary, the
    covariance of theta is v M + M V M."""
    fitted, own = rates.effects, np.flatnonzero(rates.has[number, rates.judged])
    theta, V = fitted.expected(number, own)
    answered = rates.answers.topic == number
    common = _common(rates.answers.annotator[answered])
    place = np.searchsorted(own, topic.systems) if topic else NONE
    if topic is not None:
        theta[place] += common * (fitted.theta[topic.items] - theta[place])
    entries = np.full(len(place), np.sqrt(common)), (place, np.arange(len(place)))
    J = sparse.csr_array(entries, shape=(len(own), len(place)))
    M = Parts(np.where(np.isin(own, own[place]), 1 - common, 1.0), J, topic.A if topic else np.zeros((0, 0)))
    score, variance, *parts = _within(theta, common * fitted.variances.item, M, V)
    if len(own) == 1:
        score[:] = np.nan  # nothing to be preferred to
    names = tuple(rates.answers.systems[k] for k in rates.judged[own])
    return SummaryRates(names, score, np.sqrt(np.maximum(variance, 0.0)), Halves(*parts), int(answered.sum()))


def _within(theta: Vector, v: float, M: Parts, V: Matrix) -> Matrix:
    """(5, n): win rates among these summaries, their variances, and the halves of these. They answer to theta by the
    slopes P (1 - P) of each two. What all pairs say is worked out in blocks, and not kept."""
    n, others = len(theta), max(len(theta) - 1, 1)
    moved, root = M @ V, _root_of_slopes(lambda gaps: (1 - np.tanh(gaps / 2) ** 2) / 4, theta)
    of_roots, figures = M @ (v * root + moved.T @ root), np.empty((5, n))
    for some in slices(n, n, AT_ONCE):
        right, columns = np.ascontiguousarray(moved[some].T), np.arange(n)[some]
        diagonal = columns, columns - some.start
        right[diagonal] += v
        ahead = np.tanh((theta[some] - theta[:, None]) / 2)  # 2 P - 1
        slopes = (1 - ahead**2) / 4
        with_score = (slopes.sum(axis=0) * (M @ right) - of_roots @ root[some].T) / others
        apart = with_score[diagonal] - with_score
        weighed = slopes * apart
        figures[0, some] = 0.5 + ahead.sum(axis=0) / others / 2
        figures[1, some] = weighed.sum(axis=0) / others
        figures[2:, some] = halves(weighed.T / others, -(weighed * apart * ahead).T / others)
    return figures


def _common(annotators: Places) -> float:
    """How much of the deviations that these see in a topic others would see, too: half of what one of them sees."""
    numbers = np.unique(annotators, return_counts=True)[1]
    effective = numbers.sum() ** 2 / np.square(numbers).sum() if len(numbers) else 1.0
    return float(effective / (effective + 1))
