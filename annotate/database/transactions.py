"""Transactions that a task which was told to stop has left behind."""

from __future__ import annotations

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper


def is_in_transaction(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database itself thinks so, or may."""
    driver = connection.connection
    if driver is None:
        return False
    if connection.vendor == "sqlite":
        return bool(driver.in_transaction)
    return bool(driver.info.transaction_status)  # 0 is idle


def end_stray_transactions() -> None:
    """End what was begun without Django's knowing: whoever is told to stop between BEGIN and Django's note of it.

    Whatever is written afterwards would belong to it and be lost. A closed connection of SQLite keeps its lock as long
    as any of its cursors is known to somebody, be it to the traceback, so it is rolled back; one of PostgreSQL that was
    left in the middle of a query takes no other, and has nothing left when it is closed.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block and is_in_transaction(connection):
            if connection.vendor == "sqlite":
                connection.connection.rollback()
            connection.close()
