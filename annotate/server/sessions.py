"""Django's sessions in the database, asked only for keys that it could have given."""

from __future__ import annotations

import re

from django.contrib.sessions.backends import db

#: Django's are 32 of these.
KEY = re.compile(r"[0-9a-z]{8,40}")


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str | None) -> bool:
        """A cookie may hold a NUL character, which PostgreSQL cannot be asked for."""
        return bool(key) and KEY.fullmatch(key or "") is not None
