"""The doctor says what is wrong, and only that: each thing is broken once on purpose."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import uuid
from collections import namedtuple
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotate import audit_log
from annotate.models import Claim, ItemSetProgress, Judgment, WorkerPulse
from annotate.server import backups, doctor
from evaluation.management.commands.doctor import broker
from lab.services import free_port
from preferendum.about import __version__
from tests.annotate.judging_study import joined, judged, ready_study

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
Usage = namedtuple("Usage", "total used free")


def wrong() -> dict[str, doctor.Finding]:
    return {one.about: one for one in doctor.examine(broker) if one.wrong}


def files_of_sqlite() -> list[Path]:
    name = connection.settings_dict["NAME"]
    return [path for end in ("", "-wal", "-shm") if (path := Path(f"{name}{end}")).is_file()]


@pytest.fixture(autouse=True)
def sound(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation in which nothing is wrong, however full and slow the disk is that these tests run on."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 10**11, 9 * 10**11))
    monkeypatch.setattr(doctor, "SLOWEST_WRITE", 60.0)
    settings.DATA_DIR = tmp_path
    settings.STATIC_ROOT = tmp_path / "static"
    shutil.copytree(settings.BASE_DIR / "static", settings.STATIC_ROOT)
    (tmp_path / "secret_key").write_text("x" * 60)
    (tmp_path / "secret_key").chmod(0o600)
    for file in files_of_sqlite():
        file.chmod(0o600)
    WorkerPulse.objects.create(name="machine:1", at=timezone.now(), program_version=__version__)


def test_where_nothing_is_wrong_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor", no_color=True)
    said = capsys.readouterr().out
    assert said.strip().endswith("Nothing is wrong.")
    for about in (
        "database",
        "migrations",
        "durability",
        "clock",
        "worker",
        "scores",
        "tasks",
        "backup",
        "e-mail",
        "broker",
        "disk",
    ):
        assert f"fine   {about}" in said
    assert "fine   static files" in said
    assert "fine   files" in said


def test_what_is_wrong_ends_it_with_1_and_the_way_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    WorkerPulse.objects.all().delete()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", no_color=True)
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "wrong  worker        none yet\n" in said
    assert "python -m celery -A evaluation.app worker" in said
    assert "1 of 13 things are wrong." in said


def a_worker_that_was_silent_for_long(*_: Any) -> None:
    WorkerPulse.objects.update(at=timezone.now() - timedelta(minutes=5))


def a_worker_of_another_version(*_: Any) -> None:
    WorkerPulse.objects.update(program_version="0.0.7")


def a_migration_that_was_not_made(*_: Any) -> None:
    MigrationRecorder.Migration.objects.filter(app="annotate").order_by("-pk")[:1].get().delete()


def an_old_judgment(monkeypatch: pytest.MonkeyPatch, *_: Any) -> None:
    study = ready_study()
    judged(joined(study))
    backed_up()
    monkeypatch.setattr("annotate.reports.worker.LATE", timedelta(seconds=-1))


def a_topic_that_failed(*_: Any) -> None:
    study = ready_study()
    judged(joined(study))
    backed_up()
    failed = {"fitted_version": 0, "problem": "It took too long."}
    ItemSetProgress.objects.update_or_create(item_set_id=study.topics.get().pk, defaults=failed)


def a_study_whose_work_cannot_be_read(*_: Any) -> None:
    now = {"token": uuid.uuid4(), "since": timezone.now(), "until": timezone.now()}
    Claim.objects.create(name=f"look:{ready_study().pk}", study=ready_study().pk, attempts=1, **now)


def sentences_that_are_never_ranked(*_: Any) -> None:
    """Nobody waits for them, so that only the worker's log and its claim know."""
    now = timezone.now()
    claim = {"name": "sentences:7", "study": ready_study().pk, "token": uuid.uuid4(), "since": now, "until": now}
    Claim.objects.create(attempts=3, retry_at=now + timedelta(seconds=30), **claim)


def a_full_disk(monkeypatch: pytest.MonkeyPatch, *_: Any) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 10**9))


def a_style_sheet_of_last_month(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    (settings.STATIC_ROOT / "preferendum.css").write_text("old")


def a_key_for_everybody(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    (settings.DATA_DIR / "secret_key").chmod(0o644)


def a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.BROKER_URL = f"redis://127.0.0.1:{free_port()}/0"


def a_mail_server_that_is_away(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.EMAIL_SERVER, settings.EMAIL_BACKEND = "smtp://x", "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", free_port()


def a_database_that_may_lose_what_it_said(monkeypatch: pytest.MonkeyPatch, *_: Any) -> None:
    monkeypatch.setattr("annotate.database.durability.complaints", lambda _: ["fsync is off."])


def a_backup_of_long_ago(_monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    backed_up()
    judgments_that_nobody_ever_backed_up()
    settings.BACKUP_HOURS = 1e-9


def judgments_that_nobody_ever_backed_up(*_: Any) -> None:
    judged(joined(ready_study()))


def backed_up() -> None:
    newest = Judgment.objects.order_by("-pk").first()
    audit_log.note(None, None, backups.ACTION, file="kept.backup", judgment=newest.pk if newest else 0)


Break = Callable[..., None]


@pytest.mark.parametrize(
    ("broken", "about", "said"),
    [
        (a_worker_that_was_silent_for_long, "worker", "none is running"),
        (a_worker_of_another_version, "worker", "0.0.7"),
        (a_migration_that_was_not_made, "migrations", "1 are missing"),
        (an_old_judgment, "scores", "not been scored"),
        (a_topic_that_failed, "tasks", "It took too long."),
        (a_study_whose_work_cannot_be_read, "tasks", "cannot read the work of"),
        (sentences_that_are_never_ranked, "tasks", "1 failed: sentences:7, 3 times in a row"),
        (a_backup_of_long_ago, "backup", "the newest is of 20"),
        (judgments_that_nobody_ever_backed_up, "backup", "there is none yet, and there are judgments"),
        (a_full_disk, "disk", "1.0 GB free"),
        (a_style_sheet_of_last_month, "static files", "preferendum.css"),
        (a_key_for_everybody, "files", "may be read by others"),
        (a_broker_that_is_away, "broker", "refused"),
        (a_mail_server_that_is_away, "e-mail", "refused"),
        (a_database_that_may_lose_what_it_said, "durability", "fsync is off"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_each_thing_that_is_broken_is_found_alone(
    broken: Break, about: str, said: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    broken(monkeypatch, settings)
    found = wrong()
    assert set(found) == {about}
    assert said in found[about].wrong
    assert found[about].mend


def test_a_backup_is_old_only_once_something_came_after_it() -> None:
    judgments_that_nobody_ever_backed_up()
    assert "backup" in wrong()
    backed_up()
    assert "backup" not in wrong()


def test_who_makes_backups_in_another_way_is_not_told_of_ours(settings: Any) -> None:
    judgments_that_nobody_ever_backed_up()
    settings.BACKUP_HOURS = 0.0
    assert "backup" not in wrong()


def test_without_a_database_it_says_so_and_looks_at_the_rest() -> None:
    def away(*_: Any) -> None:
        raise OperationalError("could not connect to server")

    with connection.execute_wrapper(away):
        found = doctor.examine(broker)
    assert [one.about for one in found] == ["database", "disk", "static files", "files"]
    assert found[0].wrong == "could not connect to server"


@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_a_database_or_a_folder_that_others_may_read_is_complained_of(settings: Any) -> None:
    for path in (settings.DATA_DIR, files_of_sqlite()[0]):
        mode = path.stat().st_mode
        path.chmod(0o755)
        assert str(path) in wrong()["files"].mend
        path.chmod(mode)
    assert "files" not in wrong()


def test_what_an_installation_makes_is_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"
    environment = {"PATH": os.environ["PATH"], "PREFERENDUM_DATA": str(data)}
    umask = os.umask(0o022)
    try:
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True)
        with closing(sqlite3.connect(data / "preferendum.sqlite3")) as database:
            database.execute("CREATE TABLE thing (id)")
            modes = {path.name: path.stat().st_mode & 0o777 for path in data.iterdir() if path.is_file()}
    finally:
        os.umask(umask)
    assert data.stat().st_mode & 0o777 == 0o700
    assert set(modes) > {"preferendum.sqlite3", "preferendum.sqlite3-wal", "secret_key"}
    assert set(modes.values()) == {0o600}
