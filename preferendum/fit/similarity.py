"""How alike two sentences of a topic are (section 4.1 of the paper; docs/model.md).

A similarity is built from a topic's sentences, compares them with each other and with sentences from outside, and is
chosen by its name. A new one needs a function and a line in `SIMILARITIES`, its name in `preferendum.formats.settings`,
and its label in `annotate.models.Study`.

All sentences with each other are n x n numbers. Up to `KEPT` sentences they are kept; beyond, callers have those
compared that they need, and they are never all in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preferendum.formats.settings import Scoring
from preferendum.text import tokens

Float = TypeVar("Float", np.float32, np.float64)
Places = NDArray[np.int64]

#: Up to so many sentences all similarities are kept: 128 MB.
KEPT = 4000

# Two similarities that differ by less are equal: what is left is the order in which floats were added.
DECIMALS = 10

# Words in more than this share of the sentences are multiplied as a dense block: there BLAS is faster than a sparse
# product, and everywhere else it is slower.
_FREQUENT = 1 / 64

# Numbers in the making that stay in the processor's cache, and those that are worked out at once.
_BLOCK = 1 << 16
_AT_ONCE = 1 << 20


class Similarity(Protocol):
    """What the rest of the mathematics needs of a similarity; all values are in [0, 1].

    The similarities of the topic's n sentences are symmetric, with ones on the diagonal.
    """

    def __len__(self) -> int:
        """n."""

    def rows(self, places: Places) -> NDArray[np.float64]:
        """(k, n): the sentences at these places with all of the topic's."""

    def among(self, places: Places) -> NDArray[np.float64]:
        """(k, k): the sentences at these places, in ascending order, with each other."""

    def pairs(self, a: Places, b: Places) -> NDArray[np.float64]:
        """(k,): the sentences at `a` with those at `b`, one by one."""

    def product(self, weights: NDArray[np.float64], places: Places) -> NDArray[np.float64]:
        """(..., n): `weights` (..., k) times the rows at these places, which are not held all at once."""

    def to(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(m, n): sentences from outside (rows) with the topic's (columns)."""


def similarity(sentences: Sequence[str], name: str = Scoring().similarity) -> Similarity:
    """The similarity of that name over a topic's sentences. Raises `ValueError` for a name that there is not."""
    try:
        build = SIMILARITIES[name]
    except KeyError:
        available = ", ".join(sorted(SIMILARITIES))
        raise ValueError(f"there is no similarity called {name!r}; there are: {available}") from None
    return build(sentences)


def whole(compared: Similarity) -> NDArray[np.float64]:
    """(n, n): all of the topic's sentences with each other."""
    return compared.among(np.arange(len(compared)))


def nearest(similarities: NDArray[np.float64]) -> Places:
    """(m,): for each row of (m, n) the column of the most similar sentence, the first of equals."""
    columns: Places = np.argmax(np.round(similarities, DECIMALS), axis=1)
    return columns


def nearest_to(compared: Similarity, texts: Sequence[str]) -> tuple[Places, NDArray[np.float64]]:
    """(m,), (m,): the topic's sentence most similar to each text from outside, and how similar it is (0: to none)."""
    columns, closest = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts))
    if not len(compared):
        return columns, closest
    for some in slices(len(texts), len(compared)):
        rows = compared.to(texts[some])
        columns[some] = nearest(rows)
        closest[some] = rows[np.arange(len(rows)), columns[some]]
    return columns, closest


class KnownSimilarity:
    """Similarities that are known already: `matrix` (n, n)."""

    def __init__(self, matrix: NDArray[np.float64]) -> None:
        self.matrix = np.ascontiguousarray(matrix)

    def __len__(self) -> int:
        return len(self.matrix)

    def rows(self, places: Places) -> NDArray[np.float64]:
        return self.matrix[places]

    def among(self, places: Places) -> NDArray[np.float64]:
        return self.matrix if len(places) == len(self.matrix) else self.matrix[np.ix_(places, places)]

    def pairs(self, a: Places, b: Places) -> NDArray[np.float64]:
        return self.matrix[a, b]

    def product(self, weights: NDArray[np.float64], places: Places) -> NDArray[np.float64]:
        products: NDArray[np.float64] = weights @ self.matrix[places]
        return products

    def to(self, texts: Sequence[str]) -> NDArray[np.float64]:
        raise NotImplementedError("similarities without texts are not compared with other texts")


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

    def take(self, rows: Places | slice) -> _Vectors[Float]:
        return _Vectors(self.frequent[rows], self.rare[rows])

    def to(self, other: _Vectors[Float]) -> NDArray[Float]:
        """(m, n): the inner products of these texts with others."""
        products: NDArray[Float] = self.frequent @ other.frequent.T
        few = (self.rare @ other.rare.T).tocoo()
        products[few.coords] += few.data
        return products

    def with_each(self, other: _Vectors[Float]) -> NDArray[Float]:
        """(m,): the inner products of these texts with as many others, one by one."""
        few = np.asarray(self.rare.multiply(other.rare).sum(axis=1)).ravel()
        products: NDArray[Float] = np.einsum("ij,ij->i", self.frequent, other.frequent) + few
        return products


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts as the two similarities see them: which words they have, their TF-IDF, how many distinct words."""

    has: _Vectors[np.float32]  # small whole numbers are exact in single precision, which is twice as fast
    tfidf: _Vectors[np.float64]
    distinct: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.distinct)

    def take(self, rows: Places | slice) -> _Texts:
        return _Texts(self.has.take(rows), self.tfidf.take(rows), self.distinct[rows])


class WordSimilarity:
    """The mean of one or both of: the cosine of TF-IDF vectors, the Jaccard index of the sets of words.

    TF-IDF is scikit-learn's default (raw counts, `ln((1 + n) / (1 + df)) + 1`, length 1) over the tokens of
    `preferendum.text`, each sentence of the topic being a document. A sentence without words resembles only itself.
    A text from outside is weighed with the topic's IDF; words that the topic lacks enlarge the Jaccard union only.
    """

    def __init__(self, sentences: Sequence[str], *, cosine: bool, jaccard: bool) -> None:
        self._cosine, self._jaccard = cosine, jaccard
        self._vocabulary: dict[str, int] = {}
        words = self._count(sentences, grow=True)
        n = len(sentences)
        document_frequency = np.bincount(words.word, minlength=len(self._vocabulary))
        self._idf = np.log((1 + n) / (1 + document_frequency)) + 1
        self._frequent = document_frequency > _FREQUENT * n
        self._topic = self._texts(words)

    def __len__(self) -> int:
        return len(self._topic)

    @cached_property
    def _kept(self) -> KnownSimilarity | None:
        """All of them, where that does not take much."""
        if len(self) > KEPT:
            return None
        matrix = self._rows(np.arange(len(self)))
        matrix.flags.writeable = False
        return KnownSimilarity(matrix)

    def rows(self, places: Places) -> NDArray[np.float64]:
        return self._rows(places) if self._kept is None else self._kept.rows(places)

    def among(self, places: Places) -> NDArray[np.float64]:
        if self._kept is not None:
            return self._kept.among(places)
        among = self._compare(self._topic.take(places), self._topic.take(places))
        np.fill_diagonal(among, 1.0)
        return among

    def pairs(self, a: Places, b: Places) -> NDArray[np.float64]:
        if self._kept is not None:
            return self._kept.pairs(a, b)
        left, right = self._topic.take(a), self._topic.take(b)
        cosine, shared = left.tfidf.with_each(right.tfidf), left.has.with_each(right.has).astype(np.float64)
        return np.where(a == b, 1.0, self._mean(cosine, shared, left.distinct + right.distinct - shared))

    def product(self, weights: NDArray[np.float64], places: Places) -> NDArray[np.float64]:
        if self._kept is not None:
            return self._kept.product(weights, places)
        total = np.zeros((*weights.shape[:-1], len(self)))
        for some in slices(len(places), len(self)):
            total += weights[..., some] @ self._rows(places[some])
        return total

    def to(self, texts: Sequence[str]) -> NDArray[np.float64]:
        return self._compare(self._texts(self._count(texts, grow=False)), self._topic)

    def _rows(self, places: Places) -> NDArray[np.float64]:
        rows = self._compare(self._topic.take(places), self._topic)
        rows[np.arange(len(places)), places] = 1.0
        return rows

    def _compare(self, left: _Texts, right: _Texts) -> NDArray[np.float64]:
        """(m, n): the mean of the cosine and the Jaccard index, or the one of them that is wanted."""
        means = np.zeros((len(left), len(right)))
        for rows in slices(len(left), len(right)):
            some = left.take(rows)
            if self._cosine:
                means[rows] = some.tfidf.to(right.tfidf)
            if self._jaccard:
                self._add_jaccard(means[rows], some, right)
        return np.minimum(means, 1.0, out=means)

    def _add_jaccard(self, means: NDArray[np.float64], left: _Texts, right: _Texts) -> None:
        """Make the cosines in `means` (m, n) the similarities."""
        shared = left.has.to(right.has)
        for rows in slices(len(left), len(right), _BLOCK):
            union = left.distinct[rows, None] + right.distinct[None, :]
            union -= shared[rows]
            means[rows] = self._mean(means[rows], shared[rows], union)

    def _mean(
        self, cosine: NDArray[np.float64], shared: NDArray[Float], union: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The mean of the cosine and the Jaccard index, from how many words two texts share and have together."""
        if not self._jaccard:
            return np.minimum(cosine, 1.0)
        jaccard: NDArray[np.float64] = shared / np.maximum(union, 1.0, out=union)
        return np.minimum((cosine + jaccard) / 2, 1.0) if self._cosine else jaccard

    def _count(self, texts: Sequence[str], *, grow: bool) -> _Words:
        vocabulary = self._vocabulary
        every: list[int] = []
        lengths: list[int] = []
        unknown: list[int] = []
        for sentence in texts:
            words = tokens(sentence)
            if grow:
                ids = [vocabulary.setdefault(word, len(vocabulary)) for word in words]
                unknown.append(0)
            else:
                ids = [vocabulary[word] for word in words if word in vocabulary]
                unknown.append(len(set(words) - vocabulary.keys()))
            every += ids
            lengths.append(len(ids))
        width = max(len(vocabulary), 1)
        keys = np.repeat(np.arange(len(texts)), lengths) * width + np.array(every, dtype=np.int64)
        entries, count = np.unique(keys, return_counts=True)
        text, word = entries // width, entries % width
        distinct = (np.bincount(text, minlength=len(texts)) + np.array(unknown, dtype=np.int64)).astype(np.float64)
        return _Words(text, word, count.astype(np.float64), distinct)

    def _texts(self, words: _Words) -> _Texts:
        ones = np.ones(len(words.word), dtype=np.float32)
        return _Texts(self._vectors(words, ones), self._vectors(words, self._tfidf(words)), words.distinct)

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


def slices(rows: int, width: int, most: int = _AT_ONCE) -> Iterator[slice]:
    """Blocks of rows of a table that is so wide, none of more numbers than `most`."""
    height = max(1, most // max(1, width))
    return (slice(start, start + height) for start in range(0, rows, height))


SIMILARITIES: Mapping[str, Callable[[Sequence[str]], Similarity]] = {
    "tfidf-jaccard": lambda sentences: WordSimilarity(sentences, cosine=True, jaccard=True),
    "tfidf": lambda sentences: WordSimilarity(sentences, cosine=True, jaccard=False),
    "jaccard": lambda sentences: WordSimilarity(sentences, cosine=False, jaccard=True),
}
