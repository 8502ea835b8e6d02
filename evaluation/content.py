"""How much a summary's sentences have in common with a topic's, word by word (docs/model.md, Match).

Content is what is left of a text without stop words: how often it has each stem, weighed by the topic's IDF.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evaluation.text import SMART, stems, tokens

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def content(text: str, language: str) -> list[str]:
    """The stems of a text's words in their order; of an English text (or language unknown) without SMART stop words."""
    words = tokens(text)
    if language.lower().startswith("en") or not language:
        words = [word for word in words if word not in SMART]
    return stems(words, language)


@dataclass(frozen=True, slots=True)
class Shared:
    """Inner products and lengths of vectors of content.

    `products` (k, n): sentences from outside with the topic's; `alike` (k, n): their cosines; `lengths` (t,): of the
    texts that those sentences make up; `documents`: of the topic as a whole.
    """

    products: Matrix
    alike: Matrix
    lengths: Vector
    documents: float


def shared(sentences: Sequence[str], texts: Sequence[Sequence[str]], language: str) -> Shared:
    """What the sentences of `texts`, one after the other, have in common with the topic's `sentences`.

    A sentence of the topic is a document to the IDF, ln((1 + n) / (1 + df)) + 1. Words that the topic lacks are left
    out, as they are by the TF-IDF of the similarity.
    """
    topic = [content(sentence, language) for sentence in sentences]
    outside = [content(sentence, language) for text in texts for sentence in text]
    columns = {word: k for k, word in enumerate(dict.fromkeys(word for words in topic for word in words))}
    of_topic, of_outside = _counts(topic, columns), _counts(outside, columns)
    df = np.bincount(of_topic.indices, minlength=of_topic.shape[1])
    idf = np.log((1 + len(topic)) / (1 + df)) + 1
    x, y = of_topic * idf, of_outside * idf
    products = (y @ x.T).toarray()
    lengths = np.outer(_lengths(y), _lengths(x))
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    whole = sparse.csr_array((np.ones(len(owner)), (owner, np.arange(len(owner)))), shape=(len(texts), len(owner)))
    return Shared(
        products,
        np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0),
        _lengths(whole @ y),
        float(np.sqrt(np.square(x.sum(axis=0)).sum())),
    )


def _counts(texts: Sequence[Sequence[str]], columns: dict[str, int]) -> sparse.csr_array[Any, Any]:
    """(texts, words): how often a text has a word that the topic knows."""
    known = [[columns[word] for word in words if word in columns] for words in texts]
    starts = np.cumsum([0, *map(len, known)])
    indices = np.array([column for row in known for column in row], dtype=np.int64)
    counts = sparse.csr_array((np.ones(len(indices)), indices, starts), shape=(len(texts), max(len(columns), 1)))
    counts.sum_duplicates()
    return counts


def _lengths(rows: sparse.csr_array[Any, Any]) -> Vector:
    lengths: Vector = np.sqrt(np.asarray((rows * rows).sum(axis=1)))
    return lengths
