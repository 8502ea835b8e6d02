"""Where Django finds a database backend: a module of this name."""

from __future__ import annotations

import sqlite3
import time

from django.db.backends.sqlite3 import base

# Milliseconds between two attempts to take the write lock.
STEP = 2


class DatabaseWrapper(base.DatabaseWrapper):
    def _start_transaction_under_autocommit(self) -> None:
        """Take the write lock soon after it is free.

        SQLite's own wait tries less and less often, in the end every tenth of a second: while an import takes the lock
        again and again, an answer misses it more than ten times, and waits for over a second.
        """
        timeout = self.settings_dict["OPTIONS"]["timeout"]
        ends = time.monotonic() + timeout
        with self.wrap_database_errors:
            self.connection.execute(f"PRAGMA busy_timeout={STEP}")
            try:
                while not self._begin(last=time.monotonic() >= ends):
                    pass
            finally:
                self.connection.execute(f"PRAGMA busy_timeout={timeout * 1000:.0f}")

    def _begin(self, *, last: bool) -> bool:
        """Whether the transaction began.

        Not in a cursor of Django's: a failed one is left to the garbage collector, which may run in the thread that
        has the lock, and wait there for this connection, which waits for the lock.
        """
        try:
            self.connection.execute(f"BEGIN {self.transaction_mode}")  # type: ignore[attr-defined]
        except sqlite3.OperationalError as error:
            if last or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            return False
        return True
