"""The plain records of a study's archive; `preferendum.formats.archive.study` says what each file of it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args

from preferendum.formats.answers import ANSWERS, SIDES, UNDONE
from preferendum.formats.checks import limits, shapes
from preferendum.formats.judge import Judge, judge_from
from preferendum.formats.not_judged import BY_HAND, RULES
from preferendum.formats.questionnaire import MOST_QUESTIONS, Question
from preferendum.formats.reasons import NOTE_CHARACTERS, WORDS_CHARACTERS
from preferendum.formats.records import Extra, Kind, Of, Topic
from preferendum.formats.settings import StudySettings

State = Literal["open", "judged", "skipped", "expired", "void"]
Use = Literal["training", "gold"]
Report = Literal["fragment", "same", "offensive", "other"]
ScoredByName = Literal["recommended", "published"]

USES: tuple[str, ...] = get_args(Use)
REASONS = ("random", "suggested", "imported", "training", "gold", "repeat")
SKIP_REASONS = ("", "unclear", "broken", "language", "other")

# The types of fields, each with the check of what a file has there.
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Key = Annotated[str, shapes.matching(_UUID, "a UUID in small letters")]
Sum = Annotated[str, shapes.matching(re.compile("[0-9a-f]{64}"), "a SHA-256 sum")]
Name = Annotated[str, shapes.name]
#: Of a topic, which may have none.
TopicName = Annotated[str, shapes.topic]
#: The name of a sentence or, of a summary, its system.
Compared = Annotated[str, shapes.words(limits.NAME_CHARACTERS + 10)]
Text = Annotated[str, shapes.words(limits.TEXT)]
Version = Annotated[str, shapes.words(40)]
Moment = Annotated[str, shapes.moment]
Reason = Annotated[str, shapes.one_of(REASONS)]
Answer = Annotated[str, shapes.one_of((*ANSWERS, UNDONE))]
Why = Annotated[str, shapes.words(WORDS_CHARACTERS)]
Note = Annotated[str, shapes.words(NOTE_CHARACTERS)]
Side = Annotated[str, shapes.one_of(("", *SIDES))]
Revision = Annotated[int, shapes.whole(1, 32_767)]
Count = Annotated[int, shapes.whole(0, 2**31 - 1)]
Large = Annotated[int, shapes.whole(0, 2**63 - 1)]
Member = Annotated[int, shapes.whole(1, 2**31 - 1)]
Positive = Annotated[float, shapes.real(0)]
Share = Annotated[float, shapes.real(0, 1)]


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A source sentence as it was cut; `<document>:<index>` is its name. `not_judged`: why annotators never see it."""

    topic: Name
    document: Name
    index: Count
    paragraph: Count
    text: Text
    not_judged: Annotated[str, shapes.one_of(("", BY_HAND, *RULES))] = ""


@dataclass(frozen=True, slots=True)
class AnnotatorRecord:
    """Who judged. The judgments of an excluded annotator are kept but do not count.

    `unnamed`: they stand for everybody whose answers a file had without saying whose they were. `judge`: what is known
    of a machine.
    """

    pseudonym: Name
    kind: Kind
    joined_at: Moment
    excluded_at: Moment | None = None
    unnamed: bool = False
    judge: Annotated[Judge | None, shapes.maybe(judge_from)] = None


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """A pair as it was shown. `key` is a UUID; `left` and `right` are names of sentences, or of the systems whose
    summaries they are (`of`); an open one has no end.

    `expected`: the side that was known to be right, if it was. `design_weight`: how many times likelier the pair would
    have been drawn if all that were left had been equally likely; None where its reason alone says how it was drawn.
    `drawn_for`: the systems that it was drawn to tell apart; None for all that its topic has.
    """

    key: Key
    topic: TopicName
    annotator: Name
    left: Compared
    right: Compared
    occasion: Count
    reason_shown: Reason
    state: State
    skip_reason: Annotated[str, shapes.one_of(SKIP_REASONS)]
    holds_place: bool
    created_at: Moment | None
    closed_at: Moment | None
    expected: Side = ""
    design_weight: Positive | None = None
    drawn_for: Annotated[Sequence[str], shapes.systems] | None = None
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
    """One revision of an answer; `assignment` is the key of what was shown, `extra` what it was brought with.

    `why`: the reasons that were tapped, with commas between them; `note`: the reason in the annotator's own words;
    `confidence`: a machine's, from 0 to 1.
    """

    assignment: Key
    revision: Revision
    answer: Answer
    seconds: Positive | None
    at: Moment | None
    source: Version = ""
    extra: Extra = field(default_factory=dict)
    why: Why = ""
    note: Note = ""
    confidence: Share | None = None


@dataclass(frozen=True, slots=True)
class HistorySentence:
    """The words of a judged sentence or system's summary, which may be gone. `number` identifies it, from 0 in an
    archive; `document`: where it was, or the system."""

    number: Count
    document: Name
    text: Text


@dataclass(frozen=True, slots=True)
class HistoryAnswer:
    """One revision of an answer that no longer counts."""

    revision: Revision
    answer: Answer
    seconds: Positive | None
    at: Moment | None
    extra: Extra = field(default_factory=dict)
    why: Why = ""
    note: Note = ""
    confidence: Share | None = None


@dataclass(frozen=True, slots=True)
class HistoryRecord:
    """A pair that was judged before its topic, or a text of the two, was removed or replaced, with all its answers."""

    key: Key
    topic: TopicName
    annotator: Name
    left: HistorySentence
    right: HistorySentence
    occasion: Count
    reason_shown: Reason
    holds_place: bool
    created_at: Moment | None
    closed_at: Moment | None
    expected: Side
    answers: Annotated[Sequence[HistoryAnswer], shapes.listed(shapes.of_kind(HistoryAnswer), 32_767)]
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class GoldPairRecord:
    """Two sentences or summaries (`of`) of a topic, by name, with the right answer, its use and its explanation."""

    topic: TopicName
    better: Compared
    worse: Compared
    use: Use
    explanation: Annotated[str, shapes.words(2_000)] = ""
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class FitRecord:
    """One estimate. `utilities`: strength, utility, standard error by sentence; `scores`: score, standard error and
    interval by system; `scored_by`: as its study says, or as published; `coverage`: by system, next to the score."""

    topic: TopicName
    judgments: Count
    settings: Mapping[str, Any]
    program_version: Version
    residual: Positive
    iterations: Count
    data_version: Large
    at: Moment
    utilities: Mapping[str, tuple[float, float, float | None]] = field(default_factory=dict)
    scores: Mapping[str, tuple[float | None, float | None, float | None, float | None]] = field(default_factory=dict)
    scored_by: ScoredByName = "recommended"
    coverage: Mapping[str, tuple[float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportedPairRecord:
    """What an annotator who skipped a pair said is wrong with it; `assignment` is the key of what was shown."""

    assignment: Key
    reason: Report
    note: Annotated[str, shapes.words(500)]
    at: Moment


@dataclass(frozen=True, slots=True)
class UploadRecord:
    """A file that was stored in the study: what it brought, by kind. `by`: whose it was, a number from 1, no name."""

    filename: Annotated[str, shapes.words(300)]
    size: Large
    sha256: Sum
    at: Moment
    by: Member
    contents: Mapping[str, Count]


@dataclass(frozen=True, slots=True)
class RemovalRecord:
    """Something that was removed or replaced, and how much went with it. `by`: as in uploads."""

    kind: Annotated[str, shapes.words(12)]
    name: Annotated[str, shapes.words(300)]
    topic: Annotated[str, shapes.words(200)]
    counts: Mapping[str, Count]
    at: Moment
    by: Member
    restored_at: Moment | None


@dataclass(frozen=True, slots=True)
class QuestionnaireRecord:
    """A version of the questions to annotators about themselves, before the first pair or after the last; or the
    questions of a platform to them."""

    version: Revision
    place: Literal["before", "after", "platform"]
    questions: Annotated[Sequence[Question], shapes.listed(shapes.of_kind(Question), MOST_QUESTIONS)]
    at: Moment


@dataclass(frozen=True, slots=True)
class QuestionnaireAnswers:
    """What an annotator said about themselves, by the texts of the questions of a version; a scale's step is from 1."""

    annotator: Name
    version: Revision
    answers: Extra
    at: Moment


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
    questionnaires: Sequence[QuestionnaireRecord] = ()
    questionnaire_answers: Sequence[QuestionnaireAnswers] = ()
