"""How much a summary's words are like those of its sources, without any reference and without divergences.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013, as their program SIMetrix computes it. All logarithms are to base 10, but for that of the
inverse document frequency.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from preferendum.evidence import Evidence, Settings
from preferendum.formats.readers.word_counts import WordCounts
from preferendum.metrics.registry import MissingEvidence, Need, Options, UnknownMetric, number
from preferendum.vocabulary.background import StudyBackground, read_background, study_background
from preferendum.vocabulary.topic_words import CUTOFF, NATURAL_CUTOFF, topic_words
from preferendum.vocabulary.words import WORDS, aligned, vocabulary, words, words_of_documents

STUDY = "study"
"""The background that is made of the study's other topics."""

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Words of one topic over their vocabulary: of the documents c (v,), of the summaries d (s, v).

    `idf` (v,): inverse document frequency; `topic` (v,): which are topic words. Both None unless requested.
    """

    c: Vector
    d: Vector
    idf: Vector | None = None
    topic: Mask | None = None

    @property
    def n(self) -> Vector:
        """(s,): words of each summary."""
        return np.asarray(self.d.sum(axis=1))


def _cosine(counts: Counts) -> Vector:
    """The cosine of counts.

    Without topic words every word of the documents counts. A summary without words is like nothing.
    """
    assert counts.idf is not None
    kept = counts.c if counts.topic is None else np.where(counts.topic, counts.c, 0.0)
    source, summaries = kept * counts.idf, counts.d * counts.idf
    norms = np.linalg.norm(source) * np.linalg.norm(summaries, axis=1)
    return np.asarray(np.divide(summaries @ source, norms, out=np.zeros(len(norms)), where=norms > 0))


def _share(counts: Counts) -> Vector:
    in_topic = np.asarray(counts.d[:, counts.topic].sum(axis=1))
    return np.asarray(np.divide(in_topic, counts.n, out=np.zeros(len(in_topic)), where=counts.n > 0))


def _fraction(counts: Counts) -> Vector:
    return np.asarray((counts.d[:, counts.topic] > 0).mean(axis=1))


def _unigram(counts: Counts) -> Vector:
    seen = counts.c > 0
    log_probability = counts.d[:, seen] @ np.log10(counts.c[seen] / counts.c.sum())
    return np.where(counts.n > 0, log_probability, np.nan)


def _multinomial(counts: Counts) -> Vector:
    orders = (gammaln(counts.n + 1) - gammaln(counts.d + 1).sum(axis=1)) / np.log(10)
    return np.asarray(_unigram(counts) + orders)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A similarity: how it is written, how it is worked out, and what it takes."""

    written: str
    of: Callable[[Counts], Vector]
    idf: bool = False
    topic_words: bool = False


_KINDS = {
    "cosine": _Kind("cosine of documents and summary, tf-idf", _cosine, idf=True),
    "cosine-topic": _Kind("cosine of the documents' topic words and the summary, tf-idf", _cosine, True, True),
    "topic-share": _Kind("share of the summary's words that are topic words", _share, topic_words=True),
    "topic-fraction": _Kind("share of the topic words that the summary has", _fraction, topic_words=True),
    "unigram": _Kind("log10 probability of the summary's words in the documents", _unigram),
    "multinomial": _Kind("log10 multinomial probability of the summary's words in the documents", _multinomial),
}


@dataclass(frozen=True, slots=True)
class InputSimilarity:
    """One of the similarities. `background`: a file, or the study's other topics; `study`: these, once prepared."""

    name: str
    background: str = STUDY
    cutoff: float = CUTOFF
    natural: bool = False
    study: StudyBackground | None = None

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS})

    @property
    def signature(self) -> str:
        parts = [self._kind.written]
        if self._kind.idf:
            parts.append("idf ln(D/df), ln D for unknown words")
        if self._kind.topic_words:
            parts.append(f"topic words: -2 {'ln' if self.natural else 'log10'} Lambda > {self.cutoff:g}")
        if self._has_background:
            parts.append(f"background: {self._background_in_words()}")
        return "; ".join([*parts, WORDS])

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        if not self._has_background or self.background != STUDY:
            return self
        try:
            return replace(self, study=study_background(topics))
        except MissingEvidence as reason:
            raise MissingEvidence(f"{self.name}: {reason}") from None

    def score(self, topic: Evidence) -> Vector:
        """Not a number where there are no topic words, and for the probability of a summary without words.

        Raises `MissingEvidence` where the study's other topics are the background, and it was not prepared for this
        topic.
        """
        source = words_of_documents(topic.sentences, topic.language)
        summaries = [words(summary.sentences, topic.language) for summary in topic.summaries]
        if not source:
            return np.full(len(summaries), np.nan)
        c, *d = aligned([source, *summaries])
        counts = Counts(c, np.array(d).reshape(-1, len(c)))
        if self._has_background:
            counts = self._beside_background(counts, list(vocabulary([source, *summaries])), topic)
        if counts.topic is not None and not counts.topic.any():
            return np.full(len(summaries), np.nan)
        return self._kind.of(counts)

    def _beside_background(self, counts: Counts, vocabulary: Sequence[str], topic: Evidence) -> Counts:
        background = self._background_of(topic)
        if self._kind.idf:
            if not background.document_counts:
                raise UnknownMetric(f"{self.name}: {self.background} does not tell how many documents have each word")
            # ln D for a word that no document has, as for one that a single document has.
            df = np.array([background.document_counts.get(word, 0) or 1 for word in vocabulary], dtype=np.float64)
            counts = replace(counts, idf=np.log(background.documents / df))
        if self._kind.topic_words:
            own = topic_words(counts.c, vocabulary, background, self.cutoff, self.natural)
            counts = replace(counts, topic=own)
        return counts

    def _background_of(self, topic: Evidence) -> WordCounts:
        if self.background != STUDY:
            return read_background(self.background, topic.language)
        if self.study is None or topic.sentences not in self.study.own:
            raise MissingEvidence(f"{self.name} is to be prepared with all topics first")
        return self.study.without(topic.sentences)

    def _background_in_words(self) -> str:
        if self.background == STUDY:
            return "the documents of the other topics"
        background = read_background(self.background, "")
        return f"{Path(self.background).name}, {background.documents} documents"

    @property
    def _has_background(self) -> bool:
        return self._kind.idf or self._kind.topic_words

    @property
    def _kind(self) -> _Kind:
        return _KINDS[self.name.partition(":")[0]]


def make(asked: str, options: Options, _: Settings | None) -> InputSimilarity:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    natural = "natural" in options
    cutoff = number(asked, options, "cutoff") or (NATURAL_CUTOFF if natural else CUTOFF)
    return InputSimilarity(asked, options.get("background") or STUDY, cutoff, natural)
