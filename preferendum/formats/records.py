"""The plain records that every format is read into and written from.

A text is given whole (`text`) or already cut (`sentences`), never both; what was given cut is never cut again.
`extra` keeps the keys that we do not know, so that an export gives them back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from preferendum.formats.pyramid import Annotation

Extra = Mapping[str, Any]
#: What two texts that people compare are of.
Of = Literal["sentences", "summaries"]
#: What annotators are.
Kind = Literal["human", "machine", "simulated"]
KINDS: tuple[str, ...] = get_args(Kind)
#: Who speaks in a conversation; the assistant is the system that is judged.
Role = Literal["user", "assistant", "system"]


@dataclass(frozen=True, slots=True)
class Text:
    """A document, a reference or a summary: `name` is its id, or the system that wrote it.

    A summary has neither text nor sentences where only answers about it are known.
    """

    name: str
    text: str | None = None
    sentences: tuple[str, ...] | None = None
    extra: Extra = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether there is a text, which may be empty."""
        return self.text is not None or self.sentences is not None


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence in its text: `text[start:end]`, on the `paragraph`-th line (from 0) that holds a sentence.

    `rule`: why it is not judged (`preferendum.formats.not_judged.marked`).
    """

    text: str
    start: int
    end: int
    paragraph: int
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """A part of a conversation: who speaks, and what was said, in Markdown as written."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Summary(Text):
    """A summary with human scores by dimension, higher is better.

    `person`: whether a person wrote it, and no system; `reference`: the name of the reference that it is itself, so
    that it is never scored against its own text. None: for a person the one of equal text, ignoring white space, if
    there is one. `ratings`: the scores of each assessor, by dimension; `human` holds one for all assessors. `metrics`:
    scores by metrics that were computed elsewhere. `turns`: the conversation that it was given as, if any; then `text`
    is what the assistant says there.
    """

    human: Mapping[str, float] = field(default_factory=dict)
    person: bool = False
    reference: str | None = None
    ratings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    turns: tuple[Turn, ...] | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """What is summarized, and what was made of it. `language` is a BCP 47 tag; `pyramid`: what people found said;
    `base`: the topic with the earlier documents, which this one updates.

    Without documents its sentences are not judged; then it has references, a Pyramid or two summaries. One without a
    name ("") stands for answers that do not say what they are about; its summaries have no texts.
    """

    topic_id: str
    documents: tuple[Text, ...]
    references: tuple[Text, ...] = ()
    summaries: tuple[Summary, ...] = ()
    title: str = ""
    question: str = ""
    language: str = ""
    pyramid: Annotation | None = None
    base: str = ""
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preference:
    """One judgment as it is exchanged: `a` was on the left; `winner` is the letter of the answer.

    `of`: sentences, which are named `<document id>:<index from 0>`, or whole summaries, named by their systems.
    """

    topic: str
    a: str
    b: str
    winner: str
    annotator: str = ""
    seconds: float | None = None
    at: str = ""
    extra: Extra = field(default_factory=dict)
    of: Of = "sentences"


@dataclass(frozen=True, slots=True)
class LateSummary:
    """A summary for an existing topic, such as those in a CSV of summaries."""

    topic: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class HumanScore:
    """What people thought of one summary in one dimension, higher is better; or one of them, the `assessor`."""

    topic: str
    system: str
    dimension: str
    score: float
    assessor: str = ""


@dataclass(frozen=True, slots=True)
class MetricScore:
    """The score of one summary by a metric that was computed elsewhere."""

    topic: str
    system: str
    metric: str
    score: float


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader ignored or repaired, to be shown with its result. `said` is a template like a complaint's."""

    file: str
    line: int
    field: str
    said: str
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        """What it says, as compilers print it: file:line: field: ..."""
        return f"{_where(self)}{self.said % self.params}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Everything in one upload, checked as a whole.

    Summaries, scores and Pyramids of topics in the same upload are in those topics; `summaries`, `human_scores`,
    `metric_scores`, `pyramids` and `references` (by topic) hold what belongs to topics that existed before. `again`:
    those that were uploaded again as a whole; the other fields hold all but their documents, too. `cuts`: the sentences
    of documents by the names of topic and document, once they are cut.
    """

    topics: tuple[Topic, ...] = ()
    summaries: tuple[LateSummary, ...] = ()
    human_scores: tuple[HumanScore, ...] = ()
    metric_scores: tuple[MetricScore, ...] = ()
    preferences: tuple[Preference, ...] = ()
    pyramids: Mapping[str, Annotation] = field(default_factory=dict)
    references: Mapping[str, tuple[Text, ...]] = field(default_factory=dict)
    again: tuple[Topic, ...] = ()
    cuts: Mapping[str, Mapping[str, tuple[Cut, ...]]] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()

    @property
    def has_late(self) -> bool:
        """Whether it has anything but judgments for topics that existed before."""
        return any((self.summaries, self.human_scores, self.metric_scores, self.pyramids, self.again))


@dataclass(frozen=True, slots=True)
class ExistingTopic:
    """What exists of one topic: the number of sentences of each document, the systems, the references."""

    documents: Mapping[str, int]
    systems: frozenset[str] = frozenset()
    references: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Existing:
    """What a study has already, by topic id, to check later uploads against.

    `replaceable`: an upload under an existing name replaces what has it; otherwise it is refused.
    """

    topics: Mapping[str, ExistingTopic]
    replaceable: bool = False


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a file is refused: where, what was found, what was expected.

    `found` and `expected` are templates for `%`-formatting with `params`, so that a page can translate them and
    the command line can print them as they are. `line` counts from 1; 0 where there is no line to name.
    """

    file: str
    line: int
    field: str
    found: str
    expected: str
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __str__(self) -> str:
        """One line as compilers print it: file:line: field: found ...; expected ..."""
        return f"{_where(self)}found {self.found % self.params}; expected {self.expected % self.params}"


@dataclass(frozen=True, slots=True)
class Seen:
    """A table as its reader takes it: its columns, its first rows, the role of each column so far, whether that is
    certain, and its file (in a ZIP file one of several). `is_tool`: these are fields of another tool's file, and only
    whose texts it compares is to be said."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    roles: Mapping[str, str]
    is_certain: bool
    file: str = ""
    is_tool: bool = False


def _where(own: Complaint | Remark) -> str:
    return own.file + (f":{own.line}" if own.line else "") + ": " + (f"{own.field}: " if own.field else "")


class Refused(Exception):
    """A file that is not taken, with every reason found (at most `LIMIT`, then a last one that says so)."""

    LIMIT = 200

    def __init__(self, complaints: tuple[Complaint, ...]) -> None:
        super().__init__("\n".join(map(str, complaints)))
        self.complaints = complaints


def design_weight(reason: object, given: Any = None) -> float:
    """How many times likelier a pair would have been drawn if all that were left had been equally likely.

    Where nothing is `given`, a pair that was suggested was not drawn by lot (0), and others were equally likely (1).
    """
    if given is None:
        return 0.0 if reason == "suggested" else 1.0
    return float(given)
