"""Spreadsheets (.xlsx, .ods) as tables, row by row: cells keep their types, nothing is computed, no link is followed.

A kept reader would do, but for two things: calamine 0.9 may need memory out of all proportion to a file, with no limit
to set, and it does not say that a number was a percentage.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from posixpath import normpath
from xml.parsers import expat

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, shown
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.tables import Table, table_of, unguarded

#: The file of each kind that says what its tables are.
XLSX, ODS = "xl/workbook.xml", "content.xml"
#: Where writers cut a cell's text without a word.
LONGEST = 32_767
#: Integers above have more than 15 digits, and two may have become one.
_EXACT = 1e15
_CHUNK, _DEPTH = 1 << 16, 50
_REFERENCE = re.compile(r"([A-Z]{1,3})[0-9]{1,7}")
_ESCAPED = re.compile(r"_x([0-9A-F]{4})_")
_NOT_DATE = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.|_.|\*.|general', re.IGNORECASE)
_REMARKS = {
    "text": "%(count)s texts of exactly 32,767 characters, where spreadsheets cut what is longer without a word",
    "date": "%(count)s cells are dates, read as 2026-01-31: names that a spreadsheet took for dates have changed",
    "percent": "%(count)s cells are percentages, read as numbers: 50%% as 0.5",
}

#: The number of a row, its texts by column, and how many times it stands there.
_Row = tuple[int, dict[int, str], int]
_Start = Callable[[str, Mapping[str, str]], str | None]
_End = Callable[[str, str], None]


class _Broken(ValueError):
    """What no spreadsheet program writes."""


#: What reading files that are no spreadsheet may raise.
_FAULTS = (ValueError, KeyError, IndexError, StopIteration, OverflowError, expat.ExpatError)


def is_sheet(sources: list[Source]) -> bool:
    """Whether these are the files of a spreadsheet."""
    files = {"/".join(source.parts): source for source in sources}
    if ODS in files and "mimetype" in files:
        with files["mimetype"].open() as file:
            return file.read(100) == b"application/vnd.oasis.opendocument.spreadsheet"
    return XLSX in files


def sheet_of(sources: list[Source], place: Place) -> Table | None:
    """The first table of the spreadsheet that these files are; None and complaints where it has none."""
    files = {"/".join(source.parts): source for source in sources}
    if any(name.startswith("xl/externalLinks/") for name in files):
        place.refuse("links to other files", "the values themselves (copy the cells and paste them as values)")
        return None
    cells = _Cells(place)
    rows = _xlsx_rows(files, cells) if XLSX in files else _ods_rows(files[ODS], cells)
    return table_of(_same_width(rows, cells), place)


def _same_width(rows: Iterator[_Row], cells: _Cells) -> Iterator[tuple[Place, list[str]]]:
    """Rows that are not empty, each with as many cells as the first one."""
    width = 0
    try:
        for number, row, times in rows:
            if not any(text.strip() for text in row.values()):
                continue
            width = width or max(row) + 1
            here = cells.place.at(number)
            if max(row) >= width:
                here.refuse("a cell in a column without a name", "a name in the first row for each column")
                continue
            for _time in range(times):
                yield here, [row.get(column, "") for column in range(width)]
    except _FAULTS:
        cells.place.refuse("a spreadsheet that cannot be read", "a table saved anew, as .xlsx, .ods or .csv")
    for kind, remark in _REMARKS.items():
        if cells.counts[kind]:
            cells.place.remark(remark, count=cells.counts[kind])


@dataclass(slots=True)
class _Cells:
    """The rows that were read and not taken yet; turns values into texts, and counts what is to be remarked on."""

    place: Place
    counts: Counter[str] = field(default_factory=Counter)
    done: list[_Row] = field(default_factory=list)
    number: int = 0
    row: dict[int, str] = field(default_factory=dict)
    column: int = 0

    @property
    def here(self) -> Place:
        return self.place.at(self.number)

    def add(self, text: str, times: int = 1) -> None:
        """The text of the next cell, or of several that repeat it."""
        if text and self.column + times > limits.COLUMNS:
            self.here.refuse("more than %(limit)s columns", "fewer", limit=limits.COLUMNS)
        elif text:
            self.counts["text"] += len(text) == LONGEST
            self.row.update(dict.fromkeys(range(self.column, self.column + times), unguarded(text)))
        self.column += times

    def end_row(self, times: int = 1) -> None:
        self.done.append((self.number, self.row, times))
        self.row, self.column = {}, 0

    def taken(self, parts: Iterator[None]) -> Iterator[_Row]:
        for _part in parts:
            yield from self.done
            self.done.clear()

    def counted(self, kind: str, text: str) -> str:
        self.counts[kind] += 1
        return text

    def number_in(self, raw: str) -> str:
        value = float(raw)
        if not math.isfinite(value):
            raise _Broken
        if not value.is_integer():
            return repr(value)
        if abs(value) >= _EXACT:
            expected = "a column formatted as text: a spreadsheet keeps 15 digits, and two numbers become one"
            self.here.refuse("a number of more than 15 digits", expected)
        return str(int(value))

    def remark_others(self, sheets: Sequence[str]) -> None:
        """Name the sheets after the first one, which are not read."""
        if len(sheets) > 1:
            others = shown(", ".join(sheets[1:]), 200)
            self.place.remark(
                "the first of %(count)s sheets was read, not %(others)s", count=len(sheets), others=others
            )

    def refuse_formula(self) -> None:
        expected = "its value (copy the column and paste it as values)"
        self.here.refuse("a formula in column %(column)s", expected, column=self.column + 1)


def _parsed(source: Source, start: _Start, end: _End, inline: tuple[str, ...] = ()) -> Iterator[None]:
    """Run through XML, a part at a time. `start` gets an element's name and attributes and may give text for the one
    that it stands in, `end` its name and text; texts of `inline` ones join those around them. There are no entities but
    XML's own, since declarations are refused."""
    parser = expat.ParserCreate()
    texts: list[list[str]] = []

    def begin(name: str, attributes: dict[str, str]) -> None:
        if len(texts) > _DEPTH:
            raise _Broken
        inner = start(name.removeprefix("x:"), attributes)
        if inner and texts:
            texts[-1].append(inner)
        texts.append([])

    def finish(name: str) -> None:
        text = "".join(texts.pop())
        if name in inline and texts:
            texts[-1].append(text)
        end(name.removeprefix("x:"), text)

    def refuse(*_given: object) -> None:
        raise _Broken

    parser.StartElementHandler, parser.EndElementHandler = begin, finish
    parser.CharacterDataHandler = lambda text: texts[-1].append(text)
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    with source.open() as file:
        while chunk := file.read(_CHUNK):
            parser.Parse(chunk, False)
            yield
        parser.Parse(b"", True)
    yield


def _elements(source: Source) -> list[tuple[str, Mapping[str, str]]]:
    """The name and attributes of all elements of a small file, in their order; closing ones have no attributes."""
    elements: list[tuple[str, Mapping[str, str]]] = []
    for _part in _parsed(
        source, lambda *element: elements.append(element), lambda name, _text: elements.append(("/" + name, {}))
    ):
        if len(elements) > limits.VALUES:
            raise _Broken
    return elements


# .xlsx


def _xlsx_rows(files: Mapping[str, Source], cells: _Cells) -> Iterator[_Row]:
    book = _elements(files[XLSX])
    sheets = [own for name, own in book if name == "sheet"]
    cells.remark_others([sheet.get("name", "") for sheet in sheets])
    key = next(value for key, value in sheets[0].items() if key.endswith(":id"))
    relations = (own for _name, own in _elements(files["xl/_rels/workbook.xml.rels"]) if own.get("Id") == key)
    target = normpath("/xl/" + next(relations)["Target"].removeprefix("/xl/"))[1:]
    shared = list(_shared(files["xl/sharedStrings.xml"])) if "xl/sharedStrings.xml" in files else []
    styles = _styles(files["xl/styles.xml"]) if "xl/styles.xml" in files else {}
    first_day = datetime(1904, 1, 1) if any(own.get("date1904") in ("1", "true") for _, own in book) else _DAY_0
    cell: dict[str, str] = {}
    parts: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "row":
            cells.number = int(attributes.get("r") or cells.number + 1)
        elif name == "c":
            match = _REFERENCE.fullmatch(attributes.get("r", ""))
            cells.column = _column(match[1]) if match else cells.column
            cell.clear()
            cell.update(attributes)
            parts.clear()
        elif name == "f":
            cells.refuse_formula()

    def end(name: str, text: str) -> None:
        if name == "v":
            cell["v"] = text
        elif name == "t":
            parts.append(text)
        elif name == "rPh":  # how it is spoken
            parts.pop()
        elif name == "c":
            cells.add(text_of(cell.get("t", "n"), cell.get("v", "")))
        elif name == "row":
            cells.end_row()

    def text_of(kind: str, raw: str) -> str:
        if kind == "inlineStr" or not raw:
            return _unescaped("".join(parts))
        if kind == "e":
            cells.here.refuse("the error %(what)s", "a value", what=shown(raw))
        if kind == "s":
            return shared[int(raw)]
        if kind != "n":
            return {"b0": "false", "b1": "true"}.get(kind + raw) or _unescaped(raw)
        shape = styles.get(int(cell.get("s", "0")), "")
        if shape == "date":
            moment = first_day + timedelta(days=float(raw))
            return cells.counted("date", moment.isoformat(timespec="seconds").removesuffix("T00:00:00"))
        cells.counts["percent"] += shape == "percent"
        return cells.number_in(raw)

    yield from cells.taken(_parsed(files[target], start, end))


_DAY_0 = datetime(1899, 12, 30)


def _shared(source: Source) -> Iterator[str]:
    """The texts that cells name by their number: runs of one joined, without how they are spoken."""
    parts: list[str] = []
    texts: list[str] = []

    def end(name: str, text: str) -> None:
        if name == "t":
            parts.append(text)
        elif name == "rPh":
            parts.pop()
        elif name == "si":
            texts.append(_unescaped("".join(parts)))
            parts.clear()

    for _part in _parsed(source, lambda _name, _attributes: None, end):
        yield from texts
        texts.clear()


def _styles(source: Source) -> dict[int, str]:
    """What the numbers of each style are: `date`, `percent`, or nothing of these."""
    elements = _elements(source)
    codes = {own["numFmtId"]: own.get("formatCode", "") for name, own in elements if name == "numFmt"}
    names = [name for name, _own in elements]
    begin, last = (names.index(name) if name in names else 0 for name in ("cellXfs", "/cellXfs"))
    formats = [own.get("numFmtId", "0") for name, own in elements[begin:last] if name == "xf"]
    return {style: _shape(number, codes.get(number, "")) for style, number in enumerate(formats)}


def _shape(number: str, code: str) -> str:
    if not code:  # built in
        given = int(number)
        return "percent" if given in (9, 10) else "date" * (14 <= given <= 22 or 27 <= given <= 36 or 45 <= given <= 58)
    bare = _NOT_DATE.sub("", code)
    return "percent" if "%" in bare else "date" * bool(re.search("[dmyhs]", bare.lower()))


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


# .ods


def _ods_rows(source: Source, cells: _Cells) -> Iterator[_Row]:
    cell: dict[str, str] = {}
    paragraphs: list[str] = []
    names: list[str] = []
    at = Counter[str]()

    def start(name: str, attributes: Mapping[str, str]) -> str | None:
        at[name] += 1
        if name == "table:table":
            names.append(attributes.get("table:name", ""))
        elif name == "table:table-row":
            at["times"] = int(attributes.get("table:number-rows-repeated", "1"))
            cells.number = at["after"] + 1
            at["after"] += at["times"]
        elif name in _ODS_CELLS and at["table:table"] == 1:
            cell.clear()
            cell.update(attributes)
            paragraphs.clear()
            if "table:formula" in attributes:
                cells.refuse_formula()
        elif name == "text:s":
            return " " * min(int(attributes.get("text:c", "1")), LONGEST)
        return {"text:tab": "\t", "text:line-break": "\n"}.get(name)

    def end(name: str, text: str) -> None:
        if name == "office:annotation":  # a comment
            at[name] -= 1
        elif at["table:table"] != 1 or at["office:annotation"]:
            return
        elif name == "text:p":
            paragraphs.append(text)
        elif name in _ODS_CELLS:
            cells.add(text_of(), int(cell.get("table:number-columns-repeated", "1")))
        elif name == "table:table-row":
            cells.end_row(at["times"])

    def text_of() -> str:
        kind = cell.get("office:value-type")
        if kind in ("float", "currency", "percentage"):
            cells.counts["percent"] += kind == "percentage"
            return cells.number_in(cell["office:value"])
        if kind in ("date", "time"):
            return cells.counted("date", cell[f"office:{kind}-value"])
        return cell.get("office:boolean-value") or "\n".join(paragraphs)

    yield from cells.taken(_parsed(source, start, end, ("text:span", "text:a")))
    cells.remark_others(names)


_ODS_CELLS = ("table:table-cell", "table:covered-table-cell")
