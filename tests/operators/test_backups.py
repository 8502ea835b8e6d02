"""A backup taken while people judge, put into a new installation, is what was there: to the last figure."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tarfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError, connection

from annotate import imports, judging
from annotate.models import Assignment, Judgment, Study, SystemScore
from annotate.server import backups
from evaluation import tasks
from tests import studies
from tests.conftest import ROOT, Processes

pytestmark = pytest.mark.django_db(transaction=True)

#: Prints what an installation knows: every board to the last digit, every answer, every upload.
KNOWN = """
import json
from annotate.models import Judgment, Score, SystemScore, Upload, Utility
from annotate.models import Topic
rows = lambda query, *columns: [list(map(str, row)) for row in query.order_by("pk").values_list(*columns)]
print(json.dumps({
    "boards": rows(
        SystemScore.objects,
        *("ranking__scored_by", "ranking__study_id", "system__name", "rank", "score", "coverage", "low", "high"),
    ),
    "scores": rows(Score.objects, "scored_by", "summary_id", "score", "coverage", "se", "parts"),
    "utilities": rows(Utility.objects, "scored_by", "sentence_id", "utility", "strength", "value", "se"),
    "answers": rows(Judgment.objects, "assignment__key", "revision", "answer"),
    "files": [upload.file.open().read().decode() for upload in Upload.objects.exclude(file="")],
}))
"""


#: Of the worked example's four systems one shares no word with its sources, so that it has no importance.
EXAMPLE_RANKED = {"recommended": 3, "published": 4}


@dataclass(frozen=True)
class Installation:
    """Another installation, with nothing in it yet."""

    environment: dict[str, str]

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )

    def known(self) -> dict[str, Any]:
        done = self.manage("shell", "--no-imports", "-c", KNOWN)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


@pytest.fixture
def elsewhere(processes: Processes, tmp_path: Path) -> Iterator[Installation]:
    """A new installation of the same kind of database as the test's."""
    url = processes.environment["DATABASE_URL"]
    name = f"elsewhere_{os.getpid()}"
    if connection.vendor == "sqlite":
        url = f"sqlite:///{tmp_path / 'elsewhere.sqlite3'}"
    else:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE IF EXISTS {name}")
            cursor.execute(f"CREATE DATABASE {name}")
        url = urlsplit(url)._replace(path=f"/{name}").geturl()
    yield Installation(
        processes.environment
        | {"DATABASE_URL": url, "PREFERENDUM_DATA": str(tmp_path), "PREFERENDUM_FILES": str(tmp_path / "files")}
    )
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def here(processes: Processes) -> Installation:
    return Installation(processes.environment)


def systems_ranked(boards: Iterable[Sequence[str]]) -> dict[str, int]:
    """How many systems a leaderboard has, by its way of scoring, which stands first in each row."""
    return Counter(scored_by for scored_by, *_ in boards)


def scored_study() -> Study:
    """The worked example, with its leaderboard."""
    study, topic = studies.example_study()
    tasks.refit_topic(topic.pk)
    tasks.rank_study(study.pk)
    return study


def test_a_restore_gives_the_identical_leaderboard(here: Installation, elsewhere: Installation, tmp_path: Path) -> None:
    study = scored_study()
    imports.receive(study, study.created_by, SimpleUploadedFile("topics.jsonl", b'{"topic_id": "M1"}\n'))
    before = here.known()
    assert systems_ranked(before["boards"]) == EXAMPLE_RANKED
    assert before["files"] == ['{"topic_id": "M1"}\n']
    kept = tmp_path / "kept.backup"
    done = here.manage("backup", str(kept))
    assert done.returncode == 0, done.stderr
    assert kept.stat().st_mode & 0o077 == 0
    # What a release step has migrated already is still empty enough.
    assert elsewhere.manage("migrate", "-v0").returncode == 0
    done = elsewhere.manage("restore_backup", str(kept))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert elsewhere.known() == before
    again = elsewhere.manage("restore_backup", str(kept))
    assert "This installation is not empty" in again.stderr
    assert elsewhere.known() == before


def test_a_backup_under_load_holds_everything_that_was_acknowledged_before_it(
    elsewhere: Installation, tmp_path: Path
) -> None:
    scored_study()
    busy = studies.study(judgments_per_topic=100_000, pairs_per_annotator=100_000)
    studies.wide_topic(busy, 200)  # more pairs than can be judged while the backup is made
    acknowledged: list[str] = []
    stopping, warm = threading.Event(), threading.Event()

    def judge() -> None:
        annotator = judging.join(busy)
        try:
            while not stopping.is_set():
                acknowledged.append(str(studies.judge(annotator).key))
                if len(acknowledged) > 20:
                    warm.set()
        finally:
            connection.close()

    people = [threading.Thread(target=judge) for _ in range(3)]
    for person in people:
        person.start()
    try:
        assert warm.wait(60)
        before = set(acknowledged)
        made = backups.backup(tmp_path / "kept.backup")
    finally:
        stopping.set()
        for person in people:
            person.join()
    done = elsewhere.manage("restore_backup", str(tmp_path / "kept.backup"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    found = elsewhere.known()
    keys = [key for key, *_ in found["answers"]]
    assert len(keys) == len(set(keys)) == made.rows["annotate_judgment"]
    assert before <= set(keys)
    of_the_example = {
        str(key) for key in Assignment.objects.exclude(item_set__study=busy).values_list("key", flat=True)
    }
    everything = {str(key) for key in Judgment.objects.values_list("assignment__key", flat=True)}
    assert set(keys) <= everything
    assert of_the_example <= set(keys)
    assert systems_ranked(found["boards"]) == EXAMPLE_RANKED


def test_what_is_damaged_or_of_another_kind_is_refused_with_nothing_changed(
    tmp_path: Path,
) -> None:
    scored_study()
    kept = tmp_path / "kept.backup"
    backups.backup(kept)
    whole = kept.read_bytes()
    (tmp_path / "short").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text").write_text("not a backup at all")
    plain = bytearray(gzip.decompress(whole))
    plain[plain.index(b"PGDMP" if connection.vendor == "postgresql" else b"SQLite format") + 2_000] ^= 1
    (tmp_path / "flipped").write_bytes(gzip.compress(bytes(plain)))
    newer = gzip.decompress(whole).replace(b'"annotate.0001_tables"', b'"annotate.9001_tables"')
    (tmp_path / "newer").write_bytes(gzip.compress(newer))
    vendor = connection.vendor.encode()
    kind = gzip.decompress(whole).replace(b'"engine": "' + vendor, b'"engine": "' + vendor[:-1] + b"x", 1)
    (tmp_path / "kind").write_bytes(gzip.compress(kind))
    reasons = {
        "short": "not a complete",
        "text": "not a complete",
        "flipped": "damaged",
        "newer": "newer",
        "kind": "export_",
    }
    for name, why in reasons.items():
        with pytest.raises(backups.NotPossible, match=why):
            backups.restore(tmp_path / name)
    with pytest.raises(backups.NotPossible, match="not empty"):
        backups.restore(kept)
    assert systems_ranked(SystemScore.objects.values_list("ranking__scored_by")) == EXAMPLE_RANKED


def test_a_backup_is_unpacked_by_a_python_whose_archives_have_no_filters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11.2, which Debian 12 has; what is unpacked is refused later, for this installation is not empty."""

    def as_before(
        archive: tarfile.TarFile, path: str = ".", members: Any = None, *, numeric_owner: bool = False
    ) -> None:
        raise AssertionError("without a filter, anything in the file would be written anywhere")

    monkeypatch.setattr(tarfile.TarFile, "extractall", as_before)
    monkeypatch.setattr(tarfile.TarFile, "extract", as_before)
    scored_study()
    backups.backup(tmp_path / "kept.backup")
    with pytest.raises(backups.NotPossible, match="not empty"):
        backups.restore(tmp_path / "kept.backup")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("../outside", tarfile.REGTYPE),
        ("files/../../outside", tarfile.REGTYPE),
        ("/tmp/outside-of-a-restore", tarfile.REGTYPE),
        ("files/link", tarfile.SYMTYPE),
        ("files/link", tarfile.LNKTYPE),
        ("files/pipe", tarfile.FIFOTYPE),
    ],
)
def test_nothing_of_a_backup_is_written_outside_of_it(tmp_path: Path, name: str, kind: bytes) -> None:
    with tarfile.open(tmp_path / "hostile.backup", "w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "../../outside"
        archive.addfile(entry)
    with pytest.raises(backups.NotPossible, match="is no file or folder of a backup"):
        backups.restore(tmp_path / "hostile.backup")
    assert not Path("/tmp/outside-of-a-restore").exists()


def test_a_backup_is_never_written_over_another_nor_left_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.backup"
    backups.backup(kept)
    whole = kept.read_bytes()
    with pytest.raises(backups.NotPossible, match="already exists"):
        backups.backup(kept)
    assert kept.read_bytes() == whole

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        backups.backup(tmp_path / "second.backup")
    assert [path.name for path in tmp_path.iterdir() if "backup" in path.name] == ["kept.backup"]


def test_the_log_keeps_when_a_backup_was_made_and_what_was_the_newest_judgment(tmp_path: Path) -> None:
    assert backups.newest_backup() is None
    scored_study()
    for name in ("first", "second"):
        backups.backup(tmp_path / name)
    last = Judgment.objects.latest("pk").pk
    found = backups.newest_backup()
    assert found is not None
    assert found.detail == {"file": "second", "judgment": last}


def test_a_backup_of_a_database_that_takes_nothing_more_is_made_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(backups, "note", full)
    made = backups.backup(tmp_path / "kept.backup")
    assert (tmp_path / "kept.backup").stat().st_size
    assert made.rows["annotate_judgment"] == 0
    assert "The backup is complete" in caplog.text


def test_another_secret_key_is_noticed(here: Installation, elsewhere: Installation, tmp_path: Path) -> None:
    scored_study()
    backups.backup(tmp_path / "kept.backup")
    elsewhere.environment["PREFERENDUM_SECRET_KEY"] = "another-" * 10
    done = elsewhere.manage("restore_backup", str(tmp_path / "kept.backup"))
    assert done.returncode == 0, done.stderr
    assert "another secret key" in done.stderr
