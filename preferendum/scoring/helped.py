"""Win rates as people would judge, with what machine judges say of systems and summaries borrowed (docs/model.md).

Each judge's answers are fitted alone by the product's fit (`preferendum.scoring.win_rate`), its preference for a side
taken out, to alpha^M and theta^M. With m = alpha^M, centred, divided by its standard deviation, and z_ti = theta^M_ti -
alpha^M_i, less its system's mean over topics, divided by the standard deviation of z_ti - z_tj over all pairs,

    alpha_i  = g m_i + u_i,     g ~ N(0, 2^2),  u_i ~ N(0, tau^2), of systems by the judge's maker N(0, 2^2)
    delta_ti = h z_ti + e_ti,   h ~ N(0, 1),    e_ti ~ N(0, s_d^2)

in the model of people's answers (`preferendum.fit.effects`): tau is the judge's bias a system. Means and covariances
are those of the mixture over tau, 7 points weighed by evidence and a log-normal prior. Other topics have other z: h^2
times the covariance of z_ti, over the number of topics, is added to the variances of alpha.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from preferendum.fit import effects
from preferendum.fit.effects import Borrowed, Effects, Places
from preferendum.fit.threads import on_one_thread
from preferendum.formats.answers import HALF
from preferendum.results import Ground, Standing
from preferendum.results.helped import FEWEST_ANSWERS, FEWEST_SYSTEMS, Help, HelpedBoard, SummaryScore, WhyNot
from preferendum.results.judge_card import Bias
from preferendum.results.statistics import LEVEL, Z95
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.stopping import StopRule
from preferendum.scoring.win_rate import (
    ENDS,
    Answers,
    Flags,
    Matrix,
    Vector,
    WinRates,
    dispersion,
    fit,
    in_topics,
    rates_of,
    win_rates,
)
from preferendum.statistics import holm

#: The standard deviation of g, and of u of systems by the judge's maker.
WIDE = 2.0
#: tau, and its prior: log tau is normal around the logarithm of `USUAL_BIAS`. With .4 intervals of differences covered
#: .865 in one world of the prototypes (benchmarks/results/judges.md).
BIASES = np.geomspace(0.05, 2.0, 7)
USUAL_BIAS, LOG_BIAS_SPREAD = 0.6, 0.6
#: Nothing is borrowed of a judge for whom systems, or the summaries of a topic, differ by less.
LEAST_SPREAD = 0.01


@dataclass(frozen=True, slots=True)
class JudgeFit:
    """A judge's answers, fitted alone: `alpha` (s,) of all systems, nan where it did not judge, and their `covariance`;
    `z` (topics, s), 0 where it did not judge; `first`: the mean share of the win that the first shown has."""

    alpha: Vector
    covariance: Matrix
    z: Matrix
    judged: Places
    topics: int
    first: float


def judge_fit(answers: Answers) -> JudgeFit:
    """Fit the answers of one judge. Raises `newton.NotConverged`."""
    first = float(answers.outcome.mean()) if len(answers) else HALF
    level = replace(answers, outcome=answers.outcome - first + HALF, weight=answers.weight / dispersion(answers))
    judged = np.unique(np.concatenate([answers.first, answers.second]))
    fitted = fit(level, judged)
    alpha, z = np.full(len(answers.systems), np.nan), np.zeros((len(answers.topics), len(answers.systems)))
    alpha[judged] = fitted.alpha
    items = fitted.items
    is_judged = np.zeros(z.shape, dtype=np.bool_)
    is_judged[items.topic, judged[items.system]] = True
    z[is_judged] = fitted.deviations
    z -= is_judged * (z.sum(axis=0) / np.maximum(is_judged.sum(axis=0), 1))
    spread = float(np.sqrt(_between(z[:, judged, None])[0, 0]))
    z = z / spread if spread > LEAST_SPREAD else np.zeros(z.shape)
    return JudgeFit(alpha, fitted.covariance, z, judged, int(is_judged.any(axis=1).sum()), first)


def _between(z: Matrix) -> Matrix:
    """(c, c): the covariance of z_ti - z_tj (topics, s, c) over the pairs of all topics that have any z."""
    own = z[np.abs(z).sum(axis=(1, 2)) > 0]
    s = z.shape[1]
    if not len(own) or s < 2:
        return np.zeros((z.shape[2],) * 2)
    sums = own.sum(axis=1)
    squares = s * np.einsum("tic,tid->cd", own, own) - np.einsum("tc,td->cd", sums, sums)
    return np.asarray(2 * squares / (s * (s - 1) * len(own)))


@dataclass(frozen=True, slots=True)
class Helper:
    """What is borrowed of judges for people's answers. `by_maker` (systems,): whether the judge's maker made them."""

    fits: tuple[JudgeFit, ...]
    by_maker: Flags

    @classmethod
    def of(cls, rates: WinRates, fits: Sequence[JudgeFit], by_maker: Flags) -> Helper | WhyNot:
        """Prepare what is borrowed for people's answers, of these `rates`; the reason where nothing is."""
        if len(rates.answers) < FEWEST_ANSWERS:
            return "few_answers"
        if len(rates.judged) < FEWEST_SYSTEMS:
            return "few_systems"
        telling = tuple(own for own in fits if _centred(own.alpha[rates.judged]).any())
        return cls(telling, by_maker) if telling else "all_equal"

    def fit(self, alone: Effects, judged: Places) -> Effects:
        """Fit people's answers, which were fitted `alone` before. Raises `newton.NotConverged`."""
        of_systems = WIDE * np.column_stack([_centred(own.alpha[judged]) for own in self.fits])
        z = np.stack([own.z[:, judged] for own in self.fits], axis=2)
        wide = np.where(self.by_maker[judged], WIDE**2, np.nan)
        borrowed = Borrowed(wide, of_systems, z, _between(z))
        fits: list[Effects] = []
        for tau in BIASES.tolist():
            own = replace(borrowed, variances=np.where(np.isnan(wide), tau**2, wide))
            fits.append(effects.fit(alone.items, alone.variances, borrowed=own, near=fits[-1] if fits else None))
        prior = -(np.log(BIASES / USUAL_BIAS) ** 2) / (2 * LOG_BIAS_SPREAD**2)
        log_weights = np.array([own.log_evidence for own in fits]) + prior
        weights = np.exp(log_weights - log_weights.max())
        return self._mixture(fits, weights / weights.sum())

    def _mixture(self, fits: Sequence[Effects], weights: Vector) -> Effects:
        borrowed = fits[0].borrowed
        assert borrowed is not None
        s, c = borrowed.of_systems.shape
        modes = np.array(
            [[*(own.alpha - borrowed.of_systems @ own.coefficients[:c]), *own.coefficients] for own in fits]
        )
        mean = weights @ modes
        off = modes - mean
        joint = np.einsum("q,qab->ab", weights, np.array([own.joint for own in fits])) + (weights * off.T) @ off
        to_alpha = np.hstack([np.identity(s), borrowed.of_systems, np.zeros((s, c))])
        h, topics = mean[s + c :], max(own.topics for own in self.fits)
        of_topics = float(h @ borrowed.between @ h) / 2 / max(topics, 1)
        return replace(
            fits[0],
            alpha=to_alpha @ mean,
            theta=weights @ np.array([own.theta for own in fits]),
            covariance=to_alpha @ joint @ to_alpha.T + of_topics * np.identity(s),
            of_answers=np.einsum("q,qab->ab", weights, np.array([own.of_answers for own in fits])),
            coefficients=mean[s:],
            joint=joint,
        )


def _centred(alpha: Vector) -> Vector:
    """m: 0 where the judge did not judge, and everywhere if it hardly tells systems apart."""
    is_judged = np.isfinite(alpha)
    if is_judged.sum() < 2 or alpha[is_judged].std() < LEAST_SPREAD:
        return np.zeros(len(alpha))
    return np.where(is_judged, (alpha - alpha[is_judged].mean()) / alpha[is_judged].std(), 0.0)


def biases(fitted: Effects, systems: Sequence[str]) -> tuple[Bias, ...]:
    """The judge's bias for each system of a helped fit, the largest first."""
    borrowed = fitted.borrowed
    assert borrowed is not None
    s, c = borrowed.of_systems.shape
    from_mean = np.identity(s) - 1 / s
    u = from_mean @ (fitted.alpha - borrowed.of_systems @ fitted.coefficients[:c])
    errors = np.sqrt(np.diag(from_mean @ fitted.joint[:s, :s] @ from_mean))
    p = holm(2 * ndtr(-np.abs(u) / errors))
    columns = (systems, (-u).tolist(), (-u - Z95 * errors).tolist(), (-u + Z95 * errors).tolist(), p.tolist())
    rows = (Bias(*row) for row in zip(*columns, strict=True))
    return tuple(sorted(rows, key=lambda row: (-abs(row.value), row.system)))


class HelpedComparison(Comparison):
    """Compares systems by helped scores; p is twice the smaller one of people's answers alone and the helped ones, 1
    where the two have different directions."""

    def __init__(self, standings: Sequence[Standing], alone: Comparison) -> None:
        super().__init__(standings, stop_rule=alone.stop_rule)
        self._alone = alone

    @cached_property
    def _adjusted(self) -> Matrix:
        p = 2 * np.fmin(super()._adjusted, self._alone._adjusted)
        agree = self._contrasts.value * self._alone._contrasts.value > 0
        return np.where(agree, np.fmin(p, 1.0), 1.0)

    @cached_property
    def ground(self) -> Ground:
        """Whose answers these are: people's."""
        return self._alone.ground

    @property
    def equivalent_answers(self) -> int:
        """How many answers by people alone would make differences as sure."""
        alone, helped = (float(np.square(own._contrasts.se).mean()) for own in (self._alone, self))
        return round(self._judgments * alone / helped) if helped > 0 else self._judgments


@dataclass(frozen=True)
class Helped:
    """People's answers helped by machines: the `rates`, the systems compared by them, and, of one machine alone, its
    bias for each system, the largest first."""

    rates: WinRates
    comparison: HelpedComparison
    biases: tuple[Bias, ...]

    @property
    def biased(self) -> tuple[str, ...]:
        """The systems for which the machine is significantly biased."""
        return tuple(row.system for row in self.biases if row.p <= LEVEL)

    def topics(self) -> dict[str, tuple[SummaryScore, ...]]:
        """The win rates within each topic, by topic."""
        return {
            topic: tuple(SummaryScore(mean.system, mean.score, mean.se, mean.low, mean.high) for mean in own.means())
            for topic, own in self.rates.by_topic()
        }


@dataclass(frozen=True)
class Alone:
    """People's answers alone, fitted once for all machines: the `rates`, and the systems compared by them."""

    rates: WinRates
    comparison: Comparison

    @classmethod
    def of(cls, answers: Answers, has: Flags | None = None, stop_rule: StopRule | None = None) -> Alone:
        """Fit the answers, one or more. Raises `newton.NotConverged`."""
        rates = win_rates(answers, has)
        return cls(rates, Comparison([rates.standing], stop_rule=stop_rule))

    @on_one_thread
    def helped(self, fits: Sequence[JudgeFit], by_maker: Collection[str] = ()) -> Helped | WhyNot:
        """Help them with what these machines say; the reason where nothing is borrowed. `by_maker`: the systems of a
        machine's maker. Raises `newton.NotConverged`."""
        rates = self.rates
        helper = Helper.of(rates, fits, np.isin(rates.answers.systems, [*by_maker]))
        if isinstance(helper, str):
            return helper
        fitted = helper.fit(rates.effects, rates.judged)
        helped = rates_of(rates.answers, rates.has, rates.judged, fitted)
        own = biases(fitted, helped.standing.systems) if len(fits) == 1 else ()
        return Helped(helped, HelpedComparison([helped.standing], self.comparison), own)


def help_of(judge: str, answers: int, of_judge: int, helped: Helped | WhyNot) -> Help:
    """What a judge's `of_judge` answers add to people's `answers`."""
    if isinstance(helped, str):
        return Help(judge, answers, of_judge, helped)
    errs_most = helped.biases[0].system if helped.biases else ""
    return Help(judge, answers, of_judge, "", helped.comparison.equivalent_answers, helped.biased, errs_most)


def helped_board(own: Help, helped: Helped | WhyNot) -> HelpedBoard:
    """The systems in order, as people would judge; none where nothing is borrowed."""
    if isinstance(helped, str):
        return HelpedBoard(own)
    comparison = helped.comparison
    return HelpedBoard(own, in_topics(helped.rates.answers, comparison.ranked(*ENDS)), comparison.differences())
