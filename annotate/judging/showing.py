"""What pages show of pairs: everything in one query, nothing written."""

from __future__ import annotations

from uuid import UUID

from annotate.models import Assignment, Judgment

#: What pages show and verbs need; a pair's page is the one that is asked for most.
PARTS = {
    "": ("key", "state", "swapped", "revision", "topic", "annotator", "pair"),
    "pair": ("first", "second"),
    "pair__first": ("text", "document"),
    "pair__second": ("text", "document"),
    "topic": ("title", "question", "language"),
    "annotator": ("key", "user", "study", "judged", "quota", "seconds", "previous", "shortcuts"),
    "annotator__study": (
        *("title", "question", "guidelines", "language", "state", "ties_allowed", "show_progress"),
        *("judgments_per_topic", "judgments_per_pair", "pairs_per_annotator"),
    ),
}
COLUMNS = tuple("__".join(filter(None, (part, name))) for part, names in PARTS.items() for name in names)


def find_shown(key: UUID) -> Assignment | None:
    """The pair that was given this key, with its texts, its topic, its annotator and the study, in one query."""
    return (
        Assignment.objects.filter(key=key)
        .select_related("pair__first", "pair__second", "topic", "annotator__study")
        .only(*COLUMNS)
        .first()
    )


def standing_answer(assignment: Assignment) -> str | None:
    """What was answered last, "undone" included."""
    judgments = Judgment.objects.filter(assignment=assignment, revision=assignment.revision)
    return judgments.values_list("answer", flat=True).first()
