"""Transactions that lost a race, and transactions that a stopped task left open."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

Result = TypeVar("Result")
#: Error codes of a missing row that others refer to, and of deadlocks.
LOST = {"23503", "40P01", sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY}


def once_more(work: Callable[[], Result]) -> Result:
    """Do it, and a second time where another transaction was faster."""
    try:
        return work()
    except Exception as error:
        if not is_lost(error):
            raise
    return work()


def is_lost(error: BaseException) -> bool:
    """Whether a row that this transaction needs was deleted, or the database ended it in favour of another one."""
    if isinstance(error, ObjectDoesNotExist) or type(error) is DatabaseError:  # Django's own: no row was updated
        return True
    codes = {getattr(error.__cause__, name, None) for name in ("sqlstate", "sqlite_errorcode")}
    return isinstance(error, DatabaseError) and bool(codes & LOST)


def is_in_transaction(connection: BaseDatabaseWrapper) -> bool:
    """Whether the database driver is in a transaction."""
    driver = connection.connection
    if driver is None:
        return False
    if connection.vendor == "sqlite":
        return bool(driver.in_transaction)
    return bool(driver.info.transaction_status)  # 0 is idle


def end_stray_transactions() -> None:
    """End transactions that Django does not know of: of tasks that were stopped between BEGIN and Django's note of it.

    Later writes would belong to them and be lost. A closed SQLite connection keeps its lock as long as anything (even a
    traceback) refers to one of its cursors, so it is rolled back first. A PostgreSQL connection that was interrupted
    within a query accepts no other; closing it ends the transaction.
    """
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block and is_in_transaction(connection):
            if connection.vendor == "sqlite":
                connection.connection.rollback()
            connection.close()
