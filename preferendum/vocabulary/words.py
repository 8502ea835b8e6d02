"""The words of texts that count: as the program SIMetrix reads English, and by white space and stems elsewhere.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from preferendum.text import SMART, stems, tokens
from preferendum.vocabulary.porter import martins_stem

WORDS = (
    "English: [A-Za-z0-9]+ without SMART stop words (596), stems of Martin Porter's program; other languages: runs of "
    "word characters, Snowball stems"
)
"""Which words count, for signatures."""

Vector = NDArray[np.float64]
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")


def words(sentences: Iterable[str], language: str) -> Counter[str]:
    """How often each stem occurs. English: ASCII letters and digits, lower case, no SMART stop words, Porter's program.

    Other languages: runs of word characters, stemmed where there is a stemmer; no stop words are removed.
    """
    return Counter(stemmed(unstemmed(sentences, language), language))


def unstemmed(sentences: Iterable[str], language: str) -> list[str]:
    """The words that count, in lower case."""
    text = "\n".join(sentences)
    if not _is_english(language):
        return tokens(text)
    return [word for word in map(str.lower, _ASCII_WORDS.findall(text)) if word not in SMART]


def stemmed(unstemmed: Iterable[str], language: str) -> list[str]:
    """The stem of each of those words."""
    return list(map(martins_stem, unstemmed)) if _is_english(language) else stems(unstemmed, language)


def _is_english(language: str) -> bool:
    return language.lower().startswith("en") or not language


@lru_cache(maxsize=2)
def words_of_documents(sentences: tuple[str, ...], language: str) -> Counter[str]:
    """Count the words of a topic's documents, cached, since several metrics need them one after the other."""
    return words(sentences, language)


def vocabulary(texts: Iterable[Iterable[str]]) -> dict[str, int]:
    """Each word of any of the texts, by its column."""
    return {word: k for k, word in enumerate(dict.fromkeys(chain.from_iterable(texts)))}


def aligned(texts: Sequence[Mapping[str, int]]) -> Vector:
    """(texts, v): how often each text has each word of their vocabulary."""
    column = vocabulary(texts)
    counts = np.zeros((len(texts), len(column)))
    for row, text in zip(counts, texts, strict=True):
        row[[column[word] for word in text]] = list(text.values())
    return counts
