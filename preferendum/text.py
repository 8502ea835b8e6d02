"""Tokens become stems.

A language is a BCP 47 tag; only its first part counts ("en-GB" is stemmed as "en"), and an empty one means English.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import Stemmer

from preferendum.formats.sentences import primary_language
from preferendum.formats.tokens import tokens

__all__ = ["SMART", "stems", "tokens"]

# Porter's own algorithm (1980), not its successor: it is the one that the published metrics stem English with. Three
# of Snowball's are left out: Arabic gives one noun up to three stems; Hindi and Nepali take final vowels for endings,
# so that a garland is a gardener and a river is one consonant.
_STEMMERS = {
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "porter",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def _stop_words() -> frozenset[str]:
    lines = (Path(__file__).parent / "data" / "smart_stop_words.txt").read_text(encoding="ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


SMART = _stop_words()
"""The 596 English stop words of the SMART system; name the list beside every score that used it."""


def stems(words: Iterable[str], language: str = "en") -> list[str]:
    """Stem lower-cased tokens: Porter (1980) for English, Snowball elsewhere; unknown languages keep their words."""
    algorithm = _STEMMERS.get(primary_language(language))
    if algorithm is None:
        return list(words)
    stemmed: list[str] = Stemmer.Stemmer(algorithm).stemWords(list(words))  # a stemmer may not be shared by threads
    return stemmed
