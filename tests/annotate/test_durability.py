"""A database that would lose on a power cut what it has confirmed is refused."""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection, connections, transaction
from django.test import Client

from annotate import judging
from annotate.database import durability
from annotate.judging import drawing
from annotate.server import backups, gunicorn
from annotate.server.keys import load_secret_key
from annotate.settings import _database
from tests.annotate.judging_study import joined, ready_study

ROOT = Path(__file__).resolve().parents[2]
sqlite = pytest.mark.skipif("connection.vendor != 'sqlite'")
postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'")


@pytest.mark.django_db(transaction=True)
def test_our_own_settings_are_durable() -> None:
    assert durability.complaints(connection) == []
    assert checks.run_checks(tags=[checks.Tags.database], databases=["default"]) == []


@sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("pragma", "said"),
    [
        ("synchronous=NORMAL", "synchronous must be FULL"),
        ("synchronous=OFF", "synchronous must be FULL"),
        ("foreign_keys=OFF", "foreign_keys must be ON"),
    ],
)
def test_a_weak_sqlite_is_told_what_it_lacks(pragma: str, said: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA {pragma}")
    try:
        (complaint,) = durability.complaints(connection)
        assert said in complaint
    finally:
        connection.close()  # a new one is as it should be


@sqlite
@pytest.mark.django_db(transaction=True)
def test_sqlite_must_take_the_write_lock_at_once() -> None:
    connection.ensure_connection()  # which is when Django reads the settings
    connection.transaction_mode = "DEFERRED"
    try:
        (complaint,) = durability.complaints(connection)
        assert "IMMEDIATE" in complaint
    finally:
        connection.close()


@pytest.fixture
def elsewhere() -> Iterator[sqlite3.Connection]:
    """Another process's connection to SQLite's file."""
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        yield other


@sqlite
@pytest.mark.django_db(transaction=True)
def test_a_transaction_looks_for_sqlite_s_lock_until_it_is_free(elsewhere: sqlite3.Connection) -> None:
    """Every 2 ms, the fortieth time as the first: SQLite's own wait would be at a tenth of a second by then."""
    looks = []

    def look(statement: str) -> None:
        looks.append(statement)
        if looks.count("BEGIN IMMEDIATE") == 40:
            elsewhere.execute("COMMIT")

    elsewhere.execute("BEGIN IMMEDIATE")
    connection.ensure_connection()
    connection.connection.set_trace_callback(look)
    try:
        with transaction.atomic():
            assert not elsewhere.in_transaction
        assert looks.count("BEGIN IMMEDIATE") == 40
    finally:
        connection.close()


@sqlite
@pytest.mark.django_db(transaction=True)
def test_a_transaction_is_told_in_the_end_that_sqlite_is_locked(
    elsewhere: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.05)
    elsewhere.execute("BEGIN IMMEDIATE")
    with pytest.raises(OperationalError, match="database is locked"), transaction.atomic():
        pass
    elsewhere.execute("COMMIT")
    with transaction.atomic():
        pass


@sqlite
@pytest.mark.django_db(transaction=True)
def test_waiting_for_sqlite_s_lock_leaves_nothing_to_the_garbage_collector(
    elsewhere: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would close a cursor in the thread that has the lock, and the two would wait for each other."""
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], "timeout", 0.05)
    connection.ensure_connection()
    elsewhere.execute("BEGIN IMMEDIATE")
    gc.collect()
    gc.disable()
    try:
        with suppress(OperationalError), transaction.atomic():
            pass
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        assert not [thing for thing in gc.garbage if issubclass(type(thing), sqlite3.Cursor)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_weak_postgresql_is_told_what_it_lacks() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
    try:
        assert durability.complaints(connection) == [
            "PostgreSQL does not wait for the disk: synchronous_commit is off."
        ]
        (message,) = checks.run_checks(tags=[checks.Tags.database], databases=["default"])
        assert message.id == "annotate.E001"
    finally:
        connection.close()


@postgresql
@pytest.mark.django_db(transaction=True)
def test_a_pair_that_somebody_sees_outlives_a_crash_of_postgresql() -> None:
    with drawing.leased(ahead=True), connection.cursor() as cursor:
        cursor.execute("SHOW synchronous_commit")
        assert cursor.fetchone() == ("on",)


@postgresql
@pytest.mark.django_db(transaction=True)
def test_whoever_vanishes_in_the_middle_of_a_transaction_holds_its_locks_for_a_minute_at_most() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW idle_in_transaction_session_timeout")
        assert cursor.fetchone() == ("1min",)


@postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", ["postgres://{user}@{quoted}:{port}/{name}", "postgres:///{name}?{options}"])
def test_website_and_backups_reach_postgresql_by_its_socket(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = connection.settings_dict
    with connection.cursor() as cursor:
        cursor.execute("SHOW unix_socket_directories")
        (folder,) = cursor.fetchone()
    own = {"user": given["USER"], "port": given["PORT"], "name": given["NAME"]}
    options = urlencode({"host": folder, "port": given["PORT"], "user": given["USER"]})
    url = address.format(**own, quoted=quote(folder, safe=""), options=options)
    monkeypatch.setenv("DATABASE_URL", url)
    by_socket = connections["default"].__class__(connection.settings_dict | _database(), "by socket")
    monkeypatch.setattr(backups, "connection", by_socket)
    try:
        with by_socket.cursor() as cursor:
            cursor.execute("SELECT inet_server_addr()")
            assert cursor.fetchone() == (None,)
        backups._postgres("pg_dump", "--schema-only", "-f", str(tmp_path / "dump"))
        assert "annotate_judgment" in (tmp_path / "dump").read_text()
    finally:
        by_socket.close()


@postgresql
@pytest.mark.django_db(transaction=True)
def test_the_trial_of_postgresql_s_disk_needs_more_room_than_an_answer() -> None:
    """A full disk still takes small commits, into what its log has kept."""
    durability.try_a_write()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET temp_file_limit = '900kB'")
        with pytest.raises(OperationalError, match="temp_file_limit"):
            durability.try_a_write()
    finally:
        connection.close()


@sqlite
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("ahead", "waits"), [(False, 2), (True, 1)])  # FULL, NORMAL
def test_a_pair_that_somebody_sees_is_on_the_disk(ahead: bool, waits: int) -> None:
    with drawing.leased(ahead=ahead), connection.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (waits,)
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA synchronous").fetchone() == (2,)


@sqlite
@pytest.mark.django_db(transaction=True)
def test_only_the_pair_after_the_one_that_is_judged_need_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    leased = drawing.leased

    def listening(*, ahead: bool) -> AbstractContextManager[None]:
        asked.append(ahead)
        return leased(ahead=ahead)

    monkeypatch.setattr(drawing, "leased", listening)
    annotator = joined(ready_study(gold_share=0.5, sentences=8))
    for _ in range(3):
        now = judging.draw(annotator)
        assert set(asked) == {False}
        asked.clear()
        judging.draw(annotator, besides=now)
        assert set(asked) == {True}
        asked.clear()
        judging.record_judgment(now, 1, "left")


@pytest.mark.django_db(transaction=True)
def test_a_process_does_not_start_on_a_weak_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durability, "complaints", lambda _: ["It forgets."])
    with pytest.raises(ImproperlyConfigured, match="It forgets"):
        durability.require()


@pytest.mark.django_db(transaction=True)
def test_a_web_process_forked_later_does_not_start_on_a_weak_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durability, "complaints", lambda _: ["It forgets."])
    with pytest.raises(ImproperlyConfigured, match="It forgets"):
        gunicorn.post_worker_init(None)


def test_website_and_worker_ask_when_they_start(tmp_path: Path) -> None:
    weak = "import annotate.database.durability as d; d.complaints = lambda connection: ['It forgets.']\n"
    environment = os.environ | {
        "DATABASE_URL": f"sqlite:///{tmp_path / 'weak.sqlite3'}",
        "PREFERENDUM_DATA": str(tmp_path),
        "BROKER_URL": "memory://",
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
    }
    worker = "import sys; from celery.__main__ import main; sys.argv[1:] = ['-A', 'evaluation.app', 'worker']; main()"
    for start in ("import annotate.wsgi", worker):
        done = subprocess.run(
            [sys.executable, "-c", weak + start], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode != 0
        assert "It forgets." in done.stderr


def test_a_new_secret_key_waits_for_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFERENDUM_SECRET_KEY", raising=False)
    monkeypatch.delenv("PREFERENDUM_SECRET_KEY_FILE", raising=False)
    waited: list[tuple[Path, int]] = []

    def fsync(descriptor: int) -> None:
        there = Path(f"/proc/self/fd/{descriptor}").resolve()
        waited.append((there, there.stat().st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    key = load_secret_key(tmp_path)
    assert [path for path, _size in waited] == [tmp_path / "secret_key", tmp_path]
    assert waited[0][1] == len(key)
    assert load_secret_key(tmp_path) == key
    assert len(waited) == 2


@pytest.mark.django_db(transaction=True)
def test_whether_the_database_takes_writes_is_tried_on_its_disk() -> None:
    """What was rolled back would never have got there."""

    def written() -> int:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                return Path(f"{connection.settings_dict['NAME']}-wal").stat().st_size
            cursor.execute("SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn")
            return int(cursor.fetchone()[0])

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)" if connection.vendor == "sqlite" else "CHECKPOINT")
    before = written()
    assert durability.try_a_write(1.0) < 60.0
    assert written() > before


@sqlite
@pytest.mark.django_db(transaction=True)
def test_a_full_disk_takes_no_writes(monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
    assert client.get("/health/ready").status_code == 200
    monkeypatch.setattr(durability.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 10**9, 4096))
    assert client.get("/health/ready").status_code == 503


def test_a_web_process_frozen_in_a_transaction_is_killed_within_ten_seconds() -> None:
    assert gunicorn.timeout + 3 <= 10  # the arbiter looks once a second, and asks before it kills; F34 tries it


@pytest.mark.parametrize(("program", "seconds"), [("gunicorn", 10), ("celery", 60)])
def test_postgresql_ends_what_idles_in_a_transaction_sooner_for_the_website(
    program: str, seconds: int, tmp_path: Path
) -> None:
    """The worker may think between two statements while it stores a large file."""
    code = f"import {program}; from annotate import settings; print(settings.DATABASES['default']['LIMITS'])"
    environment = os.environ | {"DATABASE_URL": "postgres://somewhere/preferendum", "PREFERENDUM_DATA": str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert f"'idle_in_transaction_session_timeout': '{seconds}s'" in said.stdout, said.stderr
