"""Take an answer, take it back, leave a pair out."""

from __future__ import annotations

import enum
import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest, Now

from annotate.judging import tallies
from annotate.judging.choosing import WANTED
from annotate.judging.drawing import lease_of
from annotate.models import Annotator, Assignment, Judgment, Tally
from annotate.prepared import Change, Changes, Prepared

#: Seconds that one pair adds to the time somebody has read, at most: whoever went for lunch was not reading.
LONGEST_READ = 180.0

#: What an answer changes of its annotator.
SUMS = ("judged", "seconds", "previous", "skipped", "skips_in_a_row")

#: Why the same answer is sent again a moment later.
SOON = "a moment after their last one"

Answer = Judgment.Answer
State = Assignment.State
logger = logging.getLogger(__name__)


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


class Changed(Exception):
    """An assignment is not as it was found a moment ago."""


@dataclass(frozen=True)
class Standing:
    """An assignment as it was found, and when (`now`). `excluded_at`: when its annotator was, if so.

    `locked`: whether its topic's tally was, so that no answer can be stored that came later than `now`.
    """

    state: str
    reason: str
    holds_place: bool
    revision: int
    expires_at: datetime | None
    excluded_at: datetime | None
    now: datetime
    locked: bool = True


def record_judgment(assignment: Assignment, revision: int, answer: str, seconds: float | None = None) -> Recorded:
    """Store an answer, in one transaction that does nothing else. (assignment, revision) stands for one answer.

    Whoever repeats an answer hears that it is stored; whoever answers otherwise hears which answer stands. Work that
    was done is never refused: an answer after its lease has run out takes its place again if there is one left, and
    is kept as surplus otherwise. Practice, pairs with a known answer and repeats take no place: they are stored, and
    count as work (but for practice), never as evidence. Raises `OutOfTurn` for a revision that comes too early,
    `TooSoon` for a person's answer within a second of their last, ValueError for no answer, `Assignment.DoesNotExist`
    where the topic was cut anew since it was drawn.
    """
    must_be_answer(answer)
    try:
        recorded = _record(assignment, revision, answer, seconds)
    except IntegrityError:
        # The unique constraint has the last word, should two ever pass the lock at once.
        return _standing_answer(assignment, revision, answer)
    return recorded or _standing_answer(assignment, revision, answer)


def _note_refusal(assignment: Assignment, revision: int, answer: str, why: str) -> None:
    """Nothing that somebody answered vanishes without a line that says where it went."""
    logger.warning("Answer %r to pair %s (revision %d) is not stored: %s", answer, assignment.key, revision, why)


def must_be_answer(answer: str) -> None:
    if answer not in (Answer.LEFT, Answer.RIGHT, Answer.TIE):
        raise ValueError(f"not an answer: {answer!r}")


def _record(assignment: Assignment, revision: int, answer: str, seconds: float | None) -> Recorded | None:
    """None where the revision is there already."""
    with transaction.atomic(durable=True):
        before = _lock_and_look(assignment)
        if revision <= before.revision:
            return None
        if revision != before.revision + 1 or before.state == State.JUDGED:
            _note_refusal(assignment, revision, answer, f"revision {before.revision} is the last one")
            raise OutOfTurn(f"revision {revision} after {before.revision}")
        # Whoever is excluded has no places: what they held was given to others.
        may_take = before.state != State.VOID and before.excluded_at is None and before.reason in WANTED
        counted = before.holds_place or (
            may_take and tallies.take_place(assignment.topic_id, assignment.pair_id, assignment.annotator.study)
        )
        try:
            return _store(assignment, before, revision, answer, seconds, counted)
        except TooSoon:
            _note_refusal(assignment, revision, answer, SOON)
            raise


def is_usual(assignment: Assignment, revision: int) -> bool:
    """Whether `find_answered` found it as nearly every answer does: open, and holding its place."""
    in_turn = revision == assignment.revision + 1
    return assignment.found_at is not None and assignment.state == State.OPEN and assignment.holds_place and in_turn


def store_usual(assignment: Assignment, revision: int, answer: str, seconds: float | None) -> Recorded:
    """Store an answer to a pair that was found as usual, in the caller's transaction; its topic is locked from here.

    Nothing is looked at again under the lock before it is written. Raises `Changed` where the pair is not as it was any
    more, or an answer that came later was stored first, and `TooSoon`: then the transaction has to be undone. (Whoever
    was excluded meanwhile has lost the place in the same moment.)
    """
    assert assignment.found_at is not None
    found = Standing(
        assignment.state,
        assignment.reason,
        assignment.holds_place,
        assignment.revision,
        assignment.expires_at,
        excluded_at=None,
        now=assignment.found_at,
        locked=False,
    )
    try:
        return _store(assignment, found, revision, answer, seconds, counted=True)
    except IntegrityError as error:  # this very answer was stored meanwhile
        raise Changed from error
    except TooSoon as error:
        if Annotator.objects.filter(pk=assignment.annotator_id, judged_at__gt=found.now).exists():
            raise Changed from error
        _note_refusal(assignment, revision, answer, SOON)
        raise


def undo(assignment: Assignment, revision: int | None = None) -> bool:
    """Take the last answer back: a new revision says so, and the pair is open again with its place and a new lease.

    `revision` is the one that the undoing shall have, so that a second click undoes nothing more. False where there was
    no answer to take back, whoever gave it is excluded (what they judged is kept as it is), or it was practice.
    """
    with transaction.atomic(durable=True):
        before = _lock_and_look(assignment)
        is_turn = revision is None or revision == before.revision + 1
        is_practice = before.reason == Assignment.Reason.TRAINING
        if before.state != State.JUDGED or before.excluded_at is not None or is_practice or not is_turn:
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
        tallies.raise_version([assignment.topic_id])
        _take_off(assignment.annotator, min(last.seconds or 0.0, LONGEST_READ), _judged_last(assignment.annotator))
    return True


def skip(assignment: Assignment, reason: str) -> bool:
    """Leave a pair out and say why; its place is free for others.

    False where it was answered or skipped already, and in practice: that is short, and whoever judges sees it whole.
    """
    if reason not in Assignment.SkipReason.values:
        raise ValueError(f"not a reason: {reason!r}")
    with transaction.atomic(durable=True):
        before = _lock_and_look(assignment)
        if before.state not in (State.OPEN, State.EXPIRED) or before.reason == Assignment.Reason.TRAINING:
            return False
        if before.holds_place:
            tallies.return_places(assignment.topic_id, [assignment.pair_id])
        assignment.state, assignment.skip_reason, assignment.closed_at = State.SKIPPED, reason, before.now
        assignment.holds_place, assignment.revision = False, before.revision
        assignment.save(update_fields=["state", "skip_reason", "closed_at", "holds_place"])
        annotator = assignment.annotator
        Annotator.objects.filter(pk=annotator.pk).update(
            skipped=F("skipped") + 1, skips_in_a_row=F("skips_in_a_row") + 1
        )
        annotator.skipped += 1
        annotator.skips_in_a_row += 1
    return True


_state = Prepared(
    lambda pk: (
        Assignment.objects.filter(pk=pk)
        .annotate(now=Now())
        .values_list("state", "reason", "holds_place", "revision", "expires_at", "annotator__excluded_at", "now")
    ),
)


def _lock_and_look(assignment: Assignment) -> Standing:
    """Lock the topic's tally, so that nothing of the assignment changes any more, and see how it is."""
    with suppress(Tally.DoesNotExist):  # then the assignment is gone, too
        tallies.lock_one(assignment.topic_id)
    for row in _state(assignment.pk):
        return Standing(*row)
    raise Assignment.DoesNotExist


def _standing_answer(assignment: Assignment, revision: int, answer: str) -> Recorded:
    judgment = Judgment.objects.get(assignment=assignment, revision=revision)
    assignment.refresh_from_db(fields=["state", "holds_place"])
    outcome = Outcome.REPEATED if judgment.answer == answer else Outcome.DIFFERS
    if outcome == Outcome.DIFFERS:
        _note_refusal(assignment, revision, answer, f"{judgment.answer!r} was there first")
    return Recorded(outcome, judgment, assignment.holds_place)


def _answered(
    topic: Any,
    assignment: Any,
    found: Any,
    held: Any,
    revision: Any,
    answer: Any,
    seconds: Any,
    at: Any,
    counted: Any,
    annotator: Any,
    earlier: Any,
    later: Any,
    judged: Any,
    read: Any,
    previous: Any,
    skipped: Any,
) -> list[Change]:
    """The topic's new version, which locks its tally, and after that: the assignment, if it is as it was found (its
    revision, whether it held a place), the answer, and the sums of the annotator if their last answer was `earlier`.

    One statement looks at the time of the last answer and writes that of this one, so that a hundred answers at once do
    not all pass. After `later`, if there is such a time, it is yet to come: the clock was set back, and must not keep
    anybody waiting.
    """
    as_found = Q(pk=assignment, revision=found, holds_place=held)
    in_time = Q(judged_at=None) | Q(judged_at__lte=earlier) | Q(judged_at__gt=later)
    closed = {"state": State.JUDGED.value, "closed_at": at, "holds_place": counted, "revision": revision}
    sums = {
        "judged": F("judged") + judged,
        "seconds": F("seconds") + read,
        "previous": previous,
        "skipped": F("skipped") - skipped,
        "skips_in_a_row": 0,
        "judged_at": at,
    }
    return [
        (Tally.objects.filter(topic_id=topic), {"data_version": F("data_version") + 1}),
        (Assignment.objects.filter(as_found), closed),
        Judgment(assignment_id=assignment, topic_id=topic, revision=revision, answer=answer, seconds=seconds, at=at),
        (Annotator.objects.filter(in_time, pk=annotator), sums),
    ]


_write = Changes(_answered)


def _store(
    assignment: Assignment, before: Standing, revision: int, answer: str, seconds: float | None, counted: bool
) -> Recorded:
    """Write the answer, and add it to what its annotator has done; practice is no work, but the clock sees it.

    Raises `TooSoon` where their last answer was a moment ago, `Changed` where the assignment is not as it was `before`:
    then everything has to be undone.
    """
    if seconds is None and before.expires_at is not None:
        seconds = max(0.0, (before.now - before.expires_at + lease_of()).total_seconds())
    annotator = assignment.annotator
    paced = annotator.kind == Annotator.Kind.HUMAN
    pace = timedelta(seconds=settings.PACE_SECONDS if paced else 0)
    is_practice = before.reason == Assignment.Reason.TRAINING
    judged, read = (0, 0.0) if is_practice else (1, min(seconds or 0.0, LONGEST_READ))
    previous = annotator.previous if is_practice else assignment.key
    # Whoever skipped a pair and answered it all the same has not left it out.
    skipped = 1 if before.state == State.SKIPPED else 0
    locked, closed, added, in_time = _write(
        topic=assignment.topic_id,
        assignment=assignment.pk,
        found=before.revision,
        held=before.holds_place,
        revision=revision,
        answer=answer,
        seconds=seconds,
        at=before.now,
        counted=counted,
        annotator=annotator.pk,
        earlier=before.now - pace,
        later=before.now + pace if before.locked else None,
        judged=judged,
        read=read,
        previous=previous,
        skipped=skipped,
    )
    if not (locked and closed):
        raise Changed
    if not in_time:
        raise TooSoon
    assignment.state, assignment.closed_at, assignment.holds_place = State.JUDGED, before.now, counted
    assignment.revision = revision
    annotator.judged += judged
    annotator.seconds += read
    annotator.previous, annotator.skips_in_a_row = previous, 0
    annotator.skipped -= skipped
    judgment = Judgment(
        pk=added,
        assignment=assignment,
        topic_id=assignment.topic_id,
        revision=revision,
        answer=answer,
        seconds=seconds,
        at=before.now,
    )
    judgment._state.adding = False
    return Recorded(Outcome.STORED, judgment, counted)


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
