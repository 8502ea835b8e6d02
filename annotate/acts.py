"""The log of administrative acts: who did what to which study. Rows are only ever added.

Each act carries the SHA-256 digest of what it says and of the digest before it, so that nobody can change, leave out or
reorder one without all that follow telling. What was cut off at the end can be told only by whoever wrote down where
the log had got to: `manage.py verify_log --heads`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db import connection, transaction
from django.utils import timezone

from annotate.models import Act, Study

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

#: Comes before the first act of every log.
BEGINNING = "0" * 64
#: The log says that a text was changed, not what it was: whoever reads the log may not be whoever reads the texts.
LONGEST = 200
#: Tells our locks from others in the same database of PostgreSQL.
LOCK = 0x616374


@dataclass(frozen=True)
class Head:
    """Where a log has got to: how many acts it has, and the digest of the last."""

    number: int
    digest: str


@dataclass(frozen=True)
class Break:
    """Where a log stops being what was written. `number`: the first act that is not as it should be."""

    study: int | None
    number: int
    why: str


def note(study: Study | None, actor: User | None, act: str, /, **detail: Any) -> Act:
    """Write one line; in the transaction of what it tells about, so that neither is there without the other.

    The log of the study (or of the installation) is locked until that transaction ends: note last what takes long.
    """
    with transaction.atomic():
        _lock(study)
        before = Act.objects.filter(study=study).order_by("-number").first()
        row = Act(
            study=study,
            actor=actor,
            number=before.number + 1 if before else 1,
            act=act,
            detail=_short(detail),
            at=timezone.now(),
        )
        row.digest = digest_of(before.digest if before else BEGINNING, row)
        row.save(force_insert=True)
    return row


def digest_of(before: str, row: Act) -> str:
    """The SHA-256 digest of an act that follows the one with digest `before`: what binds it to all earlier ones."""
    said = {
        "before": before,
        "study": row.study_id,
        "number": row.number,
        "actor": row.actor_id,
        "act": row.act,
        "detail": _canonical(row.detail),
        "at": row.at.astimezone(UTC).isoformat(timespec="microseconds"),
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def verify(heads: Mapping[str, Head] | None = None) -> Iterator[Break]:
    """Where the logs are not as they were written; nothing, if they are.

    `heads`: where they had got to at an earlier time, as `current_heads` gave it; they must still pass through there.
    """
    wanted = dict(heads or {})
    logs = list(Act.objects.order_by("study").values_list("study", flat=True).distinct())
    for study in logs:
        found = _first_break(study, Act.objects.filter(study=study), wanted.pop(_name(study), None))
        if found is not None:
            yield found
    for name, head in wanted.items():
        yield Break(None if name == INSTALLATION else int(name), 1, f"the log is gone; it had {head.number} acts")


def check(study: Study) -> Break | None:
    """Where one study's log is not as it was written; None, if it is."""
    return _first_break(study.pk, Act.objects.filter(study=study), None)


INSTALLATION = "installation"


def current_heads() -> dict[str, Head]:
    """By study (or "installation"), where each log has got to."""
    rows = Act.objects.order_by("study", "number").values_list("study", "number", "digest")
    return {_name(study): Head(number, digest) for study, number, digest in rows.iterator()}


def _first_break(study: int | None, acts: QuerySet[Act], head: Head | None) -> Break | None:
    before, expected = BEGINNING, 1
    for row in acts.order_by("number").iterator():
        if row.number != expected:
            return Break(study, expected, f"act {expected} is missing: act {row.number} comes next")
        if row.digest != digest_of(before, row):
            return Break(study, row.number, f"act {row.number} ({row.act}) is not what was written, or does not follow")
        if head is not None and row.number == head.number and row.digest != head.digest:
            return Break(study, row.number, f"act {row.number} ({row.act}) is another one than was written down")
        before, expected = row.digest, expected + 1
    if head is not None and expected <= head.number:
        return Break(study, expected, f"acts {expected} to {head.number} are missing at the end")
    return None


def _lock(study: Study | None) -> None:
    """Let nobody else add to this log until the transaction ends. A transaction of SQLite is alone anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, (study.pk if study else 0) % 2**31])


def _name(study: int | None) -> str:
    return INSTALLATION if study is None else str(study)


def _short(value: Any) -> Any:
    """What is said, with long texts as their length and digest."""
    if isinstance(value, str) and len(value) > LONGEST:
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{len(value)} characters, SHA-256 {digest}"
    if isinstance(value, Mapping):
        return {str(key): _short(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def _canonical(value: Any) -> Any:
    """Numbers as both databases give them back: PostgreSQL keeps 1e22 as an integer, SQLite as it was written."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _canonical(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_canonical(one) for one in value]
    return value
