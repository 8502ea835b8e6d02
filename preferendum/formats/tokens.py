"""The tokens of a text in any script: what all scores but official ROUGE count, and what pages mark.

Where spaces part words, a token is a run of letters, digits and underscores with their marks (vowel signs, viramas,
accents): Python's `\\w` alone has no marks and cuts Hindi into consonants. Scripts without spaces between words (Han,
kana, Thai, Lao, Khmer, Burmese and their neighbours) give the bigrams of their characters: no dictionary, no model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple


class Token(NamedTuple):
    """A token as it is compared, and its place: `text[start:end]`. Bigrams overlap."""

    text: str
    start: int
    end: int


def _marks() -> str:
    """The combining marks of Unicode as ranges of a character class."""
    kinds = map(unicodedata.category, map(chr, range(0x300, 0x1F000)))
    marks = [code for code, kind in enumerate(kinds, 0x300) if kind[0] == "M"]
    first = [code for code, before in zip(marks, [0, *marks], strict=False) if code != before + 1]
    last = [code for code, after in zip(marks, [*marks[1:], 0], strict=True) if code != after - 1]
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(first, last, strict=True))


# Han, kana, and Unicode's line break class SA: letters of scripts in which no space parts the words.
_UNSPACED = (
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003fffd"
    "\u0e01-\u0e4e\u0e50-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaadf\u1780-\u17ff\u1950-\u19df\u1a20-\u1aaf"
    "\U00011700-\U0001174f"
)
# What shows nothing inside of a word: soft hyphens, joiners, marks of direction, selectors of variants.
_UNSEEN = "\u00ad\u061c\u200c-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef"
_MARKS = _marks()
_IN_WORD = rf"[\w{_MARKS}{_UNSEEN}]"
# A zero-width space, which some write between the words of these scripts and some do not, parts nothing there.
_WORD = re.compile(rf"\w{_IN_WORD}*(?:\u200b+[{_UNSPACED}]{_IN_WORD}*)*")
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_OF_ONE_KIND = re.compile(rf"([{_UNSPACED}][{_UNSPACED}{_MARKS}{_UNSEEN}\u200b]*)|[^{_UNSPACED}]+")
# With marks, and vowels of Thai and Lao before and after it; a virama puts a second letter of Burmese, Khmer or Tai
# Tham under the first.
_CHARACTER = re.compile(
    rf"[\u0e40-\u0e44\u0ec0-\u0ec4]?[^{_MARKS}](?:[\u1039\u17d2\u1a60][^{_MARKS}]"
    rf"|[{_MARKS}\uff9e\uff9f\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3])*"
)
# With the tatweel, which only stretches a word of Arabic script.
_HIDDEN = re.compile(f"[{_UNSEEN}\u0640\u200b]")
# Arabic, Devanagari and other scripts write the same numbers with digits of their own.
_OTHER_DIGIT = re.compile(r"[^\D0-9]")


def tokens(text: str) -> list[str]:
    """The tokens of the text in lower case and NFKC: no stop words removed, nothing stemmed."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    if not _HAS_UNSPACED.search(text):  # words as `placed_tokens` finds them, in a third of its time
        return list(filter(None, map(_normal, _WORD.findall(text))))
    return [token.text for token in placed_tokens(text)]


def placed_tokens(text: str) -> Iterator[Token]:
    """Find the tokens of the text with their places, in the order in which they begin."""
    for word in _WORD.finditer(text):
        if word[0].isascii() or not _HAS_UNSPACED.search(word[0]):
            if spelled := _normal(word[0]):
                yield Token(spelled, word.start(), word.end())
            continue
        for part in _OF_ONE_KIND.finditer(word[0]):
            start = word.start() + part.start()
            if part[1]:
                yield from _bigrams(part[0], start)
            elif spelled := _normal(part[0]):
                yield Token(spelled, start, word.start() + part.end())


def pieces(text: str, is_marked: Callable[[Token], bool]) -> Iterator[tuple[str, Token | None]]:
    """The text in pieces for a page, each with its token; what lies between tokens has none.

    Where bigrams overlap, a marked one has its characters, or those that the one before it left.
    """
    at = 0
    following = placed_tokens(text)
    after = next(following, None)
    while token := after:
        after = next(following, None)
        end = token.end if after is None or is_marked(token) else min(token.end, after.start)
        if token.start > at:
            yield text[at : token.start], None
        if end > max(token.start, at):
            yield text[max(token.start, at) : end], token
        at = max(at, end)
    if at < len(text):
        yield text[at:], None


def _bigrams(run: str, at: int) -> Iterator[Token]:
    """Two characters each; of a single one that character."""
    characters = [
        Token(spelled, at + piece.start(), at + piece.end())
        for piece in _CHARACTER.finditer(run)
        if (spelled := _normal(piece[0]))
    ]
    if len(characters) == 1:
        yield characters[0]
    for first, second in pairwise(characters):
        yield Token(first.text + second.text, first.start, second.end)


def _normal(word: str) -> str:
    """What is compared, without the dot over i that lower-casing leaves of the Turkish capital."""
    if word.isascii():
        return word.lower()
    normal = unicodedata.normalize("NFKC", _HIDDEN.sub("", word)).lower().replace("i\u0307", "i")
    return _OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), normal)
