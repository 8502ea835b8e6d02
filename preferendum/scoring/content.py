"""The content of a text: how often it has each stem, without stop words (docs/model.md)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from preferendum.text import SMART, stems, tokens


def content(text: str, language: str) -> list[str]:
    """The stems of a text's words in their order; of an English text (or language unknown) without SMART stop words."""
    return stems(_kept(tokens(text), language), language)


def contents(texts: Sequence[str], language: str) -> tuple[list[list[str]], dict[str, str]]:
    """The content of each text, and the stem of each word that they have, by the word in lower case."""
    every = [tokens(text) for text in texts]
    words = _kept(sorted(set(chain(*every))), language)
    spelled = dict(zip(words, stems(words, language), strict=True))
    return [[spelled[word] for word in own if word in spelled] for own in every], spelled


def _kept(words: list[str], language: str) -> list[str]:
    is_english = language.lower().startswith("en") or not language
    return [word for word in words if word not in SMART] if is_english else words


def counts(texts: Sequence[Sequence[str]], columns: dict[str, int]) -> sparse.csr_array[Any, Any]:
    """(texts, words): how often a text has a word that the topic knows."""
    rows = [[columns[word] for word in words if word in columns] for words in texts]
    starts = np.cumsum([0, *map(len, rows)])
    indices = np.array([column for row in rows for column in row], dtype=np.int64)
    matrix = sparse.csr_array((np.ones(len(indices)), indices, starts), shape=(len(texts), max(len(columns), 1)))
    matrix.sum_duplicates()
    return matrix
