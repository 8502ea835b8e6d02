"""One entry for topics, summaries, scores and preferences: their form is detected, and all is checked as a whole."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import chain, islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Complaints, Place, escaped, shown
from preferendum.formats.checks.text import UTF16, decode
from preferendum.formats.readers import late, preferences, topics
from preferendum.formats.readers.columns import KINDS as TABLES
from preferendum.formats.readers.columns import kind_of, read_as, refuse_columns, seen
from preferendum.formats.readers.corpora import corpus_of
from preferendum.formats.readers.draft import Alone, Draft, Named, Placed, Voted
from preferendum.formats.readers.folder import belongs, read_folder
from preferendum.formats.readers.headings import role_of
from preferendum.formats.readers.lines import first_line
from preferendum.formats.readers.packed import MAGIC, Archive, nested
from preferendum.formats.readers.sheets import is_sheet, sheet_of
from preferendum.formats.readers.sources import BROKEN, Source, directory_sources, file_source, unwrapped
from preferendum.formats.readers.tables import Row, Table, checked_rows, read_header, read_rows, read_table
from preferendum.formats.readers.tools import catalogue
from preferendum.formats.readers.voted import add_topics
from preferendum.formats.readers.whole import assembled
from preferendum.formats.records import Bundle, Existing, MetricScore, Preference, Refused, Seen

KINDS = (
    "topics (.jsonl with topic_id and documents), a table (.csv, .xlsx, .ods, .json or .jsonl) of preferences with "
    "topic,a,b,winner, of summaries with topic,system,text, of human scores with topic,system,dimension,score, or of "
    "scores by metrics with topic,system,metric,score, a folder or ZIP file of these, or a DUC or TAC directory"
)

# What people upload by mistake, by its first bytes.
_OTHERS = {
    b"%PDF": "a PDF",
    b"{\\rtf": "an RTF document",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"SQLite format 3": "a database",
    b"\x7fELF": "a program",
    b"<!DOCTYPE html": "a web page",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
_BEGINNING = 300
#: By so many rows a table is known.
_AHEAD = 200
#: What rows are called that are in no file.
ROWS = "rows"
#: How values print that stand for none: None, and NaN of Python, NaT and NA of pandas.
_MISSING = frozenset(("None", "nan", "NaT", "<NA>"))
#: Two ASCII characters of UTF-16 without its mark.
_UNMARKED_UTF16 = re.compile(rb"(?:[\x01-\x7f]\0){2}|(?:\0[\x01-\x7f]){2}")
_TOPIC = re.compile(rb'"(?:topic_id|documents)"\s*:')
_PREFERENCE = re.compile(rb'"(?:winner|a|b)"\s*:')


def read(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    existing: Existing | None = None,
    language: str = "",
    columns: Named | None = None,
    look: Callable[[Seen], None] = lambda _table: None,
) -> Bundle:
    """Everything in a file, a directory or a zip, checked as a whole.

    `name`: of the file in complaints, if it is not its own. `existing`: what the study has, to check a later upload
    against; with it another tool's votes, and a study's first file of preferences alone, bring their topics along.
    `language`: of topics that do not say theirs. `columns`: by role, which columns of a table hold it. `look`: gets
    each table with what its columns are taken for.

    Raises `Refused` with every complaint; nothing else, whatever the bytes are.
    """
    draft = Draft(voted=None if existing is None else Voted(), columns=columns or {}, look=look)
    draft, place = _drafted(Path(path), draft, name, begins=existing is not None and not existing.topics)
    if existing is not None and draft.voted and draft.voted.files and not place.complaints.collected:
        add_topics(draft, draft.voted, existing, place)
    return assembled(draft, place, existing, language)


def read_alone(
    source: str | os.PathLike[str] | Iterable[Any], columns: Named | None = None
) -> tuple[Bundle, tuple[Placed[Preference], ...]]:
    """Read everything in a file, ours or another tool's, or in rows of dicts; preferences may come without topics, and
    are given with the places where they stood, too. `columns`: by role, which columns hold it.

    Raises `Refused` with every complaint.
    """
    draft = Draft(alone=Alone(columns=_of_tools(columns or {})), columns=columns or {})
    is_path = isinstance(source, str | os.PathLike)
    draft, place = _drafted(Path(source), draft, None) if is_path else _drafted_rows(source, draft)  # type: ignore[arg-type]
    return assembled(draft, place), tuple(draft.preferences)


def _of_tools(columns: Named) -> dict[str, str]:
    """The columns of another tool's file; none where they name what only tables have. Those of no role say nothing."""
    given = {role: [named] if isinstance(named, str) else list(named) for role, named in columns.items() if role}
    is_of_tool = given.keys() <= {*catalogue.NAMED} and all(len(named) == 1 for named in given.values())
    return {role: named[0] for role, named in given.items()} if is_of_tool else {}


def _drafted(path: Path, draft: Draft, name: str | None, *, begins: bool = False) -> tuple[Draft, Place]:
    """`begins`: whether preferences by themselves may begin a study."""
    place = Place(Complaints(), escaped(name or path.name or str(path)))
    try:
        if path.is_dir():
            sources = directory_sources(path, place, limits.DIRECTORY)
            place.complaints.raise_if_any()
            _read_sources(sources, place, draft)
        elif not path.is_file():
            place.refuse("no such file", "a file or a directory: " + KINDS)
        else:
            _read_file(path, place, draft, begins=begins)
    except BROKEN as error:
        place.refuse("a file that cannot be read (%(why)s)", "a complete file", why=type(error).__name__)
    _refuse_unused(place, draft)
    return draft, place


def _refuse_unused(place: Place, draft: Draft) -> None:
    for column in sorted(draft.unused) if not place.complaints.collected else ():
        place.refuse("no column %(column)s", "the name of a column", column=shown(column))


def _drafted_rows(rows: Iterable[Any], draft: Draft) -> tuple[Draft, Place]:
    """Rows as lines of JSON, so that their forms and checks are those of files; a line's number is the row's."""
    place = Place(Complaints(), ROWS)
    lines = b"".join(_row_line(row, place.at(number)) for number, row in enumerate(rows, 1))
    place.complaints.raise_if_any()
    _read_table_or_lines(Source((ROWS,), ROWS, len(lines), lambda: io.BytesIO(lines)), place, draft)
    _refuse_unused(place, draft)
    return draft, place


def _row_line(row: Any, here: Place) -> bytes:
    """A row without the values that are missing, such as NaN in a table of pandas."""
    if not isinstance(row, Mapping):
        here.refuse("%(what)s", "a dict such as {'a': 'first', 'b': 'second', 'winner': 'a'}", what=type(row).__name__)
        return b""
    present = {key: value for key, value in row.items() if isinstance(value, str) or str(value) not in _MISSING}
    try:
        return json.dumps(present, default=_plain).encode("utf-8", "surrogatepass") + b"\n"
    except (TypeError, ValueError) as error:
        here.refuse("%(why)s", "texts, numbers, lists and dicts", why=escaped(str(error)))
        return b""


def _plain(value: Any) -> Any:
    """A time as text, and a number of numpy as a number."""
    if isinstance(value, date):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__}")


def read_metric_scores(file: BinaryIO, existing: Existing, *, name: str) -> tuple[MetricScore, ...]:
    """A table of scores by metrics for topics that are there already. Raises `Refused` with every complaint."""
    place, draft = Place(Complaints(), escaped(name)), Draft()
    late.read_metric_scores(read_rows(file, place, late.METRIC_SCORES), draft)
    if not draft.metric_scores and not place.complaints.collected:
        place.refuse("an empty file", "the columns %(header)s", header=late.METRIC_SCORES.header)
    place.complaints.raise_if_any()
    return assembled(draft, place, existing).metric_scores


def _read_file(path: Path, place: Place, draft: Draft, *, begins: bool = False) -> None:
    size = path.stat().st_size
    if size > limits.UPLOAD.upload:
        actual, limit = "%(size)s MB", limits.UPLOAD.upload // limits.MEGABYTE
        place.refuse(actual, "at most %(limit)s MB", size=size // limits.MEGABYTE, limit=limit)
        return
    with path.open("rb") as file:
        magic = file.read(4)
    if magic not in MAGIC:
        draft.alone = Alone(columns=_of_tools(draft.columns)) if begins else draft.alone
        _read_table_or_lines(file_source(path, place.file), place, draft)
        return
    with Archive(path, place, limits.UPLOAD) as archive:
        place.complaints.raise_if_any()
        if is_sheet(archive.sources):
            _read_table(sheet_of(archive.sources, place), draft)
        else:
            _read_sources(archive.sources, place, draft)


def _read_sources(sources: list[Source], place: Place, draft: Draft) -> None:
    """Read each file by its form; unknown forms get a complaint, files that were sent by accident a remark."""
    wanted = [source for source in sources if not source.is_debris()]
    debris = [source for source in sources if source.is_debris()]
    corpus = corpus_of(wanted)
    if corpus is not None and not any("topics" in source.parts[:-1] for source in wanted):
        _remark_on(debris, place)
        corpus.read(wanted, place, draft)
        return
    wanted = unwrapped(wanted)
    if special := _special(wanted):
        place.refuse(special[0], special[1])
        return
    leaflets = [source for source in wanted if source.is_leaflet()]
    _remark_on(debris + leaflets, place)
    wanted = [source for source in wanted if not source.is_leaflet()]
    if not wanted:
        place.refuse("nothing that can be read", KINDS)
        return
    columns = _of_tools(draft.columns)
    for tool in catalogue.readers():
        if own := tool.folder(wanted, draft):
            draft.unused.clear()
            for source in wanted:
                if source not in own:
                    Place(place.complaints, source.label).pass_over("it has nothing of %(tool)s", tool=tool.name)
            tool.read(own, place, draft, Alone(columns=columns))
            return
    read_folder([source for source in wanted if belongs(source)], place, draft)
    for source in wanted:
        if not belongs(source):
            here = Place(place.complaints, source.label)
            try:
                _read_table_or_lines(source, here, draft)
            except BROKEN:
                here.refuse("data that cannot be decompressed", "an intact ZIP file")


def _remark_on(sources: list[Source], place: Place) -> None:
    for source in sources:
        Place(place.complaints, source.label).pass_over("it contains no data")


def _special(sources: list[Source]) -> tuple[str, str] | None:
    """Zips that are something else in disguise."""
    names = {"/".join(source.parts) for source in sources}
    if "[Content_Types].xml" in names:
        return "an Office document", "CSV (in Excel: save as “CSV UTF-8”)"
    if "study.json" in names and "MANIFEST" in names:
        return "the archive of a whole study", "topics or tables; an archive is imported as a study of its own"
    return None


def _read_table_or_lines(source: Source, place: Place, draft: Draft) -> None:
    with source.open() as file:
        beginning = file.read(_BEGINNING)
    with source.open() as file:
        line = first_line(file)
    if b"\0" not in beginning and (of_tool := catalogue.reader_of(source, place)):
        draft.unused.clear()
        of_tool.read([source], place, draft, draft.alone or Alone(columns=_of_tools(draft.columns)))
        return
    if draft.alone is not None and draft.voted is not None:
        draft.voted.files.add(place.file)
    if not line:
        place.refuse("an empty file", KINDS)
        return
    if source.name.lower().endswith((".xlsx", ".ods")) and beginning[:4] in MAGIC:
        _read_packed_sheet(source, place, draft)
        return
    if archive := nested(beginning):
        place.refuse("%(archive)s", "one ZIP file with the files themselves", archive=archive)
        return
    other = next((called for magic, called in _OTHERS.items() if beginning.startswith(magic)), None)
    if other:
        place.refuse("%(other)s", KINDS, other=other)
    elif beginning.startswith(UTF16) or _UNMARKED_UTF16.match(beginning):
        decode(place.at(1), UTF16[0], start=True)  # says so
    elif line.startswith((b"{", b"[")) or source.name.lower().endswith((".jsonl", ".ndjson", ".json")):
        _read_json(source, line, place, draft)
    else:
        _read_text_table(source, beginning, line, place, draft)


def _read_packed_sheet(source: Source, place: Place, draft: Draft) -> None:
    """A spreadsheet in a ZIP file, which is one itself; all of them together may unpack to what one upload may."""
    with NamedTemporaryFile() as copy, source.open() as file:
        copyfileobj(file, copy)
        copy.flush()
        bounds = replace(limits.UPLOAD, unpacked=limits.UPLOAD.unpacked - draft.unpacked)
        with Archive(Path(copy.name), place, bounds) as archive:
            draft.unpacked += sum(own.size for own in archive.sources)
            if is_sheet(archive.sources):
                _read_table(sheet_of(archive.sources, place), draft)
            elif archive.sources:
                place.refuse("a zip", "a spreadsheet, or the files themselves")


def _read_json(source: Source, line: bytes, place: Place, draft: Draft) -> None:
    """Lines of objects, a list of them or one alone: topics, preferences, or rows of a table."""
    keys = _keys(source) if line.startswith((b"{", b"[")) else set()
    is_topic = bool({"topic_id", "documents"} & keys or _TOPIC.search(line))
    is_preference = not is_topic and bool({"a", "b", "winner"} & keys or _PREFERENCE.search(line))
    is_ours = is_preference and ("winner" in keys or "winner" not in map(role_of, keys))
    if keys and not is_topic and not (is_ours and not draft.columns):
        _read_table(_listed_table(source, place), draft)
        return
    if not keys and not is_topic and not is_preference:  # it is broken: its reader will say where
        is_topic = not source.name.lower().startswith("preferences")
    is_by_line = not line.startswith(b"[") and (_TOPIC.search(line) or _PREFERENCE.search(line) or not keys)
    if is_by_line and catalogue.list_within(source) is None:
        with source.open() as file:
            (topics.read_topics if is_topic else preferences.read_preferences_jsonl)(file, place, draft)
        return
    for here, given in catalogue.rows_of(source, place):
        if not (topics.add_topic if is_topic else preferences.add_preference)(here, dict(given), draft):
            return


def _keys(source: Source) -> set[str]:
    """The keys of the first object."""
    with suppress(Refused):
        return {*next((row for _here, row in catalogue.rows_of(source, Place(Complaints(), ""))), {})}
    return set()


def _listed_table(source: Source, place: Place) -> Table | None:
    """Objects of texts and numbers as a table with the columns of the first ones."""
    rows = catalogue.rows_of(source, place)
    ahead = list(islice(rows, _AHEAD))
    header = tuple(dict.fromkeys(key for _here, row in ahead for key in row))
    if not header:
        return None
    return Table(place.at(1), header, _as_texts(chain(ahead, rows), header))


def _as_texts(rows: Iterable[tuple[Place, Mapping[str, Any]]], header: tuple[str, ...]) -> Iterator[tuple[Place, Row]]:
    for here, row in rows:
        if nested_keys := [key for key in header if isinstance(row.get(key), list | dict)]:
            actual = "an object whose %(key)s holds several values; its keys are %(keys)s"
            here.refuse(actual, KINDS, key=shown(nested_keys[0]), keys=shown(", ".join(row), 100))
            continue
        values = {key: row.get(key) for key in header}
        yield here, {key: _text(value) for key, value in values.items()}


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_text_table(source: Source, beginning: bytes, line: bytes, place: Place, draft: Draft) -> None:
    header = line.decode("utf-8", "replace")
    if not _is_table(source, header):
        if b"\0" in beginning:
            place.refuse("bytes that are not text", KINDS)
        elif decode(place.at(1), line, start=True) is not None:
            place.at(1).refuse("a file that begins with %(line)s", KINDS, line=shown(header))
    else:
        with source.open() as file:
            _read_table(read_table(file, place), draft)


def _is_table(source: Source, header: str) -> bool:
    """Whether a text has columns: half of those of a table of ours, or rows that are all as wide as its first line."""
    quiet, names, rows = Place(Complaints(), ""), {*read_header(header)}, list[object]()
    with source.open() as file, suppress(Refused):
        if table := read_table(file, quiet):
            names |= {*table.header}
            rows = list(islice(table.rows, _AHEAD)) if len(table.header) > 1 else []
    if any(2 * len(names & {*own.columns.needed}) >= len(own.columns.needed) for own in TABLES):
        return True
    return bool(rows) and not quiet.complaints.collected


def _read_table(table: Table | None, draft: Draft) -> None:
    """Add a table's rows, if it is clear which column is what; otherwise say what is not."""
    if table is None:
        return
    ahead = list(islice(table.rows, _AHEAD))
    look = seen(replace(table, rows=iter(ahead)), draft.columns)
    draft.look(look)
    draft.unused -= {*table.header}
    table = replace(table, rows=chain(ahead, table.rows))
    ours = next((own for own in TABLES if {*own.columns.needed} <= {*table.header}), None)
    if ours and not draft.columns and not {"document", "reference_text"} & {*look.roles.values()}:
        columns = ours.columns
        if ours.name == "preferences" and draft.alone is not None:
            columns = preferences.COLUMNS_ALONE
        ours.read(checked_rows(table, columns), draft)
    elif look.is_certain and (kind := kind_of(look.roles)):
        read_as(table, look.roles, kind, draft)
    elif not any(complaint.file == table.place.file for complaint in table.place.complaints.collected):
        refuse_columns(table, look)
