"""Many rows written or found at once, from plain values.

Django would make an object of each row first and convert each of its fields: for the utilities of one topic that takes
five times longer than the database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import Field, Model


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


def _type(field: Field[Any, Any]) -> str:
    return str(field.db_type(connection))
