"""Where Django finds a database backend: a module of this name."""

from __future__ import annotations

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the connection still stands.

        Django sends a query at the beginning of every request. A server that restarted or was killed has hung up
        though, and on a connection where nothing was asked there is nothing to read but that: only then we ask too.
        """
        if self.connection is None or self.connection.closed:
            return False
        looked = select.poll()
        looked.register(self.connection.fileno(), select.POLLIN)
        return not looked.poll(0) or bool(super().is_usable())
