"""Where a study is with one of its questions, and what more answers, annotators or topics would bring.

Today's interval of a difference of two systems, +-h, is that of the leaderboard. Its variance has a part of the
answers, one of the topics (of win rates, which hold for other topics, too), and one of the annotators, who err
together.
What a forecast expects of more answers or topics gives the shape of the first two; it is scaled such that after as many
answers as there are the interval is today's. Without a forecast, errors fall with the square root of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import NormalDist, median
from typing import Literal

from preferendum.formats.records import Of
from preferendum.results.ground import EARLIEST, Ground
from preferendum.results.planning import Forecast, SummaryForecast
from preferendum.results.scores import Difference, SystemResult
from preferendum.results.statement import Judged
from preferendum.results.statistics import LEVEL, Z95, quantile, z_of

#: What limits how well a difference is known.
Limit = Literal["answers", "annotators", "topics"]
#: The probability with which a study wants to detect that two systems differ.
POWER = 0.8
#: So many annotators show how far annotators differ.
FEWEST_ANNOTATORS = 3
#: Nothing is said of more than so many times the answers that there are, or that are planned.
FURTHEST = 10
#: What leaves more than this share of the interval is not worth its while.
HELPFUL = 0.92
#: Whoever gives fewer answers hardly pays for their first ones.
FEWEST_EACH = 10
#: Times the answers there are, or planned ones, that the curve and the table show, beside these.
STEPS = (0.5, 0.7, 1.5, 2, 3, 5)


@dataclass(frozen=True, slots=True)
class Step:
    """So many answers in all, by so many annotators, about so many topics, would know a difference to +-`half`."""

    answers: int
    annotators: int
    topics: int
    half: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """The record of one question.

    `now`: answers that count, by so many `annotators` (0: none is named); `judged`: of each kind, where that is known;
    `planned`: answers in all; `most`: as many as the pairs take, None where there is no end.
    `half`: half the (median) width of the intervals of differences, None where these have none; it is `errors` standard
    errors wide. `planned_share`: by the stop rule (`Difference`). `expected`: what a forecast says of such studies.
    """

    question: Of
    now: int
    annotators: int
    planned: int
    most: int | None
    topics: int
    systems: int
    ground: Ground
    half: float | None
    errors: float = Z95
    planned_share: float | None = None
    expected: Forecast | SummaryForecast | None = None
    judged: Judged = field(default_factory=Judged)

    @classmethod
    def of(
        cls,
        question: Of,
        now: int,
        annotators: int,
        half: float | None,
        ranked: Iterable[SystemResult],
        ground: Ground,
        *,
        planned_share: float | None = None,
        topics: int,
        planned: int = 0,
        most: int | None = None,
        expected: Forecast | SummaryForecast | None = None,
        judged: Judged | None = None,
    ) -> Outlook:
        """Today's interval is +-`half`; how many standard errors that is, the systems' own (`ranked`) tell."""
        ranked = tuple(ranked)
        low, high = (0.0, 1.0) if question == "summaries" else (-math.inf, math.inf)
        errors = [
            (own.high - own.low) / 2 / own.se
            for own in ranked
            if own.se and own.low is not None and own.high is not None and low < own.low <= own.high < high
        ]
        systems = len(ranked) or (expected.systems if expected else 0)
        return cls(
            *(question, now, annotators, planned, most, topics, systems, ground),
            half=half if half and math.isfinite(half) else None,
            errors=max([quantile(planned_share), *([median(errors)] if errors else [])]),
            planned_share=planned_share,
            expected=expected,
            judged=judged or Judged(),
        )

    @property
    def is_early(self) -> bool:
        """Whether there are too few answers, or annotators, to go by."""
        return self.now < EARLIEST or 0 < self.annotators < FEWEST_ANNOTATORS or self.ground.is_early

    @property
    def is_anchored(self) -> bool:
        """Whether today's interval is what the forecast starts from."""
        return self.half is not None and not self.is_early

    @property
    def to_come(self) -> int:
        """The planned answers in all, while there are fewer; else 0."""
        return self.planned if self.planned > self.now else 0

    @property
    def next_answers(self) -> int:
        """How many answers in all to speak of: the planned ones, or twice as many as there are; 0 without an end."""
        wanted = self.planned if self.planned > 1.1 * self.now else _in_two_digits(2 * self.now)
        wanted = wanted if self.most is None else min(wanted, self.most)
        return wanted if wanted > self.now else 0

    @property
    def furthest(self) -> int:
        """The largest number of answers that a forecast covers."""
        wanted = FURTHEST * max(self.now, self.planned) or FURTHEST**9
        return wanted if self.most is None else max(min(wanted, self.most), self.now)

    def after(self, answers: float, *, annotators: float = 1.0, topics: int | None = None) -> float | None:
        """Half the width of the interval after so many answers in all, by so many times the annotators; None where
        nothing can be said."""
        parts = self._parts(answers, annotators, topics)
        if parts is None:
            return None
        half = math.sqrt(sum(parts.values())) * self._errors(answers, annotators)
        return min(half, 1.0) if self.question == "summaries" else half

    def limit(self, answers: float) -> Limit | None:
        """What most of the error that so many answers leave is due to."""
        parts = self._parts(answers)
        return None if parts is None else max(parts.items(), key=lambda part: part[1])[0]

    def limit_of(self, difference: float) -> Limit | None:
        """What keeps systems that differ so much from being distinguished: the answers, unless no number would do."""
        limit = self.limit(self.furthest)
        return limit and (limit if (self.told_apart(math.inf) or math.inf) > difference else "answers")

    def told_apart(self, answers: float) -> float | None:
        """The difference of two systems that so many answers tell apart in 80% of studies, all systems compared (by
        Bonferroni's bound for Holm's test); None where none is so large."""
        half, share = self.after(answers), self._share(answers)
        if half is None:
            return None
        tests = max(self.systems * (self.systems - 1) // 2, 1)
        difference = half * (z_of(LEVEL, tests, share) + NormalDist().inv_cdf(POWER)) / quantile(share)
        return None if self.question == "summaries" and difference > 1 else difference

    def answers_to_tell(self, difference: float) -> int | None:
        """The fewest answers that tell systems apart that differ so much; None where no number up to the `furthest`
        does."""
        return self._fewest(lambda answers: (self.told_apart(answers) or math.inf) <= difference)

    def answers_to_narrow(self, share: float) -> int | None:
        """The fewest answers that leave this share of today's interval; None where no number up to the `furthest`
        does."""
        half = self.half
        if half is None or not self.is_anchored:
            return None
        return self._fewest(lambda answers: (self.after(answers) or math.inf) <= share * half)

    @property
    def more_answers(self) -> Step | None:
        """What more answers by the same annotators would bring, where that is worth it."""
        return self._step(self.next_answers, self.annotators, self.topics, self.half)

    @property
    def more_annotators(self) -> Step | None:
        """What twice the annotators would bring in place of the same, where these limit the answers to come."""
        now, answers = self.annotators, self.next_answers
        annotators = min(2 * now, answers // FEWEST_EACH)
        if annotators <= now or self.limit(answers) != "annotators":
            return None
        return self._step(answers, annotators, self.topics, self.after(answers))

    @property
    def more_topics(self) -> Step | None:
        """What twice the topics would bring with as many answers, where topics limit."""
        answers = self.next_answers or self.now
        if self.limit(answers) != "topics":
            return None
        return self._step(answers, self.annotators, 2 * self.topics, self.after(answers))

    def _step(self, answers: int, annotators: int, topics: int, other: float | None) -> Step | None:
        times = annotators / self.annotators if self.annotators else 1.0
        half = self.after(answers, annotators=times, topics=topics) if answers and self.is_anchored else None
        return (
            None if half is None or other is None or half > HELPFUL * other else Step(answers, annotators, topics, half)
        )

    @property
    def steps(self) -> tuple[int, ...]:
        """Numbers of answers to show: today's among some before and after it, and the planned one."""
        some = [_in_two_digits(share * (self.now if self.is_anchored else self.planned)) for share in STEPS]
        fixed = [self.now] if self.is_anchored else []
        numbers = {min(own, self.furthest) for own in (*some, *fixed, self.to_come) if own > 0}
        return tuple(sorted(own for own in numbers if self.after(own) is not None))

    def _parts(self, answers: float, annotators: float = 1.0, topics: int | None = None) -> dict[Limit, float] | None:
        """The parts of the variance of a difference."""
        topics = topics or self.topics
        by_answers, of_topics = self._shape(answers, topics), self._shape(math.inf, topics)
        if by_answers is None or of_topics is None:
            return None
        if not self.is_anchored or self.half is None:
            return {"answers": by_answers - of_topics, "annotators": 0.0, "topics": of_topics}
        today, now = (self.half / self.errors) ** 2, self._shape(self.now, self.topics)
        tastes = min((self.ground.spread or 0.0) ** 2 / max(self.ground.effective, 1.0), today)
        scale = (today - tastes) / now if now else 0.0
        of_annotators = tastes / annotators
        return {
            "answers": scale * (by_answers - of_topics),
            "annotators": of_annotators,
            "topics": scale * of_topics,
        }

    def _shape(self, answers: float, topics: int) -> float | None:
        """The variance that a forecast expects, of answers and topics."""
        if self.expected is None:
            return 1 / answers if self.is_anchored else None
        error = self.expected.error(answers, topics)
        return None if error is None else error**2

    def _share(self, answers: float) -> float | None:
        if not self.is_anchored:
            return 1.0 if self.expected is not None and self.expected.stop_rule else None
        return None if self.planned_share is None else min(1.0, self.planned_share * answers / self.now)

    def _errors(self, answers: float, annotators: float) -> float:
        """How many standard errors an interval reaches: more, the fewer annotators tell how far these differ."""
        usual = quantile(self._share(answers))
        if not self.is_anchored:
            return usual
        more = (self.errors / quantile(self.planned_share)) ** 2 - 1
        effective = max(self.ground.effective, 2.0)
        return usual * math.sqrt(1 + max(more, 0.0) * (effective - 1) / (annotators * effective - 1))

    def _fewest(self, is_enough: Callable[[int], bool]) -> int | None:
        """The smallest number, from today's on, that is enough; what is enough is also enough with more."""
        low, high = max(self.now, 1) if self.is_anchored else 1, self.furthest
        if not is_enough(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
        return high


def halfwidth(differences: Iterable[Difference]) -> float | None:
    """Half the median width of the intervals of differences; None where none is known."""
    halves = [(own.high - own.low) / 2 for own in differences if own.low is not None and own.high is not None]
    return median(halves) if halves else None


@dataclass(frozen=True, slots=True)
class Needed:
    """Between `low` and `high` answers in all might show a difference; there are `now`."""

    now: int
    low: int
    high: int


def needed(outlook: Outlook, clearness: float, tests: int) -> Needed | None:
    """How many answers might tell the clearest of so many differences from 0, if it is real.

    `clearness`: how many standard errors it is from 0 by now; one to either side is the range. Of k differences tested
    together the clearest is significant at .05 / k (Holm 1979). None where the range has no end in sight.
    """
    if not 1 < clearness < math.inf:
        return None
    wanted = z_of(LEVEL, tests, outlook.planned_share)
    low, high = (outlook.answers_to_narrow(min((clearness + se) / wanted, 1.0)) for se in (1, -1))
    if low is None or high is None:
        return None
    return Needed(outlook.now, *(own if own == outlook.now else _in_two_digits(own) for own in (low, high)))


def _in_two_digits(number: float) -> int:
    """Rounded up, for an estimate that knows no more."""
    step: int = 10 ** max(0, math.floor(math.log10(number)) - 1) if number > 0 else 1
    return math.ceil(number / step) * step
