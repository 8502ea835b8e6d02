"""Systems put in order over topics, with intervals, the ranks that each may have, and which differences are sure.

`over` chooses one of two questions. "judgments": on these topics, how far could the scores move if other annotators had
judged, or other pairs been shown? "topics": how far could they move on other topics like these? The second takes the
topics for a sample and needs at least two of them. It is a paired t test: the variance between topics includes the
errors that the judgments leave, so nothing is added for these. In either case, errors include how far annotators
differ (`preferendum.scoring.between_annotators`), and near the bounds of a score they are not the same to both sides
(`preferendum.scoring.skewness`).

Where systems lack summaries, all scores and differences are those of system + topic (`preferendum.scoring.missing`), so
that they agree with each other; over topics, two systems' topics vary as those do that both have.

Everything is sums over topics of products of matrices (systems, systems), so that thousands of systems take seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtr, stdtr, stdtrit

from preferendum.results import Difference, Differences, Ground, Standing, SystemResult
from preferendum.results.statistics import DECIMALS, LEVEL, MOST_COMPARED, Mean, rank
from preferendum.scoring.between_annotators import Panel, Tastes, mean_away, squares_away
from preferendum.scoring.missing import Additive
from preferendum.scoring.skewness import Halves, signed_root
from preferendum.scoring.stopping import StopRule
from preferendum.statistics import holm, packed

Over = Literal["judgments", "topics"]
Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.int64]

#: Topics that agree so well by luck once in a hundred times are no sample of their own.
TOO_WELL = 0.01


@dataclass(frozen=True)
class Estimates:
    """Means over topics, of any shape, with standard errors, nan where they are unknown, the degrees of freedom of
    these, and numbers of topics.

    `halves`: how fast errors grow (`preferendum.scoring.skewness`). `stop_rule`, after so many `judgments`: intervals
    and p-values hold at every look, not at one.
    """

    value: Matrix
    se: Matrix
    freedom: Matrix
    topics: Matrix
    halves: Halves
    stop_rule: StopRule | None = None
    judgments: int = 0

    @property
    def interval(self) -> tuple[Matrix, Matrix]:
        """The ends of the 95% interval; nan where no answer could move the value, whose error is 0."""
        if self.stop_rule is None:
            quantile = np.asarray(stdtrit(self.freedom, 1 - LEVEL / 2), dtype=np.float64)
        else:
            quantile = self.stop_rule.quantile(self.judgments, self.freedom)
        se = np.where(self.se > 0, self.se, np.nan)
        down, up = self.halves.reach(quantile)
        return self.value - se * down, self.value + se * up

    @property
    def adjusted_p(self) -> Matrix:
        """Two-sided p-values of all tested together (Holm), by the errors at the estimate; none is below that of its
        own interval. What is not in doubt at all is sure, or equal."""
        off = np.abs(self.value)
        z = np.divide(off, self.se, out=np.full(off.shape, np.inf), where=self.se != 0)
        to_zero = np.where(self.value > 0, self.halves.down, self.halves.up)
        return np.fmax(holm(self._p(z)), self._p(signed_root(z, to_zero)))

    def means(self, systems: Sequence[str], lowest: float, highest: float, lacking: ArrayLike = 0) -> list[Mean]:
        """The estimates of these systems, with intervals between the `lowest` and the `highest` score."""
        low, high = self.interval
        of_errors = map(_known, (self.se, np.maximum(low, lowest), np.minimum(high, highest)))
        numbers = (own.astype(np.int64).tolist() for own in np.broadcast_arrays(self.topics, lacking))
        return list(map(Mean, systems, self.value.tolist(), *of_errors, *numbers))

    def _p(self, z: Matrix) -> Matrix:
        p = 2 * stdtr(self.freedom, -z)
        if self.stop_rule is not None:
            p = self.stop_rule.p(-z, self.judgments, self.freedom)
        return np.where((self.se == 0) & (self.value == 0), 1.0, p)


class Comparison:
    """Compares systems over the same topics, in the order of their names.

    Without `is_tested` (`preferendum.results.scores`) differences have only intervals, and there are no
    possible ranks.
    """

    def __init__(
        self,
        standings: Sequence[Standing],
        over: Over = "judgments",
        stop_rule: StopRule | None = None,
        *,
        is_tested: bool = True,
    ) -> None:
        if over == "topics" and stop_rule is not None:
            raise ValueError("the stop rule is about judgments, not about topics")
        self.over = over
        self.is_tested = is_tested
        self.stop_rule = stop_rule if is_tested else None
        self.systems = tuple(sorted({system for standing in standings for system in standing.systems}))
        self._place = {system: k for k, system in enumerate(self.systems)}
        self._judgments = sum(standing.judgments for standing in standings)
        judged = [standing for standing in standings if standing.judgments > 0]
        self._panel = Panel.of(judged)
        self._judged = self._sums(judged)
        self._others = self._sums([standing for standing in standings if standing.judgments <= 0])
        self._tastes = self._tastes_of(judged)
        self._skew, self._halves = self._errors_of(judged)

    def tested(self, *, is_tested: bool, stop_rule: StopRule | None = None) -> Comparison:
        """Compare the same topics with these instead; what rests on neither is not worked out again."""
        same = copy(self)
        for name in ("_contrasts", "_adjusted", "_significant"):
            vars(same).pop(name, None)
        same.is_tested, same.stop_rule = is_tested, stop_rule if is_tested else None
        return same

    @cached_property
    def ground(self) -> Ground:
        """Whose answers these are, and how far they differ."""
        panel = self._panel
        if panel is None:
            return Ground.of(self._judgments)
        return Ground.of(self._judgments, panel.number, panel.effective, self._tastes.spread)

    def ranked(self, lowest: float = -np.inf, highest: float = np.inf) -> tuple[SystemResult, ...]:
        """The systems by mean score, best first, with the ranks that significant differences leave them.

        Topics without judgments count only for a system that has no others. `lowest`, `highest`: the bounds of scores,
        and of the intervals that are shown.
        """
        significant = self._significant
        better = dict(zip(self.systems, significant.sum(axis=0).tolist(), strict=True))
        worse = dict(zip(self.systems, significant.sum(axis=1).tolist(), strict=True))
        return rank(self.means(lowest, highest), better, worse, is_tested=self.is_tested)

    def differences(self) -> tuple[Difference, ...]:
        """Every two systems that share a topic, once; none where there are too many."""
        return self.columns().rows

    def columns(self) -> Differences:
        """The differences as they are kept."""
        if len(self.systems) > MOST_COMPARED:
            return Differences()
        estimates = self._contrasts
        is_first, p = estimates.value >= 0, np.where(self.ground.is_early, np.nan, self._adjusted)
        (first, second), (low, high) = self._pairs, estimates.interval
        better, worse = np.where(is_first, first, second), np.where(is_first, second, first)
        share = None if self.stop_rule is None else self.stop_rule.share(self._judgments)
        return Differences(
            better=tuple(map(self.systems.__getitem__, better.tolist())),
            worse=tuple(map(self.systems.__getitem__, worse.tolist())),
            difference=packed(np.abs(estimates.value)),
            low=packed(np.where(is_first, low, -high)),
            high=packed(np.where(is_first, high, -low)),
            p=packed(p),
            significant=tuple(np.where(np.isnan(p), np.array(None), p <= LEVEL).tolist()),
            topics=tuple(estimates.topics.astype(np.int64).tolist()),
            planned_share=(share,) * len(p),
        )

    def means(self, lowest: float = -np.inf, highest: float = np.inf) -> list[Mean]:
        """The systems by name, with their mean scores and intervals between the `lowest` and the `highest` score."""
        judged, others = self._judged, self._others
        topics = np.where(judged.own > 0, judged.own, others.own)
        score = np.where(judged.own > 0, judged.score, others.score)
        lacking = np.where(judged.own > 0, judged.topics, others.topics) - topics
        estimates = self._estimates(
            score, (slice(-1), -1), self._halves, judged.squares, judged.own, judged.own, topics
        )
        return estimates.means(self.systems, lowest, highest, lacking)

    @cached_property
    def _pairs(self) -> tuple[Places, Places]:
        """(k,), (k,): each two systems that share a topic, once."""
        first, second = np.triu_indices(len(self.systems), 1)
        share = (self._judged.both + self._others.both)[first, second] > 0
        return (first, second) if share.all() else (first[share], second[share])

    @cached_property
    def _contrasts(self) -> Estimates:
        """(k,): how much better the first of each pair is than the second, over the topics that have both."""
        a, b = self._pairs
        sums, others = self._judged, self._others
        judged = sums.both[a, b]
        topics = np.where(judged > 0, judged, others.both[a, b])
        value = np.where(judged > 0, sums.differences(a, b), others.differences(a, b))
        value[np.abs(value) < 10.0**-DECIMALS] = 0.0
        squares = sums.apart[a, b] - judged * sums.shared(a, b) ** 2
        halves = Halves.of(self._skew[a, b])
        return self._estimates(value, (a, b), halves, squares, judged, sums.equivalent(a, b), topics)

    @cached_property
    def _adjusted(self) -> Matrix:
        """(k,): p-values of all pairs tested together; 1 where the topics that both have do not show the difference."""
        if not self.is_tested:
            return np.full(len(self._pairs[0]), np.nan)
        p, is_shown = self._contrasts.adjusted_p, self._contrasts.value * self._judged.shared(*self._pairs) > 0
        return np.where(is_shown | np.isnan(p), p, 1.0)

    @cached_property
    def _significant(self) -> Flags:
        """(s, s): whether the row is significantly better than the column."""
        sure = (self._adjusted <= LEVEL) & (not self.ground.is_early)
        first, second = (places[sure] for places in self._pairs)
        is_first = self._contrasts.value[sure] >= 0
        significant = np.zeros((len(self.systems), len(self.systems)), dtype=np.bool_)
        significant[np.where(is_first, first, second), np.where(is_first, second, first)] = True
        return significant

    def _estimates(
        self,
        value: Matrix,
        of: Any,
        halves: Halves,
        squares: Matrix,
        judged: Matrix,
        equivalent: Matrix,
        topics: Matrix,
    ) -> Estimates:
        """`of`: where sums are about these values; `squares`: sums of squared distances from the mean over `judged`
        topics, as informative as `equivalent` of them."""
        number = np.where(judged > 0, judged, np.nan)
        sums = self._judged.variances, self._judged.answers
        variance, of_answers = (np.maximum(own[of], 0.0) / number**2 for own in sums)
        freedom = np.full(value.shape, np.inf)
        if self.over == "topics":
            number, freedom = np.where(judged > 1, judged, np.nan), np.maximum(judged - 1.0, 1.0)
            squares, equivalent = np.maximum(squares, 0.0), np.where(judged > 1, equivalent, np.nan)
            well = _agree_too_well(squares, equivalent * variance, freedom)
            of_topics = squares / freedom / equivalent
            variance = np.where(well, np.fmax(variance, of_topics), of_topics)
        tastes = self._tastes
        of_answers = np.where(np.isnan(of_answers), 0.0, of_answers)
        whole = variance + (tastes.ratio - 1) * of_answers
        lost = variance**2 / freedom + (tastes.ratio * of_answers) ** 2 / tastes.freedom
        freedom = np.divide(whole**2, lost, out=np.full(value.shape, np.inf), where=lost > 0)
        return Estimates(value, np.sqrt(whole), freedom, topics, halves, self.stop_rule, self._judgments)

    def _sums(self, standings: Sequence[Standing]) -> _Sums:
        """Over some topics. Scores are taken from the middle of each topic for what is compared, so that nothing is
        lost where large numbers differ by little."""
        s = len(self.systems)
        scores, centred, has = (np.zeros((len(standings), s)) for _ in range(3))
        for row, standing in enumerate(standings):
            places = [self._place[system] for system in standing.systems]
            scores[row, places] = standing.scores
            centred[row, places] = scores[row, places] - (scores[row, places].mean() if places else 0.0)
            has[row, places] = 1.0
        own, fit = has.sum(axis=0), Additive(has > 0)
        plain = scores.sum(axis=0) / np.maximum(own, 1)
        compared = np.column_stack([has, np.ones(len(has))])
        of_answers = [1.0 if standing.shares is None else standing.shares.of_answers for standing in standings]
        return _Sums(
            topics=int(has.any(axis=1).sum()),
            own=own,
            score=plain if fit.is_whole else fit.means(scores),
            squares=(scores**2).sum(axis=0) - own * plain**2,
            both=_over_topics(has, has),
            ahead=_over_topics(centred, has),
            apart=self._apart(centred, has),
            variances=self._variances(standings, compared, fit),
            answers=self._variances(standings, compared, fit, of_answers),
            fit=fit,
        )

    def _variances(
        self, standings: Sequence[Standing], has: Matrix, fit: Additive, factors: Sequence[float] | Matrix | float = 1.0
    ) -> Matrix:
        """The variances of how far the row is ahead of the column: sums over topics, times their factors."""
        of_topics = [
            (places, factor * np.asarray(standing.covariance, dtype=np.float64).reshape(len(places), len(places)))
            for standing, factor in zip(standings, np.broadcast_to(factors, len(has)), strict=True)
            for places in [[self._place[system] for system in standing.systems]]
        ]
        covariance, variances = np.zeros((has.shape[1],) * 2), np.zeros(has.shape)
        if not fit.is_whole:
            covariance[:-1, :-1] = fit.covariance(of_topics)
            own = np.diag(covariance)
            return (own[:, None] + own - 2 * covariance) * np.square(has.T @ has)
        for row, (places, own) in enumerate(of_topics):
            variances[row, places] = np.diag(own)
            covariance[np.ix_(places, places)] += own
        spread = _over_topics(variances, has)
        return spread + spread.T - 2 * covariance

    def _tastes_of(self, standings: Sequence[Standing]) -> Tastes:
        """How far annotators differ, over every two systems."""
        a, b = self._pairs
        topics, fit = self._judged.both[a, b], self._judged.fit
        panel, a, b, topics = self._panel, a[topics > 0], b[topics > 0], topics[topics > 0]
        if panel is None or not panel.is_informative or not len(a):
            return Tastes()
        has = np.column_stack([fit.has, np.ones(len(standings))]).astype(np.float64)
        if fit.is_whole:
            away = squares_away(standings, self.systems, has)[a, b] / topics**2
            means = mean_away(standings, self.systems, has[:, :-1])
        else:
            parts = [self._part(fit, topic, standing) for topic, standing in enumerate(standings)]
            away = squares_away(parts, self.systems, np.ones(has.shape))[a, b]
            means = mean_away(parts, self.systems, np.ones((1, len(self.systems))))
        chance = self._variances(standings, has, fit, panel.chance)
        left = (float((own[a, b] / topics**2).mean()) for own in (chance, self._judged.answers))
        return Tastes.of(panel, means[:, self._judged.own > 0], float(away.mean()), *left)

    def _errors_of(self, standings: Sequence[Standing]) -> tuple[Matrix, Halves]:
        """(s, s): kappa of how far the row is ahead of the column; the halves of each. 0 where scores say nothing."""
        s = len(self.systems)
        skew, halves = np.zeros((s, s)), np.zeros((3, s))
        if len(standings) == 1 and standings[0].skew is not None and standings[0].halves is not None:
            places = [self._place[system] for system in standings[0].systems]
            skew[np.ix_(places, places)] = np.asarray(standings[0].skew, dtype=np.float64)
            halves[:, places] = np.asarray(standings[0].halves, dtype=np.float64)
        return skew, Halves(*halves)

    def _part(self, fit: Additive, topic: int, standing: Standing) -> Standing:
        """What the topic's annotators add to the means of all systems."""
        assert standing.shares is not None, "a panel has names"
        places = [self._place[system] for system in standing.systems]
        added = fit.parts(topic, places, np.asarray(standing.shares.added, dtype=np.float64))
        return replace(standing, systems=self.systems, shares=replace(standing.shares, added=added))

    def _apart(self, scores: Matrix, has: Matrix) -> Matrix:
        """(systems, systems): sums of squared differences; zeros over judgments, which do not need them."""
        if self.over == "judgments":
            return np.zeros((len(self.systems), len(self.systems)))
        squares = _over_topics(scores**2, has)
        return squares + squares.T - 2 * _over_topics(scores, scores)


@dataclass(frozen=True)
class _Sums:
    """Over `topics`, for each system (s,) or each two (s, s) that a topic has: `own`, `both`: how many; `score`: the
    mean; `squares`: of the distances from that of its own topics; `ahead`: of the row's score; `apart`: of squared
    differences; `variances` that judgments leave, and those of `answers` among them: (s + 1, s + 1), the last column
    for a score of 0, so each system's own. `score` and both variances are those of the `fit` where summaries are
    missing."""

    topics: int
    own: Matrix
    score: Matrix
    squares: Matrix
    both: Matrix
    ahead: Matrix
    apart: Matrix
    variances: Matrix
    answers: Matrix
    fit: Additive

    def shared(self, a: Places, b: Places) -> Matrix:
        """(k,): the mean of how far a is ahead of b, over the topics that have both."""
        return np.asarray((self.ahead[a, b] - self.ahead[b, a]) / np.maximum(self.both[a, b], 1))

    def differences(self, a: Places, b: Places) -> Matrix:
        """(k,): the differences of the scores."""
        return self.shared(a, b) if self.fit.is_whole else np.asarray(self.score[a] - self.score[b])

    def equivalent(self, a: Places, b: Places) -> Matrix:
        """(k,): how many topics with both would compare a and b as surely."""
        return self.both[a, b] if self.fit.is_whole else self.fit.equivalent[a, b]


def _agree_too_well(squares: Matrix, variance: Matrix, freedom: Matrix) -> Flags:
    """Whether topics vary less than the judgments' errors alone, `variance` a topic, let them: one given twice, say."""
    expected = np.divide(squares, variance, out=np.full(squares.shape, np.inf), where=variance > 0)
    return np.asarray(chdtr(freedom, expected) < TOO_WELL)


def _over_topics(left: Matrix, right: Matrix) -> Matrix:
    """(s, s): the sums over topics of products. (Zeros that are never read take no memory.)"""
    return left.T @ right if len(left) else np.zeros((left.shape[1], right.shape[1]))


def _known(values: Matrix) -> tuple[float | None, ...]:
    return tuple(np.where(np.isnan(values), np.array(None), values).tolist())
