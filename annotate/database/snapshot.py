"""Consistent reads of many rows that block no writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

from annotate.database.transactions import is_in_transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Every query inside sees the tables as they are at the first one; within a transaction or snapshot it uses that.

    Our SQLite transactions take the write lock at once, so that `atomic` would block all judgments while a study is
    exported; a deferred one that only reads takes none.
    """
    if connection.in_atomic_block or is_in_transaction(connection):
        yield
    elif connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            with connection.cursor() as cursor:
                cursor.execute("ROLLBACK")
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield
