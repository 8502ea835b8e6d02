"""What pages show of pairs: everything in one query, nothing written."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Now

from annotate.models import Annotator, Assignment, Judgment, Pair, Sentence, Study, Topic
from annotate.prepared import Part, Prepared

# What pages show and verbs need; the page of a pair is the one that is asked for most.
ASSIGNMENT = Part(
    Assignment, "id key state swapped reason expected holds_place revision expires_at topic_id annotator_id pair_id"
)
PAIR = Part(Pair, "id first_id second_id")
SENTENCE = Part(Sentence, "id text document_id")
TOPIC = Part(Topic, "id title question language")
ANNOTATOR = Part(
    Annotator,
    "id key user_id study_id kind judged quota seconds previous shortcuts skipped skips_in_a_row trained_at",
)
STUDY = Part(
    Study,
    "id title question guidelines language state ties_allowed show_progress "
    "judgments_per_topic judgments_per_pair pairs_per_annotator pilot training gold_share repeat_share reading_speed "
    "skips_in_a_row",
)
_find = Prepared(
    lambda key, other: (
        Assignment.objects.filter(Q(key=key) | Q(key=other))
        .annotate(
            before=Subquery(Assignment.objects.filter(key=OuterRef("annotator__previous")).values("revision")[:1]),
            now=Now(),
        )
        .values_list(
            *ASSIGNMENT.columns(),
            *PAIR.columns("pair"),
            *SENTENCE.columns("pair__first"),
            *SENTENCE.columns("pair__second"),
            *TOPIC.columns("topic"),
            *ANNOTATOR.columns("annotator"),
            *STUDY.columns("annotator__study"),
            "before",
            "now",
        )
    )
)


def find_shown(key: UUID) -> Assignment | None:
    """The pair that was given this key, with its texts, its topic, its annotator and the study, in one query."""
    return next(map(_as_shown, _find(key, key)), None)


def find_answered(key: UUID, showing: UUID | None) -> tuple[Assignment | None, Assignment | None]:
    """The pair of this key, which is being answered, and the one that its annotator is shown meanwhile, in one query.

    None for one that is not there, or that is somebody else's. That of the answer says by the database's clock when it
    was found (`found_at`), which is when the answer came.
    """
    answered: Assignment | None = None
    shown: Assignment | None = None
    for row in _find(key, showing or key):
        found = _as_shown(row, beside=answered or shown)
        if found.key == showing:
            shown = found
        if found.key == key:
            answered, found.found_at = found, row[-1]
    if answered is None or shown is None or shown.annotator != answered.annotator:
        return answered, None
    shown.annotator = answered.annotator  # what an answer adds to it, the next page shows
    return answered, shown


def _as_shown(row: tuple[Any, ...], beside: Assignment | None = None) -> Assignment:
    """The assignment of this row; what it shares with one that was found `beside` it is not made twice."""
    values = iter(row)
    assignment, pair = ASSIGNMENT.take(values), PAIR.take(values)
    pair.first, pair.second = SENTENCE.take(values), SENTENCE.take(values)
    assignment.pair = pair
    if beside and (beside.topic_id, beside.annotator_id) == (assignment.topic_id, assignment.annotator_id):
        assignment.topic, assignment.annotator = beside.topic, beside.annotator
        return assignment
    assignment.topic, assignment.annotator = TOPIC.take(values), ANNOTATOR.take(values)
    assignment.annotator.study = STUDY.take(values)
    assignment.annotator.previous_revision = next(values)
    return assignment


def show_next(drawn: Assignment, before: Assignment) -> Assignment | None:
    """As `find_shown`, of a pair that was just drawn for whoever is shown `before`: asks for what is not known yet."""
    if drawn.topic_id != before.topic_id or not _has_sentences(drawn):
        return find_shown(drawn.key)
    drawn.topic, drawn.annotator = before.topic, before.annotator
    return drawn


def _has_sentences(assignment: Assignment) -> bool:
    pair, first = Assignment._meta.get_field("pair"), Pair._meta.get_field("first")
    return pair.is_cached(assignment) and first.is_cached(assignment.pair)


def previous_revision(annotator: Annotator) -> int | None:
    """The revision of the assignment that they judged last; None where there is none."""
    if annotator.previous is None:
        return None
    return Assignment.objects.filter(key=annotator.previous).values_list("revision", flat=True).first()


def standing_answer(assignment: Assignment) -> str | None:
    """What was answered last, "undone" included."""
    judgments = Judgment.objects.filter(assignment=assignment, revision=assignment.revision)
    return judgments.values_list("answer", flat=True).first()
