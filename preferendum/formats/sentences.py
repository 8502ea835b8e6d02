"""Texts become sentences: the only place that knows which library cuts which language.

A language is a BCP 47 tag; only its first part counts ("en-GB" is cut as "en"), and an empty one means English.
Everything here is deterministic and takes time in proportion to the text, however hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import nupunkt
import sentencex

from preferendum.formats.abbreviations import BEFORE_NUMBERS, BEFORE_WORDS, ORDINALS
from preferendum.formats.records import Cut, Text

# Whatever a reader sees as a line break; a sentence never runs across one.
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_WORD = re.compile(r"\w")
_LETTER = re.compile(r"[^\W\d_]")
# "'s Avonds" begins a sentence.
_DUTCH = re.compile(r"['’‘][a-z]\s[A-Z]")
# Where a sentence may end.
_END = re.compile(r"[.!?\u2026]+(?!\w)|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_END_MARK = re.compile(r"[.!?\u2026]")
# A run of marks but for the first and last of them, which say what follows.
_INSIDE_OF_MARKS = re.compile(r"(?<=[^\w\s]{8})[^\w\s]+(?=[^\w\s]{8})")
# Several marks far inside of a word, where nothing ends.
_INSIDE_OF_WORDS = re.compile(r"(?<=\S{8})[^\w\s]{2,}(?=\S{8})")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_QUOTATION_MARK = re.compile(r'["“”„‟«»‹›「」『』]|\'\'')
_OPENING_MARK = re.compile(r'["“”„‟«»‹›「」『』](?=\w)|(?<=\s)[«‹“„](?=\s)')
# Where a sentence begins in a text without capitals: after a mark, what closes, white space and what opens.
# Tokenizers leave `` and '' of quotation marks, with spaces around them.
_BEGINNING = re.compile(r"""([.!?\u2026](?:["'”’»)\]]|\s?'')*\s+(?:``\s?|["'“„«(\[¿¡])*)([^\W\d_])""")
# The last word before a border, with its full stop: what ends with one is perhaps an abbreviation.
_LAST_WORD = re.compile(r"""(?:^|[\s'’(\["“„«])([^\s'’(\["“„«]{1,12})\.$""")
# Words of one small vowel ("é", "я") end sentences, so that only consonants are initials there.
_INITIAL = re.compile(r"(?:[^\W\d_]\.?-)?(?:(?![aeiouyæøаеёиоуыэюяєіїαεηιουωà-åè-ïò-öù-ýőűάέήίόύώ])[^\W\d_])")
_ORDINAL = re.compile(r"\d{1,2}|[IVXLC]{2,6}")
_FIRST_WORD = re.compile(r"""["'“„«(\[]?(\w+)""")
# Abbreviations that end sentences, too: units and years after a number, "and so on".
_MAY_END = re.compile(r"(?:\d\s?[^\W\d]{1,3}|т\.\s?[дп]|н\.\s?э|[ap]\.\s?m|u\.\s?a|m\.\s?m|s\.\s?v|e\.\s?d|κ\.\s?ά)\.$")
# "In 1989", with the Polish word for a year: no sentence by itself.
_IN_A_YEAR = re.compile(r"(?:W|Od|Do|Po|Około)\s(?:\w+\s)?\d{3,4}\s?r\.")
# A number that counts what follows, after the end of a sentence.
_COUNTED = re.compile(r"[.!?\u2026:;)”\"»]\s+(\d{1,3}\.)$")
# What no sentence begins with.
_CONTINUES = re.compile(r"[,;:)\]%/]|-\w")
# Japanese and Korean go on with a particle after a quotation.
_QUOTING = re.compile(r"(?<=[」』])\s*(?:と|って)|(?<=[」』\"”’'])(?:[가-힣]|\s하고\s)")
_ENOUGH = 24
# An ideographic full stop ends a sentence whatever follows, and so do a Greek question mark and Khmer's full stop (but
# for "etc."); sentencex waits for a letter of the script, takes the second for a semicolon and knows no third. So do
# any mark before "'s Avonds", and "and so on" in Russian and Ukrainian before a capital letter.
_SURE_END = re.compile(
    r"[。！？](?=[\d０-９A-Za-z])|;(?=\s+[«\"“]?[Ά-Ϋ])|(?<!។ល)[។៕](?!ល។)(?=\s*\w)"
    r"|[.!?](?=\s['’‘][a-z]\s[A-Z])|(?:(?<=[иі]\sт\.\s[дп])|(?<=[иі]\sт\.[дп])|(?<=[иі]\s(?:др|пр)))\.(?=\s+[«\"„“]?[А-ЯЁЄІЇ])"
)

# A text in which more sentences may end, the first few aside, than one in so many characters is nothing that people
# write, and the libraries take up to 20 microseconds for each end: it is cut at its line breaks only.
CHARACTERS_TO_AN_END = 8
_FIRST_FEW = 50

# sentencex keeps a quotation whole. From this many characters on, a piece with a quotation is cut inside it as well:
# nobody can compare the importance of a whole speech with that of one sentence.
LONG_QUOTATION = 240

# Characters of a line that sentencex sees at once: more than any paragraph that people write.
WINDOW = 10_000
# More quotation marks than people write in one of these; sentencex looks from each to the end, should it be open.
MOST_QUOTATION_MARKS = 1000
_ANY_QUOTATION_MARK = re.compile(r'["“”„‟«»‹›「」『』‘’‚`]')


def cut(text: str, language: str = "") -> tuple[Cut, ...]:
    """Cut `text` into sentences, each with its place.

    Line breaks are hard borders. Between them nupunkt cuts English and sentencex every other language, whose titles,
    initials, ordinals and other abbreviations (`abbreviations`) end nothing. A piece that begins with a small letter is
    joined to the one before it, except where a text has (nearly) no capitals. A piece without a word belongs to the
    sentence before it, and a line without a word has no sentence: there would be nothing to compare. White space around
    a sentence belongs to no sentence.
    """
    spans_of = _spans_of(text, language)
    readable = _with_capitals(text) if _lacks_capitals(text) else text
    cuts: list[Cut] = []
    paragraph = 0
    for line in _LINE.finditer(text):
        sentences = [
            Cut(line[0][start:end], line.start() + start, line.start() + end, paragraph)
            for start, end in _with_words(line[0], spans_of(readable[line.start() : line.end()], language))
        ]
        cuts += sentences
        paragraph += bool(sentences)
    return tuple(cuts)


def cut_text(text: Text, language: str = "") -> tuple[Cut, ...]:
    """The sentences of a document, a reference or a summary.

    A text that was given in sentences is not cut again; each sentence counts as a line of its own.
    """
    if text.sentences is None:
        return cut(text.text or "", language)
    cuts: list[Cut] = []
    start = 0
    for line, sentence in enumerate(text.sentences):
        cuts.append(Cut(sentence, start, start + len(sentence), line))
        start += len(sentence) + 1
    return tuple(cuts)


def count(text: Text, language: str = "") -> int:
    """How many sentences a text has."""
    return len(cut(text.text or "", language) if text.sentences is None else text.sentences)


def primary_language(language: str) -> str:
    """The part of a language tag that says how to cut and stem."""
    return re.split(r"[-_]", language, maxsplit=1)[0].lower() or "en"


def _spans_of(text: str, language: str) -> Callable[[str, str], Sequence[tuple[int, int]]]:
    """What finds the sentences of a line of the text."""
    ends = sum(1 for _ in _END.finditer(text))
    if ends > _FIRST_FEW + len(text) / CHARACTERS_TO_AN_END:
        return _whole
    return _english_spans if primary_language(language) == "en" else _other_spans


def _lacks_capitals(text: str) -> bool:
    """Whether sentences begin with small letters: at most one in ten with a capital one, words such as NATO aside."""
    beginnings = [_first_letter(text, 0), *(_first_letter(text, match.start(2)) for match in _BEGINNING.finditer(text))]
    small = sum(begin == "small" for begin in beginnings)
    return small > 0 and 10 * sum(begin == "capital" for begin in beginnings) <= small


def _first_letter(text: str, at: int) -> str:
    """Whether the first letter from there is small or a capital; "" where it is neither."""
    match = _LETTER.search(text, at, at + _ENOUGH)
    if not match:
        return ""
    begin = match.start()
    if _is_small(text[begin]):
        return "small"
    is_word = text[begin + 1 : begin + 2].islower()
    return "capital" if text[begin].isupper() and is_word else ""


def _with_capitals(text: str) -> str:
    """The text with a capital letter where a sentence may begin; no longer and no shorter."""
    return _BEGINNING.sub(lambda match: match[1] + (match[2].upper() if len(match[2].upper()) == 1 else match[2]), text)


def _is_small(letter: str) -> bool:
    """Whether the letter has a capital that sentences begin with; Georgian's are of headlines only."""
    return letter.islower() and not "\u10d0" <= letter <= "\u10ff"


def _whole(line: str, language: str) -> Sequence[tuple[int, int]]:
    text = line.strip()
    start = len(line) - len(line.lstrip())
    return [(start, start + len(text))] if text else []


def _with_words(line: str, spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Join each piece without a word to the one before it, or to the first one that has any."""
    joined: list[tuple[int, int]] = []
    begin = None
    for start, end in spans:
        begin = start if begin is None else begin
        if _WORD.search(line, start, end):
            joined.append((begin, end))
            begin = None
        elif joined:
            joined[-1] = (joined[-1][0], end)
            begin = None
    return joined


def _english_spans(line: str, language: str) -> Sequence[tuple[int, int]]:
    if not _END_MARK.search(line, 0, len(line.rstrip()) - 1):
        return _whole(line, language)
    # nupunkt looks from each mark to the end of the run, and of the word, that it stands in.
    readable = _INSIDE_OF_WORDS.sub(_underscores, _INSIDE_OF_MARKS.sub(_underscores, line))
    merged: list[tuple[int, int]] = []
    for start, end in nupunkt.sentence_spans(readable, dynamic_abbrev=False):
        if merged and _is_small(line[start]):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _underscores(marks: re.Match[str]) -> str:
    return "_" * len(marks[0])


def _other_spans(line: str, language: str) -> Sequence[tuple[int, int]]:
    # A lone surrogate, which JSON can smuggle in, has no UTF-8 form; any other character of the same width will do.
    readable = _SURROGATE.sub("\ufffd", line)
    spans: list[tuple[int, int]] = []
    for start, end in _in_windows(readable, language):
        piece = readable[start:end]
        if end - start >= LONG_QUOTATION and _QUOTATION_MARK.search(piece):
            # An opening mark begins its sentence like a letter; a closing one ends it like a space.
            unquoted = _QUOTATION_MARK.sub(lambda mark: " " * len(mark[0]), _OPENING_MARK.sub("A", piece))
            spans += [(start + a, start + b) for a, b in _sentencex_spans(piece, unquoted, language)]
        else:
            spans.append((start, end))
    return _rejoined(line, spans, primary_language(language))


def _rejoined(line: str, spans: Sequence[tuple[int, int]], language: str) -> Sequence[tuple[int, int]]:
    """The sentences without the borders at which a reader sees none, and with those that stand for sure."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        start = begin
        if joined and not _is_border(line, joined[-1], start, language):
            start = joined.pop()[0]
        elif joined and (counted := _COUNTED.search(line[max(joined[-1][0], joined[-1][1] - _ENOUGH) : joined[-1][1]])):
            number = joined[-1][1] - len(counted[1])
            sentence = (joined[-1][0], joined[-1][0] + len(line[joined[-1][0] : number].rstrip()))
            if _is_border(line, sentence, number, language):
                joined[-1], start = sentence, number
        joined.append((start, end))
    return [part for span in joined for part in _cut_at_sure_ends(line, span)]


def _is_border(line: str, before: tuple[int, int], start: int, language: str) -> bool:
    """Whether a sentence ends between what stands at `before` and what begins at `start`."""
    after = line[start : start + _ENOUGH]
    if _CONTINUES.match(after) or _QUOTING.match(line, before[1]):
        return False
    letter = _LETTER.search(after)
    if letter and not re.search(r"\w", after[: letter.start()]) and _is_small(letter[0]):
        return bool(_DUTCH.match(after))
    tail = line[max(before[0], before[1] - _ENOUGH) : before[1]]
    if _IN_A_YEAR.fullmatch(line, *before):
        return False
    word = _LAST_WORD.search(tail)
    if word and len(word[1]) == 1 and start == before[1]:  # "a.C."
        return False
    return word is None or not _is_abbreviated(word[1], tail, after, language)


def _is_abbreviated(word: str, tail: str, after: str, language: str) -> bool:
    """Whether the word with a full stop at the end of `tail` continues with `after`."""
    is_number = after[0].isdigit()
    if is_number and word.lower() in BEFORE_NUMBERS.get(language, ()):
        return True
    if _MAY_END.search(tail):
        return False
    if is_number or word.lower() in BEFORE_WORDS.get(language, ()):
        return word.lower() in BEFORE_WORDS.get(language, ())
    first = _FIRST_WORD.match(after)
    if _INITIAL.fullmatch(word):
        return first is not None
    if language in ORDINALS and _ORDINAL.fullmatch(word):
        return first is not None and first[1].lower() not in ORDINALS[language]
    return False


def _cut_at_sure_ends(line: str, span: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """The span, cut where a sentence ends for sure, outside of quotations."""
    (start, end), at, quoted = span, span[0], 0
    for mark in _SURE_END.finditer(line, start, end):
        quoted += sum(map(line[at : mark.end()].count, "「『（«")) - sum(map(line[at : mark.end()].count, "」』）»"))
        at = mark.end()
        if quoted <= 0:
            yield start, at
            start, quoted = at + len(line[at : at + _ENOUGH]) - len(line[at : at + _ENOUGH].lstrip()), 0
    yield start, end


def _in_windows(line: str, language: str) -> Sequence[tuple[int, int]]:
    """The places of the sentences of a line of any length; sentencex takes quadratic time over open quotations.

    The last sentence of a window may be a piece of one, so the next window begins with it; a sentence that is
    longer than a window continues in the next.
    """
    spans: list[tuple[int, int]] = []
    begin, unfinished = 0, False
    while begin < len(line):
        window = line[begin : begin + WINDOW]
        in_window = [(begin + a, begin + b) for a, b in _sentencex_spans(window, _unquoted(window), language)]
        if unfinished and in_window:
            in_window[0] = (spans.pop()[0], in_window[0][1])
        at_end = begin + WINDOW >= len(line)
        cut_off = in_window.pop() if len(in_window) > 1 and not at_end else None
        spans += in_window
        begin = cut_off[0] if cut_off else begin + WINDOW
        unfinished = bool(spans) and not cut_off
    return spans


def _unquoted(window: str) -> str:
    """The window, without its quotation marks where there are too many to quote anything."""
    unquoted, marks = _ANY_QUOTATION_MARK.subn(" ", window)
    return unquoted if marks > MOST_QUOTATION_MARKS else window


def _sentencex_spans(line: str, readable: str, language: str) -> Iterator[tuple[int, int]]:
    """The places of the sentences of `line`, without white space, if it is read as `readable` (of the same length)."""
    for border in sentencex.get_sentence_boundaries(primary_language(language), readable):
        piece = line[border["start_index"] : border["end_index"]]
        text = piece.strip()
        if text:
            start = border["start_index"] + len(piece) - len(piece.lstrip())
            yield start, start + len(text)
