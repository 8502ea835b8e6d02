"""Django's sessions in the database, with their users, queried only for keys that Django could have given."""

from __future__ import annotations

import re
from typing import Any

from django.contrib.auth import SESSION_KEY, get_user_model
from django.contrib.sessions.backends import db
from django.db import transaction
from django.utils import timezone

from annotate.database.plain import read
from annotate.models import AccountSession

#: Django's are 32 of these.
KEY = re.compile(r"[0-9a-z]{8,40}")
FIND = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(db.SessionStore):
    def save(self, must_create: bool = False) -> None:
        """Record the user of a signed-in session, so that they can see and end it.

        The session's row is locked meanwhile, so that it cannot be ended in between.
        """
        with transaction.atomic():
            super().save(must_create)
            key = self.get(SESSION_KEY)
            if key and (user := get_user_model().objects.filter(pk=key).first()):
                browser = {"user": user, "browser": self.get("browser", "")}
                AccountSession.objects.get_or_create(session_id=self.session_key, defaults=browser)

    def load(self) -> dict[str, Any]:
        """In plain SQL: every page of a visitor begins with it."""
        rows = read(FIND, [self.session_key, timezone.now()])
        if not rows:
            self._session_key = None
        return self.decode(rows[0][0]) if rows else {}

    def _validate_session_key(self, key: str | None) -> bool:
        """A cookie may hold a NUL character, which PostgreSQL refuses in queries."""
        return bool(key) and KEY.fullmatch(key or "") is not None
