"""Scores of summaries and systems, with what they rest on."""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import starmap
from typing import Any, Literal, Protocol

from preferendum.metrics.names import AS_PRINTED, COMBINED, COVERAGE, IMPORTANCE, PREFERENCES, WIN_RATE

#: What stands for a row of a table: its primary key where the worker stores it, its name where it is shown.
Key = str | int
#: The combined score adds so many times importance to coverage: of p / (1 - p), the slope at 1/2.
ODDS = 4.0
Verdict = Literal["apart", "equal", "open", "early"]
#: In the names of scores from people's judgments (man) and simulated ones together, as in table 2 of Zopf (2018).
MIXED = " man+"


@dataclass(frozen=True, slots=True)
class Part:
    """One sentence of a summary and what it adds to the score as published: weight x factor x value.

    `nearest`: the source sentence most like it, None where nothing has a word in common with it; `similarity` to it;
    `value`: its strength; `factor`: what redundancy leaves of it (equation 5); `weight`: its share of the characters.
    """

    text: str
    nearest: Key | None
    similarity: float
    value: float
    factor: float
    weight: float

    @property
    def contribution(self) -> float:
        """What it adds to the score."""
        return self.weight * self.factor * self.value


@dataclass(frozen=True, slots=True)
class WordTerm:
    """What one word of a summary adds to its score: occurrences x idf x factor / total.

    `factor`: value - mean for importance, 1 for coverage, 1 + `ODDS` (value - mean) for combined. `sentences`: the
    source sentences with the word, and how often it occurs; the mean of their values over these occurrences is `value`.
    """

    word: str
    occurrences: int
    idf: float
    value: float
    factor: float
    contribution: float
    sentences: tuple[tuple[Key, int], ...]


@dataclass(frozen=True, slots=True)
class SourceWords:
    """The words of a topic's sources that its summaries use, and which of them each system has.

    `total`: occurrences x idf, summed over all words of the sources; `mean`: their mean value, so weighted; `spelled`:
    the number of a word by each of its forms in a summary, in lower case.
    """

    total: float
    mean: float
    words: tuple[str, ...]
    occurrences: tuple[int, ...]
    idf: tuple[float, ...]
    values: tuple[float, ...]
    sentences: tuple[tuple[tuple[Key, int], ...], ...]
    of_systems: Mapping[str, tuple[int, ...]]
    spelled: Mapping[str, int] = field(default_factory=dict)

    def terms(self, system: str, score: str) -> tuple[WordTerm, ...]:
        """The terms of a system's score, the largest first; they add up to it."""
        terms = (self._term(word, score) for word in self.of_systems.get(system, ()))
        return tuple(sorted(terms, key=lambda term: (-term.contribution, term.word)))

    def _term(self, k: int, score: str) -> WordTerm:
        value, occurrences, idf = self.values[k], self.occurrences[k], self.idf[k]
        ahead = value - self.mean
        factor = {"importance": ahead, "combined": 1.0 + ODDS * ahead, "coverage": 1.0}[score]
        contribution = occurrences * idf * factor / self.total
        return WordTerm(self.words[k], occurrences, idf, value, factor, contribution, self.sentences[k])


def as_metrics(kind: str, score: float | None, coverage: float | None) -> dict[str, float | None]:
    """What a stored score of a kind tells of a summary, by the names of metrics: combined is C + `ODDS` I.

    None of a summary without a word of its sources: it has no importance and no combined score, and is not ranked.
    """
    if kind in ("published", WIN_RATE):
        return {AS_PRINTED if kind == "published" else WIN_RATE: score}
    if coverage is None:
        return {}
    if kind == "coverage":
        return {COVERAGE: coverage}
    if score is None:
        return {IMPORTANCE: None, COMBINED: None, COVERAGE: coverage}
    own = score if kind == "importance" else (score - coverage) / ODDS
    return {IMPORTANCE: own, COMBINED: coverage + ODDS * own, COVERAGE: coverage}


def rests_on_answers(metric: str) -> bool:
    """Whether the metric is one of the study's own scores."""
    return metric == WIN_RATE or metric.startswith(PREFERENCES)


def is_tested(score: str) -> bool:
    """Whether systems may be called different on this score. Most of combined is words, with or without answers: a coin
    tells 66 to 100% of the pairs of systems apart; as published, where errors are not calibrated, 3 to 9%."""
    return score in ("importance", WIN_RATE)


def has_intervals(score: str) -> bool:
    """Whether the judgments say how far this score may be off; not as published, where their errors are not
    calibrated."""
    return score != "published"


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What each system's score was when only the first so many judgments were there."""

    judgments: int
    scores: Mapping[str, float]


class Rows(Protocol):
    """A matrix row by row: tuples of tuples, or an array."""

    def __getitem__(self, row: int, /) -> Any: ...

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class AnnotatorShares:
    """What each annotator brings to the scores of a topic: `judged` (g,), which share of the judgments, and `added`
    (g, s), what these add to what the fit expects (`preferendum.fit.chances`). `of_answers`: which share of the scores'
    variance is that of answers; the rest, of topics for example, is the same for all annotators."""

    annotators: tuple[Key, ...]
    judged: tuple[float, ...]
    added: Rows
    of_answers: float = 1.0


@dataclass(frozen=True, slots=True)
class Standing:
    """What one topic says of the systems: `scores` (s,), their `covariance` (s, s), and the judgments beneath.

    `shares`: of the annotators, where these are known and judgments decide the scores. `skew` (s, s) and `halves`
    (3, s): how fast the errors of the row's score less the column's, and of each score, grow
    (`preferendum.scoring.skewness`), where they do.
    """

    systems: tuple[str, ...]
    scores: tuple[float, ...]
    covariance: Rows
    judgments: int
    shares: AnnotatorShares | None = None
    skew: Rows | None = None
    halves: Rows | None = None


@dataclass(frozen=True, slots=True)
class ScoreCovariance:
    """How sure the scores of one topic are together: the numbers of a `matrix` (s, s), in the order of `systems`.

    Of too many systems to compare every two (`preferendum.scoring.covariance`) a `factor` is kept instead, and the
    `ranks` from ... to ... that the significant differences leave them. Without either nothing is known. `annotators`,
    `judged`, `added`, `of_answers`: their shares (`AnnotatorShares`).
    """

    systems: tuple[str, ...] = ()
    matrix: str = ""
    factor: str = ""
    ranks: tuple[tuple[int | None, int | None], ...] = ()
    annotators: tuple[Key, ...] = ()
    judged: tuple[float, ...] = ()
    added: str = ""
    of_answers: float = 1.0


@dataclass(frozen=True, slots=True)
class SystemResult:
    """A system's mean score over its topics. `se`, `low`, `high` (95%) are None where they are unknown.

    `rank`: 1 is best, equals share it; `rank_low` to `rank_high`: 1 + the number of systems that are significantly
    better, to the number of those that are not significantly worse (itself included); None where nothing is tested.
    `topics`: those where it has a score; `lacking`: those where it has none, and only others have.
    `coverage`: the mean over the same topics, where it is shown next to the score.
    """

    system: str
    score: float
    se: float | None
    low: float | None
    high: float | None
    rank: int
    rank_low: int | None
    rank_high: int | None
    topics: int
    coverage: float | None = field(default=None, kw_only=True)
    lacking: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class PredictedSystem:
    """A system without judgments, its win rate as predicted from the texts of judged summaries, and its 95% interval;
    `answers`: so many answers about it would be as informative."""

    system: str
    score: float
    low: float
    high: float
    answers: int


@dataclass(frozen=True, slots=True)
class PredictedSystems:
    """Those of a study. `feature`: what they are predicted from, None where nothing predicts."""

    systems: tuple[PredictedSystem, ...]
    feature: str | None


@dataclass(frozen=True, slots=True)
class LeaderboardRow(SystemResult):
    """A system's place on a leaderboard. `better_than`: the systems that it is significantly better than.

    `summary`: on a topic's board, the number of the system's summary. `person`: a person wrote the summaries.
    """

    better_than: tuple[str, ...] = ()
    summary: int | None = None
    person: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one system's mean score is than another's, over the topics that both summarized.

    `p`: two-sided, adjusted for the number of pairs looked at (Holm 1979); `significant`: p <= .05. `low`, `high` are
    the unadjusted 95% interval. All four are None where nothing can be said. `topics`: how many, where it was kept.
    `planned_share`: by the stop rule, p and the interval hold at every look, and this share of the planned judgments
    was in; None: they are those of one look.
    """

    better: str
    worse: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    significant: bool | None
    topics: int | None = None
    planned_share: float | None = None

    def within(self, most: float) -> Difference:
        """The difference with an interval to be shown, where no difference can be larger than `most`."""
        low, high = (None if end is None else min(max(end, -most), most) for end in (self.low, self.high))
        return replace(self, low=low, high=high)

    def verdict(self, equal_within: float) -> Verdict:
        """Whether the two differ; by the stop rule, whether they differ by less than `equal_within`; "open" where
        neither is certain, "early" where nothing is tested."""
        if self.significant is None:
            return "early"
        if self.significant:
            return "apart"
        is_small = (
            self.low is not None and self.high is not None and -equal_within < self.low <= self.high < equal_within
        )
        return "equal" if is_small and self.planned_share is not None else "open"


@dataclass(frozen=True, slots=True)
class Differences:
    """Differences as they are kept, in a column for each field of `Difference`: of sixty systems there are 1,770.

    Of columns of fractions the bytes are kept (`preferendum.statistics.packed`), not a number where a value is unknown.
    """

    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    difference: str = ""
    low: str = ""
    high: str = ""
    p: str = ""
    significant: tuple[bool | None, ...] = ()
    topics: tuple[int | None, ...] = ()
    planned_share: tuple[float | None, ...] = ()

    @property
    def _columns(self) -> list[Sequence[Any]]:
        columns = (getattr(self, column.name) for column in fields(self))
        return [_numbers(own) if isinstance(own, str) else own for own in columns]

    @property
    def rows(self) -> tuple[Difference, ...]:
        """The differences one by one."""
        return tuple(starmap(Difference, zip(*self._columns, strict=True)))

    def between(self, first: str, second: str) -> Difference | None:
        """The difference between two systems; None where they were not compared."""
        pairs = zip(self.better, self.worse, strict=True)
        wanted = {(first, second), (second, first)}
        k = next((k for k, pair in enumerate(pairs) if pair in wanted), None)
        return None if k is None else Difference(*(column[k] for column in self._columns))


def _numbers(packed: str) -> list[float | None]:
    return [None if math.isnan(own) else own for (own,) in struct.iter_unpack("<d", base64.b64decode(packed))]
