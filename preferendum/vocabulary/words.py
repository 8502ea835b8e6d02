"""The words of texts that count: as the program SIMetrix reads English, and in any script elsewhere.

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
    "English: [A-Za-z0-9]+ without SMART stop words (596), stems of Martin Porter's program; other languages: letters "
    "with their marks (bigrams of characters where no space parts words), Snowball stems"
)
"""Which words count, for signatures."""

Vector = NDArray[np.float64]
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")
_LATIN_OR_DIGIT = re.compile("[0-9A-Za-z\u00aa\u00ba\u00c0-\u02af\u1e00-\u1eff]")


def words(sentences: Iterable[str], language: str) -> Counter[str]:
    """How often each stem occurs. English: ASCII letters and digits, lower case, no SMART stop words, Porter's program.

    Other languages: the tokens of `preferendum.formats.tokens`, stemmed where there is a stemmer; no stop words are
    removed. A text of no language is read as English, and its words in other scripts are such tokens.
    """
    return Counter(stemmed(unstemmed(sentences, language), language))


def unstemmed(sentences: Iterable[str], language: str) -> list[str]:
    """The words that count, in lower case."""
    text = "\n".join(sentences)
    if not _is_english(language):
        return tokens(text)
    others = [] if language or text.isascii() else [word for word in tokens(text) if not _LATIN_OR_DIGIT.search(word)]
    return [*(word for word in map(str.lower, _ASCII_WORDS.findall(text)) if word not in SMART), *others]


def stemmed(unstemmed: Iterable[str], language: str) -> list[str]:
    """The stem of each of those words."""
    if not _is_english(language):
        return stems(unstemmed, language)
    return [martins_stem(word) if word.isascii() else word for word in unstemmed]


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
