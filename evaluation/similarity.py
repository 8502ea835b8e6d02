"""How alike two sentences of a topic are (section 4.1 of the paper; docs/model.md).

A similarity is built from a topic's sentences, compares them with each other and with sentences from outside, and
is asked for by its name. Adding one is a class and a line in `SIMILARITIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.text import tokens

Float = TypeVar("Float", np.float32, np.float64)

# Two similarities that differ by less are equal: what is left is the order in which floats were added.
DECIMALS = 10

# Words in more than this share of the sentences are multiplied as a dense block: there BLAS is faster than a sparse
# product, and everywhere else it is slower.
_FREQUENT = 1 / 64

# Numbers in the making that stay in the processor's cache.
_BLOCK = 1 << 16


class Similarity(Protocol):
    """What the rest of the mathematics asks of a similarity; everything lies in [0, 1]."""

    @property
    def matrix(self) -> NDArray[np.float64]:
        """(n, n): the topic's sentences with each other, symmetric, with ones on the diagonal."""

    def to(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(m, n): sentences from outside (rows) with the topic's (columns)."""


def similarity(sentences: Sequence[str], name: str = "tfidf-jaccard") -> Similarity:
    """The similarity of that name over a topic's sentences. Raises `ValueError` for a name that there is not."""
    try:
        build = SIMILARITIES[name]
    except KeyError:
        known = ", ".join(sorted(SIMILARITIES))
        raise ValueError(f"there is no similarity called {name!r}; there are: {known}") from None
    return build(sentences)


def nearest(similarities: NDArray[np.float64]) -> NDArray[np.int64]:
    """(m,): for each row of (m, n) the column of the most similar sentence, the first of equals."""
    columns: NDArray[np.int64] = np.argmax(np.round(similarities, DECIMALS), axis=1)
    return columns


@dataclass(frozen=True, slots=True)
class _Words:
    """Which words stand in which texts: one entry for each text and distinct word.

    `text`, `word`, `count` (k,): sorted by text, then word; `distinct` (n,): distinct words of each text, with those
    that the vocabulary lacks.
    """

    text: NDArray[np.int64]
    word: NDArray[np.int64]
    count: NDArray[np.float64]
    distinct: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Vectors(Generic[Float]):
    """Texts as vectors over words: the frequent words' weights dense, the others' sparse."""

    frequent: NDArray[Float]
    rare: sparse.csr_array

    def to(self, other: _Vectors[Float]) -> NDArray[Float]:
        """(m, n): the inner products of these texts with others."""
        products: NDArray[Float] = self.frequent @ other.frequent.T
        few = (self.rare @ other.rare.T).tocoo()
        products[few.coords] += few.data
        return products


class WordSimilarity:
    """The mean of one or both of: the cosine of TF-IDF vectors, the Jaccard index of the sets of words.

    TF-IDF is scikit-learn's default (raw counts, `ln((1 + n) / (1 + df)) + 1`, length 1) over the tokens of
    `evaluation.text`, each sentence of the topic being a document. A sentence without words resembles only itself.
    A text from outside is weighed with the topic's IDF; words that the topic lacks enlarge the Jaccard union only.
    """

    def __init__(self, sentences: Sequence[str], *, cosine: bool, jaccard: bool) -> None:
        self._cosine, self._jaccard = cosine, jaccard
        self._vocabulary: dict[str, int] = {}
        self._words = self._count(sentences, grow=True)
        n = len(sentences)
        document_frequency = np.bincount(self._words.word, minlength=len(self._vocabulary))
        self._idf = np.log((1 + n) / (1 + document_frequency)) + 1
        self._frequent = document_frequency > _FREQUENT * n
        self._matrix = self._compare(self._words)
        np.fill_diagonal(self._matrix, 1.0)
        self._matrix.flags.writeable = False

    @property
    def matrix(self) -> NDArray[np.float64]:
        return self._matrix

    def to(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return self._compare(self._count(texts, grow=False))

    def _count(self, texts: Sequence[str], *, grow: bool) -> _Words:
        vocabulary = self._vocabulary
        every: list[int] = []
        lengths: list[int] = []
        unknown: list[int] = []
        for sentence in texts:
            words = tokens(sentence)
            if grow:
                known = [vocabulary.setdefault(word, len(vocabulary)) for word in words]
                unknown.append(0)
            else:
                known = [vocabulary[word] for word in words if word in vocabulary]
                unknown.append(sum(word not in vocabulary for word in set(words)))
            every += known
            lengths.append(len(known))
        width = max(len(vocabulary), 1)
        keys = np.repeat(np.arange(len(texts)), lengths) * width + np.array(every, dtype=np.int64)
        entries, count = np.unique(keys, return_counts=True)
        text, word = entries // width, entries % width
        distinct = (np.bincount(text, minlength=len(texts)) + np.array(unknown, dtype=np.int64)).astype(np.float64)
        return _Words(text, word, count.astype(np.float64), distinct)

    def _compare(self, left: _Words) -> NDArray[np.float64]:
        """(m, n): the mean of the cosine and the Jaccard index, or the one of them that is wanted."""
        right = self._words
        if not self._jaccard:
            cosine: NDArray[np.float64] = self._inner(left, self._tfidf(left), self._tfidf(right))
            return np.minimum(cosine, 1.0, out=cosine)
        # Small whole numbers are exact in single precision, which is twice as fast.
        shared = self._inner(left, _ones(left), _ones(right))
        means: NDArray[np.float64] = np.empty(shared.shape)
        if self._cosine:
            means = self._inner(left, self._tfidf(left), self._tfidf(right))
        height = max(1, _BLOCK // max(1, len(right.distinct)))
        for start in range(0, len(means), height):
            rows = slice(start, start + height)
            union = left.distinct[rows, None] + right.distinct[None, :]
            union -= shared[rows]
            jaccard = shared[rows] / np.maximum(union, 1.0, out=union)
            means[rows] = np.minimum((means[rows] + jaccard) / 2, 1.0) if self._cosine else jaccard
        return means

    def _inner(self, left: _Words, left_weight: NDArray[Float], weight: NDArray[Float]) -> NDArray[Float]:
        """(m, n): the inner products of texts with the topic's sentences."""
        topic = self._vectors(self._words, weight)
        return (topic if left is self._words else self._vectors(left, left_weight)).to(topic)

    def _tfidf(self, words: _Words) -> NDArray[np.float64]:
        """The weight of each entry, such that each text's weights have length 1."""
        weight = words.count * self._idf[words.word]
        squares = np.bincount(words.text, weight * weight, minlength=len(words.distinct))
        unit: NDArray[np.float64] = weight / np.sqrt(squares)[words.text]
        return unit

    def _vectors(self, words: _Words, weight: NDArray[Float]) -> _Vectors[Float]:
        texts = len(words.distinct)
        frequent = self._frequent[words.word]
        column = np.cumsum(self._frequent) - 1
        dense = np.zeros((texts, int(self._frequent.sum())), dtype=weight.dtype)
        dense[words.text[frequent], column[words.word[frequent]]] = weight[frequent]
        starts = np.searchsorted(words.text[~frequent], np.arange(texts + 1))
        shape = (texts, max(len(self._vocabulary), 1))
        return _Vectors(dense, sparse.csr_array((weight[~frequent], words.word[~frequent], starts), shape=shape))


def _ones(words: _Words) -> NDArray[np.float32]:
    return np.ones(len(words.word), dtype=np.float32)


SIMILARITIES: Mapping[str, Callable[[Sequence[str]], Similarity]] = {
    "tfidf-jaccard": lambda sentences: WordSimilarity(sentences, cosine=True, jaccard=True),
    "tfidf": lambda sentences: WordSimilarity(sentences, cosine=True, jaccard=False),
    "jaccard": lambda sentences: WordSimilarity(sentences, cosine=False, jaccard=True),
}
