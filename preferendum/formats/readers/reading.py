"""One entry for topics, summaries, scores and preferences: their form is detected, and all is checked as a whole."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, BinaryIO

from preferendum.formats.checks import limits, strict_json
from preferendum.formats.checks.complaints import Complaints, Place, escaped, shown
from preferendum.formats.checks.text import decode
from preferendum.formats.readers import late, preferences, topics
from preferendum.formats.readers.corpora import corpus_of
from preferendum.formats.readers.draft import Alone, Draft, Placed
from preferendum.formats.readers.folder import belongs, read_folder
from preferendum.formats.readers.lines import first_line
from preferendum.formats.readers.packed import MAGIC, Archive, nested
from preferendum.formats.readers.sources import BROKEN, Source, directory_sources, file_source, unwrapped
from preferendum.formats.readers.tables import Columns, read_header
from preferendum.formats.readers.tools import catalogue
from preferendum.formats.readers.whole import assembled
from preferendum.formats.records import Bundle, Existing, MetricScore, Preference

Reader = Callable[[BinaryIO, Place, Draft], None]

KINDS = (
    "topics (.jsonl with topic_id and documents), preferences (.jsonl, or .csv with topic,a,b,winner), "
    "summaries (.csv with topic,system,text), human scores (.csv with topic,system,dimension,score), "
    "scores by metrics (.csv with topic,system,metric,score), a folder or ZIP file of these, or a DUC or TAC directory"
)

_TABLES: dict[Reader, Columns] = {
    preferences.read_preferences_csv: preferences.COLUMNS,
    late.read_human_scores: late.HUMAN_SCORES,
    late.read_summaries: late.SUMMARIES,
    late.read_metric_scores: late.METRIC_SCORES,
}
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
#: What rows are called that are in no file.
ROWS = "rows"
#: How values print that stand for none: None, and NaN of Python, NaT and NA of pandas.
_MISSING = frozenset(("None", "nan", "NaT", "<NA>"))
_TOPIC = re.compile(rb'"(?:topic_id|documents)"\s*:')
_PREFERENCE = re.compile(rb'"(?:winner|a|b)"\s*:')


def read(
    path: str | os.PathLike[str], *, name: str | None = None, existing: Existing | None = None, language: str = ""
) -> Bundle:
    """Everything in a file, a directory or a zip, checked as a whole.

    `name`: of the file in complaints, if it is not its own. `existing`: what the study has, to check a later upload
    against. `language`: of topics that do not say theirs.

    Raises `Refused` with every complaint; nothing else, whatever the bytes are.
    """
    return assembled(*_drafted(Path(path), Draft(), name), existing=existing, language=language)


def read_alone(
    source: str | os.PathLike[str] | Iterable[Any], columns: Mapping[str, str] | None = None
) -> tuple[Bundle, tuple[Placed[Preference], ...]]:
    """Read everything in a file, ours or another tool's, or in rows of dicts; preferences may come without topics, and
    are given with the places where they stood, too. `columns`: of another tool's file, by our key.

    Raises `Refused` with every complaint.
    """
    draft = Draft(alone=Alone(columns=columns or {}))
    is_path = isinstance(source, str | os.PathLike)
    draft, place = _drafted(Path(source), draft, None) if is_path else _drafted_rows(source, draft)  # type: ignore[arg-type]
    return assembled(draft, place), tuple(draft.preferences)


def _drafted(path: Path, draft: Draft, name: str | None) -> tuple[Draft, Place]:
    place = Place(Complaints(), escaped(name or path.name or str(path)))
    try:
        if path.is_dir():
            sources = directory_sources(path, place, limits.DIRECTORY)
            place.complaints.raise_if_any()
            _read_sources(sources, place, draft)
        elif not path.is_file():
            place.refuse("no such file", "a file or a directory: " + KINDS)
        else:
            _read_file(path, place, draft)
    except BROKEN as error:
        place.refuse("a file that cannot be read (%(why)s)", "a complete file", why=type(error).__name__)
    return draft, place


def _drafted_rows(rows: Iterable[Any], draft: Draft) -> tuple[Draft, Place]:
    """Rows as lines of JSON, so that their forms and checks are those of files; a line's number is the row's."""
    place = Place(Complaints(), ROWS)
    lines = b"".join(_row_line(row, place.at(number)) for number, row in enumerate(rows, 1))
    place.complaints.raise_if_any()
    _read_table_or_lines(Source((ROWS,), ROWS, len(lines), lambda: io.BytesIO(lines)), place, draft)
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
    late.read_metric_scores(file, place, draft)
    if not draft.metric_scores and not place.complaints.collected:
        place.refuse("an empty file", "the columns %(header)s", header=late.METRIC_SCORES.header)
    place.complaints.raise_if_any()
    return assembled(draft, place, existing).metric_scores


def _read_file(path: Path, place: Place, draft: Draft) -> None:
    size = path.stat().st_size
    if size > limits.UPLOAD.upload:
        actual, limit = "%(size)s MB", limits.UPLOAD.upload // limits.MEGABYTE
        place.refuse(actual, "at most %(limit)s MB", size=size // limits.MEGABYTE, limit=limit)
        return
    with path.open("rb") as file:
        magic = file.read(4)
    if magic not in MAGIC:
        _read_table_or_lines(file_source(path, place.file), place, draft)
        return
    with Archive(path, place, limits.UPLOAD) as archive:
        place.complaints.raise_if_any()
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
    if draft.alone is not None and b"\0" not in beginning and (of_tool := catalogue.reader_of(source, place)):
        of_tool.read(source, place, draft, draft.alone)
        return
    if draft.alone is not None and draft.alone.columns:
        place.refuse("a file whose columns need no names", "a file of another tool (docs/formats.md) with columns")
        return
    reader = _reader(source, beginning, line, place)
    if reader is not None:
        with source.open() as file:
            reader(file, place, draft)


def _reader(source: Source, beginning: bytes, line: bytes, place: Place) -> Reader | None:
    """The reader of a file that begins like this; None and a complaint where there is none."""
    if not line:
        place.refuse("an empty file", KINDS)
        return None
    if archive := nested(beginning):
        place.refuse("%(archive)s", "one ZIP file with the files themselves", archive=archive)
        return None
    other = next((called for magic, called in _OTHERS.items() if beginning.startswith(magic)), None)
    if other:
        place.refuse("%(other)s", KINDS, other=other)
        return None
    lower = source.name.lower()
    if line.startswith((b"{", b"[")) or lower.endswith((".jsonl", ".ndjson", ".json")):
        return _reader_of_lines(line, lower, place)
    header = read_header(line.decode("utf-8", "replace"))
    names = {*header, *(part for cell in header for part in cell.split("_"))}  # of topic_id: topic
    shares = {reader: len(names & {*own.needed}) / len(own.needed) for reader, own in _TABLES.items()}
    nearest = max(shares, key=shares.__getitem__)
    if shares[nearest] >= 0.5 or beginning.startswith((b"\xff\xfe", b"\xfe\xff")):
        return nearest
    if b"\0" in beginning:
        place.refuse("bytes that are not text", KINDS)
    else:
        actual = "a file that begins with %(line)s"
        place.at(1).refuse(actual, KINDS, line=shown(line.decode("utf-8", "replace")))
    return None


def _reader_of_lines(line: bytes, name: str, place: Place) -> Reader | None:
    if line == b"[":
        place.at(1).refuse("a list", "one JSON object per line, without brackets around all of them")
        return None
    if _TOPIC.search(line):
        return topics.read_topics
    if _PREFERENCE.search(line):
        return preferences.read_preferences_jsonl
    if keys := _keys(line):
        place.at(1).refuse("an object with the keys %(keys)s", KINDS, keys=shown(", ".join(keys), 100))
        return None
    # The line is broken: its reader will say where.
    return preferences.read_preferences_jsonl if name.startswith("preferences") else topics.read_topics


def _keys(line: bytes) -> list[str]:
    """The keys of the object that the line is; none where it is none."""
    quiet = Place(Complaints(), "")
    text = decode(quiet, line, start=True)
    return list(strict_json.parse_object(quiet, text) or ()) if text else []
