"""The plain records of a study's archive; `formats.study` says what each file of it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from formats.records import Extra, Topic

#: 2 knows prepared pairs, and the settings that look after people.
FORMAT = 2

Kind = Literal["human", "machine", "simulated"]
State = Literal["open", "judged", "skipped", "expired", "void"]
Answer = Literal["left", "right", "tie", "undone"]
Use = Literal["training", "gold"]

KINDS = ("human", "machine", "simulated")
REASONS = ("random", "suggested", "imported", "training", "gold", "repeat")
SIDES = ("", "left", "right")
USES = ("training", "gold")
STATES = ("open", "judged", "skipped", "expired", "void")
SKIP_REASONS = ("", "unclear", "broken", "language", "other")
ANSWERS = ("left", "right", "tie", "undone")
SMOOTHINGS = ("paper", "sharpened", "kernel", "none")
VALUES = ("strength", "chance")
NORMALIZATIONS = ("length", "budget", "pivot")
MATCHES = ("any", "similarity", "content")


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What a study asks of people, and how their answers become scores."""

    title: str
    question: str
    guidelines: str = ""
    language: str = "en"
    ties_allowed: bool = False
    show_progress: bool = True
    judgments_per_topic: int = 300
    judgments_per_pair: int = 1
    pairs_per_annotator: int = 30
    seed: int = 0
    smooth: str = "paper"
    prior: float = 1.0
    redundancy: bool = True
    value: str = "strength"
    normalize: str = "length"
    match: str = "any"
    similarity: str = "tfidf-jaccard"
    random_share: float = 0.2
    person_cap: float = 0.05
    judgments_per_hour: int = 0
    pilot: bool = False
    training: bool = False
    training_threshold: float = 0.6
    gold_share: float = 0.0
    repeat_share: float = 0.0
    reading_speed: int = 100
    skips_in_a_row: int = 10
    weigh_annotators: bool = False
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A source sentence as it was cut; `<document>:<index>` is its name."""

    topic: str
    document: str
    index: int
    paragraph: int
    text: str


@dataclass(frozen=True, slots=True)
class AnnotatorRecord:
    """Who judged. The judgments of somebody who was excluded are kept and do not count."""

    pseudonym: str
    kind: Kind
    joined_at: str
    excluded_at: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """A pair as it was shown. `key` is a UUID; `left` and `right` are names of sentences; an open one has no end.

    `expected`: the side that was known to be right, if it was.
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


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
    """One revision of an answer; `assignment` is the key of what was shown, `extra` what it was brought with."""

    assignment: str
    revision: int
    answer: Answer
    seconds: float | None
    at: str
    source: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownPairRecord:
    """Two sentences of a topic, by their names, of which somebody said which is right; what for and why."""

    topic: str
    better: str
    worse: str
    use: Use
    explanation: str = ""


@dataclass(frozen=True, slots=True)
class FitRecord:
    """One estimate. `utilities`: strength, utility, standard error by sentence; `scores`: score, standard error and
    interval by system."""

    topic: str
    judgments: int
    settings: Mapping[str, Any]
    program_version: str
    residual: float
    iterations: int
    data_version: int
    at: str
    utilities: Mapping[str, tuple[float, float, float | None]] = field(default_factory=dict)
    scores: Mapping[str, tuple[float, float | None, float | None, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StudyArchive:
    """A study with everything that belongs to it. Writing goes once through each sequence, in its order."""

    settings: StudySettings
    program_version: str
    topics: Sequence[Topic] = ()
    sentences: Sequence[SentenceRecord] = ()
    annotators: Sequence[AnnotatorRecord] = ()
    assignments: Sequence[AssignmentRecord] = ()
    judgments: Sequence[JudgmentRecord] = ()
    fits: Sequence[FitRecord] = ()
    known_pairs: Sequence[KnownPairRecord] = ()
