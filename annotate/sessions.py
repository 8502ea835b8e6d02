"""Django's sessions in the database, looked up by a query that is written once: every page asks it."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.sessions.backends import db
from django.utils import timezone

from annotate.prepared import Prepared

#: Django's are 32 of these.
KEY = re.compile(r"[0-9a-z]{8,40}")

_find = Prepared(
    lambda key: db.SessionStore.get_model_class().objects.filter(pk=key).values_list("session_data", "expire_date"),
)


class SessionStore(db.SessionStore):
    def load(self) -> dict[str, Any]:
        """What the session holds; nothing, and no session, where there is none or it is over."""
        for data, expires in _find(self.session_key or ""):
            if expires > timezone.now():
                return dict(self.decode(data))
        self._session_key = None
        return {}

    def _validate_session_key(self, key: str | None) -> bool:
        """Only what we could have given: a cookie may hold a NUL character, which PostgreSQL cannot be asked for."""
        return bool(key) and KEY.fullmatch(key or "") is not None
