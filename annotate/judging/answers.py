"""Take an answer, take it back, leave a pair out."""

from __future__ import annotations

import enum
import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Value
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from annotate.database import statements
from annotate.database.transactions import once_more
from annotate.judging import tallies
from annotate.judging.drawing import LEASE, draw_with_answer
from annotate.judging.no_pair import NoPair
from annotate.models import Annotator, Assignment, ItemSet, Judgment, LockedItemSet, ReportedPair, Study
from annotate.refusal import cleaned, invalid
from preferendum.formats.answers import ANSWERS, UNDONE
from preferendum.formats.checks.complaints import shown
from preferendum.formats.reasons import NOTE_CHARACTERS, listed

#: Seconds that one pair adds to an annotator's reading time, at most: a lunch break is no reading.
LONGEST_READ = 180.0

State = Assignment.State
logger = logging.getLogger(__name__)


class Outcome(enum.StrEnum):
    STORED = "stored"
    REPEATED = "repeated"  # this very answer is stored already
    DIFFERS = "differs"  # another answer was there first, and stands


class TooSoon(ValueError):
    """Faster than anybody can judge: the same answer a moment later is taken."""


class OutOfTurn(ValueError):
    """A revision that is not the next one of this assignment; our pages never send one."""


@dataclass(frozen=True)
class Recorded:
    """The outcome of an answer; `judgment` is the one that stands. `counted`: it has one of the pair's places.

    `following`: what was drawn in the same transaction; None where `draw` has to look further.
    """

    outcome: Outcome
    judgment: Judgment
    counted: bool
    following: Assignment | NoPair | None = None


class NotDrawn(Exception):
    """Drawing failed, and has undone what was stored before it."""


def record_judgment(
    assignment: Assignment,
    revision: int,
    answer: str,
    seconds: float | None = None,
    *,
    why: str = "",
    note: str = "",
    confidence: float | None = None,
    draws: bool = False,
    showing: Assignment | None = None,
) -> Recorded:
    """Store an answer, in one transaction. (assignment, revision) stands for one answer.

    `why`: the reasons that were tapped, with commas between them; `note`: the reason in the annotator's own words;
    `confidence`: a machine's, from 0 to 1.

    A repeated answer is reported as stored; for a different one, the answer that stands is returned. Work that was done
    is never refused: an answer after the end of its lease takes its place again if one is left, and is kept as surplus
    otherwise. Practice, gold pairs and repeats take no place: they are stored, and count as work (except practice),
    never as evidence. Raises `OutOfTurn` for a revision that is too early, `TooSoon` for a person's answer within
    PACE_SECONDS of their last, ValueError for no answer, `Refusal` for a reason that the study does not offer,
    `Assignment.DoesNotExist` where the topic was cut again since.

    If it `draws`, the next pair is drawn in the same transaction, so that others wait for the item set once: the one to
    judge now, or, where the page is `showing` that already, the one after it. The answer is stored even if drawing
    fails.
    """
    if answer not in ANSWERS:
        raise ValueError(f"not an answer: {answer!r}")
    given = Judgment(assignment=assignment, revision=revision, answer=answer, seconds=seconds, confidence=confidence)
    if why or note:
        given.why, given.note = _reason(assignment.annotator.study, why, note)
    try:
        # Once more, in case its item set is restored at this moment.
        return once_more(partial(_record, assignment, given, draws, showing))
    except NotDrawn:
        logger.exception("no pair could be drawn with an answer; it is stored by itself")
        return _record(assignment, given)
    except IntegrityError:
        # The unique constraint decides if two pass the lock at once.
        assignment.refresh_from_db(fields=["state", "holds_place"])
        return _what_stands(assignment, revision, answer)


def _reason(study: Study, why: str, note: str) -> tuple[str, str]:
    """The reason for an answer as it is stored. Raises `Refusal` for what the study does not offer."""
    offered, given = study.offered_reasons, listed(why)
    if unknown := [word for word in given if word not in offered]:
        message = _("Reasons: found %(word)s; expected %(words)s.")
        raise invalid("why", message % {"word": shown(unknown[0]), "words": ", ".join(offered) or _("none")})
    stored = cleaned("note", note)
    if len(stored) > NOTE_CHARACTERS or (stored and not study.reason_note):
        most = NOTE_CHARACTERS if study.reason_note else 0
        message = _("The reason in your own words: found %(count)d characters; expected at most %(most)d.")
        raise invalid("note", message % {"count": len(stored), "most": most})
    return ",".join(given), stored


def _record(
    assignment: Assignment, given: Judgment, draws: bool = False, showing: Assignment | None = None
) -> Recorded:
    revision, answer = given.revision, given.answer
    with transaction.atomic(durable=True):
        item_set, annotator = _lock(assignment, removed=True)
        if revision <= assignment.revision:
            return _what_stands(assignment, revision, answer)
        is_void = assignment.state == State.VOID
        is_answered = assignment.state == State.JUDGED or (is_void and assignment.last_answer not in (None, UNDONE))
        if revision != assignment.revision + 1 or is_answered:
            _note_refusal(assignment, revision, answer, f"revision {assignment.revision} is the last one")
            raise OutOfTurn(f"revision {revision} after {assignment.revision}")
        if not assignment.holds_place and _take_place_again(assignment):
            assignment.holds_place = True
            item_set.taken += annotator.kind == Annotator.TAKES_PLACES
        _store(assignment, item_set.now, given)
        item_set.answers = int(annotator.kind != Annotator.TRIAL)
        following = None
        if (draws or showing is not None) and not is_void:
            try:
                following = draw_with_answer(item_set, annotator, showing)
            except Exception as error:
                raise NotDrawn from error
        statements.count(item_set)  # or they were counted with the place of a pair
    return Recorded(Outcome.STORED, given, assignment.holds_place, following)


def _lock(assignment: Assignment, *, removed: bool = False) -> tuple[LockedItemSet, Annotator]:
    """Lock the item set, even a `removed` one, and the annotator; refresh both and the assignment."""
    item_set = statements.lock(assignment) or (_lock_in_removed(assignment) if removed else None)
    if item_set is None:
        # Its sentence was removed meanwhile and moved it into the history: the next attempt looks there.
        assignment.refresh_from_db(fields=["item_set"])
        raise Assignment.DoesNotExist
    return item_set, assignment.annotator


def _lock_in_removed(assignment: Assignment) -> LockedItemSet | None:
    """Lock a removed item set with the annotator, and refresh both and the assignment; None where the set is not
    removed, or the assignment is not there.
    """
    item_set = _lock_removed(assignment.item_set_id)
    here = Assignment.objects.filter(pk=assignment.pk, item_set=item_set.pk if item_set else None)
    rows = here.select_related("annotator__study").select_for_update(no_key=True, of=("annotator",))
    for row in rows.only(*Assignment.LOCKED, "annotator"):
        for field in (*Assignment.LOCKED, "annotator"):
            setattr(assignment, field, getattr(row, field))
        return item_set
    return None


def _lock_removed(item_set_id: int) -> LockedItemSet | None:
    """Lock a removed item set, so that nobody restores it meanwhile; None if it is not removed."""
    rows = ItemSet.with_unfinished.select_for_update(no_key=True).filter(pk=item_set_id, removal__isnull=False)
    of_nothing_drawn = Value(0), Value(False)
    return next((LockedItemSet(*row) for row in rows.values_list("pk", *of_nothing_drawn, Now())), None)


def _take_place_again(assignment: Assignment) -> bool:
    """Whether it got its place back: excluded annotators and trials hold none."""
    annotator = assignment.annotator
    has_none = annotator.is_excluded or annotator.kind == Annotator.TRIAL
    if assignment.state == State.VOID or not assignment.is_wanted or has_none:
        return False
    return tallies.take_place(assignment)


def _store(assignment: Assignment, now: datetime, given: Judgment) -> None:
    """Write the answer, and add it to its annotator's sums. Raises `TooSoon`: the caller rolls back."""
    if given.seconds is None and assignment.expires_at is not None:
        given.seconds = max(0.0, (now - assignment.expires_at + LEASE).total_seconds())
    if not _add_up(assignment, now, given.seconds or 0.0):
        _note_refusal(assignment, given.revision, given.answer, "a moment after their last one")
        raise TooSoon
    if assignment.state != State.VOID:  # that it is until its item set is restored
        assignment.state = State.JUDGED
    assignment.closed_at, assignment.revision = now, given.revision
    given.item_set_id, given.at = assignment.item_set_id, now
    statements.store(assignment, given)


def _add_up(assignment: Assignment, now: datetime, seconds: float) -> bool:
    """Add an answer to its annotator's sums; practice is no work, but sets `judged_at`. False where it is too soon.

    The annotator is locked, so that only one of many simultaneous answers passes. A last answer in the future means
    that the clock was set back; nobody has to wait for it.
    """
    annotator = assignment.annotator
    pace = timedelta(seconds=settings.PACE_SECONDS if annotator.kind in (Annotator.Kind.HUMAN, Annotator.TRIAL) else 0)
    if annotator.judged_at is not None and now - pace < annotator.judged_at <= now + pace:
        return False
    annotator.judged_at, annotator.skips_in_a_row = now, 0
    is_void = assignment.state == State.VOID
    if not assignment.is_practice:
        annotator.judged += 1
        annotator.seconds += min(seconds, LONGEST_READ)
        annotator.previous = annotator.previous if is_void else assignment.key
    if assignment.state == State.SKIPPED or (is_void and assignment.skip_reason):  # answered all the same
        annotator.skipped -= 1
    return True


def _what_stands(assignment: Assignment, revision: int, answer: str) -> Recorded:
    judgment = Judgment.objects.get(assignment=assignment, revision=revision)
    outcome = Outcome.REPEATED if judgment.answer == answer else Outcome.DIFFERS
    if outcome == Outcome.DIFFERS:
        _note_refusal(assignment, revision, answer, f"{judgment.answer!r} was there first")
    return Recorded(outcome, judgment, assignment.holds_place)


def _note_refusal(assignment: Assignment, revision: int, answer: str, why: str) -> None:
    """Log every answer that is not stored."""
    logger.warning("Answer %r to pair %s (revision %d) is not stored: %s", answer, assignment.key, revision, why)


def undo(assignment: Assignment, revision: int | None = None) -> bool:
    """Take the last answer back in a new revision; the pair is open again with its place and a new lease.

    A skipped pair is open again if it has a place left; otherwise its answer will be surplus. `revision` is that of the
    undo, so that a second click undoes nothing more. False where there was nothing to take back, it was practice, or
    the annotator is excluded (their judgments are kept as they are).
    """
    with transaction.atomic(durable=True):
        item_set, annotator = _lock(assignment)
        is_turn = revision is None or revision == assignment.revision + 1
        is_done = assignment.state in (State.JUDGED, State.SKIPPED) and not assignment.is_practice
        if not (is_turn and is_done) or annotator.is_excluded:
            return False
        if assignment.state == State.SKIPPED:
            _open_again(assignment, item_set)
            return True
        last = Judgment.objects.get(assignment=assignment, revision=assignment.revision)
        assignment.state, assignment.closed_at, assignment.expires_at = State.OPEN, None, item_set.now + LEASE
        assignment.revision += 1
        assignment.save(update_fields=["state", "closed_at", "revision", "expires_at"])
        Judgment.objects.create(
            assignment=assignment,
            item_set_id=assignment.item_set_id,
            revision=assignment.revision,
            answer=UNDONE,
            at=item_set.now,
        )
        if annotator.kind != Annotator.TRIAL:
            tallies.raise_version([assignment.item_set_id])
        _take_off(annotator, min(last.seconds or 0.0, LONGEST_READ))
    return True


def _open_again(assignment: Assignment, item_set: LockedItemSet) -> None:
    """Open a skipped pair again; without a place it is expired."""
    assignment.holds_place = _take_place_again(assignment)
    assignment.state = State.OPEN if assignment.holds_place else State.EXPIRED
    assignment.skip_reason, assignment.closed_at, assignment.expires_at = "", None, item_set.now + LEASE
    assignment.save(update_fields=["state", "skip_reason", "closed_at", "holds_place", "expires_at"])
    annotator = assignment.annotator
    annotator.skipped -= 1
    annotator.skips_in_a_row = max(annotator.skips_in_a_row - 1, 0)
    annotator.previous = last_done(annotator)
    annotator.save(update_fields=["skipped", "skips_in_a_row", "previous"])


def _take_off(annotator: Annotator, seconds: float) -> None:
    """Subtract an undone answer from the annotator's sums; they are not finished any more."""
    annotator.judged -= 1
    annotator.seconds = max(annotator.seconds - seconds, 0.0)
    annotator.previous = last_done(annotator)
    annotator.finished_at = None
    annotator.save(update_fields=["judged", "seconds", "previous", "finished_at"])


def last_done(annotator: Annotator) -> UUID | None:
    """The key of the assignment that the annotator answered or skipped last."""
    done = Assignment.objects.done().filter(annotator=annotator).order_by("-closed_at", "-pk")
    return done.values_list("key", flat=True).first()


def skip(assignment: Assignment, reason: str, report: str = "", note: str = "") -> bool:
    """Skip a pair for a reason; its place is free for others.

    `report`: what is wrong with the pair, for the researchers to read, with a `note` in the annotator's own words.
    False where it was answered or skipped already, and in practice, which nobody may skip. Raises `Refusal` for a note
    that cannot be stored.
    """
    if reason not in Assignment.SkipReason.values or report not in ("", *ReportedPair.Reason.values):
        raise ValueError(f"not a reason: {reason!r}, {report!r}")
    note = cleaned("note", note)
    if note and not report:
        report = ReportedPair.Reason.OTHER
    with transaction.atomic(durable=True):
        item_set, annotator = _lock(assignment)
        if assignment.state not in (State.OPEN, State.EXPIRED) or assignment.is_practice:
            return False
        if assignment.holds_place and annotator.kind == Annotator.TAKES_PLACES:
            tallies.return_places(assignment.item_set_id, [assignment.pair_id])
        assignment.state, assignment.skip_reason, assignment.closed_at = State.SKIPPED, reason, item_set.now
        assignment.holds_place = False
        assignment.save(update_fields=["state", "skip_reason", "closed_at", "holds_place"])
        annotator.skipped += 1
        annotator.skips_in_a_row += 1
        annotator.previous = assignment.key
        annotator.save(update_fields=["skipped", "skips_in_a_row", "previous"])
        if report:
            ReportedPair.objects.create(
                study_id=annotator.study_id, assignment=assignment, reason=report, note=note, at=item_set.now
            )
    return True
