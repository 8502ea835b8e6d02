"""Comma-separated tables (RFC 4180), read strictly and written so that no spreadsheet runs what is in them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers.lines import Sink, read_lines

Row = dict[str, str]

_PLAIN = re.compile('[^",]*+')
_QUOTED = re.compile('(?:[^"]++|"")*+')
# ASVS 1.2.10, with the full-width forms that some spreadsheets take for the plain ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


@dataclass(frozen=True, slots=True)
class Columns:
    """A kind of table: the columns that it must have and those that it may have."""

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    others: bool = False

    @property
    def header(self) -> str:
        return ",".join(self.needed + tuple(f"[{name}]" for name in self.optional))


def read_header(line: str) -> list[str]:
    """The column names of a header line, forgivingly: for telling what kind of table it is."""
    return [cell.strip().strip('"').lower() for cell in re.split("[,;\t|]", line)]


def read_rows(file: BinaryIO, place: Place, columns: Columns) -> Iterator[tuple[Place, Row]]:
    """Each row by column name, with its place. Rows that cannot be read are complained of and left out."""
    records = _records(file, place)
    header = _header(records, place, columns)
    if header is None:
        return
    empty = True
    for here, cells in records:
        empty = False
        if len(cells) != len(header):
            here.refuse(
                "%(count)s values",
                "%(wanted)s, the number of columns (put a value that contains a comma in double quotes)",
                count=len(cells),
                wanted=len(header),
            )
        else:
            yield here, dict(zip(header, cells, strict=True))
    if empty and not place.complaints.collected:
        place.refuse("a header without rows", "at least one row")


def write_rows(file: Sink, columns: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> None:
    """A table with its header. A text that a spreadsheet would take for a formula gets an apostrophe before it, which
    `read_rows` takes away again."""
    file.writelines(lines_of(chain([columns], rows)))


def lines_of(rows: Iterable[Sequence[str | float | None]]) -> Iterator[bytes]:
    """Rows of a table as its lines."""
    return ((",".join(map(_cell, row)) + "\r\n").encode() for row in rows)


def tab_separated(columns: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> str:
    """A table as spreadsheets take it from the clipboard: tabs between cells, formulas guarded as in files."""
    lines = ([_cell(" ".join(cell.split()) if isinstance(cell, str) else cell) for cell in row] for row in rows)
    return "\n".join("\t".join(line) for line in chain([columns], lines))


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def number(place: Place, text: str) -> float | None:
    """A finite number with a decimal point, or None and a complaint."""
    if not _NUMBER.fullmatch(text):
        place.refuse("%(what)s", "a number such as 3.5, with a point", what=shown(text) if text else "nothing")
        return None
    value = float(text)
    if math.isinf(value):
        place.refuse("%(what)s, which is too large", "a number", what=shown(text))
        return None
    return value


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return repr(value)
    if _is_formula(value):
        value = "'" + value
    if any(character in value for character in '",\r\n') or value != value.strip():
        return '"' + value.replace('"', '""') + '"'
    return value


def _is_formula(text: str) -> bool:
    """Whether a guarded text has an apostrophe more. Its own ones count as well, so that none is lost in between."""
    return text.lstrip("'").startswith(_FORMULA)


def _unguarded(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def _header(records: Iterator[tuple[Place, list[str]]], place: Place, columns: Columns) -> list[str] | None:
    first = next(records, None)
    if first is None:
        return None  # no line could be read, and each was complained of
    here, cells = first
    expected = "the columns %(header)s"
    for separator, called in _SEPARATORS.items():
        if len(cells) == 1 and separator in cells[0]:
            here.refuse("%(called)s between the columns", "commas: " + expected, called=called, header=columns.header)
            return None
    good = True
    for name in columns.needed:
        if name not in cells:
            good = False
            actual = "no column %(name)s among %(cells)s"
            here.refuse(actual, expected, name=name, cells=shown(",".join(cells), 200), header=columns.header)
    allowed = columns.needed + columns.optional
    for position, name in enumerate(cells):
        if name in cells[:position]:
            good = False
            here.refuse("the column %(name)s twice", "each column once", name=shown(name))
        elif name not in allowed and (not columns.others or not name.strip()):
            good = False
            here.refuse("the column %(name)s", "only " + expected, name=shown(name), header=columns.header)
    return cells if good else None


def _records(file: BinaryIO, place: Place) -> Iterator[tuple[Place, list[str]]]:
    """The cells of each record. A quoted cell may run over several lines; the place is where the record begins."""
    lines = read_lines(file, place)
    for line_number, line in lines:
        if line is None and line_number == 1:
            return  # without a header the rest says nothing
        if not line:
            continue
        here = place.at(line_number)
        cells = _cells(line, here, lines)
        if cells is not None:
            yield here, cells


def _cells(line: str, here: Place, lines: Iterator[tuple[int, str | None]]) -> list[str] | None:
    cells: list[str] = []
    position = 0
    while True:
        if len(cells) == limits.COLUMNS:
            here.refuse("more than %(limit)s columns", "fewer", limit=limits.COLUMNS)
            return None
        if line.startswith('"', position):
            ended = _quoted(line, position + 1, here, lines)
            if ended is None:
                return None
            line, position, cell = ended
        else:
            match = _PLAIN.match(line, position)
            assert match is not None, "the pattern matches the empty string"
            cell, position = match[0], match.end()
        cells.append(_unguarded(cell))
        if position == len(line):
            return cells
        if line[position] != ",":
            here.refuse(
                "a stray double quote after %(cell)s",
                'a value with quotes, completely in double quotes and with each inner quote doubled: "so ""said"" he"',
                cell=shown(cell, 30),
            )
            return None
        position += 1


def _quoted(
    line: str, position: int, here: Place, lines: Iterator[tuple[int, str | None]]
) -> tuple[str, int, str] | None:
    """The rest of a quoted cell from `position` on: the line on which it ends, where it ends there, and its content."""
    parts: list[str] = []
    size = 0
    while True:
        match = _QUOTED.match(line, position) if line else None
        parts.append(match[0].replace('""', '"') if match else "")
        size += len(parts[-1]) + 1
        if match and match.end() < len(line):
            return line, match.end() + 1, "\n".join(parts)
        if size > limits.LINE:
            here.refuse("a value of more than %(limit)s characters", "a closing quote", limit=limits.LINE)
            return None
        following = next(lines, None)
        if following is None:
            here.refuse("a double quote that is never closed", "a closing quote")
            return None
        if following[1] is None:
            return None
        line, position = following[1], 0
