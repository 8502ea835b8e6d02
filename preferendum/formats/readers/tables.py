"""Tables (RFC 4180, with commas, semicolons or tabs between cells), read strictly and written so that no spreadsheet
runs what is in them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import BinaryIO

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers.lines import Sink, read_lines

Row = dict[str, str]

_QUOTED = re.compile('(?:[^"]++|"")*+')
_TO_QUOTE = re.compile('[",\r\n]')
# ASVS 1.2.10, with the full-width forms that some spreadsheets take for the plain ones.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SEPARATORS = ",;\t|"
#: What Excel writes before the header.
_SEPARATOR_LINE = re.compile(r"sep=([,;\t|])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Columns:
    """A kind of table: the columns that it must have and those that it may have."""

    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()
    others: bool = False

    @property
    def header(self) -> str:
        return ",".join(self.needed + tuple(f"[{name}]" for name in self.optional))


@dataclass(frozen=True, slots=True)
class Table:
    """A table of any file: where its header stands, what its columns are called, and its rows with their places, which
    can be run over once."""

    place: Place
    header: tuple[str, ...]
    rows: Iterator[tuple[Place, Row]]


def read_header(line: str) -> list[str]:
    """The column names of a header line, forgivingly: for telling what kind of table it is."""
    return [cell.strip().strip('"').lower() for cell in re.split("[,;\t|]", line)]


def read_table(file: BinaryIO, place: Place) -> Table | None:
    """A table in text; None, and complaints, without a header. Rows that cannot be read are complained of, too."""
    return table_of(records(file, place), place)


def table_of(records: Iterator[tuple[Place, list[str]]], place: Place) -> Table | None:
    """Rows of cells as a table whose columns the first row names. Columns without a name are left out."""
    first = next(records, None)
    if first is None:
        return None  # no line could be read, and each was complained of
    here, header = first[0], [cell.strip() for cell in first[1]]
    twice = [name for position, name in enumerate(header) if name and name in header[:position]]
    for name in twice:
        here.refuse("the column %(name)s twice", "each column once", name=shown(name))
    if not any(header):
        here.refuse("columns without names", "a first row that names the columns")
    if twice or not any(header):
        return None
    if unnamed := header.count(""):
        here.remark("%(count)s columns without a name were left out", count=unnamed)
    return Table(here, tuple(filter(None, header)), _rows(records, header, place))


def _rows(records: Iterator[tuple[Place, list[str]]], header: list[str], place: Place) -> Iterator[tuple[Place, Row]]:
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
            yield here, {name: cell for name, cell in zip(header, cells, strict=True) if name}
    if empty and not place.complaints.collected:
        place.refuse("a header without rows", "at least one row")


def read_rows(file: BinaryIO, place: Place, columns: Columns) -> Iterator[tuple[Place, Row]]:
    """Each row of a table in text by column name, with its place."""
    table = read_table(file, place)
    return iter(()) if table is None else checked_rows(table, columns)


def checked_rows(table: Table, columns: Columns) -> Iterator[tuple[Place, Row]]:
    """The rows of a table that has these columns; none and complaints where it has others."""
    here, header, expected = table.place, table.header, "the columns %(header)s"
    before = len(here.complaints.collected)
    if missing := [name for name in columns.needed if name not in header]:
        actual = "no column %(name)s among %(cells)s"
        cells = shown(",".join(header), 200)
        here.refuse(actual, expected, name=", ".join(missing), cells=cells, header=columns.header)
    for name in header if not columns.others else ():
        if name not in columns.needed + columns.optional:
            here.refuse("the column %(name)s", "only " + expected, name=shown(name), header=columns.header)
    return table.rows if len(here.complaints.collected) == before else iter(())


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
    if value.isalnum():  # most cells
        return value
    if _is_formula(value):
        value = "'" + value
    if _TO_QUOTE.search(value) or value != value.strip():
        return '"' + value.replace('"', '""') + '"'
    return value


def _is_formula(text: str) -> bool:
    """Whether a guarded text has an apostrophe more. Its own ones count as well, so that none is lost in between."""
    return text.lstrip("'").startswith(_FORMULA)


def unguarded(cell: str) -> str:
    """The cell without the apostrophe that `write_rows` put before it."""
    return cell[1:] if cell.startswith("'") and _is_formula(cell) else cell


def records(file: BinaryIO, place: Place) -> Iterator[tuple[Place, list[str]]]:
    """The cells of each record. A quoted cell may run over several lines; the place is where the record begins."""
    lines = read_lines(file, place)
    separator = ""
    for line_number, line in lines:
        if line is None and line_number == 1:
            return  # without a header the rest says nothing
        if not line:
            continue
        if not separator and (named := _SEPARATOR_LINE.fullmatch(line)):
            separator = named[1]
            continue
        separator = separator or separator_of(line)
        here = place.at(line_number)
        cells = _cells(line, here, lines, separator)
        if cells is not None:
            yield here, cells


def separator_of(line: str) -> str:
    """What stands between the names in a table's first line: commas, unless there are more of another sign."""
    bare = re.sub('"[^"]*+"', "", line)
    return max(_SEPARATORS, key=bare.count)


@cache
def _plain(separator: str) -> re.Pattern[str]:
    return re.compile(f'[^"{re.escape(separator)}]*+')


def _cells(line: str, here: Place, lines: Iterator[tuple[int, str | None]], separator: str) -> list[str] | None:
    cells: list[str] = []
    position, plain = 0, _plain(separator)
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
            match = plain.match(line, position)
            assert match is not None, "the pattern matches the empty string"
            cell, position = match[0], match.end()
        cells.append(unguarded(cell))
        if position == len(line):
            return cells
        if line[position] != separator:
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
