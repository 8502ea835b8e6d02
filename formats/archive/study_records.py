"""The plain records of a study's archive; `formats.archive.study` says what each file of it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from formats.records import Extra, Of, Topic
from formats.settings import StudySettings

Kind = Literal["human", "machine", "simulated"]
State = Literal["open", "judged", "skipped", "expired", "void"]
Use = Literal["training", "gold"]
Report = Literal["fragment", "same", "offensive", "other"]
ScoredByName = Literal["recommended", "published"]

KINDS = ("human", "machine", "simulated")
REASONS = ("random", "suggested", "imported", "training", "gold", "repeat")
USES = ("training", "gold")
SCORED_BY = ("recommended", "published")
STATES = ("open", "judged", "skipped", "expired", "void")
SKIP_REASONS = ("", "unclear", "broken", "language", "other")
REPORTS = ("fragment", "same", "offensive", "other")


def design_weight(reason: object, given: Any = None) -> float:
    """How many times likelier a pair would have been drawn if all that were left had been equally likely.

    Where nothing is `given`, a pair that was suggested was not drawn by lot (0), and others were equally likely (1).
    """
    if given is None:
        return 0.0 if reason == "suggested" else 1.0
    return float(given)


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A source sentence as it was cut; `<document>:<index>` is its name. `not_judged`: why annotators never see it."""

    topic: str
    document: str
    index: int
    paragraph: int
    text: str
    not_judged: str = ""


@dataclass(frozen=True, slots=True)
class AnnotatorRecord:
    """Who judged. The judgments of an excluded annotator are kept but do not count."""

    pseudonym: str
    kind: Kind
    joined_at: str
    excluded_at: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """A pair as it was shown. `key` is a UUID; `left` and `right` are names of sentences, or of the systems whose
    summaries they are (`of`); an open one has no end.

    `expected`: the side that was known to be right, if it was. `design_weight`: how many times likelier the pair would
    have been drawn if all that were left had been equally likely; None where its reason alone says how it was drawn.
    `drawn_for`: the systems that it was drawn to tell apart; None for all that its topic has.
    """

    key: str
    topic: str
    annotator: str
    left: str
    right: str
    occasion: int
    reason_shown: str
    state: State
    skip_reason: str
    holds_place: bool
    created_at: str
    closed_at: str | None
    expected: str = ""
    design_weight: float | None = None
    drawn_for: Sequence[str] | None = None
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
    """One revision of an answer; `assignment` is the key of what was shown, `extra` what it was brought with."""

    assignment: str
    revision: int
    answer: str
    seconds: float | None
    at: str
    source: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HistorySentence:
    """The words of a judged sentence or system's summary, which may be gone. `number` identifies it, from 0 in an
    archive; `document`: where it was, or the system."""

    number: int
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """One revision of an answer that no longer counts."""

    revision: int
    answer: str
    seconds: float | None
    at: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HistoryRecord:
    """A pair that was judged before its topic, or a text of the two, was removed or replaced, with all its answers."""

    key: str
    topic: str
    annotator: str
    left: HistorySentence
    right: HistorySentence
    occasion: int
    reason_shown: str
    holds_place: bool
    created_at: str
    closed_at: str | None
    expected: str
    answers: Sequence[HistoryAnswer]
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class GoldPairRecord:
    """Two sentences or summaries (`of`) of a topic, by name, with the right answer, its use and its explanation."""

    topic: str
    better: str
    worse: str
    use: Use
    explanation: str = ""
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class FitRecord:
    """One estimate. `utilities`: strength, utility, standard error by sentence; `scores`: score, standard error and
    interval by system; `scored_by`: as its study says, or as published; `coverage`: by system, next to the score."""

    topic: str
    judgments: int
    settings: Mapping[str, Any]
    program_version: str
    residual: float
    iterations: int
    data_version: int
    at: str
    utilities: Mapping[str, tuple[float, float, float | None]] = field(default_factory=dict)
    scores: Mapping[str, tuple[float | None, float | None, float | None, float | None]] = field(default_factory=dict)
    scored_by: ScoredByName = "recommended"
    coverage: Mapping[str, tuple[float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportedPairRecord:
    """What an annotator who skipped a pair said is wrong with it; `assignment` is the key of what was shown."""

    assignment: str
    reason: Report
    note: str
    at: str


@dataclass(frozen=True, slots=True)
class UploadRecord:
    """A file that was stored in the study: what it brought, by kind. `by`: whose it was, a number from 1, no name."""

    filename: str
    size: int
    sha256: str
    at: str
    by: int
    contents: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """Something that was removed or replaced, and how much went with it. `by`: as in uploads."""

    kind: str
    name: str
    topic: str
    counts: Mapping[str, int]
    at: str
    by: int
    restored_at: str | None


@dataclass(frozen=True, slots=True)
class StudyArchive:
    """A study with everything that belongs to it. Writing iterates once over each sequence, in its order."""

    settings: StudySettings
    program_version: str
    topics: Sequence[Topic] = ()
    sentences: Sequence[SentenceRecord] = ()
    annotators: Sequence[AnnotatorRecord] = ()
    assignments: Sequence[AssignmentRecord] = ()
    judgments: Sequence[JudgmentRecord] = ()
    fits: Sequence[FitRecord] = ()
    gold_pairs: Sequence[GoldPairRecord] = ()
    history: Sequence[HistoryRecord] = ()
    uploads: Sequence[UploadRecord] = ()
    removals: Sequence[RemovalRecord] = ()
    reported_pairs: Sequence[ReportedPairRecord] = ()
