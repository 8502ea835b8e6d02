"""A whole study as one zip: what `export_study` writes and `import_study` takes back.

    study.json         the format's version, the program's version, every setting and the seed
    topics.jsonl       texts, references, summaries and human scores, as they were uploaded
    sentences.jsonl    the source sentences as they were cut (or mended by hand)
    annotators.jsonl   who judged, under pseudonyms
    assignments.jsonl  the pairs as they were shown: who, which side, when, why
    judgments.jsonl    every answer and every revision, in the order in which they were stored
    fits.jsonl         what was made of them: utilities, scores, and what they rest on
    README.txt         the same in words
    MANIFEST           SHA-256 sums of all of these

Equal studies give equal bytes. Everything is read back whole or not at all.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

from formats import limits, shapes, strict_json
from formats.archive import MAGIC, Archive
from formats.complaints import Complaints, Place, escaped, shown
from formats.draft import Draft
from formats.lines import read_lines
from formats.records import Extra, Topic
from formats.sources import BROKEN, Source, read_text
from formats.topics import LANGUAGE, read_topics, write_topics

FORMAT = 1

Record = TypeVar("Record")

Kind = Literal["human", "machine", "simulated"]
State = Literal["open", "judged", "skipped", "expired", "void"]
Answer = Literal["left", "right", "tie", "undone"]

KINDS = ("human", "machine", "simulated")
REASONS = ("random", "suggested", "imported")
STATES = ("open", "judged", "skipped", "expired", "void")
SKIP_REASONS = ("", "unclear", "broken", "language", "other")
ANSWERS = ("left", "right", "tie", "undone")
SMOOTHINGS = ("paper", "sharpened", "kernel", "none")
VALUES = ("strength", "chance")
NORMALIZATIONS = ("length", "budget")
MATCHES = ("any", "similarity")


@dataclass(frozen=True, slots=True)
class StudySettings:
    """What a study asks of people, and how their answers become scores."""

    title: str
    question: str
    guidelines: str = ""
    language: str = "en"
    ties_allowed: bool = False
    show_progress: bool = True
    judgments_per_topic: int = 300
    judgments_per_pair: int = 1
    pairs_per_annotator: int = 30
    seed: int = 0
    smooth: str = "paper"
    prior: float = 1.0
    redundancy: bool = True
    value: str = "strength"
    normalize: str = "length"
    match: str = "any"
    similarity: str = "tfidf-jaccard"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SentenceRecord:
    """A source sentence as it was cut; `<document>:<index>` is its name."""

    topic: str
    document: str
    index: int
    paragraph: int
    text: str


@dataclass(frozen=True, slots=True)
class AnnotatorRecord:
    pseudonym: str
    kind: Kind
    joined_at: str


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """A pair as it was shown. `key` is a UUID; `left` and `right` are names of sentences; an open one has no end."""

    key: str
    topic: str
    annotator: str
    left: str
    right: str
    occasion: int
    reason_shown: str
    state: State
    skip_reason: str
    holds_place: bool
    created_at: str
    closed_at: str | None


@dataclass(frozen=True, slots=True)
class JudgmentRecord:
    """One revision of an answer; `assignment` is the key of what was shown."""

    assignment: str
    revision: int
    answer: Answer
    seconds: float | None
    at: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class FitRecord:
    """One estimate. `utilities`: strength, utility, standard error by sentence; `scores`: score, standard error and
    interval by system."""

    topic: str
    judgments: int
    settings: Mapping[str, Any]
    program_version: str
    residual: float
    iterations: int
    data_version: int
    at: str
    utilities: Mapping[str, tuple[float, float, float | None]] = field(default_factory=dict)
    scores: Mapping[str, tuple[float, float | None, float | None, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StudyArchive:
    """A study with everything that belongs to it. Writing goes once through each sequence, in its order."""

    settings: StudySettings
    program_version: str
    topics: Sequence[Topic] = ()
    sentences: Sequence[SentenceRecord] = ()
    annotators: Sequence[AnnotatorRecord] = ()
    assignments: Sequence[AssignmentRecord] = ()
    judgments: Sequence[JudgmentRecord] = ()
    fits: Sequence[FitRecord] = ()


README = """A study of Preferendum, whole.

study.json         settings, seed, versions of the format and of the program that wrote it
topics.jsonl       one topic a line: documents, references, summaries, human scores
sentences.jsonl    the sentences of the documents as they were cut; <document>:<index> names one
annotators.jsonl   who judged, under pseudonyms, and of which kind: human, machine or simulated
assignments.jsonl  pairs of sentences as they were shown: to whom, what was left and right, when, why
judgments.jsonl    every answer, and every later revision of it, in the order in which they came
fits.jsonl         what was computed from them: strengths and utilities of sentences, scores of systems
MANIFEST           SHA-256 sums; `sha256sum -c MANIFEST` checks that nothing changed

JSON Lines files hold one JSON object a line, in UTF-8. Times are ISO 8601 with their zone.
To take the study into another installation: manage.py import_study FILE --title TITLE --owner USER
"""

_NAMES = (
    "study.json",
    "topics.jsonl",
    "sentences.jsonl",
    "annotators.jsonl",
    "assignments.jsonl",
    "judgments.jsonl",
    "fits.jsonl",
    "README.txt",
)
_MANIFEST = "MANIFEST"
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_KEY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write(archive: StudyArchive, file: BinaryIO) -> None:
    """The study as a zip. Equal studies give equal bytes."""
    head = {"format": FORMAT, "program_version": archive.program_version, "settings": _plain(archive.settings)}
    sums: list[str] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry, chunks in (
            ("study.json", iter([strict_json.line(head) + "\n"])),
            ("topics.jsonl", None),
            ("sentences.jsonl", _lines(archive.sentences)),
            ("annotators.jsonl", _lines(archive.annotators)),
            ("assignments.jsonl", _lines(archive.assignments)),
            ("judgments.jsonl", _lines(archive.judgments)),
            ("fits.jsonl", _lines(archive.fits)),
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
        place.refuse("a file that cannot be read (%(why)s)", "a file that is whole", why=type(error).__name__)
    place.complaints.raise_if_any()
    raise AssertionError("a complaint was made above")


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
    """An entry without anything that differs from one day or machine to another."""
    entry = zipfile.ZipInfo(called, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry


def _lines(records: Iterable[Any]) -> Iterator[str]:
    return (strict_json.line(_plain(record)) + "\n" for record in records)


def _plain(record: Any) -> dict[str, Any]:
    return {field.name: _value(getattr(record, field.name)) for field in dataclasses.fields(record)}


def _value(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


_small, _count, _large = shapes.whole(0, 32_767), shapes.whole(0, 2**31 - 1), shapes.whole(0, 2**63 - 1)
_positive = shapes.whole(1, 32_767)
_language = shapes.matching(LANGUAGE, "a language tag such as en, de or pt-BR")
_key = shapes.matching(_KEY, "a UUID in small letters")

_SETTINGS: dict[str, shapes.Check] = {
    "title": shapes.words(200),
    "question": shapes.words(limits.QUESTION_CHARACTERS),
    "guidelines": shapes.words(20_000),
    "language": _language,
    "ties_allowed": shapes.flag,
    "show_progress": shapes.flag,
    "judgments_per_topic": shapes.whole(1, 1_000_000),
    "judgments_per_pair": shapes.whole(1, 100),
    "pairs_per_annotator": shapes.whole(1, 100_000),
    "seed": _large,
    "smooth": shapes.one_of(SMOOTHINGS),
    "prior": shapes.real(0),
    "redundancy": shapes.flag,
    "value": shapes.one_of(VALUES),
    "normalize": shapes.one_of(NORMALIZATIONS),
    "match": shapes.one_of(MATCHES),
    "similarity": shapes.words(40),
    "extra": shapes.free,
}
_SENTENCE: dict[str, shapes.Check] = {
    "topic": shapes.name,
    "document": shapes.name,
    "index": _count,
    "paragraph": _count,
    "text": shapes.words(limits.TEXT),
}
_ANNOTATOR: dict[str, shapes.Check] = {
    "pseudonym": shapes.name,
    "kind": shapes.one_of(KINDS),
    "joined_at": shapes.moment,
}
_ASSIGNMENT: dict[str, shapes.Check] = {
    "key": _key,
    "topic": shapes.name,
    "annotator": shapes.name,
    "left": shapes.words(limits.NAME_CHARACTERS + 10),
    "right": shapes.words(limits.NAME_CHARACTERS + 10),
    "occasion": _small,
    "reason_shown": shapes.one_of(REASONS),
    "state": shapes.one_of(STATES),
    "skip_reason": shapes.one_of(SKIP_REASONS),
    "holds_place": shapes.flag,
    "created_at": shapes.moment,
    "closed_at": shapes.maybe(shapes.moment),
}
_JUDGMENT: dict[str, shapes.Check] = {
    "assignment": _key,
    "revision": _positive,
    "answer": shapes.one_of(ANSWERS),
    "seconds": shapes.maybe(shapes.real(0)),
    "at": shapes.moment,
    "source": shapes.words(40),
}
_number, _number_or_null = shapes.real(), shapes.maybe(shapes.real())
_FIT: dict[str, shapes.Check] = {
    "topic": shapes.name,
    "judgments": _count,
    "settings": shapes.free,
    "program_version": shapes.words(40),
    "residual": shapes.real(0),
    "iterations": _count,
    "data_version": _large,
    "at": shapes.moment,
    "utilities": shapes.by_name((_number, _number, _number_or_null)),
    "scores": shapes.by_name((_number, _number_or_null, _number_or_null, _number_or_null)),
}
_HEAD: dict[str, shapes.Check] = {
    "format": shapes.whole(1, FORMAT),
    "program_version": shapes.words(40),
    "settings": shapes.free,
}


def _read(path: Path, place: Place) -> StudyArchive:
    if not path.is_file():
        place.refuse("no such file", "the archive of a study")
        place.complaints.raise_if_any()
    with path.open("rb") as file:
        if file.read(4) not in MAGIC:
            place.refuse("no zip", "the archive of a study, as export_study writes it")
            place.complaints.raise_if_any()
    with Archive(path, place, limits.STUDY) as packed:
        place.complaints.raise_if_any()
        sources = {"/".join(source.parts): source for source in packed.sources}
        _check_sums(sources, place)
        place.complaints.raise_if_any()
        archive = _contents(sources, place)
    place.complaints.raise_if_any()
    assert archive is not None, "without a complaint there is a head"
    _check(archive, place)
    place.complaints.raise_if_any()
    return archive


def _check_sums(sources: Mapping[str, Source], place: Place) -> None:
    """Every file is there, no other is, and none has changed."""
    for called in (*_NAMES, _MANIFEST):
        if called not in sources:
            place.refuse("no %(name)s in it", "the archive of a study, as export_study writes it", name=called)
    for called, source in sources.items():
        if called not in _NAMES and called != _MANIFEST:
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
            found = "another SHA-256 sum than MANIFEST has"
            Place(place.complaints, sources[called].label).refuse(found, "the file as it was written")


def _contents(sources: Mapping[str, Source], place: Place) -> StudyArchive | None:
    def records(called: str, make: Callable[..., Record], shape: Mapping[str, shapes.Check]) -> tuple[Record, ...]:
        source = sources[called]
        with source.open() as stream:
            return tuple(_records(stream, Place(place.complaints, source.label), make, shape))

    head = records("study.json", _head, _HEAD)
    draft = Draft()
    with sources["topics.jsonl"].open() as stream:
        read_topics(stream, Place(place.complaints, sources["topics.jsonl"].label), draft)
    here = Place(place.complaints, sources["study.json"].label, 1)
    if len(head) != 1:
        here.refuse("%(count)s lines of settings", "one", count=len(head))
        return None
    settings = shapes.record(here.key("settings"), head[0][1], StudySettings, _SETTINGS)
    parts = (
        tuple(placed.record for placed in draft.topics),
        records("sentences.jsonl", SentenceRecord, _SENTENCE),
        records("annotators.jsonl", AnnotatorRecord, _ANNOTATOR),
        records("assignments.jsonl", AssignmentRecord, _ASSIGNMENT),
        records("judgments.jsonl", JudgmentRecord, _JUDGMENT),
        records("fits.jsonl", FitRecord, _FIT),
    )
    return None if settings is None else StudyArchive(settings, head[0][0], *parts)


def _head(format: int, program_version: str, settings: dict[str, Any]) -> tuple[str, dict[str, Any]]:  # noqa: A002
    return program_version, settings


def _records(
    stream: BinaryIO, place: Place, make: Callable[..., Record], shape: Mapping[str, shapes.Check]
) -> Iterator[Record]:
    for number, line in read_lines(stream, place):
        here = place.at(number)
        found = strict_json.parse_object(here, line) if line is not None else None
        record = shapes.record(here, found, make, shape) if found is not None else None
        if record is not None:
            yield record


def _check(archive: StudyArchive, place: Place) -> None:
    """Every name stands for something, and what must be unique is."""

    def at(file: str) -> Callable[[int], Place]:
        # Blank lines are refused, so that the i-th record stands on line i + 1.
        return lambda i: Place(place.complaints, f"{place.file}/{file}", i + 1)

    topics = {topic.topic_id: topic for topic in archive.topics}
    _unique([topic.topic_id for topic in archive.topics], "topic", "topic_id", at("topics.jsonl"))
    sentences = _checked_sentences(archive, at("sentences.jsonl"))
    _unique([one.pseudonym for one in archive.annotators], "annotator", "pseudonym", at("annotators.jsonl"))
    _check_assignments(archive, topics, sentences, at("assignments.jsonl"))
    _check_judgments(archive, at("judgments.jsonl"))
    _check_fits(archive, topics, sentences, at("fits.jsonl"))


def _checked_sentences(archive: StudyArchive, at: Callable[[int], Place]) -> dict[str, set[str]]:
    """The names of the sentences by topic; those of a document must be numbered from 0 without a gap."""
    following = {(topic.topic_id, document.name): 0 for topic in archive.topics for document in topic.documents}
    names: dict[str, set[str]] = {topic.topic_id: set() for topic in archive.topics}
    for i, sentence in enumerate(archive.sentences):
        document = (sentence.topic, sentence.document)
        if document not in following:
            at(i).refuse(
                "a sentence of document %(document)s of topic %(topic)s, which is not in topics.jsonl",
                "documents of the study",
                document=shown(sentence.document),
                topic=shown(sentence.topic),
            )
        elif sentence.index != following[document]:
            at(i).key("index").refuse(
                "%(index)s", "%(wanted)s, the next one", index=sentence.index, wanted=following[document]
            )
        else:
            following[document] += 1
            names[sentence.topic].add(f"{sentence.document}:{sentence.index}")
    return names


def _check_assignments(
    archive: StudyArchive, topics: Mapping[str, Topic], sentences: Mapping[str, set[str]], at: Callable[[int], Place]
) -> None:
    annotators = {annotator.pseudonym for annotator in archive.annotators}
    seen: set[tuple[str, str, frozenset[str], int]] = set()
    _unique([one.key for one in archive.assignments], "key", "key", at)
    for i, one in enumerate(archive.assignments):
        if one.topic not in topics:
            at(i).key("topic").refuse_unknown("topic", one.topic, topics, "a topic of the study")
            continue
        for side, called in (("left", one.left), ("right", one.right)):
            if called not in sentences[one.topic]:
                at(i).key(side).refuse("%(name)s", "a sentence of the topic", name=shown(called))
        if one.left == one.right:
            at(i).key("right").refuse("%(name)s on both sides", "two different sentences", name=shown(one.left))
        if one.annotator not in annotators:
            at(i).key("annotator").refuse_unknown("annotator", one.annotator, annotators, "an annotator of the study")
        pair = (one.annotator, one.topic, frozenset((one.left, one.right)), one.occasion)
        if pair in seen:
            at(i).key("occasion").refuse("the same pair shown twice on one occasion", "another occasion each time")
        seen.add(pair)


def _check_judgments(archive: StudyArchive, at: Callable[[int], Place]) -> None:
    keys = {one.key for one in archive.assignments}
    revisions = [f"{one.assignment}, revision {one.revision}" for one in archive.judgments]
    _unique(revisions, "judgment", "revision", at)
    for i, judgment in enumerate(archive.judgments):
        if judgment.assignment not in keys:
            found, expected = "the key %(key)s of no assignment", "the key of one in assignments.jsonl"
            at(i).key("assignment").refuse(found, expected, key=judgment.assignment)


def _check_fits(
    archive: StudyArchive, topics: Mapping[str, Topic], sentences: Mapping[str, set[str]], at: Callable[[int], Place]
) -> None:
    _unique([f"{fit.topic}, version {fit.data_version}" for fit in archive.fits], "fit", "data_version", at)
    for i, fit in enumerate(archive.fits):
        if fit.topic not in topics:
            at(i).key("topic").refuse_unknown("topic", fit.topic, topics, "a topic of the study")
            continue
        for called in fit.utilities.keys() - sentences[fit.topic]:
            at(i).key("utilities").refuse("%(name)s", "sentences of the topic", name=shown(called))
        for called in fit.scores.keys() - {summary.name for summary in topics[fit.topic].summaries}:
            at(i).key("scores").refuse("%(name)s", "systems that summarized the topic", name=shown(called))


def _unique(names: Sequence[str], called: str, key: str, at: Callable[[int], Place]) -> None:
    """`called`: what the names are of; `key`: the field to complain of."""
    seen: set[str] = set()
    for i, one in enumerate(names):
        if one in seen:
            found = "%(called)s %(name)s for the second time"
            at(i).key(key).refuse(found, "each once", called=called, name=shown(one, 100))
        seen.add(one)
