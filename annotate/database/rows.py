"""Many rows written or found at once, from plain values.

Django would make an object of each row first and convert each of its fields: for the utilities of one topic that takes
five times longer than the database.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any

from django.db import connection, transaction
from django.db.models import DateTimeField, Field, JSONField, Model

BATCH = 5_000


def add(model: type[Model], rows: Iterable[Mapping[str, Any]], unique: Sequence[str] = ()) -> None:
    """Add these rows like `put`, each with a model's values by the names of the same columns."""
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        columns = {name: [row[name] for row in batch] for name in batch[0]}
        for field in model._meta.concrete_fields:
            if field.column in columns and (kept := _as_kept(field)):
                columns[field.column] = [*map(kept, columns[field.column])]
        put(model, unique, columns)


def put(model: type[Model], unique: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """Add these rows, or overwrite existing ones with the same values in the columns `unique`, if any is named.

    `columns`: by the names of the model's columns, as many values each as there are rows, as the database keeps them.
    """
    quote = connection.ops.quote_name
    fields = {field.column: field for field in model._meta.concrete_fields}
    names = ", ".join(map(quote, columns))
    changed = ", ".join(f"{quote(name)} = EXCLUDED.{quote(name)}" for name in columns if name not in unique)
    conflict = f"ON CONFLICT ({', '.join(map(quote, unique))}) DO UPDATE SET {changed}" if unique else ""
    into = f"INSERT INTO {quote(model._meta.db_table)} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            arrays = ", ".join(f"%s::{_type(fields[name])}[]" for name in columns)
            rows = f"SELECT * FROM UNNEST({arrays})"  # noqa: S608 - of nothing but the names of columns and types
            cursor.execute(f"{into} {rows} {conflict}", [*map(list, columns.values())])
        else:
            rows = f"VALUES ({', '.join(['%s'] * len(columns))})"
            cursor.executemany(f"{into} {rows} {conflict}", list(zip(*columns.values(), strict=True)))


def change(model: type[Model], column: str, values: Mapping[int, Any]) -> None:
    """Set a column of the rows with these keys, to values as the database keeps them."""
    quote = connection.ops.quote_name
    table, own, key = map(quote, (model._meta.db_table, column, str(model._meta.pk.column)))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            types = [_type(field) for field in model._meta.concrete_fields if field.column == column]
            rows = f"UNNEST(%s::bigint[], %s::{types[0]}[]) AS changed (id, value)"
            query = f"UPDATE {table} SET {own} = changed.value FROM {rows} WHERE {table}.{key} = changed.id"  # noqa: S608 - names
            cursor.execute(query, [[*values], [*values.values()]])
        else:
            query = f"UPDATE {table} SET {own} = %s WHERE {key} = %s"  # noqa: S608 - names
            cursor.executemany(query, [(value, pk) for pk, value in values.items()])


def recount(*models: type[Model]) -> None:
    """Have PostgreSQL count the rows of these tables once the transaction is committed, and plan queries by that.

    By itself it does so up to a minute later, and keeps plans for tables that have grown a thousandfold. SQLite plans
    without counts.
    """
    if connection.vendor == "postgresql":
        transaction.on_commit(partial(_count_rows, models), robust=True)


def _count_rows(models: Sequence[type[Model]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(connection.ops.quote_name(model._meta.db_table) for model in models)}")


def find(
    model: type[Model], by: Sequence[str], wanted: Collection[Sequence[int]], read: Sequence[str]
) -> list[tuple[Any, ...]]:
    """The columns `read` of the rows that have one of the combinations `wanted` in the columns `by`.

    One index lookup for each: given two lists, SQLite tries every value of one with every value of the other.
    """
    if not wanted:
        return []
    quote = connection.ops.quote_name
    values = ", ".join([f"({', '.join(['%s'] * len(by))})"] * len(wanted))
    matches = " AND ".join(f"{quote(name)} = wanted.column{number}" for number, name in enumerate(by, 1))
    columns, table = ", ".join(map(quote, read)), quote(model._meta.db_table)
    # SQLite reads the tables of a CROSS JOIN in this order.
    query = f"SELECT {columns} FROM (VALUES {values}) AS wanted CROSS JOIN {table} WHERE {matches}"  # noqa: S608 - names
    with connection.cursor() as cursor:
        cursor.execute(query, list(chain.from_iterable(wanted)))
        return list(cursor.fetchall())


def _as_kept(field: Field[Any, Any]) -> Callable[[Any], Any] | None:
    """What the database keeps of a value of the field, if that is something else."""
    if isinstance(field, JSONField):
        return lambda value: None if value is None else json.dumps(value)
    return connection.ops.adapt_datetimefield_value if isinstance(field, DateTimeField) else None


def _type(field: Field[Any, Any]) -> str:
    return str(field.db_type(connection))
