"""What pages show of pairs: everything in one query, nothing written."""

from __future__ import annotations

from uuid import UUID

from django.db.models import OuterRef, Subquery

from annotate.models import Annotator, Assignment, Judgment, Pair, Sentence, Study, Topic
from annotate.prepared import NUMBER, RANDOM, Part, Prepared

# What pages show and verbs need; the page of a pair is the one that is asked for most.
ASSIGNMENT = Part(Assignment, "id key state swapped reason expected revision topic_id annotator_id pair_id")
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
    lambda key: (
        Assignment.objects.filter(key=key)
        .annotate(
            before=Subquery(Assignment.objects.filter(key=OuterRef("annotator__previous")).values("revision")[:1])
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
        )
    ),
    RANDOM,
)


def find_shown(key: UUID) -> Assignment | None:
    """The pair that was given this key, with its texts, its topic, its annotator and the study, in one query."""
    for row in _find(key):
        values = iter(row)
        assignment, pair = ASSIGNMENT.take(values), PAIR.take(values)
        pair.first, pair.second = SENTENCE.take(values), SENTENCE.take(values)
        assignment.pair, assignment.topic, assignment.annotator = pair, TOPIC.take(values), ANNOTATOR.take(values)
        assignment.annotator.study = STUDY.take(values)
        assignment.annotator.previous_revision = next(values)
        return assignment
    return None


OWN = Part(Assignment, "id key state reason revision expires_at topic_id")
_own = Prepared(
    lambda key, annotator: Assignment.objects.filter(key=key, annotator=annotator).values_list(*OWN.columns()),
    RANDOM,
    NUMBER,
)


def find_own(annotator: Annotator, key: UUID) -> Assignment | None:
    """How an assignment of this person stands; None where it is not theirs."""
    for row in _own(key, annotator.pk):
        found = OWN.take(iter(row))
        found.annotator = annotator
        return found
    return None


def previous_revision(annotator: Annotator) -> int | None:
    """The revision of the assignment that they judged last; None where there is none."""
    if annotator.previous is None:
        return None
    return Assignment.objects.filter(key=annotator.previous).values_list("revision", flat=True).first()


def standing_answer(assignment: Assignment) -> str | None:
    """What was answered last, "undone" included."""
    judgments = Judgment.objects.filter(assignment=assignment, revision=assignment.revision)
    return judgments.values_list("answer", flat=True).first()
