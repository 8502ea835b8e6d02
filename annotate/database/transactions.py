"""Transactions that lost a race, and those that a task which was told to stop has left behind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

Result = TypeVar("Result")
#: What databases call a row that others refer to and that is gone, and two transactions that waited for each other.
LOST = {"23503", "40P01", sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY}


def once_more(work: Callable[[], Result]) -> Result:
    """Do it, and a second time where another transaction was faster: then it sees how things are now."""
    try:
        return work()
    except Exception as error:
        if not is_lost(error):
            raise
    return work()


def is_lost(error: BaseException) -> bool:
    """Whether a row went that this transaction rests on, or the database ended it for another one."""
    if isinstance(error, ObjectDoesNotExist) or type(error) is DatabaseError:  # Django's own: no row was updated
        return True
    codes = {getattr(error.__cause__, name, None) for name in ("sqlstate", "sqlite_errorcode")}
    return isinstance(error, DatabaseError) and bool(codes & LOST)


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
