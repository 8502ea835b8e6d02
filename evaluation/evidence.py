"""The plain values that go into the mathematics and come out of it.

Sentences are integers inside: index i is the i-th sentence of the topic in document order. Names such as
`d1:0` (document, index from 0) belong to the borders: files, tables, pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from formats.pyramid import Annotation
from formats.records import Preference, Text, Topic
from formats.sentences import cut_text
from formats.settings import PUBLISHED, Scoring

#: What a file of preferences gives as the reason for a pair that was not drawn at random.
CHOSEN = "suggested"
_SHARE_OF_A = {"a": 1.0, "b": 0.0, "tie": 0.5}


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
    """What people said of one topic, one entry a judgment, in the order in which they were stored.

    `a`, `b` (m,): indices of the two sentences; `outcome` (m,): the share of the win that goes to `a`
    (1 preferred, 0 not, 0.5 a tie); `weight` (m,): how much the judgment counts; `annotator` (m,): who, as an integer;
    `chosen` (m,): whether the pair was asked for because its answer would tell most, all others being drawn at random;
    none was, where nothing is said of it.
    """

    a: NDArray[np.int64]
    b: NDArray[np.int64]
    outcome: NDArray[np.float64]
    weight: NDArray[np.float64]
    annotator: NDArray[np.int64]
    chosen: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))

    def __post_init__(self) -> None:
        if not len(self.chosen):
            object.__setattr__(self, "chosen", np.zeros(len(self.a), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.a)

    def some(self, rows: slice | NDArray[np.bool_]) -> Judgments:
        """Some of them, annotators keeping their numbers."""
        return Judgments(*(getattr(self, column.name)[rows] for column in fields(self)))


@dataclass(frozen=True, slots=True)
class SummaryText:
    """One system's summary of the topic, cut into sentences, with what people thought of it (higher is better)."""

    system: str
    sentences: tuple[str, ...]
    human: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that one topic's scores rest on. `sentence_ids` and `sentences` run in document order.

    `pyramid`: what people found the references and the summaries to say, where somebody annotated them. `kinds`: by
    number, of which kind each annotator is (people, machines ...), who is compared with their own kind alone; empty
    where all are of one.
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


def evidence(topic: Topic, preferences: Sequence[Preference] = (), pyramid: Annotation | None = None) -> Evidence:
    """A topic and what people said of it, as they are exchanged, made ready for the mathematics.

    Preferences of other topics are passed over. Raises `KeyError` for a sentence that the topic does not have.
    """
    sentences = {
        f"{document.name}:{index}": sentence
        for document in topic.documents
        for index, sentence in enumerate(_cut(document, topic.language))
    }
    return Evidence(
        topic_id=topic.topic_id,
        sentence_ids=tuple(sentences),
        sentences=tuple(sentences.values()),
        judgments=judgments([p for p in preferences if p.topic == topic.topic_id], list(sentences)),
        summaries=tuple(
            SummaryText(summary.name, _cut(summary, topic.language), dict(summary.human)) for summary in topic.summaries
        ),
        references=tuple(_cut(reference, topic.language) for reference in topic.references),
        language=topic.language,
        pyramid=pyramid,
    )


def judgments(preferences: Sequence[Preference], sentence_ids: Sequence[str]) -> Judgments:
    """Preferences of one topic as arrays: each counts once, annotators numbered in the order of their first one."""
    index = {name: i for i, name in enumerate(sentence_ids)}
    people: dict[str, int] = {}
    return Judgments(
        a=np.array([index[p.a] for p in preferences], dtype=np.int64),
        b=np.array([index[p.b] for p in preferences], dtype=np.int64),
        outcome=np.array([_SHARE_OF_A[p.winner] for p in preferences], dtype=np.float64),
        weight=np.ones(len(preferences)),
        annotator=np.array([people.setdefault(p.annotator, len(people)) for p in preferences], dtype=np.int64),
        chosen=np.array([p.extra.get("reason") == CHOSEN for p in preferences], dtype=np.bool_),
    )


def _cut(text: Text, language: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in cut_text(text, language))
