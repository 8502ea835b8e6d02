"""CLASSY's features of a summary: seven of its language, six of its content.

P. Rankel, J. Conroy & J. Schlesinger, "Better metrics to automatically predict the quality of a text summary",
Algorithms 5(4), 2012, section 4. Words are ROUGE's, stemmed, and none is left out. With A the counts of terms in
sentences, X = (A > 0)'(A > 0) and its singular values s_1 >= s_2 ...,

    sentences            -log2 of the number of sentences
    redundancy-1, -2     sum of s_i^2 from i = 2, from i = 3
    term-entropy         entropy of the terms' totals, in bits
    sentence-entropy     minus the entropy of the sentences' lengths
    overlap              log2(1 + sum of X_{i,i+1})
    normalized-overlap   sum of X_{i,i+1} / (sqrt X_ii sqrt X_{i+1,i+1})

and with the bigrams of the n references that the summary is not itself

    rouge-2, rouge-su4   recall, of a machine's summary the mean over the sets that lack one reference
    coverage             each distinct bigram of the summary: the share of references that have it
    bigrams              sum over bigrams of min(times in the summary, times in all references)
    coverage-p2p         the most distinct bigrams shared with one reference
    bigrams-p2p          the same by min(times in the summary, times in the reference)

(The paper leaves open how the last two are put together from single references, and takes a maximum for ROUGE.) Those
of content again, against the references of the topic's earlier set, are Nouveau-ROUGE's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence
from preferendum.methods.metrics.rouge.scores import USUAL
from preferendum.methods.metrics.rouge.units import tokens_by_sentence
from preferendum.methods.metrics.trained.files import BASE, CONTENT, LINGUISTIC
from preferendum.metrics import registry
from preferendum.metrics.registry import Need

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Sentences = Sequence[Sequence[int]]
"""A text: the numbers of each sentence's tokens."""
Bigrams = Counter[tuple[int, int]]


def linguistic_features(text: Sentences) -> Vector:
    """(7,): in the order of `LINGUISTIC`. A text without any word counts as one empty sentence: all are 0."""
    A = _term_sentence_matrix(text)
    sentences = A.shape[1]
    if not sentences:
        return np.zeros(len(LINGUISTIC))
    X = (A > 0).T.astype(np.float64) @ (A > 0)
    squares = np.linalg.svd(X, compute_uv=False) ** 2
    adjacent = X.diagonal(1)
    size = np.sqrt(X.diagonal())
    return np.array(
        [
            -np.log2(sentences),
            squares[1:].sum(),
            squares[2:].sum(),
            _entropy(A.sum(axis=1)),
            -_entropy(A.sum(axis=0)),
            np.log2(1 + adjacent.sum()),
            (adjacent / (size[:-1] * size[1:])).sum(),
        ]
    )


def content_features(own: Bigrams, references: Sequence[Bigrams]) -> Vector:
    """(4,): the last four in the order of `CONTENT`; not numbers without any reference."""
    if not references:
        return np.full(4, np.nan)
    times = sum(references, Counter[tuple[int, int]]())
    coverage = sum(sum(bigram in reference for reference in references) for bigram in own) / len(references)
    distinct = max(len(own.keys() & reference.keys()) for reference in references)
    return np.array([coverage, (own & times).total(), distinct, max((own & other).total() for other in references)])


def linguistic(topic: Evidence) -> Matrix:
    """(summaries, 7)"""
    texts = tokens_by_sentence([summary.sentences for summary in topic.summaries], USUAL)
    return np.array([linguistic_features(text) for text in texts]).reshape(-1, len(LINGUISTIC))


def content(topic: Evidence) -> Matrix:
    """(summaries, 6): not numbers for a summary where there is no reference but the one that it is itself."""
    if not topic.references:
        return np.full((len(topic.summaries), len(CONTENT)), np.nan)
    rouge = [registry.metric(f"{name}:{registry.JACKKNIFE}").score(topic) for name in CONTENT[:2]]
    texts = tokens_by_sentence([*topic.references, *(summary.sentences for summary in topic.summaries)], USUAL)
    bigrams = [Counter(pairwise(chain.from_iterable(text))) for text in texts]
    references, summaries = bigrams[: len(topic.references)], bigrams[len(topic.references) :]
    rows = []
    for summary, own in zip(topic.summaries, summaries, strict=True):
        itself = topic.own_reference(summary)
        rows.append(content_features(own, [text for k, text in enumerate(references) if k != itself]))
    return np.column_stack([*rouge, np.array(rows).reshape(-1, len(CONTENT) - 2)])


def earlier_content(topic: Evidence) -> Matrix:
    """(summaries, 6): `content` against the references of the topic's base; no summary here is one of these."""
    return content(replace(topic, references=topic.base_references, reference_names=()))


def _term_sentence_matrix(text: Sentences) -> Matrix:
    """(terms, sentences): of the sentences with any word, how often each term occurs."""
    lines = [line for line in text if line]
    tokens = np.array([*chain.from_iterable(lines)], dtype=np.int64)
    terms, term = np.unique(tokens, return_inverse=True)
    A = np.zeros((len(terms), len(lines)))
    np.add.at(A, (term, np.repeat(np.arange(len(lines)), list(map(len, lines)))), 1)
    return A


def _entropy(counts: Vector) -> float:
    """In bits, of counts above 0."""
    p = counts / counts.sum()
    return float(-(p * np.log2(p)).sum())


_GROUPS = ((LINGUISTIC, linguistic), (CONTENT, content), (tuple(f"{BASE}{name}" for name in CONTENT), earlier_content))


@dataclass(frozen=True, slots=True)
class Classy:
    """What trained metrics of the kind `classy` read of summaries."""

    features: tuple[str, ...]

    @property
    def needs(self) -> frozenset[Need]:
        is_base = any(name.startswith(BASE) for name in self.features)
        is_content = any(name in CONTENT for name in self.features)
        return frozenset({Need.BASES, Need.LATIN} if is_base else ()) | frozenset(
            {Need.REFERENCES, Need.LATIN} if is_content else ()
        )

    @property
    def signature(self) -> str:
        rouge = registry.metric(f"{CONTENT[0]}:{registry.JACKKNIFE}").signature
        return f"words, rouge-2 and rouge-su4 as in {rouge}; -p2p: the most with one reference"

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        return self

    def values(self, topic: Evidence) -> Matrix:
        """(summaries, features)"""
        columns: dict[str, Vector] = {}
        for names, group in _GROUPS:
            if not set(names).isdisjoint(self.features):
                columns.update(zip(names, group(topic).T, strict=True))
        return np.column_stack([columns[name] for name in self.features])
