"""Queries and changes whose SQL is written once.

A page that asks the same small question thousands of times a minute spends ten times longer on Django's writing of
the SQL than on the database's answer. The SQL here is Django's own, kept with the places where the keys go. PostgreSQL,
for its part, keeps how it will go about it: to plan what a page shows takes it longer than to find it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from inspect import signature
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import Model, QuerySet, Value
from django.db.models.base import ModelState
from django.db.models.sql import InsertQuery, UpdateQuery

Key = int | float | bool | str | UUID | datetime | None
Row = TypeVar("Row", bound=Model)
Form = TypeVar("Form", "Question", "Steps")


#: A change to be written: a row to be added, or rows and what shall stand in their columns.
Change = Model | tuple[QuerySet[Any, Any], dict[str, Any]]


@dataclass(frozen=True)
class Place:
    """Stands in the SQL for the key of this number."""

    number: int


@dataclass(frozen=True)
class Added:
    """Stands, among changes, for the key of the row that the one of this number (from 0) added before."""

    number: int


class _WrittenOnce(ABC, Generic[Form]):
    """Something that differs from one time to the next in keys only, written when it is first needed.

    `write` is called with what stands for the keys: values of a query, never the true ones.
    """

    def __init__(self, write: Callable[..., Any]) -> None:
        self.write = write
        self.names = tuple(signature(write).parameters)
        self._written: dict[str, Form] = {}

    def written(self, vendor: str = "") -> Form:
        """For the kind of database that is asked here."""
        vendor = vendor or connection.vendor
        found = self._written.get(vendor)
        if found is None:
            places = range(len(self.names))
            found = self._written[vendor] = self._form(self.write(*map(Value, map(Place, places))))
            assert found.places >= set(places), "a key has no place in the SQL"
        return found

    @abstractmethod
    def _form(self, what: Any) -> Form: ...


class Prepared(_WrittenOnce["Question"]):
    """A query of columns; calling it with the keys gives the rows, their values as Django would give them."""

    def __call__(self, *keys: Key) -> list[tuple[Any, ...]]:
        database = _database()
        return self.written(database.vendor).ask(database, _sent(database, keys))

    def _form(self, what: QuerySet[Any, Any]) -> Question:
        return Question(what)


class Changes(_WrittenOnce["Steps"]):
    """Rows to be added and changed, none of which rests on what another one did, but for the key of a row it added.

    Calling it with the keys, by their names, gives in the order of the changes the primary key of each row that was
    added and the number of rows that each of the others changed. PostgreSQL is asked once for all. It promises no order
    then, but makes them as their results are asked for, which is this order: what locks comes first, and
    tests/annotate/test_judging_interleaved.py would hear of it otherwise.
    """

    def __call__(self, **keys: Key) -> list[int]:
        database = _database()
        return self.written(database.vendor).make(database, _sent(database, (keys[name] for name in self.names)))

    def _form(self, what: list[Change]) -> Steps:
        return Steps(what)


@dataclass(frozen=True)
class Statement:
    """SQL, and what is sent beside it: the key of a place, or the same each time."""

    sql: str
    parameters: tuple[Any, ...]

    def send(self, cursor: CursorWrapper, keys: list[Any]) -> None:
        cursor.execute(self.sql, [keys[one.number] if isinstance(one, Place) else one for one in self.parameters])

    @property
    def places(self) -> set[int]:
        return {one.number for one in self.parameters if isinstance(one, Place)}


class Question:
    """The SQL of a query for one kind of database, and how its columns become Python's values."""

    def __init__(self, query: QuerySet[Any, Any]) -> None:
        compiler = query.query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        self.statement = Statement(sql, tuple(parameters))
        self.places = self.statement.places
        self._converters = compiler.get_converters([column[0] for column in compiler.select])

    def ask(self, database: BaseDatabaseWrapper, keys: list[Any]) -> list[tuple[Any, ...]]:
        with _cursor(database) as cursor:
            self.statement.send(cursor, keys)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return [self._converted(row) for row in rows] if self._converters else rows

    def _converted(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = list(row)
        for column, (converters, expression) in self._converters.items():
            for convert in converters:
                values[column] = convert(values[column], expression, connection)
        return tuple(values)


class Steps:
    """The SQL of changes for one kind of database: one statement where that can be, one after another elsewhere."""

    def __init__(self, changes: list[Change]) -> None:
        self._steps = [_step(one) for one in changes]
        self.places = {place for step in self._steps for place in step.places}
        self._at_once = _together(self._steps) if connection.vendor == "postgresql" else None

    def make(self, database: BaseDatabaseWrapper, keys: list[Any]) -> list[int]:
        with _cursor(database) as cursor:
            if self._at_once is None:
                results: list[int] = []
                for step in self._steps:
                    results.append(step.after(results).make(cursor, keys))
                return results
            self._at_once.send(cursor, keys)
            return list(cursor.fetchone())


@dataclass(frozen=True)
class Step(Statement):
    """A statement that adds one row, whose primary key is the column `key`, or changes some."""

    key: str = ""

    def make(self, cursor: CursorWrapper, keys: list[Any]) -> int:
        self.send(cursor, keys)
        return int(cursor.lastrowid if self.key else cursor.rowcount)

    def after(self, results: list[int]) -> Step:
        """This step where those before it had these results."""
        if not any(isinstance(one, Added) for one in self.parameters):
            return self
        known = (results[one.number] if isinstance(one, Added) else one for one in self.parameters)
        return Step(self.sql, tuple(known), self.key)

    def among(self, steps: list[Step]) -> Statement:
        """This step as a part of one statement with others, which are called by their numbers there."""
        beginning, *rest = self.sql.split("%s")
        sql = beginning
        for parameter, text in zip(self.parameters, rest, strict=True):
            sql += _key_of(steps, parameter.number) if isinstance(parameter, Added) else "%s"
            sql += text
        sql += f" RETURNING {self.key or 1}"
        return Statement(sql, tuple(one for one in self.parameters if not isinstance(one, Added)))


def _step(change: Change) -> Step:
    return _addition(change) if isinstance(change, Model) else _update(*change)


def _addition(row: Model) -> Step:
    query = InsertQuery(type(row))
    query.insert_values([field for field in row._meta.concrete_fields if not field.primary_key], [row])
    ((sql, parameters),) = query.get_compiler(connection=connection).as_sql()
    return Step(sql, tuple(parameters), connection.ops.quote_name(str(row._meta.pk.column)))


def _update(rows: QuerySet[Any, Any], values: dict[str, Any]) -> Step:
    query: Any = rows.query.chain(UpdateQuery)
    query.add_update_values(values)
    sql, parameters = query.get_compiler(connection=connection).as_sql()
    return Step(sql, tuple(parameters))


def _together(steps: list[Step]) -> Statement:
    """WITH "0" AS (INSERT ... RETURNING "id"), "1" AS (UPDATE ... RETURNING 1) SELECT ..."""
    parts = [step.among(steps) for step in steps]
    named = ", ".join(f'"{number}" AS ({part.sql})' for number, part in enumerate(parts))
    results = ", ".join(_result_of(steps, number) for number in range(len(steps)))
    return Statement(f"WITH {named} SELECT {results}", tuple(one for part in parts for one in part.parameters))


def _result_of(steps: list[Step], number: int) -> str:
    return _key_of(steps, number) if steps[number].key else f'(SELECT count(*) FROM "{number}")'  # noqa: S608 - a number


def _key_of(steps: list[Step], number: int) -> str:
    return f'(SELECT {steps[number].key} FROM "{number}")'  # noqa: S608 - Django wrote the name


def _database() -> BaseDatabaseWrapper:
    """What `django.db.connection` leads to; that would look for it each time that it is named."""
    return connections[DEFAULT_DB_ALIAS]


def _cursor(database: BaseDatabaseWrapper) -> CursorWrapper:
    """Django's cursors write the keys into the SQL, so that PostgreSQL would plan each query anew; this one sends them
    beside it, and after some times (settings: `prepare_threshold`) the plan is kept."""
    if database.vendor != "postgresql":
        return database.cursor()
    from psycopg import Cursor

    database.close_if_health_check_failed()
    database.ensure_connection()
    cursor = Cursor(database.connection)
    make = database.make_debug_cursor if database.queries_logged else database.make_cursor
    return make(cursor)  # type: ignore[arg-type]  # the stubs know no cursor but the wrapper itself


def _sent(database: BaseDatabaseWrapper, keys: Iterable[Key]) -> list[Any]:
    """As the database keeps them."""
    return [_adapted(key, database) if isinstance(key, UUID | datetime) else key for key in keys]


def _adapted(key: UUID | datetime, database: BaseDatabaseWrapper) -> Any:
    if isinstance(key, datetime):
        return database.ops.adapt_datetimefield_value(key)
    return key if database.features.has_native_uuid_field else key.hex


class Part(Generic[Row]):
    """Some columns of a model, named in one string, in the order in which a model takes its values."""

    def __init__(self, model: type[Row], names: str) -> None:
        self.model = model
        self.names = [field.attname for field in model._meta.concrete_fields if field.attname in names.split()]

    def columns(self, path: str = "") -> list[str]:
        """What a query must ask for, where the model is reached by `path`."""
        return [f"{path}__{name}" if path else name for name in self.names]

    def take(self, values: Iterator[Any]) -> Row:
        """The model's row from the next values; what was not asked for is fetched when it is needed.

        As the model's own `from_db` makes it, without going through all its fields and telling everyone: a page needs a
        dozen of them.
        """
        row = self.model.__new__(self.model)
        row.__dict__.update(zip(self.names, values, strict=False))  # names first: no value is taken without one
        row._state = ModelState()
        row._state.adding = False
        return row
