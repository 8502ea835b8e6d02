"""Append-only tables: the database itself refuses to change or delete judgments and entries of the audit log.

Triggers do it, in SQLite and in PostgreSQL, for every program. Only code within `erasing()` may pass, such as the
erasure of an annotator, of trials, or of a study. `manage.py migrate` creates the triggers, again where rebuilding a
table removed them, as SQLite does to change a column.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

TABLES = ("annotate_auditentry", "annotate_judgment")
ACTIONS = ("update", "delete")

_erasing: ContextVar[bool] = ContextVar("erasing", default=False)

#: SQLite calls a function of the connected program; a program without the function is refused, too.
SQLITE = """
CREATE TRIGGER IF NOT EXISTS {name} BEFORE {action} ON {table}
WHEN NOT preferendum_erasing()
BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END
"""
POSTGRESQL_FUNCTION = """
CREATE OR REPLACE FUNCTION preferendum_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('preferendum.erasing', true) = 'on' THEN
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$
"""
POSTGRESQL = """
CREATE TRIGGER {name} BEFORE {action} ON {table} FOR EACH ROW EXECUTE FUNCTION preferendum_append_only()
"""


@contextmanager
def erasing() -> Iterator[None]:
    """Allow changes and deletions in append-only tables, inside the caller's transaction."""
    token = _erasing.set(True)
    try:
        if connection.vendor == "postgresql":
            _tell_postgresql("on")
        yield
        if connection.vendor == "postgresql":
            _tell_postgresql("off")  # not after an error: the rollback resets it
    finally:
        _erasing.reset(token)


def create_triggers(using: BaseDatabaseWrapper) -> None:
    """Create the triggers that are missing."""
    triggers = missing(using)
    if not triggers:
        return
    with using.cursor() as cursor:
        if using.vendor == "postgresql":
            cursor.execute(POSTGRESQL_FUNCTION)
        template = SQLITE if using.vendor == "sqlite" else POSTGRESQL
        for table, action in triggers:
            cursor.execute(template.format(name=_name(table, action), action=action.upper(), table=table))


def missing(using: BaseDatabaseWrapper) -> list[tuple[str, str]]:
    """The tables and actions without a trigger."""
    query = (
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if using.vendor == "sqlite"
        else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
    )
    with using.cursor() as cursor:
        cursor.execute(query)
        existing = {name for (name,) in cursor.fetchall()}
    return [(table, action) for table in TABLES for action in ACTIONS if _name(table, action) not in existing]


def after_migrate(**signal: Any) -> None:
    """Receive `post_migrate`."""
    from django.db import connections

    using = connections[signal["using"]]
    if set(TABLES) <= set(using.introspection.table_names()):
        create_triggers(using)


def register_function(connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Receive `connection_created`: define the function of SQLite's triggers."""
    if connection.vendor == "sqlite":
        connection.connection.create_function("preferendum_erasing", 0, lambda: int(_erasing.get()))


def _tell_postgresql(word: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('preferendum.erasing', %s, true)", [word])


def _name(table: str, action: str) -> str:
    return f"{table}_no_{action}"
