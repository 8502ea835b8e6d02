"""The annotators, pairs as shown and judgments of an exported study, taken back as they were."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from annotate.judging import tallies
from annotate.judging.answers import LONGEST_READ
from annotate.judging.drawing import LEASE
from annotate.judging.importing import BATCH, Two, add_up, make_pairs, moment, recount_places, sentence_ids
from annotate.models import Annotator, Assignment, GoldPair, Judgment, Pair, Study, Topic

if TYPE_CHECKING:
    from formats.study import StudyArchive


@transaction.atomic
def restore(study: Study, archive: StudyArchive) -> None:
    """Store who judged, what they were shown and every revision of every answer, in the order of the archive.

    The study's topics and sentences must be there. Keys are kept where they are free: an archive that is taken back
    into the installation that it came from gets new ones.
    """
    topics = dict(Topic.objects.filter(study=study).values_list("name", "pk"))
    tallies.raise_version(topics.values())
    annotators = _restore_annotators(study, archive)
    assignments = _restore_assignments(archive, topics, annotators)
    _restore_judgments(archive, assignments)
    _restore_gold_pairs(archive, topics)
    for topic_id in sorted(topics.values()):
        recount_places(study, topic_id)


def _restore_annotators(study: Study, archive: StudyArchive) -> dict[str, Annotator]:
    now = timezone.now()
    shown_here = {record.annotator for record in archive.assignments if record.reason_shown != "imported"}
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
    archive: StudyArchive, topics: Mapping[str, int], annotators: Mapping[str, Annotator]
) -> dict[str, Assignment]:
    """The assignments by their keys in the archive."""
    sentences = {name: sentence_ids(topic_id) for name, topic_id in topics.items()}
    sides: dict[str, Two] = {
        record.key: (sentences[record.topic][record.left], sentences[record.topic][record.right])
        for record in archive.assignments
    }
    wanted: dict[str, set[Two]] = {}
    for record in archive.assignments:
        wanted.setdefault(record.topic, set()).add(Pair.in_order(*sides[record.key]))
    pairs: dict[Two, Pair] = {}
    for name, several in sorted(wanted.items()):
        pairs |= make_pairs(topics[name], several)
    keys = _free_keys([record.key for record in archive.assignments])
    revisions = {record.assignment: record.revision for record in archive.judgments}
    now = timezone.now()
    restored: dict[str, Assignment] = {}
    for record in archive.assignments:
        created_at = moment(record.created_at, now)
        left, right = sides[record.key]
        restored[record.key] = Assignment(
            key=keys[record.key],
            topic_id=topics[record.topic],
            annotator=annotators[record.annotator],
            pair=pairs[Pair.in_order(*sides[record.key])],
            swapped=left > right,
            occasion=record.occasion,
            reason=record.reason_shown,
            expected=record.expected,
            state=record.state,
            skip_reason=record.skip_reason,
            holds_place=record.holds_place,
            revision=revisions.get(record.key, 0),
            created_at=created_at,
            expires_at=created_at + LEASE,
            closed_at=moment(record.closed_at, now) if record.closed_at else None,
        )
    Assignment.objects.bulk_create(restored.values(), BATCH)
    return restored


def _restore_judgments(archive: StudyArchive, assignments: Mapping[str, Assignment]) -> None:
    now = timezone.now()
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment=assignments[record.assignment],
                topic_id=assignments[record.assignment].topic_id,
                revision=record.revision,
                answer=record.answer,
                seconds=record.seconds,
                at=moment(record.at, now),
                extra=dict(record.extra) or None,
            )
            for record in archive.judgments
        ),
        BATCH,
    )
    skips = Counter(
        assignment.annotator_id for assignment in assignments.values() if assignment.state == Assignment.State.SKIPPED
    )
    for annotator_id, skipped in skips.items():
        Annotator.objects.filter(pk=annotator_id).update(skipped=skipped)
    last = {record.assignment: record for record in archive.judgments}
    read: dict[int, list[float]] = {}
    for key, record in last.items():
        if record.answer != "undone" and assignments[key].reason != Assignment.Reason.TRAINING:
            read.setdefault(assignments[key].annotator_id, []).append(min(record.seconds or 0.0, LONGEST_READ))
    for annotator_id, seconds in read.items():
        add_up(annotator_id, len(seconds), sum(seconds))


def _restore_gold_pairs(archive: StudyArchive, topics: Mapping[str, int]) -> None:
    sentences = {name: sentence_ids(topics[name]) for name in {record.topic for record in archive.gold_pairs}}
    GoldPair.objects.bulk_create(
        (
            GoldPair(
                topic_id=topics[record.topic],
                better_id=sentences[record.topic][record.better],
                worse_id=sentences[record.topic][record.worse],
                use=record.use,
                explanation=record.explanation,
            )
            for record in archive.gold_pairs
        ),
        BATCH,
    )


def _free_keys(keys: list[str]) -> dict[str, uuid.UUID]:
    """Each key itself, or a new one where this installation has it already."""
    taken: set[uuid.UUID] = set()
    for start in range(0, len(keys), BATCH):
        taken |= set(Assignment.objects.filter(key__in=keys[start : start + BATCH]).values_list("key", flat=True))
    return {key: uuid.uuid4() if uuid.UUID(key) in taken else uuid.UUID(key) for key in keys}
