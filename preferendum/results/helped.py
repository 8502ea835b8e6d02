"""People's answers about whole summaries helped by a machine judge: the records of its board (docs/model.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from preferendum.results.scores import Difference, SystemResult

#: Nothing is borrowed for fewer answers by people, or fewer systems.
FEWEST_ANSWERS, FEWEST_SYSTEMS = 10, 3
#: The key of a judge's `HelpedTopics`, after its name.
TOPICS = "topics"
#: Why nothing is borrowed of a judge: too few answers by people, too few systems, or it finds all equal; "" where
#: something is borrowed.
WhyNot = Literal["", "few_answers", "few_systems", "all_equal"]


@dataclass(frozen=True, slots=True)
class Help:
    """What a `judge` with so many answers, `of_judge`, adds to people's `answers`.

    `why_not`: why that is nothing, "" if it is something. `equivalent`: how many answers by people alone would be as
    sure; `biased`: the systems for which the judge is significantly biased, the largest bias first; `errs_most`: the
    system about which it errs most.
    """

    judge: str
    answers: int
    of_judge: int
    why_not: WhyNot = ""
    equivalent: int = 0
    biased: tuple[str, ...] = ()
    errs_most: str = ""


@dataclass(frozen=True, slots=True)
class HelpedBoard:
    """The `systems` in order as people would judge, with help, and the `differences` between every two; none where
    nothing is borrowed."""

    help: Help
    systems: tuple[SystemResult, ...] = ()
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryScore:
    """The win rate of a system's summary within its topic, with its standard error and 95% interval."""

    system: str
    score: float
    se: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class HelpedTopics:
    """The win rates of summaries, by topic."""

    topics: Mapping[str, tuple[SummaryScore, ...]]
