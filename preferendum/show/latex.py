"""Tables for papers that use the package booktabs."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from preferendum.formats.words import gettext as _

_ESCAPED = {character: "\\" + character for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": "$-$",
    "’": "'",
    "²": "$^2$",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "χ": r"$\chi$",
    # The usual fonts of LaTeX have other signs in the places of these.
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "“": "``",
    "”": "''",
}


#: The sign of a number. LaTeX would print it as a hyphen.
_MINUS = re.compile(r"(?<![\w.-])-(?=\.?\d)")


#: Room in points in a column and on the page of an article in two columns, and for lines on a page.
_COLUMN, _PAGE, _LINES = 225.0, 460.0, 38
#: From the largest to the smallest: the command, how large letters are, and the room between columns.
_SIZES = (("", 1.0, 12.0), (r"\small\setlength{\tabcolsep}{3pt}", 0.92, 6.0))
#: Points of letters, by kind, in the usual font of 10 points; a text that is wrapped has this room, if it needs it.
_NARROW, _LETTER, _WIDE, _LEAST = 3.2, 5.3, 8.2, 80.0


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table is set. `widths`: of the columns whose texts are wrapped, in points; None for the others."""

    name: str
    command: str
    widths: tuple[float | None, ...]


def write_latex(
    columns: Sequence[str], alignment: str, rows: Iterable[Sequence[str]], caption: str, comments: Iterable[str] = ()
) -> str:
    """A table of plain texts, which are escaped; `alignment`: for each column `l` if it has words, `r` if numbers.

    It fits a column of an article, or its page (table*), with heads and texts in several lines; no label is cut. One
    that is too wide or too long for a page becomes several, each with the first column.
    """
    heads, cells = list(map(one_line, columns)), [list(map(one_line, row)) for row in rows]
    lines = [f"% {one_line(comment)}" for comment in comments]
    title = one_line(caption)
    for part in _parts(heads, alignment, cells):
        own, own_alignment = [heads[k] for k in part], "".join(alignment[k] for k in part)
        own_rows = [[row[k] for k in part] for row in cells]
        layout = _layout(own, own_alignment, own_rows) or _layout(own, own_alignment, own_rows, page=math.inf)
        assert layout is not None, "everything fits an endless page"
        for some in _pages(own_rows, layout, title):
            lines += _table(own, own_alignment, some, layout, title)
            title = _("Continued.")
    return "\n".join(lines)


def _parts(heads: Sequence[str], alignment: str, cells: Sequence[Sequence[str]]) -> list[list[int]]:
    """The columns of each table: as many as fit a page."""
    parts, part = [], list[int]()
    for k in range(len(heads)):
        more = [*part, k]
        rows = [[row[place] for place in more] for row in cells]
        fits = _layout([heads[place] for place in more], "".join(alignment[place] for place in more), rows)
        if len(part) > 1 and fits is None:
            parts.append(part)
            more = [0, k]
        part = more
    return [*parts, part]


def _layout(heads: Sequence[str], alignment: str, rows: Sequence[Sequence[str]], page: float = _PAGE) -> _Layout | None:
    """The first that fits, of those that look best."""
    columns = list(zip(heads, alignment, *rows, strict=True))
    natural = [max(map(_width, (*head.split(), *cells)), default=0.0) for head, _place, *cells in columns]
    words = [
        max(map(_width, " ".join((head, *cells)).replace("-", "- ").split()), default=0.0)
        for head, _place, *cells in columns
    ]
    least = [
        max(min(own, _LEAST), word) if place == "l" else own
        for own, word, place in zip(natural, words, alignment, strict=True)
    ]
    for name, room in (("table", _COLUMN), ("table*", page)):
        for command, scale, gap in _SIZES:
            free = (room - gap * len(heads)) / scale
            if sum(natural) <= free:
                return _Layout(name, command, (None,) * len(heads))
        if sum(least) <= free:
            share = (free - sum(least)) / (sum(natural) - sum(least)) if free < math.inf else 1.0
            widths = (low + share * (own - low) for low, own in zip(least, natural, strict=True))
            wrapped = (scale * width if width < own else None for width, own in zip(widths, natural, strict=True))
            return _Layout(name, command, tuple(wrapped))
    return None


def _pages(rows: Sequence[Sequence[str]], layout: _Layout, caption: str) -> Iterator[Sequence[Sequence[str]]]:
    """The rows of each table: as many as fit a page with its caption."""
    room = _LINES - _width(caption) / (_COLUMN if layout.name == "table" else _PAGE)
    first, used = 0, 0
    for k, row in enumerate(rows):
        lines = max(
            1 if width is None else math.ceil(1.1 * _width(cell) / width)
            for cell, width in zip(row, layout.widths, strict=True)
        )
        if used + lines > room and k > first:
            yield rows[first:k]
            first, used, room = k, 0, _LINES
        used += lines
    yield rows[first:]


def _table(
    heads: Sequence[str], alignment: str, rows: Sequence[Sequence[str]], layout: _Layout, caption: str
) -> list[str]:
    places = "".join(
        place if width is None else f"p{{{width:.0f}pt}}" for place, width in zip(alignment, layout.widths, strict=True)
    )
    rooms = [
        max((_width(row[k]) for row in rows), default=0.0) if width is None else width
        for k, width in enumerate(layout.widths)
    ]
    first = " & ".join(map(_head, heads, alignment, rooms))
    return [
        rf"\begin{{{layout.name}}}",
        rf"\centering{layout.command}",
        rf"\begin{{tabular}}{{{places}}}",
        *(r"\toprule", _begun(first) + r" \\", r"\midrule"),
        *(_row(row, alignment, layout) for row in rows),
        *(r"\bottomrule", r"\end{tabular}", rf"\caption{{{escaped(caption)}}}", rf"\end{{{layout.name}}}"),
    ]


def _head(head: str, place: str, room: float) -> str:
    """A head in as many lines as its column is narrow."""
    room = max(room, *map(_width, head.split() or ("",)), 0.0)
    lines: list[str] = []
    for word in head.split():
        if lines and _width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) < 2:
        return escaped(head)
    stacked = r" \\ ".join(_begun(escaped(line)) for line in lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{place}@{{}}}}{stacked}\end{{tabular}}"


def _row(cells: Iterable[str], alignment: str, layout: _Layout) -> str:
    shown = []
    for cell, place, width in zip(cells, alignment, layout.widths, strict=True):
        text = escaped(cell)
        text = _MINUS.sub("$-$", text) if place == "r" else text
        shown.append(text if width is None else rf"\raggedright\let\\\tabularnewline {text}")
    return _begun(" & ".join(shown)) + r" \\"


def _begun(row: str) -> str:
    """A row may not begin with a star or a bracket: the end of the row before would take it as its argument."""
    return ("{}" if row.startswith(("[", "*")) else "") + row


def _width(text: str) -> float:
    """The points of a text, rather too many than too few."""
    return sum(map(_width_of, text))


def _width_of(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 2 * _LETTER
    if letter in " .,:;!|'()[]’ijlt":
        return _NARROW
    return _WIDE if letter.isupper() or letter in "mw%–_@&+<>→" else _LETTER


def escaped(text: str) -> str:
    """The text with LaTeX's special characters escaped."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def one_line(text: str) -> str:
    """Each stretch of white space as one space."""
    return " ".join(text.split())
