"""A table that the worker writes itself, at a user's request.

When it is complete it is an upload like any other: read, previewed, confirmed, stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.core.files.base import ContentFile

from annotate.imports import uploads
from annotate.models import Upload
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.readers.tables import Columns, lines_of, read_rows


def begin(upload: Upload, columns: Sequence[str], action: str, **detail: object) -> Upload:
    """Store a new upload with the header of its table, and an audit entry. Raises `Refusal` if it cannot be kept."""
    return uploads.begin(upload, ContentFile(",".join(columns) + "\r\n"), action, **detail)


def written_topics(upload: Upload) -> set[str]:
    """The names of the topics that have their rows in the file."""
    with Path(upload.file.path).open("rb") as file:
        rows = read_rows(file, Place(Complaints(), upload.filename), Columns(("topic",), others=True))
        return {row["topic"] for _place, row in rows}


def add_rows(upload: Upload, rows: Iterable[Sequence[str]]) -> None:
    """Add the rows of a topic, each with its name first. Raises `OSError` if the file is gone."""
    with Path(upload.file.path).open("r+b") as file:
        file.seek(0, 2)
        file.writelines(lines_of(rows))


def note_written(upload: Upload, topics: int, among: int) -> None:
    """Store how many topics are written."""
    Upload.waiting().filter(pk=upload.pk).update(preview={"written": topics, "of": among})


def hand_over(upload: Upload) -> None:
    """Have the complete file read as if a user had sent it."""
    content = Path(upload.file.path).read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    unread = Upload.waiting().filter(pk=upload.pk)
    unread.update(baseline_words=None, simulation=None, copied_from=None, preview={}, size=len(content), sha256=digest)
