"""Texts become sentences, tokens and stems: the only place that knows which library cuts which language.

A language is a BCP 47 tag; only its first part counts ("en-GB" is cut as "en"), and an empty one means English.
Everything here is deterministic and takes time in proportion to the text, however hostile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nupunkt
import sentencex
import Stemmer

# Whatever a reader sees as a line break; a sentence never runs across one.
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_TOKEN = re.compile(r"\w+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_QUOTATION_MARK = re.compile(r'["“”„‟«»‹›「」『』]')
_OPENING_MARK = re.compile(r'["“”„‟«»‹›「」『』](?=\w)|(?<=\s)[«‹“„](?=\s)')

# sentencex keeps a quotation whole. From this many characters on, a piece with a quotation is cut inside it as well:
# nobody can compare the importance of a whole speech with that of one sentence.
LONG_QUOTATION = 240

# Characters of a line that sentencex sees at once: more than any paragraph that people write.
WINDOW = 10_000

# Porter's own algorithm (1980), not its successor: it is the one that the published metrics stem English with.
_STEMMERS = {
    "ar": "arabic",
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
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
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


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence in its text: `text[start:end]`, on the `paragraph`-th line (from 0) that holds a sentence."""

    text: str
    start: int
    end: int
    paragraph: int


def cut(text: str, language: str = "en") -> tuple[Cut, ...]:
    """Cut `text` into sentences and say where each of them stands.

    Line breaks are hard borders. Between them nupunkt cuts English, and a piece that begins in lower case goes back
    to the one before it; sentencex cuts every other language. A piece without a word belongs to the sentence that it
    follows, and a line without a word holds none: there would be nothing to compare. White space around a sentence
    belongs to no sentence.
    """
    spans_of = _english_spans if _primary(language) == "en" else _other_spans
    cuts: list[Cut] = []
    paragraph = 0
    for line in _LINE.finditer(text):
        sentences = [
            Cut(line[0][start:end], line.start() + start, line.start() + end, paragraph)
            for start, end in _with_words(line[0], spans_of(line[0], language))
        ]
        cuts += sentences
        paragraph += bool(sentences)
    return tuple(cuts)


def split_sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of `text` in order, as `cut` finds them."""
    return [sentence.text for sentence in cut(text, language)]


def tokens(text: str) -> list[str]:
    r"""Lower-cased runs of Unicode word characters (`\w+`): no stop words removed, nothing stemmed."""
    return _TOKEN.findall(text.lower())


def stems(words: Iterable[str], language: str = "en") -> list[str]:
    """Stem lower-cased tokens: Porter (1980) for English, Snowball elsewhere; unknown languages keep their words."""
    algorithm = _STEMMERS.get(_primary(language))
    if algorithm is None:
        return list(words)
    stemmed: list[str] = Stemmer.Stemmer(algorithm).stemWords(list(words))  # a stemmer may not be shared by threads
    return stemmed


def _primary(language: str) -> str:
    return re.split(r"[-_]", language, maxsplit=1)[0].lower() or "en"


def _with_words(line: str, spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Join each piece without a word to the one before it, or to the first one that has any."""
    joined: list[tuple[int, int]] = []
    begin = None
    for start, end in spans:
        begin = start if begin is None else begin
        if _TOKEN.search(line, start, end):
            joined.append((begin, end))
            begin = None
        elif joined:
            joined[-1] = (joined[-1][0], end)
            begin = None
    return joined


def _english_spans(line: str, language: str) -> Sequence[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in nupunkt.sentence_spans(line, dynamic_abbrev=False):
        if merged and line[start].islower():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _other_spans(line: str, language: str) -> Sequence[tuple[int, int]]:
    # A lone surrogate, which JSON can smuggle in, has no UTF-8 form; any other character of the same width will do.
    readable = _SURROGATE.sub("\ufffd", line)
    spans: list[tuple[int, int]] = []
    for start, end in _in_windows(readable, language):
        piece = readable[start:end]
        if end - start >= LONG_QUOTATION and _QUOTATION_MARK.search(piece):
            # An opening mark begins its sentence like a letter; a closing one ends it like a space.
            unquoted = _QUOTATION_MARK.sub(" ", _OPENING_MARK.sub("_", piece))
            spans += [(start + a, start + b) for a, b in _sentencex_spans(piece, unquoted, language)]
        else:
            spans.append((start, end))
    return spans


def _in_windows(line: str, language: str) -> Sequence[tuple[int, int]]:
    """Where the sentences of a line of any length stand; sentencex takes quadratic time over open quotations.

    The last sentence of a window may be a piece of one, so the next window begins with it; a sentence that is
    longer than a window goes on in the next.
    """
    spans: list[tuple[int, int]] = []
    begin, unfinished = 0, False
    while begin < len(line):
        window = line[begin : begin + WINDOW]
        found = [(begin + a, begin + b) for a, b in _sentencex_spans(window, window, language)]
        if unfinished and found:
            found[0] = (spans.pop()[0], found[0][1])
        at_end = begin + WINDOW >= len(line)
        cut_off = found.pop() if len(found) > 1 and not at_end else None
        spans += found
        begin = cut_off[0] if cut_off else begin + WINDOW
        unfinished = bool(spans) and not cut_off
    return spans


def _sentencex_spans(line: str, readable: str, language: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of `line` stand, without white space, if it is read as `readable` (of the same length)."""
    for border in sentencex.get_sentence_boundaries(_primary(language), readable):
        piece = line[border["start_index"] : border["end_index"]]
        text = piece.strip()
        if text:
            start = border["start_index"] + len(piece) - len(piece.lstrip())
            yield start, start + len(text)
