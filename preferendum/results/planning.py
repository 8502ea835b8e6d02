"""How many judgments a study needs, computed from its own texts (`preferendum.scoring.planning`), and what replays
say."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

#: A judgment takes so long where nobody has judged yet.
SECONDS = 15.0
#: People read so many words of English a minute (Brysbaert 2019), and then choose: two sentences come to `SECONDS`.
WORDS_A_MINUTE, SECONDS_TO_CHOOSE = 238, 5.0
#: A word with the space after it, for texts whose words were not counted.
CHARACTERS_A_WORD = 6


def seconds_of(words: float) -> float:
    """To read two texts of so many words together and choose one, where the annotators' pace is unknown."""
    return SECONDS_TO_CHOOSE + words * 60 / WORDS_A_MINUTE


#: Pairs of sentences, and of summaries, which take longer to read, in a row.
RUNS = {False: 10, True: 5}


def summaries_among(turns: int, pairs: int, share: float, *, first: bool = False) -> int:
    """How many of the first `turns` of one annotator's `pairs` are of summaries, so that in the end their `share` is.

    The pairs are cut into stretches of a run of sentences and a run of summaries, which are `first` or last. After
    these pairs the pattern is repeated.
    """
    total = math.floor(share * pairs + 0.5)
    runs = max(1, min(math.ceil(total / RUNS[True]), math.ceil((pairs - total) / RUNS[False])))
    rounds, turn = divmod(turns, pairs)
    stretch = turn * runs // pairs
    start, end = (math.ceil(number * pairs / runs) for number in (stretch, stretch + 1))
    before, after = (total * number // runs for number in (stretch, stretch + 1))
    here = turn - start if first else turn - (end - (after - before))
    return rounds * total + before + min(max(here, 0), after - before)


@dataclass(frozen=True, slots=True)
class ForecastPoint:
    """With so many judgments a topic: the standard error of the difference of two systems over all topics, the standard
    deviation of that error over simulated studies, and the mean standard error of a sentence's utility. None where
    nothing can be said."""

    judgments: int
    se: float | None
    sd: float | None
    sentence_se: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
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

    def error(self, answers: float, topics: int) -> float | None:
        """The standard error of the difference of two systems after so many answers about so many such topics together;
        None where nothing can be said. Between the numbers that were simulated it falls by a power of them, beyond by
        the square root."""
        a_topic, errors = answers / topics, _falling(self.points)
        after = next((k for k, (size, _se) in enumerate(errors) if size >= a_topic), None)
        if not errors:
            return None
        if after is None or after == 0:
            size, se = errors[-1 if after is None else 0]
            power = -0.5
        else:
            (size, se), (next_size, next_se) = errors[after - 1 : after + 1]
            power = math.log(next_se / se) / math.log(next_size / size)
        return se * math.pow(a_topic / size, power) * math.sqrt(self.topics / topics)


@dataclass(frozen=True, slots=True)
class SummaryForecast:
    """What is to be expected of answers about whole summaries, by number of answers a topic.

    `system_variance`, `item_variance`: of the systems, and of their summaries' deviations; `learnt_from`: so many
    answers, 0 where they are usual ones. `words`: of two summaries together, on average. `unclear`: the mean of p (1 -
    p) over two summaries of two systems, p the chance of an answer.
    """

    topics: int
    systems: int
    system_variance: float
    item_variance: float
    learnt_from: int
    words: float
    unclear: float
    points: tuple[ForecastPoint, ...] = ()
    stop_rule: bool = False

    def error(self, answers: float, topics: int) -> float:
        """The standard error of the difference of two systems' win rates after so many answers about so many such
        topics together, spread evenly (docs/model.md, Whole summaries). Infinitely many leave that of the topics."""
        others = (self.systems - 1) * topics / answers
        variance = 2 * (others / (2 * self.unclear) + self.item_variance * max(1.0, others)) / topics
        return self.unclear * self.systems / (self.systems - 1) * math.sqrt(variance)


def _falling(points: Iterable[ForecastPoint]) -> list[tuple[int, float]]:
    """Numbers of judgments with their errors, each at most the one before: what grows was luck."""
    errors = [(point.judgments, point.se) for point in points if point.se]
    return list(zip([size for size, _se in errors], accumulate((se for _size, se in errors), min), strict=True))


@dataclass(frozen=True, slots=True)
class Pace:
    """How many `seconds` an answer takes: the mean of those that were "taken"; "said", by a reader; by the words to
    "read", where no times are known, or where those are "too fast" to have read them; "guessed", without either."""

    seconds: float
    basis: Literal["taken", "said", "read", "too fast", "guessed"]


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
