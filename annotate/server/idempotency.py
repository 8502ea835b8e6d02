"""A request repeated under its `Idempotency-Key` is processed once, and gets the same answer for a day.

As in draft-ietf-httpapi-idempotency-key-header. The answer is stored in the transaction of the work.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import OperationalError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from annotate.models import AnsweredRequest, Study
from annotate.refusal import Refusal

KEPT = timedelta(days=1)
#: PostgreSQL's `lock_not_available`: another transaction has the key, and has not ended within `lock_timeout`.
TAKEN = "55P03"


@transaction.atomic
def once(
    whose: tuple[Any, ...], fingerprint: str, study: Study | None, work: Callable[[], tuple[int, str]]
) -> AnsweredRequest:
    """Do the work, which returns a status and an answer, unless it was done. Raises `Refusal`, and what `work` raises.

    `whose`: the sender and their key.
    """
    key = hashlib.sha256(repr(whose).encode()).hexdigest()
    asked = {"fingerprint": fingerprint, "study": study}
    try:
        answered, is_new = AnsweredRequest.objects.get_or_create(pk=key, defaults=asked)
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") != TAKEN:
            raise
        raise Refusal(_("This request is still being worked on. Send it again in a moment."), "running") from error
    if answered.fingerprint != fingerprint:
        raise Refusal(_("Another request was sent with this key. Give each request a key of its own."), "used")
    if is_new:
        answered.status, answered.answer = work()
        answered.save(update_fields=["status", "answer"])
    return answered


def forget() -> None:
    """Delete answers older than a day."""
    AnsweredRequest.objects.filter(at__lt=Now() - KEPT).delete()
