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

        Django binds a number beside an F() as 32 bits, whatever the column has, and psycopg cuts it without a word.
        """
        limit = LIMITS[internal_type.removeprefix("Positive")]
        if isinstance(value, int) and not -limit <= value < limit:
            return value
        return super().adapt_integerfield_value(value, internal_type)


class DatabaseWrapper(base.DatabaseWrapper):
    ops_class = DatabaseOperations

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
