"""Restore annotators, assignments and judgments of an exported study as they were."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from annotate.judging import designs, tallies
from annotate.judging.answers import LONGEST_READ
from annotate.judging.drawing import LEASE
from annotate.judging.importing import BATCH, Two, add_up, make_pairs, moment, recount_places, sentence_ids
from annotate.models import Annotator, Assignment, GoldPair, Judgment, Pair, ReportedPair, Sentence, Study, Topic
from formats.archive.study_records import design_weight

if TYPE_CHECKING:
    from formats.archive.study_records import (
        AssignmentRecord,
        HistoryAnswer,
        HistoryRecord,
        JudgmentRecord,
        StudyArchive,
    )
    from formats.records import Of

    #: The keys of topics by their names and by what is compared there.
    Topics = Mapping[tuple[str, Of], int]


@transaction.atomic
def restore(study: Study, archive: StudyArchive, history: Mapping[int, Sentence]) -> None:
    """Store annotators, assignments and every revision of every answer, in the order of the archive.

    The study's topics and sentences must exist; `history`: the sentences of its history by their numbers. Keys are
    kept where they are free: an archive that is imported into its own installation gets new ones.
    """
    topics = Topic.asked.filter(study=study).by_name()
    tallies.raise_version(topics.values())
    annotators = _restore_annotators(study, archive)
    assignments = _restore_assignments(archive, topics, annotators)
    _restore_judgments(archive, assignments)
    _restore_reported_pairs(archive, assignments)
    _restore_history(archive, history, annotators)
    _restore_gold_pairs(archive, topics)
    for topic_id in sorted(topics.values()):
        recount_places(study, topic_id)


def _restore_annotators(study: Study, archive: StudyArchive) -> dict[str, Annotator]:
    now = timezone.now()
    shown: Sequence[AssignmentRecord | HistoryRecord] = (*archive.assignments, *archive.history)
    shown_here = {record.annotator for record in shown if record.reason_shown != "imported"}
    annotators = [
        Annotator(
            study=study,
            pseudonym=record.pseudonym,
            kind=record.kind,
            excluded_at=moment(record.excluded_at, now) if record.excluded_at else None,
            imported=record.pseudonym not in shown_here,
        )
        for record in archive.annotators
    ]
    Annotator.objects.bulk_create(annotators, BATCH)
    for annotator, record in zip(annotators, archive.annotators, strict=True):
        annotator.joined_at = moment(record.joined_at, now)
    Annotator.objects.bulk_update(annotators, ["joined_at"], BATCH)
    return {annotator.pseudonym: annotator for annotator in annotators}


def _restore_assignments(
    archive: StudyArchive, topics: Topics, annotators: Mapping[str, Annotator]
) -> dict[str, Assignment]:
    """The assignments by their keys in the archive."""
    sentences = {topic: sentence_ids(topic_id) for topic, topic_id in topics.items()}
    numbers = designs.Numbers()
    sides: dict[str, Two] = {
        record.key: (sentences[topic][record.left], sentences[topic][record.right])
        for record in archive.assignments
        for topic in [(record.topic, record.of)]
    }
    wanted: dict[int, set[Two]] = {}
    for record in archive.assignments:
        wanted.setdefault(topics[record.topic, record.of], set()).add(Pair.in_order(*sides[record.key]))
    pairs: dict[Two, Pair] = {}
    for topic_id, several in sorted(wanted.items()):
        pairs |= make_pairs(topic_id, several)
    keys = _free_keys([record.key for record in archive.assignments])
    revisions = {record.assignment: record.revision for record in archive.judgments}
    restored: dict[str, Assignment] = {}
    for record in archive.assignments:
        left, right = sides[record.key]
        weight = design_weight(record.reason_shown, record.design_weight)
        restored[record.key] = _assignment(
            record,
            annotators[record.annotator],
            pairs[Pair.in_order(left, right)],
            key=keys[record.key],
            swapped=left > right,
            design_weight=weight,
            drawn_for=numbers.of(topics[record.topic, record.of], weight, record.drawn_for),
            state=record.state,
            skip_reason=record.skip_reason,
            revision=revisions.get(record.key, 0),
        )
    Assignment.objects.bulk_create(restored.values(), BATCH)
    return restored


def _assignment(
    record: AssignmentRecord | HistoryRecord, annotator: Annotator, pair: Pair, **columns: Any
) -> Assignment:
    now = timezone.now()
    created_at = moment(record.created_at, now)
    return Assignment(
        topic_id=pair.topic_id,
        annotator=annotator,
        pair=pair,
        occasion=record.occasion,
        reason=record.reason_shown,
        expected=record.expected,
        holds_place=record.holds_place,
        created_at=created_at,
        expires_at=created_at + LEASE,
        closed_at=moment(record.closed_at, now) if record.closed_at else None,
        **columns,
    )


def _restore_history(
    archive: StudyArchive, sentences: Mapping[int, Sentence], annotators: Mapping[str, Annotator]
) -> None:
    """Store judgments of removed topics and sentences: void, but still work done."""
    wanted: dict[int, set[Two]] = {}
    sides = [(sentences[record.left.number], sentences[record.right.number]) for record in archive.history]
    for left, right in sides:
        wanted.setdefault(left.topic_id, set()).add(Pair.in_order(left.pk, right.pk))
    pairs: dict[Two, Pair] = {}
    for topic_id, several in sorted(wanted.items()):
        pairs |= make_pairs(topic_id, several)
    keys = _free_keys([record.key for record in archive.history])
    assignments = [
        _assignment(
            record,
            annotators[record.annotator],
            pairs[Pair.in_order(left.pk, right.pk)],
            key=keys[record.key],
            swapped=left.pk > right.pk,
            state=Assignment.State.VOID,
            revision=max((answer.revision for answer in record.answers), default=0),
        )
        for record, (left, right) in zip(archive.history, sides, strict=True)
    ]
    Assignment.objects.bulk_create(assignments, BATCH)
    judged = zip(assignments, archive.history, strict=True)
    _store_answers([(row, answer) for row, record in judged for answer in record.answers])


def _restore_judgments(archive: StudyArchive, assignments: Mapping[str, Assignment]) -> None:
    _store_answers([(assignments[record.assignment], record) for record in archive.judgments])
    skips = Counter(
        assignment.annotator_id for assignment in assignments.values() if assignment.state == Assignment.State.SKIPPED
    )
    for annotator_id, skipped in skips.items():
        Annotator.objects.filter(pk=annotator_id).update(skipped=skipped)


def _restore_reported_pairs(archive: StudyArchive, assignments: Mapping[str, Assignment]) -> None:
    now = timezone.now()
    ReportedPair.objects.bulk_create(
        (
            ReportedPair(
                assignment=assignments[record.assignment],
                reason=record.reason,
                note=record.note,
                at=moment(record.at, now),
            )
            for record in archive.reported_pairs
        ),
        BATCH,
    )


def _store_answers(answers: Sequence[tuple[Assignment, JudgmentRecord | HistoryAnswer]]) -> None:
    """Store every revision, and add it to the annotators' sums."""
    now = timezone.now()
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment=assignment,
                topic_id=assignment.topic_id,
                revision=answer.revision,
                answer=answer.answer,
                seconds=answer.seconds,
                at=moment(answer.at, now),
                extra=dict(answer.extra) or None,
            )
            for assignment, answer in answers
        ),
        BATCH,
    )
    last = {assignment.pk: (assignment, answer) for assignment, answer in answers}
    read: dict[int, list[float]] = {}
    for assignment, answer in last.values():
        if answer.answer != "undone" and assignment.reason != Assignment.Reason.TRAINING:
            read.setdefault(assignment.annotator_id, []).append(min(answer.seconds or 0.0, LONGEST_READ))
    for annotator_id, seconds in read.items():
        add_up(annotator_id, len(seconds), sum(seconds))


def _restore_gold_pairs(archive: StudyArchive, topics: Topics) -> None:
    prepared = {(record.topic, record.of) for record in archive.gold_pairs}
    sentences = {topic: sentence_ids(topics[topic]) for topic in prepared}
    GoldPair.objects.bulk_create(
        (
            GoldPair(
                topic_id=topics[record.topic, record.of],
                better_id=sentences[record.topic, record.of][record.better],
                worse_id=sentences[record.topic, record.of][record.worse],
                use=record.use,
                explanation=record.explanation,
            )
            for record in archive.gold_pairs
        ),
        BATCH,
    )


def _free_keys(keys: list[str]) -> dict[str, uuid.UUID]:
    """Each key itself, or a new one where it is taken."""
    taken: set[uuid.UUID] = set()
    for start in range(0, len(keys), BATCH):
        taken |= set(Assignment.objects.filter(key__in=keys[start : start + BATCH]).values_list("key", flat=True))
    return {key: uuid.uuid4() if uuid.UUID(key) in taken else uuid.UUID(key) for key in keys}
