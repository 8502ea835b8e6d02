"""Entries of the audit log in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from annotate.models import AuditEntry
from annotate.reports.method import value_in_words
from preferendum.formats.settings import NAMES


def in_words(entries: Iterable[AuditEntry]) -> list[dict[str, Any]]:
    """Entries of the audit log with their author, and their details as (name, value)."""
    several = list(entries)
    names = dict(User.objects.filter(pk__in={entry.actor_id for entry in several}).values_list("pk", "username"))
    return [
        {
            "entry": entry,
            "actor": names.get(entry.actor_id or 0, ""),
            "reason": entry.detail.get("reason", ""),
            "detail": list(_details(entry.detail)),
        }
        for entry in several
    ]


def _details(detail: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """In words: names and values, and each setting's value before and after."""
    for name, value in detail.items():
        if name == "changes":
            for setting, values in value.items():
                before, after = (_words(value_in_words(setting, own) if setting in NAMES else own) for own in values)
                yield _words(setting), f"{before} → {after}"
        elif name not in {"reason", "key"}:
            yield _words(name), _words(value)


def _words(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value).replace("_", " ") if isinstance(value, str) and value.isidentifier() else str(value)
