"""The doctor says what is wrong, and only that: each thing is broken once on purpose."""

from __future__ import annotations

import shutil
from collections import namedtuple
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from annotate import __version__, acts, backups, doctor
from annotate.models import Judgment, TopicProgress, WorkerPulse
from evaluation.management.commands.doctor import broker
from tests.annotate.judging_study import joined, judged, ready_study
from tests.services import free_port

pytestmark = pytest.mark.django_db

Usage = namedtuple("Usage", "total used free")


def wrong() -> dict[str, doctor.Finding]:
    return {one.about: one for one in doctor.examine(broker) if one.wrong}


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
        "broker",
        "disk",
    ):
        assert f"fine   {about}" in said
    assert "fine   static files" in said
    assert "fine   secret key" in said


def test_what_is_wrong_ends_it_with_1_and_the_way_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    WorkerPulse.objects.all().delete()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", no_color=True)
    assert ended.value.code == 1
    said = capsys.readouterr().out
    assert "wrong  worker        none yet\n" in said
    assert "python -m celery -A evaluation.worker worker" in said
    assert "1 of 12 things are wrong." in said


def a_worker_that_was_silent_for_long(*_: Any) -> None:
    WorkerPulse.objects.update(at=timezone.now() - timedelta(minutes=5))


def a_worker_of_another_version(*_: Any) -> None:
    WorkerPulse.objects.update(program_version="0.0.7")


def a_migration_that_was_not_made(*_: Any) -> None:
    MigrationRecorder.Migration.objects.filter(app="annotate").order_by("-pk")[:1].get().delete()


def an_old_judgment(monkeypatch: pytest.MonkeyPatch, *_: Any) -> None:
    study = ready_study()
    judged(joined(study))
    monkeypatch.setattr("annotate.health.LATE", timedelta(seconds=-1))


def a_topic_that_failed(*_: Any) -> None:
    study = ready_study()
    judged(joined(study))
    failed = {"prepared_version": 1, "fitted_version": 0, "problem": "It took too long."}
    TopicProgress.objects.update_or_create(topic=study.topics.get(), defaults=failed)


def a_full_disk(monkeypatch: pytest.MonkeyPatch, *_: Any) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**12, 0, 10**9))


def a_style_sheet_of_last_month(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    (settings.STATIC_ROOT / "preferendum.css").write_text("old")


def a_key_for_everybody(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    (settings.DATA_DIR / "secret_key").chmod(0o644)


def a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.BROKER_URL = f"redis://127.0.0.1:{free_port()}/0"


def a_database_that_may_lose_what_it_said(monkeypatch: pytest.MonkeyPatch, *_: Any) -> None:
    monkeypatch.setattr("annotate.durability.complaints", lambda _: ["fsync is off."])


def a_backup_of_long_ago(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    backed_up()
    judgments_that_nobody_ever_backed_up(monkeypatch, settings)


def judgments_that_nobody_ever_backed_up(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    judged(joined(ready_study()))
    settings.BACKUP_HOURS = 1e-9


def backed_up() -> None:
    newest = Judgment.objects.order_by("-pk").first()
    acts.note(None, None, backups.ACT, file="kept.backup", judgment=newest.pk if newest else 0)


Break = Callable[..., None]


@pytest.mark.parametrize(
    ("broken", "about", "said"),
    [
        (a_worker_that_was_silent_for_long, "worker", "none is running"),
        (a_worker_of_another_version, "worker", "0.0.7"),
        (a_migration_that_was_not_made, "migrations", "1 are missing"),
        (an_old_judgment, "scores", "in no score"),
        (a_topic_that_failed, "tasks", "It took too long."),
        (a_backup_of_long_ago, "backup", "the newest is of 20"),
        (judgments_that_nobody_ever_backed_up, "backup", "none was made yet, and judgments came since"),
        (a_full_disk, "disk", "1.0 GB free"),
        (a_style_sheet_of_last_month, "static files", "preferendum.css"),
        (a_key_for_everybody, "secret key", "may be read by others"),
        (a_broker_that_is_away, "broker", "refused"),
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


def test_a_backup_is_old_only_once_something_came_after_it(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    judgments_that_nobody_ever_backed_up(monkeypatch, settings)
    assert "backup" in wrong()
    backed_up()
    assert "backup" not in wrong()


def test_who_makes_backups_in_another_way_is_not_told_of_ours(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    judgments_that_nobody_ever_backed_up(monkeypatch, settings)
    settings.BACKUP_HOURS = 0.0
    assert "backup" not in wrong()


def test_without_a_database_it_says_so_and_looks_at_the_rest() -> None:
    def away(*_: Any) -> None:
        raise OperationalError("could not connect to server")

    with connection.execute_wrapper(away):
        found = doctor.examine(broker)
    assert [one.about for one in found] == ["database", "disk", "static files", "secret key"]
    assert found[0].wrong == "could not connect to server"
