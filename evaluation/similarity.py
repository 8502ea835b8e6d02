"""How alike two sentences of a topic are (section 4.1 of the paper; docs/model.md).

A similarity is built from a topic's sentences, compares them with each other and with sentences from outside, and
is asked for by its name. Adding one is a class and a line in `SIMILARITIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.text import tokens

# Two similarities that differ by less are equal: what is left is the order in which floats were added.
DECIMALS = 10

# Words in more than this share of the sentences are multiplied as a dense block: there BLAS is faster than a sparse
# product, and everywhere else it is slower.
_FREQUENT = 1 / 32


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
                unknown.append(len(set(words) - vocabulary.keys()))
            every += known
            lengths.append(len(known))
        width = max(len(vocabulary), 1)
        keys = np.repeat(np.arange(len(texts)), lengths) * width + np.array(every, dtype=np.int64)
        entries, count = np.unique(keys, return_counts=True)
        text, word = entries // width, entries % width
        distinct = (np.bincount(text, minlength=len(texts)) + np.array(unknown, dtype=np.int64)).astype(np.float64)
        return _Words(text, word, count.astype(np.float64), distinct)

    def _compare(self, left: _Words) -> NDArray[np.float64]:
        parts = []
        if self._cosine:
            parts.append(self._inner(left, self._tfidf(left), self._tfidf(self._words)))
        if self._jaccard:
            shared = self._inner(left, np.ones(len(left.word)), np.ones(len(self._words.word)))
            union = left.distinct[:, None] + self._words.distinct[None, :]
            union -= shared
            np.divide(shared, union, out=shared, where=union > 0)
            parts.append(shared)
        mean = parts[0]
        for part in parts[1:]:
            mean += part
        mean /= len(parts)
        return np.clip(mean, 0.0, 1.0, out=mean)

    def _tfidf(self, words: _Words) -> NDArray[np.float64]:
        """The weight of each entry, such that each text's weights have length 1."""
        weight = words.count * self._idf[words.word]
        squares = np.bincount(words.text, weight * weight, minlength=len(words.distinct))
        unit: NDArray[np.float64] = weight / np.sqrt(squares)[words.text]
        return unit

    def _inner(
        self, left: _Words, left_weight: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """(m, n): the inner products of the texts' weights with those of the topic's sentences."""
        left_dense, left_sparse = self._split(left, left_weight)
        dense, rare = (left_dense, left_sparse) if left is self._words else self._split(self._words, weight)
        product: NDArray[np.float64] = (left_sparse @ rare.T).toarray()
        product += left_dense @ dense.T
        return product

    def _split(self, words: _Words, weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], sparse.csr_array]:
        """The weights of the frequent words, dense, and those of the others, sparse."""
        texts = len(words.distinct)
        frequent = self._frequent[words.word]
        column = np.cumsum(self._frequent) - 1
        dense = np.zeros((texts, int(self._frequent.sum())))
        dense[words.text[frequent], column[words.word[frequent]]] = weight[frequent]
        starts = np.searchsorted(words.text[~frequent], np.arange(texts + 1))
        shape = (texts, max(len(self._vocabulary), 1))
        return dense, sparse.csr_array((weight[~frequent], words.word[~frequent], starts), shape=shape)


SIMILARITIES: Mapping[str, Callable[[Sequence[str]], Similarity]] = {
    "tfidf-jaccard": lambda sentences: WordSimilarity(sentences, cosine=True, jaccard=True),
    "tfidf": lambda sentences: WordSimilarity(sentences, cosine=True, jaccard=False),
    "jaccard": lambda sentences: WordSimilarity(sentences, cosine=False, jaccard=True),
}
