"""The plain values that the mathematics takes.

Inside, sentences are integers: index i is the i-th sentence of the topic in document order. Names such as
`d1:0` (document, index from 0) are for the outside: files, tables, pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from preferendum.formats.answers import LETTERS, SHARES
from preferendum.formats.checks.text import visible
from preferendum.formats.pyramid import Annotation
from preferendum.formats.readers.preferences import drawn_for, kind_of, weight_of
from preferendum.formats.records import Preference, Summary, Text, Topic
from preferendum.formats.sentences import cut_text
from preferendum.formats.settings import PUBLISHED, Scoring
from preferendum.results.scores import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Scoring):
    """A study's settings for scoring, and one that only the command line has.

    `redundancy`: as published, whether what a summary repeats counts only once (equation 5). Other scores never pay
    for a repetition.
    """

    redundancy: bool = True


AS_PUBLISHED = Settings(**PUBLISHED)
"""The paper's settings: equations 2-5."""

UNDETERMINED_PRIOR = 0.1
"""As published there is no prior; topics whose judgments leave no finite maximum (Ford 1957) are fitted with this."""


@dataclass(frozen=True, slots=True)
class Judgments:
    """The judgments of one topic, one entry each, in the order in which they were stored.

    `a`, `b` (m,): indices of the two sentences; `outcome` (m,): the share of the win that `a` has (1 preferred, 0 not,
    0.5 a tie); `weight` (m,): how much the judgment counts; `annotator` (m,): who, as an integer;
    `design` (m,): how many times likelier the pair would have been drawn if all that were left had been equally likely;
    by default 1, and 0 for one that was not drawn by lot (`preferendum.fit.chances`).
    `seconds` (m,): how long it took, nan where that is not known. `drawn_for` (m,): the names of the systems that
    the pair was drawn to separate, as a tuple; None for all of the topic, and where it was not drawn to separate any.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    outcome: NDArray[np.float64]
    weight: NDArray[np.float64]
    annotator: NDArray[np.int64]
    design: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    drawn_for: NDArray[np.object_] = field(default_factory=lambda: np.zeros(0, dtype=np.object_))

    def __post_init__(self) -> None:
        if not len(self.design):
            object.__setattr__(self, "design", np.ones(len(self.a)))
        if not len(self.seconds):
            object.__setattr__(self, "seconds", np.full(len(self.a), np.nan))
        if not len(self.drawn_for):
            object.__setattr__(self, "drawn_for", np.full(len(self.a), None))

    def __len__(self) -> int:
        return len(self.a)

    def some(self, rows: slice | NDArray[np.bool_]) -> Judgments:
        """Some of them, annotators keeping their numbers."""
        return Judgments(*(getattr(self, column.name)[rows] for column in fields(self)))

    @classmethod
    def joined(cls, parts: Sequence[Judgments]) -> Judgments:
        """One after the other."""
        return cls(*(np.concatenate([getattr(part, column.name) for part in parts]) for column in fields(cls)))

    @property
    def minutes(self) -> float | None:
        """How long all of them took together; None where no time is known."""
        is_timed = np.isfinite(self.seconds)
        return float(self.seconds[is_timed].sum()) / 60 if is_timed.any() else None


@dataclass(frozen=True, slots=True)
class SummaryText:
    """One system's summary of the topic, cut into sentences, with what people thought of it (higher is better).

    `person`: whether a person wrote it; `reference`: the name of the reference that it is itself, if it is one.
    `ratings`: what each assessor gave it, by assessor and dimension, where that is known.
    """

    system: str
    sentences: tuple[str, ...]
    human: Mapping[str, float] = field(default_factory=dict, hash=False)
    person: bool = False
    reference: str | None = None
    ratings: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that one topic's scores rest on. `sentence_ids` and `sentences` run in document order.

    `pyramid`: what people found the references and the summaries to say, where they were annotated. `kinds`: by
    number, the kind of each annotator (people, machines ...), who is compared with their own kind alone; empty
    where all are of one. `annotators`: by number, who they are in all topics; empty where that is not known.
    `reference_names`: who wrote each reference; empty where that is not known. `base`: the topic
    with the earlier documents, which this one updates; `base_references`: its references (`with_bases`).
    `between_summaries`: preferences between whole summaries, where a file has them.
    """

    topic_id: str
    sentence_ids: tuple[str, ...]
    sentences: tuple[str, ...]
    judgments: Judgments
    summaries: tuple[SummaryText, ...] = ()
    references: tuple[tuple[str, ...], ...] = ()
    language: str = "en"
    pyramid: Annotation | None = None
    kinds: tuple[str, ...] = ()
    annotators: tuple[Key, ...] = ()
    reference_names: tuple[str, ...] = ()
    base: str = ""
    base_references: tuple[tuple[str, ...], ...] = ()
    between_summaries: tuple[Preference, ...] = ()

    def own_reference(self, summary: SummaryText) -> int | None:
        """Which of the references the summary is itself; None where it is none."""
        is_one = summary.reference is not None and summary.reference in self.reference_names
        return self.reference_names.index(str(summary.reference)) if is_one else None


def evidence(topic: Topic, preferences: Sequence[Preference] = ()) -> Evidence:
    """A topic and its judgments, as they are exchanged, made ready for the mathematics.

    Preferences of other topics are ignored. Raises `KeyError` for a sentence that the topic does not have.
    """
    sentences = {
        f"{document.name}:{index}": sentence
        for document in topic.documents
        for index, sentence in enumerate(_cut(document, topic.language))
    }
    references = {reference.name: _cut(reference, topic.language) for reference in topic.references}
    own = [p for p in preferences if p.topic == topic.topic_id and p.of == "sentences"]
    authors = tuple(dict.fromkeys(map(author, own)))
    return Evidence(
        topic_id=topic.topic_id,
        sentence_ids=tuple(sentences),
        sentences=tuple(sentences.values()),
        judgments=judgments(own, {name: place for place, name in enumerate(sentences)}),
        summaries=tuple(_summary_text(own, topic, references) for own in topic.summaries if own.is_known),
        references=tuple(references.values()),
        language=topic.language,
        pyramid=topic.pyramid,
        kinds=tuple(kind for kind, _name in authors),
        annotators=tuple(map(" ".join, authors)) if all(name for _kind, name in authors) else (),
        reference_names=tuple(references),
        base=topic.base,
        between_summaries=tuple(p for p in preferences if p.topic == topic.topic_id and p.of == "summaries"),
    )


def author(preference: Preference) -> tuple[str, str]:
    """The kind of its annotator, and their name: a machine is nobody else's namesake."""
    return kind_of(preference), preference.annotator


def with_bases(topics: Sequence[Evidence]) -> list[Evidence]:
    """The topics, each with the references of its base where that is among them."""
    references = {topic.topic_id: topic.references for topic in topics}
    return [replace(topic, base_references=references.get(topic.base, ())) if topic.base else topic for topic in topics]


def reference_name(
    sentences: Sequence[str], name: str | None, person: bool, references: Mapping[str, Sequence[str]]
) -> str | None:
    """The reference that a summary is: the one it names, or for a person that of equal text, ignoring white space.

    A machine's text may equal a reference by chance.
    """
    if name is not None or not person:
        return name
    own = visible("".join(sentences))
    return next((other for other, text in references.items() if own and visible("".join(text)) == own), None)


def _summary_text(summary: Summary, topic: Topic, references: Mapping[str, Sequence[str]]) -> SummaryText:
    sentences = _cut(summary, topic.language)
    own = reference_name(sentences, summary.reference, summary.person, references)
    return SummaryText(summary.name, sentences, dict(summary.human), summary.person, own, summary.ratings)


def judgments(preferences: Sequence[Preference], index: Mapping[str, int]) -> Judgments:
    """Preferences of one topic as arrays: each counts once, annotators numbered in the order of their first one.

    `index`: by the names of sentences.
    """
    people: dict[tuple[str, str], int] = {}
    return Judgments(
        a=np.array([index[p.a] for p in preferences], dtype=np.int64),
        b=np.array([index[p.b] for p in preferences], dtype=np.int64),
        outcome=np.array([SHARES[LETTERS[p.winner]] for p in preferences], dtype=np.float64),
        weight=np.ones(len(preferences)),
        annotator=np.array([people.setdefault(author(p), len(people)) for p in preferences], dtype=np.int64),
        design=np.array([weight_of(p) for p in preferences], dtype=np.float64),
        seconds=np.array([np.nan if p.seconds is None else p.seconds for p in preferences], dtype=np.float64),
        drawn_for=np.fromiter(map(drawn_for, preferences), np.object_, len(preferences)),
    )


def _cut(text: Text, language: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in cut_text(text, language))
