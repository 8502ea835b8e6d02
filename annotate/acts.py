"""The log of administrative acts: who did what to which study. Rows are only ever added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from annotate.models import Act, Study

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def note(study: Study | None, actor: User | None, act: str, /, **detail: Any) -> Act:
    """Write one line; in the transaction of what it tells about, so that neither is there without the other."""
    return Act.objects.create(study=study, actor=actor, act=act, detail=detail)
