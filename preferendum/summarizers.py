"""Standard summarizers: systems for a study that begins with documents only, and a pool to hold others against.

Each takes whole sentences, one after the other, until nothing fits into the number of words. A sentence that is too
like one that was taken is passed over, as in maximal marginal relevance (Carbonell & Goldstein, SIGIR 1998). Sources:
SumBasic (Nenkova & Vanderwende, MSR-TR-2005-101), KLSum (Haghighi & Vanderwende, NAACL 2009), LexRank (Erkan & Radev,
JAIR 22, 2004), TextRank (Mihalcea & Tarau, EMNLP 2004), centroid (Radev et al., IPM 40, 2004), latent semantic analysis
(Steinberger & Jezek, ISIM 2004), topic words (Lin & Hovy, COLING 2000).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from preferendum.evidence import Evidence
from preferendum.formats.readers.word_counts import WordCounts
from preferendum.scoring.simulate import seed_for
from preferendum.vocabulary.topic_words import topic_words
from preferendum.vocabulary.words import vocabulary, words

WORDS = 100
"""At most so many, separated by white space, in a summary."""
TOO_SIMILAR = 0.5
"""The cosine of term frequencies from which a sentence repeats another."""
DAMPING = 0.85
LEXRANK_THRESHOLD = 0.1
SMOOTHING = 0.01
"""What KLSum adds to each count of a summary's words."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
#: Of the sentences chosen so far, how good each sentence (n,) would be as the next one.
Scorer = Callable[[list[int]], Vector]


@dataclass(frozen=True, slots=True, eq=False)
class Sentences:
    """What is summarized, n sentences with v words.

    `counts` (n, v): how often each has each word; `position` (n,): its place in its document, from 0; `topic_words`
    (v,): which words are topic words, None without a background.
    """

    counts: sparse.csr_array
    position: Vector
    topic_words: NDArray[np.bool_] | None
    seed: Sequence[int]

    @property
    def total(self) -> Vector:
        """(v,): how often each word occurs."""
        return np.asarray(self.counts.sum(axis=0), dtype=np.float64)

    def cosines(self, weights: Vector | None = None) -> Matrix:
        """(n, n), of word counts, each times its weight; 0 for sentences without words."""
        unit = _unit(self.counts if weights is None else self.counts.multiply(weights).tocsr())
        return np.asarray((unit @ unit.T).toarray())

    @property
    def idf(self) -> Vector:
        """(v,): ln(n / sentences with the word)."""
        return np.log(self.counts.shape[0] / np.asarray((self.counts > 0).sum(axis=0)))


def standard_summaries(
    topic: Evidence, background: WordCounts | None = None, words: int = WORDS, seed: int = 0
) -> dict[str, tuple[str, ...]]:
    """The sentences of each standard summary, in document order, by the name of the summarizer.

    `background`: identifies topic words; without it none are made by these. A topic without words has no summaries.
    """
    sentences = sentences_of(topic, background, seed)
    if not sentences.counts.nnz:
        return {}
    lengths = np.array([len(sentence.split()) for sentence in topic.sentences])
    similar = sentences.cosines()
    return {
        name: _cut([topic.sentences[k] for k in _chosen(scorer(sentences), lengths, similar, words)], words)
        for name, scorer in SUMMARIZERS.items()
        if name != TOPIC_WORDS or sentences.topic_words is not None
    }


def sentences_of(topic: Evidence, background: WordCounts | None, seed: int) -> Sentences:
    """What summarizers see of the topic."""
    own = [words([sentence], topic.language) for sentence in topic.sentences]
    column = vocabulary(own)
    entries = [(row, column[word], count) for row, text in enumerate(own) for word, count in text.items()]
    rows, columns, counts = np.array(entries, dtype=np.int64).reshape(-1, 3).T
    matrix = sparse.csr_array((counts.astype(np.float64), (rows, columns)), shape=(len(own), len(column)))
    seen: dict[str, int] = {}
    position = np.zeros(len(own))
    for k, name in enumerate(name.rpartition(":")[0] for name in topic.sentence_ids):
        position[k] = seen[name] = seen.get(name, -1) + 1
    c = np.asarray(matrix.sum(axis=0), dtype=np.float64)
    is_topic_word = None if background is None else topic_words(c, column, background)
    return Sentences(matrix, position, is_topic_word, seed_for(seed, topic.topic_id))


def _chosen(score: Scorer, lengths: NDArray[np.int64], similar: Matrix, words: int) -> list[int]:
    """The sentences taken, in document order; where none is short enough, the best one."""
    has_words = np.diag(similar) > 0
    fits = has_words & (lengths <= words)
    if not fits.any():
        return [int(np.argmax(np.where(has_words, score([]), -np.inf)))]
    chosen: list[int] = []
    left = words
    while fits.any():
        best = int(np.argmax(np.where(fits, score(chosen), -np.inf)))
        chosen.append(best)
        left -= int(lengths[best])
        fits &= (lengths <= left) & (similar[best] < TOO_SIMILAR)
    return sorted(chosen)


def _cut(sentences: Sequence[str], words: int) -> tuple[str, ...]:
    """A single sentence that is too long ends early."""
    if len(sentences) == 1 and len(sentences[0].split()) > words:
        return (" ".join(sentences[0].split()[:words]),)
    return tuple(sentences)


def _constant(score: Callable[[Sentences], Vector]) -> Callable[[Sentences], Scorer]:
    """A summarizer whose scores do not depend on what was taken."""

    def scorer(sentences: Sentences) -> Scorer:
        scores = score(sentences)
        return lambda chosen: scores

    return scorer


def _lead(sentences: Sentences) -> Vector:
    """The first sentence of each document in turn, then the second ones."""
    return -sentences.position


def _random(sentences: Sentences) -> Vector:
    return np.random.default_rng(sentences.seed).random(len(sentences.position))


def _sumbasic(sentences: Sentences) -> Scorer:
    """The mean probability of a sentence's words, which is squared with each use, among those with the likeliest."""
    p = sentences.total / sentences.total.sum()
    lengths = np.maximum(np.asarray(sentences.counts.sum(axis=1)), 1)

    def score(chosen: list[int]) -> Vector:
        uses = np.asarray((sentences.counts[chosen] > 0).sum(axis=0)) if chosen else np.zeros(len(p))
        now = p ** np.exp2(np.minimum(uses, 60))
        has_likeliest = np.asarray(sentences.counts[:, [int(np.argmax(now))]].sum(axis=1)) > 0
        return np.asarray(sentences.counts @ now) / lengths + has_likeliest

    return score


def _klsum(sentences: Sentences) -> Scorer:
    """The least divergence of the documents' words from those of the summary, the sentence included."""
    total, counts = sentences.total, sentences.counts
    p = total / total.sum()
    lengths = np.asarray(counts.sum(axis=1))

    def score(chosen: list[int]) -> Vector:
        own = (np.asarray(counts[chosen].sum(axis=0)) if chosen else np.zeros(len(p))) + SMOOTHING
        gains = counts.copy()
        gains.data = p[counts.indices] * (np.log(own[counts.indices] + counts.data) - np.log(own[counts.indices]))
        without = p @ np.log(own / p)
        return np.asarray(without + np.asarray(gains.sum(axis=1)) - np.log(own.sum() + lengths))

    return score


def _centroid(sentences: Sentences) -> Vector:
    weighted = sentences.counts.multiply(sentences.idf).tocsr()
    return np.asarray(_unit(weighted) @ np.asarray(weighted.sum(axis=0)))


def _lexrank(sentences: Sentences) -> Vector:
    return _pagerank((sentences.cosines(sentences.idf) >= LEXRANK_THRESHOLD).astype(np.float64))


def _textrank(sentences: Sentences) -> Vector:
    """Words that two sentences share, by the logarithms of their lengths."""
    has = (sentences.counts > 0).astype(np.float64)
    log_length = np.log(np.maximum(np.asarray(sentences.counts.sum(axis=1)), 1))
    lengths = log_length[:, None] + log_length
    shared = np.asarray((has @ has.T).toarray())
    weights = np.divide(shared, lengths, out=np.zeros_like(shared), where=lengths > 0)
    np.fill_diagonal(weights, 0)
    return _pagerank(weights)


def _pagerank(weights: Matrix) -> Vector:
    """(n,): where a random walk is that follows weights, and jumps anywhere with a chance of 1 - damping."""
    n, sums = len(weights), weights.sum(axis=1, keepdims=True)
    steps = np.divide(weights, sums, out=np.full_like(weights, 1 / n), where=sums > 0)
    return np.asarray(linalg.solve(np.eye(n) - DAMPING * steps.T, np.full(n, (1 - DAMPING) / n)))


def _lsa(sentences: Sentences) -> Vector:
    """The length of a sentence in the space of those singular vectors whose value exceeds half of the largest."""
    gram = np.asarray((sentences.counts @ sentences.counts.T).toarray())
    largest = linalg.eigvalsh(gram, subset_by_index=[len(gram) - 1, len(gram) - 1])[0]
    values, vectors = linalg.eigh(gram, subset_by_value=[largest / 4, np.inf])
    return np.asarray(np.sqrt((vectors**2) @ values))


def _topic_words(sentences: Sentences) -> Vector:
    """How many of them a sentence has."""
    assert sentences.topic_words is not None
    return np.asarray((sentences.counts > 0).astype(np.float64) @ sentences.topic_words.astype(np.float64))


def _unit(rows: sparse.csr_array) -> sparse.csr_array:
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)))
    inverse = np.divide(1, norms, out=np.zeros(len(norms)), where=norms > 0)
    return sparse.csr_array(sparse.diags_array(inverse) @ rows)


TOPIC_WORDS = "topic-words"
SUMMARIZERS: Mapping[str, Callable[[Sentences], Scorer]] = {
    "lead": _constant(_lead),
    "random": _constant(_random),
    "sumbasic": _sumbasic,
    "klsum": _klsum,
    "centroid": _constant(_centroid),
    "lexrank": _constant(_lexrank),
    "textrank": _constant(_textrank),
    "lsa": _constant(_lsa),
    TOPIC_WORDS: _constant(_topic_words),
}
"""By name, what makes of a topic's sentences a score of each, given those that were taken."""
