"""The audit log: who did what to which study. It is append-only.

Each entry has the SHA-256 digest of its content and of the digest before it, so that changing, removing or reordering
one breaks the chain after it. Entries cut off at the end are missed only with an earlier record of the log's head:
`manage.py verify_log --heads`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from annotate.database import append_only
from annotate.models import Annotator, AuditEntry, Study

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

#: The digest before the first entry of every log.
BEGINNING = "0" * 64
#: Longer texts are logged as changed, without their content: readers of the log may not be allowed to read the texts.
LONGEST = 200
#: The action by which a user changes settings; the product's own changes have another one.
SETTINGS = "change settings"
#: The action that erases an annotator, and the content of entries that named them.
ERASURE = "erase annotator"
ERASED = {"erased": True}
#: Distinguishes our locks from others in the same PostgreSQL database.
LOCK = 0x616374


@dataclass(frozen=True)
class Head:
    """The end of a log: its number of entries, and the digest of the last."""

    number: int
    digest: str


@dataclass(frozen=True)
class Break:
    """Where a log differs from what was written. `number`: the first entry that is wrong."""

    study: int | None
    number: int
    why: str


class SettingChange(NamedTuple):
    """A setting that a user changed. Long texts are their length and digest, as in the log."""

    name: str
    before: Any
    after: Any
    at: datetime


def note(study: Study | None, actor: User | None, action: str, /, **detail: Any) -> AuditEntry:
    """Write one entry, in the transaction of what it describes, so that neither exists without the other.

    The log of the study (or installation) is locked until that transaction ends: call this after slow work.
    """
    with transaction.atomic():
        _lock(study)
        last = AuditEntry.objects.filter(study=study).order_by("-number").first()
        entry = AuditEntry(
            study=study,
            actor=actor,
            number=last.number + 1 if last else 1,
            action=action,
            detail=_short(detail),
            at=timezone.now(),
        )
        entry.detail_digest = detail_digest_of(entry)
        entry.digest = digest_of(last.digest if last else BEGINNING, entry)
        entry.save(force_insert=True)
    return entry


@transaction.atomic
def begin_again(study: Study) -> None:
    """Empty the log of a study that a program built: it tells what people do. For a study that nobody has seen."""
    _lock(study)
    with append_only.erasing():
        AuditEntry.objects.filter(study=study).delete()


def digest_of(before: str, entry: AuditEntry) -> str:
    """The SHA-256 digest of an entry after the one with digest `before`: it binds the entry to all earlier ones.

    The keys of the content never change, even if columns are renamed: old digests must stay the same.
    """
    content = {
        "before": before,
        "study": entry.study_id,
        "number": entry.number,
        "actor": entry.actor_id,
        "act": entry.action,
        "detail": entry.detail_digest or _canonical(entry.detail),
        "at": entry.at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    return _sha256(content)


def detail_digest_of(entry: AuditEntry) -> str:
    """The SHA-256 digest of an entry's details, which stays when they are erased."""
    return _sha256(_canonical(entry.detail))


def erase_annotator(annotator: Annotator) -> list[int]:
    """Empty the details of every entry that names this annotator, in the caller's transaction; the entries' numbers.

    The chain of digests still holds. The numbers must be logged, or `verify` reports a forgery.
    """
    _lock(annotator.study)
    names_them = Q(detail__annotator=annotator.pseudonym) | Q(detail__key=str(annotator.key))
    entries = AuditEntry.objects.filter(names_them, study=annotator.study)
    numbers = list(entries.order_by("number").values_list("number", flat=True))
    with append_only.erasing():
        entries.update(detail=ERASED)
    return numbers


def changes_of_settings(study: Study, since: datetime) -> list[SettingChange]:
    """Changes by people after this moment, in order."""
    by_people = AuditEntry.objects.filter(study=study, action=SETTINGS, actor__isnull=False)
    entries = by_people.filter(at__gt=since).order_by("number")
    return [
        SettingChange(name, before, after, at)
        for detail, at in entries.values_list("detail", "at")
        for name, (before, after) in detail["changes"].items()
    ]


def verify(heads: Mapping[str, Head] | None = None) -> Iterator[Break]:
    """Where the logs differ from what was written; nothing if they are intact.

    `heads`: of an earlier time, from `current_heads`; the logs must still pass through them.
    """
    heads_to_meet = dict(heads or {})
    logs = list(AuditEntry.objects.order_by("study").values_list("study", flat=True).distinct())
    for study in logs:
        entries = AuditEntry.objects.filter(study=study)
        if (first_break := _first_break(study, entries, heads_to_meet.pop(_name(study), None))) is not None:
            yield first_break
    for name, head in heads_to_meet.items():
        yield Break(None if name == INSTALLATION else int(name), 1, f"the log is gone; it had {head.number} entries")


def check(study: Study) -> Break | None:
    """Where one study's log differs from what was written; None if it is intact."""
    return _first_break(study.pk, AuditEntry.objects.filter(study=study), None)


INSTALLATION = "installation"


def current_heads() -> dict[str, Head]:
    """The head of each log, by study (or "installation")."""
    entries = AuditEntry.objects.order_by("study", "number").values_list("study", "number", "digest")
    return {_name(study): Head(number, digest) for study, number, digest in entries.iterator()}


def _first_break(study: int | None, entries: QuerySet[AuditEntry], head: Head | None) -> Break | None:
    before, expected = BEGINNING, 1
    erased = _erased_lawfully(entries)
    for entry in entries.order_by("number").iterator():
        name = f"entry {entry.number} ({entry.action})"
        if entry.number != expected:
            return Break(study, expected, f"entry {expected} is missing: entry {entry.number} comes next")
        if not _is_as_written(entry, before, erased):
            return Break(study, entry.number, f"{name} is not what was written, or does not follow")
        if head is not None and entry.number == head.number and entry.digest != head.digest:
            return Break(study, entry.number, f"{name} is not the one whose digest was kept")
        before, expected = entry.digest, expected + 1
    if head is not None and expected <= head.number:
        return Break(study, expected, f"entries {expected} to {head.number} are missing at the end")
    return None


def _is_as_written(entry: AuditEntry, before: str, erased: set[int]) -> bool:
    if entry.number in erased and entry.detail == ERASED:
        # An erased entry without a digest of its details is confirmed only by the entries after it.
        return not entry.detail_digest or entry.digest == digest_of(before, entry)
    if entry.detail_digest and entry.detail_digest != detail_digest_of(entry):
        return False
    return entry.digest == digest_of(before, entry)


def _erased_lawfully(entries: QuerySet[AuditEntry]) -> set[int]:
    """The numbers of entries that a later entry, itself bound by the chain, declares erased."""
    details = entries.filter(action=ERASURE).values_list("detail", flat=True)
    return {number for detail in details for number in detail.get("entries", ())}


def _sha256(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _lock(study: Study | None) -> None:
    """Lock this log until the transaction ends. SQLite's transactions exclude one another anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, (study.pk if study else 0) % 2**31])


def _name(study: int | None) -> str:
    return INSTALLATION if study is None else str(study)


def _short(value: Any) -> Any:
    """Shorten a value for the log: long texts to their length and digest."""
    if isinstance(value, str) and len(value) > LONGEST:
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{len(value)} characters, SHA-256 {digest}"
    if isinstance(value, Mapping):
        return {str(key): _short(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return list(map(_short, value))
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _canonical(value: Any) -> Any:
    """Numbers as both databases return them: PostgreSQL keeps 1e22 as an integer, SQLite as written."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return list(map(_canonical, value))
    return value
