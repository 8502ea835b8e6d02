"""A whole study as one zip: what `export_study` writes and `import_study` takes back. `README` says what is in it.

Equal studies give equal bytes. Everything is read back whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from preferendum.formats.archive import study_checks
from preferendum.formats.archive.study_records import (
    AnnotatorRecord,
    AssignmentRecord,
    FitRecord,
    GoldPairRecord,
    HistoryRecord,
    JudgmentRecord,
    QuestionnaireAnswers,
    QuestionnaireRecord,
    RemovalRecord,
    ReportedPairRecord,
    SentenceRecord,
    StudyArchive,
    UploadRecord,
)
from preferendum.formats.checks import limits, shapes, strict_json
from preferendum.formats.checks.complaints import Complaints, Place, escaped, shown
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.lines import read_lines
from preferendum.formats.readers.packed import MAGIC, Archive
from preferendum.formats.readers.sources import BROKEN, Source, read_text
from preferendum.formats.readers.topics import read_topics, write_topics
from preferendum.formats.serialization import to_json
from preferendum.formats.settings import StudySettings

Record = TypeVar("Record")

README = """A study of Preferendum, whole.

study.json         settings, seed, versions of the format and of the program that wrote it
topics.jsonl       one topic a line: documents, references, summaries, human scores, Pyramid
sentences.jsonl    the sentences of the documents as they were cut; <document>:<index> names one
annotators.jsonl   who judged, under pseudonyms, and of which kind: human, machine or simulated
assignments.jsonl  pairs of sentences, or of summaries (named by their systems), as they were shown: to whom, what was
                   left and right, when, why
judgments.jsonl    every answer, and every later revision of it, in the order in which they came
fits.jsonl         what was computed from them: strengths and utilities of sentences, scores of systems
gold_pairs.jsonl   pairs whose right answer was prepared, for practice or hidden among the others
history.jsonl      what was judged of topics and texts that were removed or replaced since; it counts nowhere
uploads.jsonl      which files were stored, when, and what they brought; people are numbers
removals.jsonl     what was removed or replaced, when, and how much went with it
reported_pairs.jsonl  pairs that were skipped, and what annotators said is wrong with them
questionnaires.jsonl  questions to annotators about themselves, in versions
questionnaire_answers.jsonl  what they answered, by question; a step of a scale is a number from 1
MANIFEST           SHA-256 sums; `sha256sum -c MANIFEST` checks that nothing changed

JSON Lines files hold one JSON object a line, in UTF-8. Times are ISO 8601 with their zone.
The command import_study FILE --title TITLE --owner USER takes the study into another installation.
"""

#: The files of records, by the name of their sequence in an archive.
_RECORDS: Mapping[str, type[Any]] = {
    "sentences": SentenceRecord,
    "annotators": AnnotatorRecord,
    "assignments": AssignmentRecord,
    "judgments": JudgmentRecord,
    "fits": FitRecord,
    "gold_pairs": GoldPairRecord,
    "history": HistoryRecord,
    "uploads": UploadRecord,
    "removals": RemovalRecord,
    "reported_pairs": ReportedPairRecord,
    "questionnaires": QuestionnaireRecord,
    "questionnaire_answers": QuestionnaireAnswers,
}
_NAMES = ("study.json", "topics.jsonl", *(f"{name}.jsonl" for name in _RECORDS), "README.txt")
_MANIFEST = "MANIFEST"
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write(archive: StudyArchive, file: BinaryIO) -> None:
    """The study as a zip. Equal studies give equal bytes."""
    head = {
        "format": study_checks.FORMAT,
        "program_version": archive.program_version,
        "settings": to_json(archive.settings),
    }
    sums: list[str] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry, chunks in (
            ("study.json", iter([strict_json.line(head) + "\n"])),
            ("topics.jsonl", None),
            *((f"{name}.jsonl", _lines(getattr(archive, name))) for name in _RECORDS),
            ("README.txt", iter([README])),
        ):
            with packed.open(_entry(entry), "w") as stream:
                summed = _Summed(stream)
                if chunks is None:
                    write_topics(archive.topics, summed)
                else:
                    summed.writelines(chunk.encode() for chunk in chunks)
            sums.append(f"{summed.digest}  {entry}\n")
        packed.writestr(_entry(_MANIFEST), "".join(sums))


def read(path: str | os.PathLike[str], *, name: str | None = None) -> StudyArchive:
    """The study in a zip that `write` wrote. Raises `Refused` with every complaint; nothing else."""
    path = Path(path)
    place = Place(Complaints(), escaped(name or path.name or str(path)))
    try:
        return _read(path, place)
    except BROKEN as error:
        place.refuse("a file that cannot be read (%(why)s)", "a complete file", why=type(error).__name__)
        raise place.complaints.refused() from error


def is_archive(path: Path) -> bool:
    """Whether a file is what `write` writes, as far as its names tell."""
    try:
        with zipfile.ZipFile(path) as packed:
            return {"study.json", "MANIFEST"} <= set(packed.namelist())
    except (OSError, zipfile.BadZipFile):
        return False


class _Summed:
    """Writes on, and sums what it wrote."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._sum = hashlib.sha256()

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self._sum.update(line)
            self._stream.write(line)


def _entry(called: str) -> zipfile.ZipInfo:
    """An entry that is the same on every day and machine."""
    entry = zipfile.ZipInfo(called, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def _lines(records: Iterable[Any]) -> Iterator[str]:
    return (strict_json.line(to_json(record)) + "\n" for record in records)


def _read(path: Path, place: Place) -> StudyArchive:
    if not path.is_file():
        place.refuse("no such file", "the archive of a study")
        raise place.complaints.refused()
    with path.open("rb") as file:
        if file.read(4) not in MAGIC:
            place.refuse("no zip", "the archive of a study, as export_study writes it")
            raise place.complaints.refused()
    with Archive(path, place, limits.STUDY) as packed:
        place.complaints.raise_if_any()
        sources = {"/".join(source.parts): source for source in packed.sources}
        _check_sums(sources, place)
        place.complaints.raise_if_any()
        archive = _contents(sources, place)
    place.complaints.raise_if_any()
    assert archive is not None, "without a complaint there is a head"
    study_checks.check_whole(archive, place)
    place.complaints.raise_if_any()
    return archive


def _check_sums(sources: Mapping[str, Source], place: Place) -> None:
    """Every file is there, no other is, and none has changed."""
    for called in (*_NAMES, _MANIFEST):
        if called not in sources:
            place.refuse("no %(name)s in it", "the archive of a study, as export_study writes it", name=called)
    for called, source in sources.items():
        if called not in (*_NAMES, _MANIFEST):
            Place(place.complaints, source.label).refuse("a file that does not belong to a study", ", ".join(_NAMES))
    place.complaints.raise_if_any()
    here = Place(place.complaints, sources[_MANIFEST].label)
    manifest = read_text(sources[_MANIFEST], here, 10_000) or ""
    sums: dict[str, str] = {}
    for number, line in enumerate(manifest.splitlines(), 1):
        if match := _SUM.fullmatch(line):
            sums[match[2]] = match[1]
        else:
            here.at(number).refuse("%(line)s", "a SHA-256 sum, two spaces and a name", line=shown(line))
    for called in _NAMES:
        digest = hashlib.sha256()
        with sources[called].open() as stream:
            while chunk := stream.read(1 << 16):
                digest.update(chunk)
        if sums.get(called) != digest.hexdigest():
            actual = "a SHA-256 sum different from that in MANIFEST"
            Place(place.complaints, sources[called].label).refuse(actual, "the file as it was written")


def _contents(sources: Mapping[str, Source], place: Place) -> StudyArchive | None:
    def records(
        called: str, make: Callable[..., Record], shape: Mapping[str, shapes.Check] | None = None
    ) -> tuple[Record, ...]:
        source = sources[called]
        with source.open() as stream:
            own = shape or shapes.shape_of(cast(type, make))
            return tuple(_records(stream, Place(place.complaints, source.label), make, own))

    head = records("study.json", _head, study_checks.HEAD)
    draft = Draft()
    with sources["topics.jsonl"].open() as stream:
        read_topics(stream, Place(place.complaints, sources["topics.jsonl"].label), draft, as_stored=True)
    here = Place(place.complaints, sources["study.json"].label, 1)
    if len(head) != 1:
        here.refuse("%(count)s lines of settings", "one", count=len(head))
        return None
    program_version, chosen = head[0]
    settings = shapes.record(here.key("settings"), chosen, StudySettings, study_checks.SETTINGS)
    parts = {name: records(f"{name}.jsonl", kind) for name, kind in _RECORDS.items()}
    if settings is None:
        return None
    return StudyArchive(settings, program_version, tuple(placed.record for placed in draft.topics), **parts)


def _head(format: int, program_version: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:  # noqa: A002
    return program_version, settings


def _records(
    stream: BinaryIO, place: Place, make: Callable[..., Record], shape: Mapping[str, shapes.Check]
) -> Iterator[Record]:
    for number, line in read_lines(stream, place):
        here = place.at(number)
        given = strict_json.parse_object(here, line) if line is not None else None
        record = shapes.record(here, given, make, shape) if given is not None else None
        if record is not None:
            yield record
