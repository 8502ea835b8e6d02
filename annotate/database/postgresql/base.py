"""Where Django finds a database backend: a module of this name."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
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
