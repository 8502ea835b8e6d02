"""How often words occur elsewhere, to distinguish a topic's own words from common ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from preferendum.evidence import Evidence
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.readers.word_counts import WordCounts, read_word_counts
from preferendum.metrics.registry import MissingEvidence, UnknownMetric
from preferendum.vocabulary.words import stemmed, unstemmed, words, words_of_documents

FEWEST_TOPICS = 5
"""A topic's background is made of so many others, at least."""


def counted(documents: Iterable[Sequence[str]], language: str) -> WordCounts:
    """The words of documents, each a sequence of sentences; with each word, how many documents have its stem."""
    number = 0
    stem_of: dict[str, str] = {}
    counts, document_counts = Counter[str](), Counter[str]()
    for sentences in documents:
        number += 1
        own = unstemmed(sentences, language)
        stem_of.update(zip(own, stemmed(own, language), strict=True))
        counts.update(own)
        document_counts.update({stem_of[word] for word in own})
    return WordCounts(number, counts, {word: document_counts[stem_of[word]] for word in counts})


@lru_cache(maxsize=4)
def read_background(path: str, language: str) -> WordCounts:
    """The counts of a file by stem. A stem is in as many documents as the most widespread of its words is said to be.

    Raises `Refused` and `UnknownMetric`.
    """
    complaints = Complaints()
    try:
        with Path(path).open("rb") as file:
            given = read_word_counts(file, Place(complaints, Path(path).name))
    except OSError as error:
        raise UnknownMetric(f"background={path}: {error.strerror or error}") from None
    complaints.raise_if_any()
    counts, document_counts = Counter[str](), Counter[str]()
    for word, count in given.counts.items():
        for stem, times in words([word], language).items():
            counts[stem] += count * times
            document_counts[stem] = max(document_counts[stem], given.document_counts.get(word, 0))
    return WordCounts(given.documents, counts, document_counts if given.document_counts else {})


@dataclass(frozen=True, slots=True, eq=False)
class StudyBackground:
    """The words of all topics' documents, from which those of any topic can be taken away. By stem."""

    total: WordCounts
    own: Mapping[tuple[str, ...], WordCounts]

    def without(self, sentences: tuple[str, ...]) -> WordCounts:
        """The counts of all topics that have other documents."""
        own = self.own[sentences]
        return WordCounts(
            self.total.documents - own.documents,
            Counter(self.total.counts) - Counter(own.counts),
            Counter(self.total.document_counts) - Counter(own.document_counts),
        )


def study_background(topics: Sequence[Evidence]) -> StudyBackground:
    """What each topic has for background if the others are it; documents that several topics share count once.

    Raises `MissingEvidence` where they are too few.
    """
    return _study_background(tuple((topic.sentences, topic.sentence_ids, topic.language) for topic in topics))


def others_words(topics: Sequence[Evidence]) -> list[WordCounts | None]:
    """For each topic the words of the others' documents; None where these are too few, or it has no documents."""
    try:
        study = study_background(topics)
    except MissingEvidence:
        return [None] * len(topics)
    return [study.without(topic.sentences) if topic.sentences else None for topic in topics]


@lru_cache(maxsize=2)
def _study_background(topics: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...]) -> StudyBackground:
    own = {
        sentences: _of_topic(sentences, sentence_ids, language)
        for sentences, sentence_ids, language in topics
        if sentences
    }
    if len(own) <= FEWEST_TOPICS:
        raise MissingEvidence(
            f"the background of a topic is {FEWEST_TOPICS} other topics or more, and there are {len(own)} with "
            "documents of their own; give a file, as in background=counts.txt (evaluate background makes one)"
        )
    counts, document_counts = Counter[str](), Counter[str]()
    for topic in own.values():
        counts.update(topic.counts)
        document_counts.update(topic.document_counts)
    return StudyBackground(WordCounts(sum(topic.documents for topic in own.values()), counts, document_counts), own)


def _of_topic(sentences: tuple[str, ...], sentence_ids: tuple[str, ...], language: str) -> WordCounts:
    documents: dict[str, list[str]] = {}
    for name, sentence in zip(sentence_ids, sentences, strict=True):
        documents.setdefault(name.rpartition(":")[0], []).append(sentence)
    document_counts = Counter[str]()
    for document in documents.values():
        document_counts.update(words(document, language).keys())
    return WordCounts(len(documents), words_of_documents(sentences, language), document_counts)
