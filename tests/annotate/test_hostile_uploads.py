"""The hostile files of `tests.formats.hostile`, sent to the website: stored whole or not at all, and nothing falls.

Whatever was stored, every page and file that could show it still answers, and the study can be taken away and back.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from annotate import exports, imports
from annotate.imports import kept
from annotate.models import (
    Annotator,
    AuditEntry,
    HumanScore,
    Item,
    Judgment,
    PyramidAnnotation,
    Reference,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
    Upload,
)
from annotate.refusal import Refusal
from preferendum.formats.archive import study as study_archive
from tests.annotate import making
from tests.annotate.everything import undone
from tests.annotate.visitors import signed_in
from tests.formats.hostile import CARRIERS, CASES, ENDLESS, Case, Refused

pytestmark = pytest.mark.django_db

TABLES = (
    Topic,
    SourceDocument,
    Reference,
    PyramidAnnotation,
    System,
    Summary,
    HumanScore,
    Item,
    Annotator,
    Judgment,
)
#: What lists or shows what an upload brings; below the study's page, and below the page of each topic.
PAGES = ("", "topics/", "leaderboard/")
OF_TOPICS = ("", "documents/", "leaderboard/")
#: What else shows names and judgments.
FILES = ("export/judgments.jsonl", "export/judgments.csv", "leaderboard.tex", "leaderboard.csv")
OF_NAMES = ("JSON lines", "JSON lines, a name", "a table")
KINDS = sorted({case.kind for case in CASES})
#: All files, larger ones, too, are tried where they are read (`tests.formats.test_hostile`): here it is what they bring
#: that counts, of every second one. All places take the same texts: each is sent every fifth, the next one the next.
LARGEST, EVERY, EVERY_TEXT = 300_000, 2, 5


@pytest.fixture
def study() -> Study:
    """A study with the topic that the tables of the hostile files are about."""
    study = making.study()
    for topic in making.take_in(study):
        making.prepare(topic)
    return study


def counts() -> list[int]:
    return [table.objects.count() for table in TABLES]


def send(study: Study, case: Case) -> Upload | None:
    """The upload after the worker has done with it all that it does; None where the door was closed to it."""
    try:
        upload = making.receive(study, case.content(), case.file)
    except Refusal:
        return None
    imports.process(upload)
    if upload.state == Upload.State.READY:
        bundle = kept.load(upload)
        kept.keep(upload, bundle)
        assert kept.load(upload) == bundle
        imports.confirm(upload, making.owner(study))
        imports.process(upload)
    return upload


def poisoned(client: Client, study: Study, upload: Upload | None, kind: str, turn: int, folder: Path) -> Iterator[str]:
    """What does not answer any more: of the upload's page and, file by file in turn, two others that may show it."""
    here = f"/studies/{study.pk}/"
    paths = [here + page for page in (*PAGES, *(FILES if kind in OF_NAMES else ()))]
    if upload is None or upload.state != Upload.State.STORED:
        paths = [here]
    if upload is not None and upload.state == Upload.State.STORED:
        for topic in Topic.objects.filter(study=study).order_by("-pk")[:1]:
            paths += [f"{here}topics/{topic.pk}/{page}" for page in OF_TOPICS]
            paths.append(f"/api/v1{here}topics/{topic.pk}/documents/")
        paths.append(f"/api/v1{here}topics/")
    chosen = {paths[turn % len(paths)], paths[(turn + len(paths) // 2) % len(paths)]}
    for path in sorted(chosen) if upload is None else [f"{here}uploads/{upload.key}/", *sorted(chosen)]:
        response = client.get(path)
        said = b"".join(response.streaming_content) if response.streaming else response.content
        if response.status_code != 200:
            yield f"{path}: {response.status_code}"
        if response["Content-Type"].startswith("text/html") and (b"<script>alert" in said or b"<div hx-get=/" in said):
            yield f"{path}: not escaped"
    if upload is not None and upload.state == Upload.State.STORED:
        with (folder / "study.zip").open("wb") as file:
            archive = exports.make_archive(study)
            study_archive.write(archive, file)
        again = io.BytesIO()
        study_archive.write(study_archive.read(folder / "study.zip"), again)
        if again.getvalue() != (folder / "study.zip").read_bytes():
            yield "the archive is read back otherwise"


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_file_is_stored_whole_or_not_at_all_and_poisons_nothing(kind, study, tmp_path):
    client, before, wrong = signed_in(making.owner(study)), counts(), []
    place = KINDS.index(kind)
    every, first = (EVERY_TEXT, place % EVERY_TEXT) if kind in {of.kind for of in CARRIERS} else (EVERY, 0)
    cases = [case for case in CASES if case.kind == kind and len(case.content()) <= LARGEST][first::every]
    for turn, case in enumerate(cases, place):
        with undone():
            start = time.process_time()
            upload = send(study, case)
            seconds = time.process_time() - start
            stored = upload is not None and upload.state == Upload.State.STORED
            if stored == isinstance(case.becomes, Refused):
                wrong.append(f"{case}: {upload and (upload.state, upload.complaints[:1])}")
            if not stored and counts() != before:
                wrong.append(f"{case}: refused, and something is stored")
            if not stored and AuditEntry.objects.filter(action="store upload").count() > 1:  # the study's own
                wrong.append(f"{case}: refused, and the log says that it was stored")
            if seconds > ENDLESS:
                wrong.append(f"{case}: {seconds:.1f} s")
            wrong += [f"{case}: {one}" for one in poisoned(client, study, upload, kind, turn, tmp_path)]
    assert {path.name for path in tmp_path.iterdir()} <= {"files", "study.zip"}
    assert {path.suffix for path in (tmp_path / "files").rglob("*.*")} <= {".read"}
    print(f"{len(cases)} files")
    assert every * len(cases) > 20
    assert wrong == []
