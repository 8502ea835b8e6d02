"""Take an answer, take it back, leave a pair out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest, Now

from annotate.judging import tallies
from annotate.judging.drawing import WANTED, lease_of
from annotate.models import Annotator, Assignment, Judgment, Tally
from annotate.prepared import NUMBER, Prepared

#: Seconds that one pair adds to the time somebody has read, at most: whoever went for lunch was not reading.
LONGEST_READ = 180.0

Answer = Judgment.Answer
State = Assignment.State


class Outcome(enum.StrEnum):
    STORED = "stored"
    REPEATED = "repeated"  # this very answer is stored already
    DIFFERS = "differs"  # another answer was there first, and stands


class TooSoon(ValueError):
    """Faster than anybody can judge: the same answer a moment later is taken."""


class OutOfTurn(ValueError):
    """A revision that is not the next one of this assignment: nothing that a page of ours asks for."""


@dataclass(frozen=True)
class Recorded:
    """What became of an answer; `judgment` is the one that stands. `counted`: it has one of the pair's places."""

    outcome: Outcome
    judgment: Judgment
    counted: bool


@dataclass(frozen=True)
class Standing:
    """An assignment as it is while its topic's tally is locked. `excluded_at`: when its annotator was, if so."""

    state: str
    reason: str
    holds_place: bool
    revision: int
    expires_at: datetime | None
    excluded_at: datetime | None
    now: datetime


def record_judgment(assignment: Assignment, revision: int, answer: str, seconds: float | None = None) -> Recorded:
    """Store an answer, in one transaction that does nothing else. (assignment, revision) stands for one answer.

    Whoever repeats an answer hears that it is stored; whoever answers otherwise hears which answer stands. Work that
    was done is never refused: an answer after its lease has run out takes its place again if there is one left, and
    is kept as surplus otherwise. Practice, pairs with a known answer and repeats take no place: they are stored, and
    count as work (but for practice), never as evidence. Raises `OutOfTurn` for a revision that comes too early,
    `TooSoon` for a person's answer within a second of their last, ValueError for no answer, `Assignment.DoesNotExist`
    where the topic was cut anew since it was drawn.
    """
    if answer not in (Answer.LEFT, Answer.RIGHT, Answer.TIE):
        raise ValueError(f"not an answer: {answer!r}")
    try:
        recorded = _record(assignment, revision, answer, seconds)
    except IntegrityError:
        # The unique constraint has the last word, should two ever pass the lock at once.
        return _standing_answer(assignment, revision, answer)
    return recorded or _standing_answer(assignment, revision, answer)


def _record(assignment: Assignment, revision: int, answer: str, seconds: float | None) -> Recorded | None:
    """None where the revision is there already."""
    with transaction.atomic(durable=True):
        _lock_and_raise(assignment.topic_id)
        before = _look(assignment)
        if revision <= before.revision:
            transaction.set_rollback(True)
            return None
        if revision != before.revision + 1 or before.state == State.JUDGED:
            raise OutOfTurn(f"revision {revision} after {before.revision}")
        study = assignment.annotator.study
        if seconds is None and before.expires_at is not None:
            seconds = max(0.0, (before.now - before.expires_at + lease_of()).total_seconds())
        # Whoever is excluded has no places: what they held was given to others.
        may_take = before.state != State.VOID and before.excluded_at is None and before.reason in WANTED
        counted = before.holds_place or (
            may_take and tallies.take_place(assignment.topic_id, assignment.pair_id, study)
        )
        judgment = Judgment.objects.create(
            assignment=assignment,
            topic_id=assignment.topic_id,
            revision=revision,
            answer=answer,
            seconds=seconds,
            at=before.now,
        )
        assignment.revision = revision
        _close(assignment, State.JUDGED, before.now, counted)
        _add_up_answer(assignment, before, min(seconds or 0.0, LONGEST_READ))
    return Recorded(Outcome.STORED, judgment, counted)


def undo(assignment: Assignment, revision: int | None = None) -> bool:
    """Take the last answer back: a new revision says so, and the pair is open again with its place and a new lease.

    `revision` is the one that the undoing shall have, so that a second click undoes nothing more. False where there was
    no answer to take back, whoever gave it is excluded (what they judged is kept as it is), or it was practice.
    """
    with transaction.atomic(durable=True):
        _lock_and_raise(assignment.topic_id)
        before = _look(assignment)
        is_turn = revision is None or revision == before.revision + 1
        is_practice = before.reason == Assignment.Reason.TRAINING
        if before.state != State.JUDGED or before.excluded_at is not None or is_practice or not is_turn:
            transaction.set_rollback(True)
            return False
        last = Judgment.objects.get(assignment=assignment, revision=before.revision)
        Judgment.objects.create(
            assignment=assignment,
            topic_id=assignment.topic_id,
            revision=before.revision + 1,
            answer=Answer.UNDONE,
            at=before.now,
        )
        assignment.state, assignment.closed_at = State.OPEN, None
        assignment.holds_place, assignment.expires_at = before.holds_place, before.now + lease_of()
        assignment.revision = before.revision + 1
        assignment.save(update_fields=["state", "closed_at", "holds_place", "revision", "expires_at"])
        _take_off(assignment.annotator, min(last.seconds or 0.0, LONGEST_READ), _judged_last(assignment.annotator))
    return True


def skip(assignment: Assignment, reason: str) -> bool:
    """Leave a pair out and say why; its place is free for others.

    False where it was answered or skipped already, and in practice: that is short, and whoever judges sees it whole.
    """
    if reason not in Assignment.SkipReason.values:
        raise ValueError(f"not a reason: {reason!r}")
    with transaction.atomic(durable=True):
        tallies.lock_one(assignment.topic_id)
        before = _look(assignment)
        if before.state not in (State.OPEN, State.EXPIRED) or before.reason == Assignment.Reason.TRAINING:
            return False
        if before.holds_place:
            tallies.return_places(assignment.topic_id, [assignment.pair_id])
        assignment.skip_reason = reason
        assignment.revision = before.revision
        _close(assignment, State.SKIPPED, before.now, False, "skip_reason")
        annotator = assignment.annotator
        Annotator.objects.filter(pk=annotator.pk).update(
            skipped=F("skipped") + 1, skips_in_a_row=F("skips_in_a_row") + 1
        )
        annotator.skipped += 1
        annotator.skips_in_a_row += 1
    return True


def _lock_and_raise(topic_id: int) -> None:
    """Lock the topic's tally by raising its version."""
    Tally.objects.filter(topic_id=topic_id).update(data_version=F("data_version") + 1)


_state = Prepared(
    lambda pk: (
        Assignment.objects.filter(pk=pk)
        .annotate(now=Now())
        .values_list("state", "reason", "holds_place", "revision", "expires_at", "annotator__excluded_at", "now")
    ),
    NUMBER,
)


def _look(assignment: Assignment) -> Standing:
    for row in _state(assignment.pk):
        return Standing(*row)
    raise Assignment.DoesNotExist


def _standing_answer(assignment: Assignment, revision: int, answer: str) -> Recorded:
    judgment = Judgment.objects.get(assignment=assignment, revision=revision)
    assignment.refresh_from_db(fields=["state", "holds_place"])
    outcome = Outcome.REPEATED if judgment.answer == answer else Outcome.DIFFERS
    return Recorded(outcome, judgment, assignment.holds_place)


def _close(assignment: Assignment, state: str, now: datetime, holds_place: bool, *also: str) -> None:
    assignment.state, assignment.closed_at, assignment.holds_place = state, now, holds_place
    assignment.save(update_fields=["state", "closed_at", "holds_place", "revision", *also])


def _add_up_answer(assignment: Assignment, before: Standing, seconds: float) -> None:
    """Add an answer to what its annotator has done; practice is no work, but the clock sees it.

    Raises `TooSoon`, with everything undone, where their last answer was a moment ago. One statement looks and writes,
    so that a hundred answers at once do not all pass.
    """
    annotator = assignment.annotator
    rows = Annotator.objects.filter(pk=annotator.pk)
    if annotator.kind == Annotator.Kind.HUMAN and settings.PACE_SECONDS:
        pace = timedelta(seconds=settings.PACE_SECONDS)
        # A moment that is yet to come: the clock was set back, and must not keep anybody waiting.
        now = before.now
        rows = rows.filter(Q(judged_at=None) | Q(judged_at__lte=now - pace) | Q(judged_at__gt=now + pace))
    is_practice = before.reason == Assignment.Reason.TRAINING
    judged, skipped = (0 if is_practice else 1), (1 if before.state == State.SKIPPED else 0)
    previous = annotator.previous if is_practice else assignment.key
    if not rows.update(
        judged=F("judged") + judged,
        seconds=F("seconds") + judged * seconds,
        previous=previous,
        skipped=F("skipped") - skipped,  # whoever skipped a pair and answered it all the same has not left it out
        skips_in_a_row=0,
        judged_at=before.now,
    ):
        raise TooSoon
    annotator.judged += judged
    annotator.seconds += judged * seconds
    annotator.previous, annotator.skips_in_a_row = previous, 0
    annotator.skipped -= skipped


def _take_off(annotator: Annotator, seconds: float, previous: UUID | None) -> None:
    """Take an answer that was taken back off what they have done; they are not done any more."""
    Annotator.objects.filter(pk=annotator.pk).update(
        judged=F("judged") - 1, seconds=Greatest(F("seconds") - seconds, 0.0), previous=previous, finished_at=None
    )
    annotator.judged -= 1
    annotator.seconds = max(0.0, annotator.seconds - seconds)
    annotator.previous = previous


def _judged_last(annotator: Annotator) -> UUID | None:
    judged = Assignment.objects.filter(annotator=annotator, state=State.JUDGED)
    judged = judged.exclude(reason=Assignment.Reason.TRAINING)
    return judged.order_by("-closed_at", "-pk").values_list("key", flat=True).first()
