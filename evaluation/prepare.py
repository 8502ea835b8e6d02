"""The first journey: a topic's documents become sentences, their similarity, and pairs to ask about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.evidence import Evidence, Judgments, SummaryText
from evaluation.sampling import Pairs, random_pairs
from evaluation.similarity import Similarity, similarity
from evaluation.text import Cut, cut
from formats.pyramid import Annotation
from formats.records import Preference, Text, Topic

_SHARE = {"a": 1.0, "b": 0.0, "tie": 0.5}


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """The `index`-th sentence of a document, named `<document id>:<index>`, and where it stands there."""

    document: str
    index: int
    cut: Cut

    @property
    def name(self) -> str:
        return f"{self.document}:{self.index}"

    @property
    def text(self) -> str:
        return self.cut.text


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that can be worked out before anybody judges. `pairs` (k, 2): what to ask, in this order."""

    sentences: tuple[SourceSentence, ...]
    similarity: Similarity
    pairs: Pairs


def prepare(
    documents: Sequence[Text], language: str = "", *, similarity_name: str = "tfidf-jaccard", pairs: int, seed: int
) -> Prepared:
    """Cut the documents, compare their sentences, and draw so many different pairs (all, where there are fewer)."""
    sentences = source_sentences(documents, language)
    built = similarity([sentence.text for sentence in sentences], similarity_name)
    return Prepared(sentences, built, random_pairs(len(sentences), pairs, seed))


def source_sentences(documents: Sequence[Text], language: str = "") -> tuple[SourceSentence, ...]:
    """S*: every sentence of a topic's documents, in document order."""
    return tuple(
        SourceSentence(document.name, index, sentence)
        for document in documents
        for index, sentence in enumerate(cut_text(document, language))
    )


def cut_text(text: Text, language: str = "") -> tuple[Cut, ...]:
    """The sentences of a document, a reference or a summary.

    What was given cut is never cut again: its sentences stand as if each were a line of its own.
    """
    if text.sentences is None:
        return cut(text.text or "", language)
    cuts: list[Cut] = []
    start = 0
    for line, sentence in enumerate(text.sentences):
        cuts.append(Cut(sentence, start, start + len(sentence), line))
        start += len(sentence) + 1
    return tuple(cuts)


def evidence(topic: Topic, preferences: Sequence[Preference] = (), pyramid: Annotation | None = None) -> Evidence:
    """A topic and what people said of it, as they are exchanged, made ready for the mathematics.

    Preferences of other topics are passed over. Raises `KeyError` for a sentence that the topic does not have.
    """
    sentences = source_sentences(topic.documents, topic.language)
    return Evidence(
        topic_id=topic.topic_id,
        sentence_ids=tuple(sentence.name for sentence in sentences),
        sentences=tuple(sentence.text for sentence in sentences),
        judgments=judgments([p for p in preferences if p.topic == topic.topic_id], [s.name for s in sentences]),
        summaries=tuple(
            SummaryText(summary.name, _texts(summary, topic.language), dict(summary.human))
            for summary in topic.summaries
        ),
        references=tuple(_texts(reference, topic.language) for reference in topic.references),
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
        outcome=np.array([_SHARE[p.winner] for p in preferences], dtype=np.float64),
        weight=np.ones(len(preferences)),
        annotator=np.array([people.setdefault(p.annotator, len(people)) for p in preferences], dtype=np.int64),
    )


def _texts(text: Text, language: str) -> tuple[str, ...]:
    return tuple(sentence.text for sentence in cut_text(text, language))
