"""Where Django finds a database backend: a module of this name."""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base, operations

#: The numbers that Django's types hold are smaller.
LIMITS = {"SmallIntegerField": 2**15, "IntegerField": 2**31, "BigIntegerField": 2**63}


class DatabaseOperations(operations.DatabaseOperations):
    def adapt_integerfield_value(self, value: Any, internal_type: str) -> Any:
        """Bind a number as its type; one that does not fit as it is, so that it is stored or refused.

        Django binds a number added to an F() as 32 bits, whatever the column has, and psycopg cuts it without a word.
        """
        limit = LIMITS[internal_type.removeprefix("Positive")]
        if isinstance(value, int) and not -limit <= value < limit:
            return value
        return super().adapt_integerfield_value(value, internal_type)


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL, or a PgBouncer before it, with the limits in the setting `LIMITS`.

    With a pooler, our next transaction may run in another session, and another program's in ours. So there each
    transaction sets its own limits, no statement stays prepared, and no cursor outlives its transaction.
    """

    ops_class = DatabaseOperations
    is_pooled = False

    def init_connection_state(self) -> None:
        super().init_connection_state()
        driver = self.connection
        (process,) = driver.execute("SELECT pg_backend_pid()").fetchone()
        self.is_pooled = process != driver.info.backend_pid  # a pooler hands out numbers of its own
        if self.is_pooled:
            driver.prepare_threshold = None
        else:
            self._limit("SESSION")

    def _set_autocommit(self, autocommit: bool) -> None:
        super()._set_autocommit(autocommit)  # type: ignore[misc]  # of Django, without a type
        if self.is_pooled and not autocommit:
            self._limit("LOCAL")

    def _limit(self, what: str) -> None:
        limits = self.settings_dict["LIMITS"].items()
        with self.wrap_database_errors:
            # Several statements at once, which cannot be prepared.
            self.connection.execute("".join(f"SET {what} {name} = '{limit}';" for name, limit in limits), prepare=False)

    def chunked_cursor(self) -> Any:
        """A cursor for many rows: in a transaction PostgreSQL keeps it."""
        self.ensure_connection()
        return self.cursor() if self.is_pooled and self.get_autocommit() else super().chunked_cursor()

    def is_usable(self) -> bool:
        """Whether the connection still works.

        Django sends a query at the start of every request. A server that restarted or was killed has closed the
        connection; without a query, nothing else leaves something to read on it. Only then a query is sent here, too.
        """
        if self.connection is None or self.connection.closed:
            return False
        looked = select.poll()
        looked.register(self.connection.fileno(), select.POLLIN)
        return not looked.poll(0) or bool(super().is_usable())
