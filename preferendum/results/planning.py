"""How many judgments a study needs, computed from its own texts (`preferendum.scoring.planning`), and what replays
say."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from preferendum.results.statistics import LEVEL, quantile, z_of

#: The probability with which a study wants to detect that two systems differ.
POWER = 0.8
#: Numbers of annotators that are compared, with the quantiles at .975 and, by the stop rule, .9875 of Student's
#: distribution with one degree of freedom less.
PANELS: Mapping[int, tuple[float, float]] = {
    2: (12.706, 25.452),
    5: (2.776, 3.495),
    10: (2.262, 2.685),
    20: (2.093, 2.433),
    50: (2.010, 2.312),
}
#: A judgment takes so long where nobody has judged yet.
SECONDS = 15.0
#: People read so many words of English a minute (Brysbaert 2019), and then choose: two sentences come to `SECONDS`.
WORDS_A_MINUTE, SECONDS_TO_CHOOSE = 238, 5.0
#: A word with the space after it, for texts whose words were not counted.
CHARACTERS_A_WORD = 6


def seconds_of(words: float) -> float:
    """To read two texts of so many words together and choose one, where the annotators' pace is unknown."""
    return SECONDS_TO_CHOOSE + words * 60 / WORDS_A_MINUTE


@dataclass(frozen=True, slots=True)
class ForecastPoint:
    """With so many judgments a topic: the standard error of the difference of two systems over all topics, the standard
    deviation of that error over simulated studies, and the mean standard error of a sentence's utility. None where
    nothing can be said."""

    judgments: int
    se: float | None
    sd: float | None
    sentence_se: float | None


class Telling:
    """What standard errors of the differences of so many `systems` tell, once all judgments are in."""

    __slots__ = ()
    systems: int
    stop_rule: bool
    points: tuple[ForecastPoint, ...]
    #: No difference is larger.
    most = math.inf

    @property
    def comparisons(self) -> int:
        """The number of pairs of systems."""
        return self.systems * (self.systems - 1) // 2

    def margin(self, se: float) -> float:
        """Half the width of the 95% interval of one difference, once all judgments are in."""
        return min(se * quantile(1.0 if self.stop_rule else None), self.most)

    def margin_of(self, se: float, spread: float, annotators: int) -> float:
        """Half the width of the 95% interval of one difference for all annotators of the kind; `spread`: the standard
        deviation between them.
        """
        error = math.hypot(se, spread / math.sqrt(annotators))
        return min(error * PANELS[annotators][self.stop_rule], self.most)

    def chance(self, se: float, difference: float) -> float:
        """The probability that a difference of this size is significant, once all judgments are in.

        A lower bound: the verdict is that on every two systems of the study, by Bonferroni's bound for Holm's test.
        """
        return NormalDist().cdf(difference / se - self._critical)

    def resolved(self, se: float) -> float | None:
        """The difference that is significant with a probability of 80%; None where none is so large."""
        difference = se * (self._critical + NormalDist().inv_cdf(POWER))
        return difference if difference <= self.most else None

    def error_for(self, difference: float) -> float:
        """The standard error with which it is."""
        return difference / (self._critical + NormalDist().inv_cdf(POWER))

    def needed(self, difference: float) -> int | None:
        """Judgments a topic with which this difference is significant with a probability of 80%; None where the largest
        number that was tried is not enough. Between two numbers, errors fall by a power of it."""
        errors = [(point.judgments, point.se) for point in self.points if point.se]
        return _crossing(errors, self.error_for(difference))

    @property
    def _critical(self) -> float:
        return z_of(LEVEL, max(self.comparisons, 1), 1.0 if self.stop_rule else None)


@dataclass(frozen=True, slots=True)
class Forecast(Telling):
    """What is to be expected of a study, by number of judgments a topic.

    `sampled` of its `topics` were simulated, `runs` times each from the `seed`; `sentences`: how many of them a topic
    has on average. `systems`: how many are compared; `are_standard`: whether they are those of standard summarizers,
    since the study has no two of its own yet. `variance`, `share`: of the prior that utilities are drawn from;
    `learnt_from`: so many judgments, 0 where they are usual ones. `careless`: the share of answers that a coin gives,
    `ties`: that of ties. `judgments_per_pair`: how many annotators answer each pair. `random_share`: of
    the pairs, drawn at random. `stop_rule`: whether verdicts hold at every look.
    """

    topics: int
    sampled: int
    runs: int
    seed: int
    sentences: float
    systems: int
    are_standard: bool
    variance: float
    share: float
    learnt_from: int
    careless: float
    ties: float
    judgments_per_pair: int
    stop_rule: bool
    points: tuple[ForecastPoint, ...]
    random_share: float = 1.0


@dataclass(frozen=True, slots=True)
class SummaryForecast(Telling):
    """What is to be expected of answers about whole summaries, by number of answers a topic.

    `system_variance`, `item_variance`: of the systems, and of their summaries' deviations; `learnt_from`: so many
    answers, 0 where they are usual ones. `words`: of two summaries together, on average.
    """

    topics: int
    systems: int
    system_variance: float
    item_variance: float
    learnt_from: int
    words: float
    points: tuple[ForecastPoint, ...]
    stop_rule: bool = False
    most = 1.0

    @property
    def seconds(self) -> float:
        return seconds_of(self.words)


def _crossing(errors: Sequence[tuple[int, float]], wanted: float) -> int | None:
    """The first number with an error of at most `wanted`; a smaller one than was tried counts as the smallest."""
    before: tuple[int, float] | None = None
    for judgments, error in errors:
        if error <= wanted:
            if before is None:
                return judgments
            slope = math.log(judgments / before[0]) / math.log(error / before[1])
            between: float = before[0] * (wanted / before[1]) ** slope
            return math.ceil(between)
        before = judgments, error
    return None


@dataclass(frozen=True, slots=True)
class Work:
    """What so many judgments are in hours, and in money where a pay by the hour is known."""

    judgments: int
    hours: float
    cost: float | None


def work(judgments: int, seconds: float, pay: float | None) -> Work:
    """`seconds` a judgment, `pay` an hour."""
    hours = judgments * seconds / 3600
    return Work(judgments, hours, None if pay is None else hours * pay)


@dataclass(frozen=True, slots=True)
class ReplayPoint:
    """What a study's first so many judgments a topic came to, on average over orders.

    `se`: of the difference of two systems over all topics; `sentence_se`: of a sentence's utility; `forecast` and
    `sentence_forecast`: their forecasts from the smallest number of judgments; `apart`: the share of the pairs of
    systems that differ significantly; `tau`: Kendall's, of the order of systems with that by all judgments.
    """

    judgments: int
    se: float | None
    forecast: float | None
    apart: float | None
    tau: float | None
    sentence_se: float | None
    sentence_forecast: float | None


@dataclass(frozen=True, slots=True)
class Replay:
    """A study's judgments in `runs` other orders."""

    topics: int
    systems: int
    runs: int
    seed: int
    points: tuple[ReplayPoint, ...]
