"""Whether the database takes what is written, and keeps what it has confirmed when the power fails.

A process that is killed loses nothing that was committed, whatever these settings are; a machine that loses its power
does, where they are weak. That cannot be tried by killing processes, so the website and the worker refuse to start.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

FULL, EXTRA = 2, 3  # values of SQLite's PRAGMA synchronous


def try_a_write(within: float | None = None) -> float:
    """Write a row and take it back; how many seconds that took.

    Raises `DatabaseError` where the database does not take it, or PostgreSQL not `within` so many seconds.
    """
    began = time.monotonic()
    with transaction.atomic(), connection.cursor() as cursor:
        if within is not None and connection.vendor == "postgresql":
            cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{within}s"])
        cursor.execute("UPDATE django_migrations SET id = id WHERE id = (SELECT MIN(id) FROM django_migrations)")
        transaction.set_rollback(True)
    return time.monotonic() - began


def complaints(connection: BaseDatabaseWrapper) -> list[str]:
    """What is too weak about this database's settings, in words; nothing where all is well.

    Raises `DatabaseError` where it cannot be asked.
    """
    return _of_sqlite(connection) if connection.vendor == "sqlite" else _of_postgresql(connection)


def require() -> None:
    """Raise `ImproperlyConfigured` where a database would not keep its word.

    One that is away is not waited for: it is asked again whenever a process starts.
    """
    found = []
    for each in connections.all():
        try:
            found += complaints(each)
        except DatabaseError:
            continue
        finally:
            each.close()
    if found:
        raise ImproperlyConfigured("Judgments that are confirmed might be lost: " + " ".join(found))


@checks.register(checks.Tags.database)
def check_durability(
    app_configs: Any, databases: Sequence[str] | None = None, **_: Any
) -> Iterable[checks.CheckMessage]:
    """`manage.py check --database default`, and every `migrate`."""
    found: list[checks.CheckMessage] = [
        checks.Error(complaint, id="annotate.E001")
        for alias in databases or ()
        for complaint in complaints(connections[alias])
    ]
    return found


def _of_sqlite(connection: BaseDatabaseWrapper) -> list[str]:
    found = []
    if _ask(connection, "PRAGMA synchronous") not in (FULL, EXTRA):
        found.append("SQLite does not wait for the disk (PRAGMA synchronous must be FULL).")
    if _ask(connection, "PRAGMA journal_mode") != "wal":
        found.append("SQLite keeps no write-ahead log (PRAGMA journal_mode must be WAL; is this a network disk?).")
    if _ask(connection, "PRAGMA foreign_keys") != 1:
        found.append("SQLite does not hold foreign keys (PRAGMA foreign_keys must be ON).")
    if getattr(connection, "transaction_mode", None) not in ("IMMEDIATE", "EXCLUSIVE"):
        found.append("SQLite's transactions do not take the write lock at once (transaction_mode must be IMMEDIATE).")
    return found


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
