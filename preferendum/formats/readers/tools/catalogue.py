"""Files of other tools as our preferences: which reader takes a file, and what it left out, counted.

A reader is one module of this folder. It is recognised by the keys of a file's first row, whatever the file is called,
and gives for each row the votes in it, with our keys, or why there is none.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any

from preferendum.formats.checks import limits, strict_json
from preferendum.formats.checks.complaints import Complaints, Place, escaped, kind, shown
from preferendum.formats.checks.text import blank, clean, decode
from preferendum.formats.readers.draft import Alone, Draft
from preferendum.formats.readers.lines import first_line, read_lines
from preferendum.formats.readers.preferences import preference_of
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.tables import Columns, read_header, read_rows
from preferendum.formats.records import Refused
from preferendum.formats.words import number_of

Row = Mapping[str, Any]
#: A judgment with our keys, or the reason why it is left out, as it follows a number: "without a winner".
Judged = dict[str, Any] | str

#: Reasons that several readers have.
NO_WINNER = "without a winner"
NO_NAME = "by a model that is not named"
SAME = "of a model against itself"
#: What `--columns` and `columns=` may name.
NAMED = ("a", "b", "topic", "annotator")

_ANY = Columns((), others=True)
_NAME = 80
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.?)*+"?|[\[\]{},]', re.DOTALL)


class Unnamed(ValueError):
    """Raised by a reader for a row that does not say whose texts it compares."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A format. `about`: what it is, as its row in docs/formats.md says; `keys`: its keys in words; `source`: the tool
    or public file whose structure this is, with its version; `recognises`: whether a first row is of this format;
    `judgments`: those in a row; `fields`: what our keys are called there; `example`: a small file of ours.
    """

    name: str
    about: str
    keys: str
    source: str
    recognises: Callable[[Row], bool]
    judgments: Callable[[Place, Row, Mapping[str, str]], Iterator[Judged]]
    example: str
    fields: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""

    def read(self, source: Source, place: Place, draft: Draft, alone: Alone) -> None:
        """Add the votes of a file to a draft, with a remark that counts the rows and what was left out."""
        rows = read = 0
        left_out: Counter[str] = Counter()
        missing = set(alone.columns.values())
        for here, row in rows_of(source, place):
            rows += 1
            missing = {column for column in missing if _part(row, column) is None}
            for judged in self._judged(here, row, alone.columns):
                if isinstance(judged, str):
                    left_out[judged] += 1
                    continue
                before = len(place.complaints.collected)
                preference = preference_of(here, judged, alone)
                if preference is None:
                    self._rename(place.complaints, before, alone.columns)
                elif not draft.add_row(draft.preferences, preference, here, preference.extra):
                    return
                read += 1
        for column in sorted(missing):
            place.refuse("no column %(column)s in any row", "the name of a column", column=shown(column))
        if place.complaints.collected:
            return
        counts = [number_of(read, "vote"), *(f"{number:,} {reason}" for reason, number in left_out.most_common())]
        words = f"{self.name}, {number_of(rows, 'row')}: {', '.join(counts)}" + f"; {self.remark}" * bool(self.remark)
        if read:
            place.remark("%(what)s", what=words)
        else:
            place.refuse("%(what)s", "votes for one of two named systems", what=words)

    def _judged(self, here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
        """The votes of a row, with what the given columns say in place of what the reader found."""
        named = {key: (_part(row, column) or {}).get(column) for key, column in columns.items()}
        try:
            for judged in self.judgments(here, row, columns):
                if isinstance(judged, str):
                    yield judged
                    continue
                judged |= {key: text_of(value) for key, value in named.items()}
                yield problem_of(judged) or judged
        except Unnamed as why:
            expected = "--columns a=COLUMN,b=COLUMN (in Python columns={'a': ..., 'b': ...}) with the columns that do"
            here.refuse(
                "%(why)s; the columns are %(keys)s", expected, why=escaped(str(why)), keys=shown(", ".join(row), 200)
            )
            raise here.complaints.refused() from None

    def _rename(self, complaints: Complaints, before: int, columns: Mapping[str, str]) -> None:
        """Let complaints name the file's own keys."""
        fields = {**self.fields, **columns}
        complaints.collected[before:] = [
            replace(complaint, field=fields.get(complaint.field, complaint.field))
            for complaint in complaints.collected[before:]
        ]


@cache
def readers() -> tuple[Reader, ...]:
    """Every reader of the folder, by place of their modules' names."""
    folder = __name__.rpartition(".")[0]
    modules = (module.name for module in pkgutil.iter_modules(import_module(folder).__path__))
    catalogued = [getattr(import_module(f"{folder}.{name}"), "READER", None) for name in sorted(modules)]
    return tuple(reader for reader in catalogued if reader is not None)


def reader_of(source: Source, place: Place) -> Reader | None:
    """The reader of another tool's file; None where the file is ours or nobody's, or has a complaint: two readers."""
    first = _first_row(source)
    if _is_ours(first):
        return None
    candidates = [reader for reader in readers() if reader.recognises(first)]
    if len(candidates) > 1:
        names = " or ".join(reader.name for reader in candidates)
        expected = "the keys of one of them; those of ours (a, b, winner) are always clear"
        place.refuse("a file that may be %(names)s", expected, names=names)
        place.complaints.raise_if_any()
    return candidates[0] if candidates else None


def _first_row(source: Source) -> Row:
    """The first row that can be read; where none can, the names in a table's header."""
    try:
        first = next(rows_of(source, Place(Complaints(), "")), None)
    except Refused:
        first = None
    if first is not None:
        return first[1]
    with source.open() as file:
        return dict.fromkeys(read_header(first_line(file).decode("utf-8", "replace")))


def _is_ours(row: Row) -> bool:
    return {"a", "b", "winner"} <= row.keys() or bool({"topic_id", "documents"} & row.keys())


def rows_of(source: Source, place: Place) -> Iterator[tuple[Place, Row]]:
    """The rows of a table, whose empty cells are None, the objects of JSON Lines or of a list, or one object."""
    with source.open() as file:
        line = first_line(file)
    if line.startswith(b"["):
        yield from _listed(source, place)
        return
    if line.startswith(b"{"):
        quiet = Place(Complaints(), "")
        text = decode(quiet, line, start=True) or ""
        if line.endswith(b"}") or len(line) >= 60_000 or strict_json.parse(quiet, text) is not None:
            yield from _lines(source, place)
        else:
            with source.open() as file:
                whole = decode(place.at(1), file.read(), start=True)
            value = None if whole is None else strict_json.parse(place, whole)
            if isinstance(value, dict):
                yield place.at(1), value
        return
    with source.open() as file:
        for here, row in read_rows(file, place, _ANY):
            yield here, {key: cell or None for key, cell in row.items()}


def _lines(source: Source, place: Place) -> Iterator[tuple[Place, Row]]:
    with source.open() as file:
        for number, line in read_lines(file, place):
            if line is not None and line.strip():
                value = strict_json.parse_object(place.at(number), line)
                if value is not None:
                    yield place.at(number), value


def _listed(source: Source, place: Place) -> Iterator[tuple[Place, Row]]:
    """The objects of a list, one by one: each may have as many values as a line."""
    with source.open() as file:
        text = decode(place.at(1), file.read(), start=True)
    if text is None:
        return
    depth, begin, last, line = 0, 0, "", 1
    for token in _TOKENS.finditer(text):
        sign, at = token[0], token.start()
        if sign in "[{":
            depth += 1
            begin = at + 1 if depth == 1 else begin
        elif sign in "]}":
            depth -= 1
        if depth > limits.DEPTH:
            place.at(line).refuse("nesting deeper than %(limit)s", "flatter JSON", limit=limits.DEPTH)
            return
        if not ((depth == 1 and sign == ",") or (depth == 0 and sign == "]")):
            last = sign
            continue
        element = text[begin:at]
        begins = line + element[: len(element) - len(element.lstrip())].count("\n")
        line += element.count("\n")
        if element.strip() or sign == ",":
            value = strict_json.parse_object(place.at(begins), element)
            if value is not None:
                yield place.at(begins), value
        begin = at + 1
        if depth == 0:
            if text[begin:].strip():
                place.at(line).refuse("text after the list", "one list")
            return
    place.at(line).refuse(
        "a list that is never closed%(last)s", "a closing bracket", last=f" after {last}" * bool(last)
    )


def _part(row: Row, column: str) -> Row | None:
    """Where a named column stands: the row, or its `data`, `metadata` or `fields`; None where it does not."""
    parts = (row, *(row.get(key) for key in ("data", "metadata", "fields")))
    return next((part for part in parts if isinstance(part, Mapping) and column in part), None)


def problem_of(judged: Mapping[str, Any]) -> str:
    """Why a vote is left out; "" if it is not."""
    if not judged.get("winner"):
        return NO_WINNER
    if not judged.get("a") or not judged.get("b"):
        return NO_NAME
    return SAME if judged["a"] == judged["b"] else ""


def text_of(value: Any) -> Any:
    """A number as text, as names are; a text without white space at its ends; anything else as it is."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else value


def topic_of(place: Place, value: Any) -> str:
    """The name of what a vote is about. A long text is named by its beginning and a sum over all of it."""
    if isinstance(value, list):  # a conversation
        texts = (turn.get("content", turn.get("value")) for turn in value if isinstance(turn, dict))
        value = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    value = text_of(value)
    if not isinstance(value, str) or (len(value) <= _NAME and "\n" not in value and "\t" not in value):
        return "" if value is None or (isinstance(value, str) and blank(value)) else value
    cleaned = clean(place, value) or ""
    return f"{' '.join(cleaned.split())[: _NAME - 20]}… {hashlib.sha256(cleaned.encode()).hexdigest()[:12]}"


def choice_of(place: Place, key: str, value: Any, words: Mapping[str, str]) -> str:
    """The letter of an answer in a tool's words; "" and a complaint for a word that is none of them, "" for nothing."""
    if value is None or value == "":
        return ""
    word = str(value).strip().lower() if isinstance(value, str | int | float) else ""
    if word in words:
        return words[word]
    place.key(key).refuse("%(what)s", ", ".join(words), what=kind(value))
    return ""


def moment_of(value: Any) -> str | None:
    """Seconds since 1970 as a time, texts as they are; None where it is neither."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]{9,10}(\.[0-9]+)?", value):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 4e9:
        return datetime.fromtimestamp(value, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value) else None


def table() -> str:
    """The rows of docs/formats.md."""
    head = "| format | keys | what is read | structure from |\n|---|---|---|---|\n"
    return head + "".join(f"| {own.name} | {own.keys} | {own.about} | {own.source} |\n" for own in readers())
