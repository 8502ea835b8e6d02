"""Plain SQL, where the ORM would be too slow: docs/decisions/plain-sql-in-a-click.md.

Values are a model's, whatever the database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DatabaseError, connection, models
from django.db.models.base import ModelState

M = TypeVar("M", bound=models.Model)
#: {now} in statements that read, by database.
NOW = {"sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')", "postgresql": "STATEMENT_TIMESTAMP()"}


def read(statement: str, values: Sequence[Any] | Mapping[str, Any], **parts: str) -> list[tuple[Any, ...]]:
    """The rows that a statement finds; its `parts` are in braces. Named values must be numbers or strings."""
    with connection.cursor() as cursor:
        kept = values if isinstance(values, Mapping) else [_as_kept(value) for value in values]
        cursor.execute(statement.format(now=NOW[connection.vendor], **parts), kept)
        return list(cursor.fetchall())


def change(statement: str, *values: Any, must_be: bool = True) -> None:
    """Change a row. Raises `DatabaseError` where it is gone, as a model's `save` does, if it `must_be` there."""
    with connection.cursor() as cursor:
        cursor.execute(statement, [_as_kept(value) for value in values])
        if must_be and not cursor.rowcount:
            raise DatabaseError("The row is gone.")


def add(statement: str, *values: Any) -> int:
    """Add a row; returns its key."""
    with connection.cursor() as cursor:
        cursor.execute(statement, [_as_kept(value) for value in values])
        return int(cursor.fetchone()[0])


class Read(Generic[M]):
    """The columns of a model that a statement reads; its objects load others on access."""

    def __init__(self, model: type[M], alias: str, *names: str) -> None:
        columns = [field for field in model._meta.concrete_fields if not names or field.attname in names]
        self.model = model
        self.sql = ", ".join(f"{alias}.{field.column}" for field in columns)
        self._columns = [(field.attname, _CONVERT.get(type(field), _same)) for field in columns]

    def make(self, values: Iterator[Any]) -> M:
        """Make an object from the next values, as `from_db` does, which sends two signals and looks at every field."""
        made = self.model.__new__(self.model)
        vars(made).update((name, convert(next(values))) for name, convert in self._columns)
        made._state = ModelState()
        made._state.adding, made._state.db = False, connection.alias
        return made


def _same(value: Any) -> Any:
    return value


def moment(value: Any) -> Any:
    """A time from the database: SQLite keeps text, in UTC."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


def _key(value: Any) -> Any:
    return UUID(value) if isinstance(value, str) else value


def _parsed(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


_CONVERT: dict[type[models.Field[Any, Any]], Callable[[Any], Any]] = {
    models.DateTimeField: moment,
    models.UUIDField: _key,
    models.BooleanField: bool,
    models.JSONField: _parsed,
}


def _as_kept(value: Any) -> Any:
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, UUID) and not connection.features.has_native_uuid_field:
        return value.hex
    return value
