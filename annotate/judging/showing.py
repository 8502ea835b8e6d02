"""What pages show of pairs: everything in one query, nothing written."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery

from annotate.models import Assignment, Judgment


@dataclass(frozen=True)
class Shown:
    """A pair with its texts, its topic, its annotator and the study, ready to be shown.

    `revision`: the one that its next answer has; `answer`: the last one; `previous`: the key of the pair that its
    annotator judged last.
    """

    assignment: Assignment
    revision: int
    answer: str | None
    previous: UUID | None


def find_shown(key: UUID) -> Shown | None:
    """The pair that was given this key."""
    last = Judgment.objects.filter(assignment=OuterRef("pk")).order_by("-revision")
    judged = Assignment.objects.filter(annotator=OuterRef("annotator"), state=Assignment.State.JUDGED)
    found = (
        Assignment.objects.filter(key=key)
        .select_related("pair__first", "pair__second", "topic", "annotator__study")
        .annotate(
            revision=Subquery(last.values("revision")[:1]),
            answer=Subquery(last.values("answer")[:1]),
            previous=Subquery(judged.order_by("-closed_at").values("key")[:1]),
        )
        .first()
    )
    return None if found is None else Shown(found, (found.revision or 0) + 1, found.answer, found.previous)


def last_judged(annotator_id: int) -> Assignment | None:
    """The pair that they judged last, which is the one to take back."""
    judged = Assignment.objects.filter(annotator=annotator_id, state=Assignment.State.JUDGED)
    return judged.order_by("-closed_at").first()
