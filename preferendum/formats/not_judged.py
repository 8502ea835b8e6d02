"""Why a piece of a source document is not to be judged: named rules for what looks like no sentence.

Annotators compare sentences, so a date, a byline or a heading among them wastes an answer. The rules are cautious: in
doubt a piece is judged. They rest on form (marks, capitals, length, the line of a piece) where they can; bylines,
captions and notices are recognised by words of a few languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

from preferendum.formats.checks.text import visible
from preferendum.formats.records import Cut

#: That a researcher said so, where the name of a rule would stand.
BY_HAND = "by-hand"

# Longer pieces are text, whatever they look like.
_LONGEST = 300
_END = re.compile(r"""[.!?…。!?।؟۔։።។](?:\s?['"”’»)\]」』])*$""")
_LETTER = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# A line of a text whose sentences end in marks, and that has none itself, is a heading up to so many words.
_WORDS_OF_A_HEADING = 9
_WORDS_OF_A_HEADLINE = 20
_WORDS_OF_AN_ITEM = 8
_WORDS_OF_A_NOTICE = 8

_TIME = r"(?:,?\s+(?:at\s+)?\d{1,2}[:.h]\d{2}(?:\s?[ap]\.?m\.?)?(?:\s[A-Z]{2,4})?)?"
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th|\.|º|ª)?"
_MONTH = r"[^\W\d_]{3,12}\.?"
_WEEKDAY = r"(?:[^\W\d_]{2,15}(?:[ -][^\W\d_]{2,15}){0,2}\.?,\s+)?"
_DATE = re.compile(
    rf"(?:(?:published|posted|updated)(?:\s+on)?:?\s+)?{_WEEKDAY}"
    rf"(?:{_MONTH}\s+{_ORDINAL},?\s+\d{{4}}|{_ORDINAL}(?:\s+(?:de|of))?\s+{_MONTH}(?:,|\s+de)?\s+\d{{4}}"
    rf"|\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{4}}|\d{{4}}[./-]\d{{1,2}}[./-]\d{{1,2}}|\d{{4}}年\d{{1,2}}月\d{{1,2}}日)"
    rf"{_TIME}\.?",
    re.IGNORECASE,
)
# "LONDON, England (Reuters) -"
_PLACE = re.compile(r"[A-Z][A-Z .,'-]{2,40}(?:,\s[A-Z][a-z]+)?(?:\s?\([A-Za-z ]{2,30}\))?\s*[-–—]{1,2}")
_NAME = r"[A-Z\u00c0-\u00de][\w.'’-]*"
_BYLINE = re.compile(
    r"(?:By|BY|Von|Par|Por|Door|(?:[Ii]llustrated|ILLUSTRATED|[Ww]ritten|WRITTEN|[Tt]ranslated|[Rr]eported|[Pp]osted)"
    rf"\s+(?:by|BY)):?\s+{_NAME}(?:(?:,|\s+and|\s+AND|\s+&|\s+und|\s+et|\s+y)?\s+{_NAME}){{0,6}}"
)
_CAPTION = re.compile(
    r"[(\[]?\s*(?:file\s+|archive\s+)?(?:photo(?:graph)?s?|pictures?|images?|pictured|caption|foto(?:s|graf[ií]a)?"
    r"|bild(?:quelle)?|imagen|imagem|abbildung|figure\s+\d+|fig\.\s*\d+)"
    r"(?:\s*(?:credits?|courtesy|source))?\s*(?::|\s(?:by|von|courtesy of)\s)",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(rf"""[-–—]{{1,2}}\s?(?:["“'‘«][^"”'’»]{{1,40}}["”'’»]|{_NAME}(?:,?\s{_NAME}){{0,4}})""")
_ITEM = re.compile(r"[*•·‣▪◦–-]\s")
_ROMAN = re.compile(r"[IVXLC]{1,6}\.?")
_LINK = re.compile(r"\W*(?:https?://\S+|www\.\S+|[\w.+-]+@[\w-]+\.[\w.-]+)\W*", re.IGNORECASE)
_NOTICE = re.compile(
    r"all rights reserved|(?:may|must) not be (?:published|reproduced|redistributed|rewritten)|^(?:copyright\b|©)"
    r"|this e-?text was produced|alle rechte vorbehalten|todos los derechos reservados|tous droits réservés",
    re.IGNORECASE,
)
_SHORT_NOTICE = re.compile(
    r"^\W*(?:advertisement|click here|read more|scroll down for|sign up (?:for|to)|subscribe (?:to|now)|follow us on"
    r"|share this|related (?:stories|articles|news|links)|see also|continue reading|transcriber['’]s note)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece and its surroundings.

    `words`: how many it has; `alone`: whether it is alone on its line, in a document of longer lines; `is_first`
    and `is_last`: of its document; `in_marked_text`: whether what is surely text there ends in marks.
    """

    text: str
    words: int
    has_end: bool
    alone: bool
    is_first: bool
    is_last: bool
    in_marked_text: bool


def _looks_like_a_heading(piece: _Piece) -> bool:
    most = _WORDS_OF_A_HEADLINE if piece.is_first else _WORDS_OF_A_HEADING
    is_line = piece.alone and not piece.is_last and _begins_anew(piece.text)
    is_unmarked = piece.in_marked_text and not piece.has_end and not piece.text.endswith((":", ",", "-", "–", "—"))
    return is_line and (_ROMAN.fullmatch(piece.text) is not None or (is_unmarked and piece.words <= most))


def _begins_anew(text: str) -> bool:
    """Whether it neither continues a sentence in lower case nor begins with a quotation mark."""
    return text[0].isalnum() and not text[0].islower()


def _looks_like_an_item(piece: _Piece) -> bool:
    return not piece.has_end and piece.words <= _WORDS_OF_AN_ITEM and _ITEM.match(piece.text) is not None


def _looks_like_a_notice(piece: _Piece) -> bool:
    is_short = piece.words <= _WORDS_OF_A_NOTICE and _SHORT_NOTICE.search(piece.text) is not None
    return is_short or _NOTICE.search(piece.text) is not None


def _looks_like_a_fragment(piece: _Piece) -> bool:
    """Whether it ends with a colon or a comma, or is a single word without a mark."""
    text = piece.text.rstrip("\"'”’»")
    return text.endswith((":", ",")) or (piece.in_marked_text and not piece.has_end and piece.words == 1)


def _whole(pattern: re.Pattern[str]) -> Callable[[_Piece], Any]:
    return lambda piece: pattern.fullmatch(piece.text)


_RULES: tuple[tuple[str, Callable[[_Piece], Any]], ...] = (
    ("no-letters", lambda piece: not _LETTER.search(piece.text)),
    ("link", _whole(_LINK)),
    ("dateline", lambda piece: _DATE.fullmatch(piece.text) or _PLACE.fullmatch(piece.text)),
    ("byline", _whole(_BYLINE)),
    ("caption", lambda piece: _CAPTION.match(piece.text)),
    ("attribution", _whole(_ATTRIBUTION)),
    ("notice", _looks_like_a_notice),
    ("list-item", _looks_like_an_item),
    ("heading", _looks_like_a_heading),
    ("fragment", _looks_like_a_fragment),
)

#: A copy of an earlier sentence of the topic: asking about one of them is enough.
DUPLICATE = "duplicate"
#: The names of all rules, in the order in which they are tried: the first that fits counts.
RULES = (*(name for name, _fits in _RULES), DUPLICATE)


def not_judged(documents: Sequence[Sequence[Cut]]) -> list[list[str]]:
    """The rule, for each sentence of a topic's documents, by which it is not to be judged, "" where it is to be judged.

    None is left out of a topic that would have fewer than two left: there would be nothing to compare.
    """
    rules_of = [[_rule(piece) for piece in _pieces(cuts)] for cuts in documents]
    judged: set[str] = set()
    for cuts, rules in zip(documents, rules_of, strict=True):
        for place, cut in enumerate(cuts):
            if not rules[place]:
                rules[place] = DUPLICATE if visible(cut.text) in judged else ""
                judged.add(visible(cut.text))
    return rules_of if len(judged) > 1 else [[""] * len(cuts) for cuts in documents]


def marked(documents: Mapping[str, Sequence[Cut]]) -> dict[str, tuple[Cut, ...]]:
    """The sentences of a topic's documents with their rules."""
    marks = zip(documents.items(), not_judged([*documents.values()]), strict=True)
    return {
        name: tuple(replace(cut, rule=rule) if rule != cut.rule else cut for cut, rule in zip(cuts, rules, strict=True))
        for (name, cuts), rules in marks
    }


def wordless(documents: Sequence[Sequence[Cut]]) -> list[list[str]]:
    """The rule by which each summary is not to be compared.

    Summaries are compared whole, whatever they look like: all but those without a letter.
    """
    return [["" if _LETTER.search(cut.text) else "no-letters" for cut in cuts] for cuts in documents]


def _rule(piece: _Piece) -> str:
    if len(piece.text) > _LONGEST:
        return ""
    return next((name for name, fits in _RULES if fits(piece)), "")


def _pieces(cuts: Sequence[Cut]) -> list[_Piece]:
    on_line: dict[int, int] = {}
    for cut in cuts:
        on_line[cut.paragraph] = on_line.get(cut.paragraph, 0) + 1
    # Where every sentence has a line to itself, as in a text that came cut, lines say nothing of headings.
    has_lines = any(number > 1 for number in on_line.values())
    ends = [_END.search(cut.text[-20:]) is not None for cut in cuts]
    words = [_words(cut.text) for cut in cuts]
    is_text = [
        number > _WORDS_OF_A_HEADING or on_line[cut.paragraph] > 1 for cut, number in zip(cuts, words, strict=True)
    ]
    of_text = list(compress(ends, is_text)) or ends
    in_marked_text = 3 * sum(of_text) >= 2 * len(of_text)
    return [
        _Piece(
            text=cut.text,
            words=words[place],
            has_end=has_end,
            alone=has_lines and on_line[cut.paragraph] == 1,
            is_first=place == 0,
            is_last=place == len(cuts) - 1,
            in_marked_text=in_marked_text,
        )
        for place, (cut, has_end) in enumerate(zip(cuts, ends, strict=True))
    ]


def _words(text: str) -> int:
    """How many words; two characters of a script without spaces make one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2
