"""Lines that an editor, a mailer or a newswire broke at one width become paragraphs again."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from preferendum.formats.checks.complaints import Place, shown

JOINED = "%(count)s line ends inside of sentences were read as spaces: %(before)s became %(after)s"

#: Narrower lines are verse, lists or columns; wider ones were broken by no editor.
NARROWEST, WIDEST = 30, 160
# Of the line ends of wrapped text: how many stand where the next word no longer fits, and where no sentence ends.
_FULL = 0.9
_MID_SENTENCE = 0.5
# Of those inside of sentences in scripts with capitals: how many are followed by a small letter.
_SMALL = 0.25
_END = re.compile(r"""[.!?…:;。！？।॥؟۔።៕។]["'”’»)\]」』]*$""")
_MARK = re.compile(r"[.!?…。！？।॥؟۔։។៕]")
# So many full lines tell that they were wrapped where nothing else can: Thai has neither capitals nor full stops.
_ENOUGH_WITHOUT_MARKS = 4
_NEW = re.compile(r"\s{2,}|\t|[-*•·‣–—]\s|\d{1,3}[.)]\s|[#>|]")
_LETTER = re.compile(r"[^\W\d_]")
# Scripts without spaces: letters and marks between which a joined line has none.
_WIDE = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
# A text was set with hyphens where so many of its joined line ends have one: other hyphens are those of words.
_HYPHENATED = re.compile(r"[^\W\d_][-\u2010]$")
_TYPESET, _FEWEST_HYPHENS = 0.1, 3
_SHOWN = 29


class _End(NamedTuple):
    """A line end within a paragraph: the number of the line, and whether the next word had no room on it."""

    line: int
    is_full: bool


def joined(place: Place, text: str) -> str:
    """The text with spaces (between letters of scripts without them, nothing) for line ends at which an editor broke
    it, which is remarked on; without what indents all lines, and without hyphens in a text that was set with them. A
    text of other lines stays as it is."""
    lines = text.split("\n")
    if len(lines) < 2:
        return text
    indented = min((len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()), default=0)
    lines = [line[indented:] for line in lines]
    for measure in (len, _columns):
        if ends := _ends(lines, measure):
            break
    else:
        return text
    parted = {k for k in ends if _HYPHENATED.search(lines[k][-2:]) and lines[k + 1][:1].islower()}
    if not len(parted) >= max(_TYPESET * len(ends), _FEWEST_HYPHENS):
        parted = set()
    whole = "".join(
        line[:-1] if k in parted else line + (_between(line, lines[k + 1]) if k in ends else "\n")
        for k, line in enumerate(lines[:-1])
    )
    first = min(ends)
    before, after = (
        shown(lines[first][-_SHOWN:] + between + lines[first + 1][:_SHOWN])
        for between in ("\n", _between(lines[first], lines[first + 1]))
    )
    place.remark_counted(JOINED, len(ends), before=before, after=after)
    return whole + lines[-1]


def _ends(lines: Sequence[str], measure: Callable[[str], int]) -> set[int]:
    """The numbers of the lines that continue on the next one; none where the text is not wrapped at one width."""
    widths = [measure(line.rstrip()) for line in lines]
    of_words = [width for width, line in zip(widths, lines, strict=True) if " " in line.strip() or _WIDE.search(line)]
    widest = max(of_words, default=0)
    if not NARROWEST <= widest <= WIDEST:
        return set()
    inner = [
        _End(k, widths[k] + 1 + measure(_first_word(lines[k + 1])) > widest)
        for k in range(len(lines) - 1)
        if lines[k].strip() and lines[k + 1].strip() and not _NEW.match(lines[k + 1])
    ]
    # What ends a sentence on a short line ends a paragraph.
    counted = [end for end in inner if end.is_full or not _END.search(lines[end.line].rstrip()[-_SHOWN:])]
    full = [end.line for end in counted if end.is_full]
    if not full or len(full) < _FULL * len(counted):
        return set()
    inside = [k for k in full if not _END.search(lines[k].rstrip()[-_SHOWN:])]
    # In a text of capitals alone they tell nothing.
    is_cased = any(letter.islower() for line in lines for letter in line)
    cased = [letter for k in inside if is_cased and (letter := _cased(lines[k + 1]))]
    small = sum(letter.islower() for letter in cased)
    if not cased and len(full) < _ENOUGH_WITHOUT_MARKS and not any(map(_MARK.search, lines)):
        return set()
    is_wrapped = len(inside) >= max(_MID_SENTENCE * len(full), 1) and small >= _SMALL * len(cased)
    return set(full) if is_wrapped else set()


def _columns(text: str) -> int:
    """The width of the text on a screen: two for an ideograph, nothing for a mark."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else unicodedata.category(letter)[0] != "M" for letter in text
    )


def _first_word(line: str) -> str:
    """What had no room on the line before; of a script without spaces, as much as may not stand alone."""
    word = line.split(maxsplit=1)[0]
    if _WIDE.search(word[:3]):
        return word[:3]
    return word[:12] if _UNSPACED.search(word[:3]) else word


def _cased(line: str) -> str:
    """The first letter, if it is a capital or a small one."""
    letter = _LETTER.search(line[:_SHOWN])
    return letter[0] if letter and letter[0].lower() != letter[0].upper() else ""


def _between(line: str, following: str) -> str:
    """What a line end is read as."""
    last, first = line[-1:], following[:1]
    if _UNSPACED.match(last) and _UNSPACED.match(first):
        return ""
    return "" if line[-2:-1].isalpha() and last in "-\u2010\u00ad" and first.isalpha() else " "
