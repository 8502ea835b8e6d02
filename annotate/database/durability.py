"""Whether the database accepts writes, and keeps what it has confirmed when the power fails.

A killed process loses no commits, whatever these settings are; a power failure does, where they are weak. That cannot
be tested by killing processes, so the website and the worker refuse to start.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

#: Bytes; a click writes a tenth of it.
LEAST_ROOM = 2**20
FILL = "WITH filler AS MATERIALIZED (SELECT repeat(' ', 8192) FROM generate_series(1, %s)) SELECT COUNT(*) FROM filler"
FULL, EXTRA = 2, 3  # values of SQLite's PRAGMA synchronous


def try_a_write(within: float | None = None) -> float:
    """Write to the disk without changing any data; returns how many seconds that took.

    Raises `DatabaseError` where the write fails, or PostgreSQL needs more than `within` seconds. The disk must have
    `LEAST_ROOM` left: on one that is full for answers, the log may have kept a few bytes. PostgreSQL may run on another
    machine: there a query writes as much into a temporary file, as for a result that does not fit into memory.
    """
    began = time.monotonic()
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            if shutil.disk_usage(Path(connection.settings_dict["NAME"]).parent).free < LEAST_ROOM:
                raise OperationalError("the disk is full")
            cursor.execute(f"PRAGMA user_version = {int(began)}")  # a row that stays as it is would write nothing
        else:
            if within is not None:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{within}s"])
            cursor.execute("SET LOCAL work_mem = '64kB'")
            cursor.execute(FILL, [LEAST_ROOM // 8192])
            cursor.execute("UPDATE django_migrations SET id = id WHERE id = (SELECT MIN(id) FROM django_migrations)")
    return time.monotonic() - began


@contextmanager
def unhurried() -> Iterator[None]:
    """A transaction that need not wait for SQLite's disk.

    Its writes survive any crash of processes. A power failure may lose them, but not once a later transaction has
    waited for the disk, since that writes all earlier ones, too. PostgreSQL would keep such writes in the memory of its
    processes, where a crash of the server loses them: there every transaction waits.
    """
    lazily = connection.vendor == "sqlite" and not connection.in_atomic_block
    if lazily:
        _tell_sqlite("PRAGMA synchronous=NORMAL")
    try:
        with transaction.atomic():
            yield
    finally:
        if lazily:
            _tell_sqlite("PRAGMA synchronous=FULL")


def _tell_sqlite(pragma: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(pragma)


def complaints(connection: BaseDatabaseWrapper) -> list[str]:
    """What is too weak about this database's settings, in words; raises `DatabaseError` where it cannot be reached."""
    return _of_sqlite(connection) if connection.vendor == "sqlite" else _of_postgresql(connection)


def require() -> None:
    """Raise `ImproperlyConfigured` where a database could lose what it has confirmed.

    Unreachable databases are skipped: every start of a process checks again.
    """
    problems = []
    for each in connections.all():
        try:
            problems += complaints(each)
        except DatabaseError:
            continue
        finally:
            each.close()
    if problems:
        raise ImproperlyConfigured("Confirmed judgments might be lost: " + " ".join(problems))


@checks.register(checks.Tags.database)
def check_durability(
    app_configs: Any, databases: Sequence[str] | None = None, **_: Any
) -> Iterable[checks.CheckMessage]:
    """`manage.py check --database default`, and every `migrate`."""
    errors: list[checks.CheckMessage] = [
        checks.Error(complaint, id="annotate.E001")
        for alias in databases or ()
        for complaint in complaints(connections[alias])
    ]
    return errors


def _of_sqlite(connection: BaseDatabaseWrapper) -> list[str]:
    problems = []
    if _ask(connection, "PRAGMA synchronous") not in (FULL, EXTRA):
        problems.append("SQLite does not wait for the disk (PRAGMA synchronous must be FULL).")
    if _ask(connection, "PRAGMA journal_mode") != "wal":
        problems.append("SQLite keeps no write-ahead log (PRAGMA journal_mode must be WAL; is this a network disk?).")
    if _ask(connection, "PRAGMA foreign_keys") != 1:
        problems.append("SQLite does not enforce foreign keys (PRAGMA foreign_keys must be ON).")
    if getattr(connection, "transaction_mode", None) not in ("IMMEDIATE", "EXCLUSIVE"):
        problems.append(
            "SQLite's transactions do not take the write lock at once (transaction_mode must be IMMEDIATE)."
        )
    return problems


def _of_postgresql(connection: BaseDatabaseWrapper) -> list[str]:
    wrong = [
        f"{name} is {value}"
        for name in ("fsync", "full_page_writes", "synchronous_commit")
        if (value := _ask(connection, f"SHOW {name}")) == "off"
    ]
    return [f"PostgreSQL does not wait for the disk: {', '.join(wrong)}."] if wrong else []


def _ask(connection: BaseDatabaseWrapper, question: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(question)
        (value,) = cursor.fetchone()
    return value
