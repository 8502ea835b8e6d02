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
from preferendum.fit.effects import Effects, Items, Places, TopicItems, Variances
from preferendum.fit.kernel import expected, expected_bend, totals
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import HALF
from preferendum.results import Standing, SystemResult
from preferendum.scoring.covariance import root_of
from preferendum.scoring.scores import Scores
from preferendum.scoring.skewness import own_skewness, skewness

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]

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

    def by_topic(self) -> Iterator[tuple[str, Scores]]:
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
    s = len(judged)
    rates, slopes = between_systems(fitted)
    skew = skewness(_bends(fitted), fitted.covariance @ slopes.T, slopes)
    from_mean = np.identity(s) - 1 / max(s, 1)
    scored = ((rates, slopes, skew), (from_mean @ fitted.alpha, from_mean, None))
    annotators = _Annotators.of(answers, judged, fitted)
    win_rate, utility = (
        annotators.standing(
            Scores(names, values, own @ (fitted.covariance @ own.T), len(answers), skew=bent), own, fitted
        )
        for values, own, bent in scored
    )
    return win_rate, utility


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

    def standing(self, scores: Scores, slopes: Matrix, fitted: Effects) -> Standing:
        """The scores, which answer so to alpha, with what each annotator adds to them."""
        if not self.numbers:
            return scores.standing
        share = np.vdot(slopes @ fitted.of_answers, slopes) / np.trace(scores.covariance)
        shares = Shares(self.judged, slopes @ (fitted.covariance @ self.pulls), float(share))
        return replace(scores, shares=shares).standing_by(self.numbers)


def _pulls(fitted: Effects, surplus: sparse.csr_array) -> Matrix:
    """(systems, annotators): the sum of A times `surplus` (items, annotators) over topics, one in memory at a time."""
    pulls = np.zeros((len(fitted.alpha), surplus.shape[1]))
    for topic in fitted.topics():
        own = surplus[topic.items]
        some = np.unique(own.indices)
        pulls[np.ix_(topic.systems, some)] += (own[:, some].T @ topic.A).T
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


def between_systems(fitted: Effects) -> tuple[Vector, Matrix]:
    """Win rates (s,) in other topics, and how they answer to alpha (s, s)."""
    s = len(fitted.alpha)
    chances, slopes = np.empty((s, s)), np.empty((s, s))
    for k, own in enumerate(fitted.alpha):
        chances[k], slopes[k] = expected(own - fitted.alpha, np.full(s, fitted.between_summaries))
    np.fill_diagonal(chances, 0.0)
    np.fill_diagonal(slopes, 0.0)
    return _means(chances, slopes)


def _bends(fitted: Effects) -> Matrix:
    """(s, s): the second derivatives of each system's win rate, by its distance from each other one."""
    s = len(fitted.alpha)
    rows = (expected_bend(own - fitted.alpha, np.full(s, fitted.between_summaries)) for own in fitted.alpha)
    return np.array([*rows]).reshape(s, s) / max(s - 1, 1)


def _means(chances: Matrix, slopes: Matrix) -> tuple[Vector, Matrix]:
    """The means of each row over all others: win rates, and their slopes in the utilities; both (n, n) are 0 on the
    diagonal.
    """
    others = max(len(chances) - 1, 1)
    return chances.sum(axis=1) / others, (np.diag(slopes.sum(axis=1)) - slopes) / others


def _of_topic(rates: WinRates, number: int, topic: TopicItems | None) -> Scores:
    """`topic`: where answers are about it."""
    fitted, own = rates.effects, np.flatnonzero(rates.has[number, rates.judged])
    A, (theta, of_systems) = np.identity(len(own)), fitted.expected(number, own)
    answered = rates.answers.topic == number
    common = _common(rates.answers.annotator[answered])
    if topic is not None:
        place = np.searchsorted(own, topic.systems)
        A[np.ix_(place, place)] += common * (topic.A - np.identity(len(place)))
        theta[place] += common * (fitted.theta[topic.items] - theta[place])
        for _side in range(2):  # A V A, V being symmetric
            own_rows = of_systems[place]
            of_systems[place] += common * (topic.times(own_rows) - own_rows)
            of_systems = np.ascontiguousarray(of_systems.T)
    covariance = common * fitted.variances.item * A + of_systems
    chances = expit(theta[:, None] - theta)
    np.fill_diagonal(chances, 0.0)
    others, both = max(len(own) - 1, 1), chances * chances.T
    scores, bends = chances.sum(axis=1) / others, both * (1 - 2 * chances) / others
    if len(own) == 1:
        scores[:] = np.nan  # nothing to be preferred to
    names = tuple(rates.answers.systems[k] for k in rates.judged[own])
    sloped = _sloping(both)
    moved = sloped(covariance).T
    spread = sloped(moved)
    skew = np.diag(own_skewness(bends, moved, spread.diagonal()))
    return Scores(names, scores, spread, int(answered.sum()), skew=skew)


def _sloping(both: Matrix) -> Callable[[Matrix], Matrix]:
    """X (n, m) -> the slopes, as in `_means`, times X. `both` (n, n): P (1 - P), 0 on the diagonal, where 1/4 makes
    them a smooth kernel of the utilities and so of a rank of some dozens, however many these are."""
    root, total = root_of(both + np.identity(len(both)) / 4), both.sum(axis=1)[:, None] + 1 / 4
    return lambda X: np.asarray((total * X - root @ (root.T @ X)) / max(len(both) - 1, 1))


def _common(annotators: Places) -> float:
    """How much of the deviations that these see in a topic others would see, too: half of what one of them sees."""
    numbers = np.unique(annotators, return_counts=True)[1]
    effective = numbers.sum() ** 2 / np.square(numbers).sum() if len(numbers) else 1.0
    return float(effective / (effective + 1))
