"""Queries whose SQL is written once.

A page that asks the same small question thousands of times a minute spends ten times longer on Django's writing of
the SQL than on the database's answer. The SQL here is Django's own, kept with the places where the keys go. PostgreSQL,
for its part, keeps how it will go about it: to plan what a page shows takes it longer than to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model, QuerySet

Key = int | UUID | str
Row = TypeVar("Row", bound=Model)

#: Where keys will go in the SQL: nothing else in a query of ours looks like these.
NUMBER = 2**62
SMALL = 2**31 - 9
RANDOM = UUID(int=2**128 - 1)
TEXT = "stand-in"


class Prepared:
    """A query of columns that differs from one time to the next in keys only.

    `write` gives the query for keys that stand in for the true ones; calling the object with the true ones gives the
    rows, their values as Django would give them.
    """

    def __init__(self, write: Callable[..., QuerySet[Any, Any]], *stand_ins: Key) -> None:
        self.write, self.stand_ins = write, stand_ins
        self.written: dict[str, Written] = {}

    def __call__(self, *keys: Key) -> list[tuple[Any, ...]]:
        written = self.written.get(connection.vendor)
        if written is None:
            written = self.written[connection.vendor] = Written(self.write(*self.stand_ins), self.stand_ins)
        return written.ask(keys)


class Written:
    """The SQL of one query for one kind of database, and how its columns become Python's values."""

    def __init__(self, query: QuerySet[Any, Any], stand_ins: tuple[Key, ...]) -> None:
        compiler = query.query.get_compiler(connection=connection)
        self.sql, parameters = compiler.as_sql()
        places = {_sent(stand_in): number for number, stand_in in enumerate(stand_ins)}
        self.parameters = [(places.get(one), one) for one in parameters]
        assert {place for place, _one in self.parameters} >= set(places.values()), "a key has no place in the SQL"
        self.converters = compiler.get_converters([column[0] for column in compiler.select])

    def ask(self, keys: tuple[Key, ...]) -> list[tuple[Any, ...]]:
        sent = [_sent(key) for key in keys]
        with _cursor() as cursor:
            cursor.execute(self.sql, [one if place is None else sent[place] for place, one in self.parameters])
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return [self._converted(row) for row in rows] if self.converters else rows

    def _converted(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = list(row)
        for column, (converters, expression) in self.converters.items():
            for convert in converters:
                values[column] = convert(values[column], expression, connection)
        return tuple(values)


def _cursor() -> CursorWrapper:
    """Django's cursors write the keys into the SQL, so that PostgreSQL would plan each query anew; this one sends them
    beside it, and after some times (settings: `prepare_threshold`) the plan is kept."""
    if connection.vendor != "postgresql":
        return connection.cursor()
    from psycopg import Cursor

    connection.ensure_connection()
    cursor = Cursor(connection.connection)
    make = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    return make(cursor)  # type: ignore[arg-type]  # the stubs know no cursor but the wrapper itself


def _sent(key: Key) -> Any:
    """As the database keeps it."""
    return key.hex if isinstance(key, UUID) and not connection.features.has_native_uuid_field else key


class Part(Generic[Row]):
    """Some columns of a model, named in one string, in the order in which a model takes its values."""

    def __init__(self, model: type[Row], names: str) -> None:
        self.model = model
        self.names = [field.attname for field in model._meta.concrete_fields if field.attname in names.split()]

    def columns(self, path: str = "") -> list[str]:
        """What a query must ask for, where the model is reached by `path`."""
        return [f"{path}__{name}" if path else name for name in self.names]

    def take(self, values: Iterator[Any]) -> Row:
        """The model's row from the next values; what was not asked for is fetched when it is needed."""
        return self.model.from_db(None, self.names, list(islice(values, len(self.names))))
