"""Restore annotators, assignments and judgments of an exported study as they were."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from annotate.judging import designs, tallies
from annotate.judging.answers import LONGEST_READ
from annotate.judging.drawing import LEASE
from annotate.judging.importing import BATCH, Two, add_up, make_pairs, moment, recount_places, sentence_ids
from annotate.models import Annotator, Assignment, GoldPair, Item, ItemSet, Judgment, Pair, ReportedPair, Study
from preferendum.formats.answers import UNDONE
from preferendum.formats.judge import kept_of
from preferendum.formats.records import design_weight

if TYPE_CHECKING:
    from preferendum.formats.archive.study_records import (
        AssignmentRecord,
        HistoryAnswer,
        HistoryRecord,
        JudgmentRecord,
        StudyArchive,
    )
    from preferendum.formats.records import Of

    #: The keys of topics by their names and by what is compared there, and those of what is compared by its names.
    ItemSets = Mapping[tuple[str, Of], int]
    Named = Mapping[tuple[str, Of], Mapping[str, int]]
    #: A pair of an archive: its record, its topic, the sentences on the left and on the right, columns of its own.
    Shown = tuple[AssignmentRecord | HistoryRecord, int, Two, dict[str, Any]]
    #: A revision of an answer with the key of its assignment in the archive.
    Answered = tuple[str, JudgmentRecord | HistoryAnswer]


@transaction.atomic
def restore(study: Study, archive: StudyArchive, history: Mapping[int, Item]) -> None:
    """Store annotators, assignments and every revision of every answer, in the order of the archive.

    The study's topics and sentences must exist; `history`: the sentences of its history by their numbers. Keys are
    kept where they are free: an archive that is imported into its own installation gets new ones.
    """
    item_sets = ItemSet.objects.filter(study=study).by_name()
    tallies.raise_version(item_sets.values())
    annotators = _restore_annotators(study, archive)
    answers: list[Answered] = [
        *((answer.assignment, answer) for answer in archive.judgments),
        *((record.key, answer) for record in archive.history for answer in record.answers),
    ]
    last = dict(sorted(answers, key=lambda answered: answered[1].revision))
    named = {item_set: sentence_ids(item_set_id) for item_set, item_set_id in item_sets.items()}
    shown = [*_shown(archive, item_sets, named), *_shown_once(archive, history)]
    assignments = _restore_assignments(shown, annotators, last)
    _store_answers(assignments, answers)
    _add_up(assignments, last)
    _restore_reported_pairs(study, archive, assignments)
    _restore_gold_pairs(archive, item_sets, named)
    for item_set_id in sorted(item_sets.values()):
        recount_places(study, item_set_id)


def _restore_annotators(study: Study, archive: StudyArchive) -> dict[str, Annotator]:
    now = timezone.now()
    shown: Sequence[AssignmentRecord | HistoryRecord] = (*archive.assignments, *archive.history)
    shown_here = {record.annotator for record in shown if record.reason_shown != Assignment.Reason.IMPORTED}
    annotators = Annotator.objects.bulk_create(
        [
            Annotator(
                study=study,
                pseudonym=record.pseudonym,
                kind=record.kind,
                joined_at=moment(record.joined_at, now),
                excluded_at=moment(record.excluded_at, now) if record.excluded_at else None,
                imported=record.pseudonym not in shown_here,
                is_unnamed=record.unnamed,
                judge=kept_of(record.judge),
            )
            for record in archive.annotators
        ],
        BATCH,
    )
    return {annotator.pseudonym: annotator for annotator in annotators}


def _shown(archive: StudyArchive, item_sets: ItemSets, named: Named) -> Iterator[Shown]:
    numbers = designs.Numbers()
    for record in archive.assignments:
        item_set = record.topic, record.of
        weight = design_weight(record.reason_shown, record.design_weight)
        own = {
            "state": record.state,
            "skip_reason": record.skip_reason,
            "design_weight": weight,
            "drawn_for": numbers.of(item_sets[item_set], weight, record.drawn_for),
        }
        yield record, item_sets[item_set], (named[item_set][record.left], named[item_set][record.right]), own


def _shown_once(archive: StudyArchive, sentences: Mapping[int, Item]) -> Iterator[Shown]:
    """Pairs of removed topics and sentences: void, but still work done."""
    for record in archive.history:
        left, right = sentences[record.left.number], sentences[record.right.number]
        yield record, left.item_set_id, (left.pk, right.pk), {"state": Assignment.State.VOID}


def _restore_assignments(
    shown: Sequence[Shown], annotators: Mapping[str, Annotator], last: Mapping[str, JudgmentRecord | HistoryAnswer]
) -> dict[str, Assignment]:
    """The assignments by their keys in the archive. `last`: the last answers by the same keys."""
    wanted: dict[int, set[Two]] = defaultdict(set)
    for _record, item_set_id, sides, _own in shown:
        wanted[item_set_id].add(Pair.in_order(*sides))
    pairs: dict[Two, Pair] = {}
    for item_set_id, several in sorted(wanted.items()):
        pairs |= make_pairs(item_set_id, several)
    keys = _free_keys([record.key for record, *_rest in shown])
    now = timezone.now()
    assignments = [
        Assignment(
            key=keys[record.key],
            item_set_id=item_set_id,
            annotator=annotators[record.annotator],
            pair=pairs[Pair.in_order(left, right)],
            swapped=left > right,
            occasion=record.occasion,
            reason=record.reason_shown,
            expected=record.expected,
            holds_place=record.holds_place,
            revision=last[record.key].revision if record.key in last else 0,
            created_at=moment(record.created_at, now),
            expires_at=moment(record.created_at, now) + LEASE,
            closed_at=moment(record.closed_at, now) if record.closed_at else None,
            **own,
        )
        for record, item_set_id, (left, right), own in shown
    ]
    Assignment.objects.bulk_create(assignments, BATCH)
    return {record.key: assignment for (record, *_rest), assignment in zip(shown, assignments, strict=True)}


def _store_answers(assignments: Mapping[str, Assignment], answers: Sequence[Answered]) -> None:
    Judgment.objects.bulk_create(
        (
            Judgment(
                assignment=assignments[key],
                item_set_id=assignments[key].item_set_id,
                revision=answer.revision,
                answer=answer.answer,
                seconds=answer.seconds,
                at=moment(answer.at, None),
                extra=dict(answer.extra) or None,
                why=answer.why,
                note=answer.note,
                confidence=answer.confidence,
            )
            for key, answer in answers
        ),
        BATCH,
    )


def _add_up(assignments: Mapping[str, Assignment], last: Mapping[str, JudgmentRecord | HistoryAnswer]) -> None:
    """The annotators' sums of what they answered and skipped."""
    read: dict[int, list[float]] = defaultdict(list)
    for key, answer in last.items():
        if answer.answer != UNDONE and assignments[key].reason != Assignment.Reason.TRAINING:
            read[assignments[key].annotator_id].append(min(answer.seconds or 0.0, LONGEST_READ))
    for annotator_id, seconds in read.items():
        add_up(annotator_id, len(seconds), sum(seconds))
    skips = Counter(own.annotator_id for own in assignments.values() if own.state == Assignment.State.SKIPPED)
    for annotator_id, skipped in skips.items():
        Annotator.objects.filter(pk=annotator_id).update(skipped=skipped)


def _restore_reported_pairs(study: Study, archive: StudyArchive, assignments: Mapping[str, Assignment]) -> None:
    now = timezone.now()
    ReportedPair.objects.bulk_create(
        (
            ReportedPair(
                study=study,
                assignment=assignments[record.assignment],
                reason=record.reason,
                note=record.note,
                at=moment(record.at, now),
            )
            for record in archive.reported_pairs
        ),
        BATCH,
    )


def _restore_gold_pairs(archive: StudyArchive, item_sets: ItemSets, named: Named) -> None:
    GoldPair.objects.bulk_create(
        (
            GoldPair(
                item_set_id=item_sets[record.topic, record.of],
                better_id=named[record.topic, record.of][record.better],
                worse_id=named[record.topic, record.of][record.worse],
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
