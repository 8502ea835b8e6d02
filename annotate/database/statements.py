"""The statements of a click, in plain SQL: docs/decisions/plain-sql-in-a-click.md.

SQLite needs no locks here: its transactions lock everything at their start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from operator import itemgetter
from typing import Any, cast
from uuid import UUID

from django.db import connection, models

from annotate.database.plain import Read, add, change, moment, read
from annotate.models import Annotator, Assignment, Item, ItemSet, Judgment, LockedItemSet, Pair, Study, Topic
from preferendum.formats.checks.text import visible

Reason = Assignment.Reason
#: How many rows a draw looks at: the newest answers for a pair to share, the oldest unfinished pairs.
LOOK = 64
FOR_UPDATE = {"sqlite": "", "postgresql": "FOR UPDATE OF tally FOR NO KEY UPDATE OF shown, annotator"}

SHOWN = Read(
    Assignment,
    "shown",
    *("id", "key", "item_set_id", "annotator_id", "pair_id", "reason", "state", "revision", "expires_at"),
    *("swapped", "expected"),
)
PAIR = Read(Pair, "pair")
FIRST, SECOND = (Read(Item, alias, "id", "text") for alias in ("one", "other"))
WHOLE_FIRST, WHOLE_SECOND = (Read(Item, alias, "id", "text", "turns", "document_id") for alias in ("one", "other"))
ITEM_SET = Read(ItemSet, "item_set", "id", "study_id", "topic_id", "of")
TOPIC = Read(Topic, "topic", "sentence_set_id", "study_id", "name", "title", "question", "language")
WHO = Read(Annotator, "annotator", "id", "key", "study_id", "user_id", "kind")
ASKS = Read(Study, "study", "id", "language", "ties_allowed", "neither_allowed", "reason_words", "reason_note")
STATE = Read(Assignment, "shown", "id", *Assignment.LOCKED)
ANNOTATOR = Read(
    Annotator,
    "annotator",
    *(f.attname for f in Annotator._meta.concrete_fields if not isinstance(f, models.JSONField)),
)
STUDY = Read(Study, "study", *(f.attname for f in Study._meta.concrete_fields if not isinstance(f, models.JSONField)))

FIND = """
FROM annotate_assignment shown
JOIN annotate_pair pair ON pair.id = shown.pair_id
JOIN annotate_item one ON one.id = pair.first_id
JOIN annotate_item other ON other.id = pair.second_id
JOIN annotate_itemset item_set ON item_set.id = shown.item_set_id
JOIN annotate_topic topic ON topic.id = item_set.topic_id
JOIN annotate_annotator annotator ON annotator.id = shown.annotator_id
JOIN annotate_study study ON study.id = annotator.study_id
WHERE shown.key IN ({keys})
"""
#: What is read with an assignment: to answer it, with the time; to show it, with the revision of the annotator's last.
ANSWERED = (SHOWN, PAIR, FIRST, SECOND, ITEM_SET, TOPIC, WHO, ASKS)
TO_ANSWER = f"SELECT {', '.join(part.sql for part in ANSWERED)}, {{now}} {FIND}"
ANNOTATOR_SHOWN = Read(
    Annotator,
    "annotator",
    *("id", "key", "study_id", "user_id", "kind", "quota", "judged", "seconds", "pace", "summary_pace"),
    *("sentence_pairs", "summary_pairs", "previous", "shortcuts"),
)
STUDY_SHOWN = Read(
    Study,
    "study",
    *("id", "title", "compares", "question", "summary_question", "language", "ties_allowed", "neither_allowed"),
    *("reason_words", "reason_note", "show_progress", "pairs_per_annotator", "summary_share", "form_token"),
)
ON_PAGE = (SHOWN, PAIR, WHOLE_FIRST, WHOLE_SECOND, ITEM_SET, TOPIC, ANNOTATOR_SHOWN, STUDY_SHOWN)
TO_SHOW = f"""
SELECT {", ".join(part.sql for part in ON_PAGE)},
    (SELECT before.revision FROM annotate_assignment before WHERE before.key = annotator.previous) {FIND}
"""

#: Locks the item set first, then the assignment, then the annotator: the order of every transaction.
LOCK = f"""
SELECT tally.item_set_id, tally.taken, tally.of_summaries, {{now}},
    (SELECT MAX(position) FROM annotate_item WHERE item_set_id = tally.item_set_id),
    {STATE.sql}, {ANNOTATOR.sql}, {STUDY.sql}
FROM annotate_tally tally
JOIN annotate_assignment shown ON shown.item_set_id = tally.item_set_id
JOIN annotate_annotator annotator ON annotator.id = shown.annotator_id
JOIN annotate_study study ON study.id = annotator.study_id
WHERE tally.item_set_id = %s AND shown.id = %s
{{lock}}
"""

_FREE = """
(pair.id IS NULL OR ({has_place} AND NOT EXISTS (
    SELECT 1 FROM annotate_assignment WHERE annotator_id = %(annotator)s AND pair_id = pair.id)))
"""
#: How many places of a pair annotators of a kind hold, for kinds that do not take people's places.
_HELD_BY_KIND = """
SELECT COUNT(*) FROM annotate_assignment held JOIN annotate_annotator holder ON holder.id = held.annotator_id
WHERE held.pair_id = pair.id AND held.holds_place AND holder.excluded_at IS NULL AND holder.kind = %(kind)s
"""
#: Whether an annotator may have a pair: it has no row, or a place is left and they have not seen it. The key: whether
#: their kind takes people's places.
FREE = {
    True: _FREE.format(has_place="pair.taken < %(per_pair)s AND (pair.need = 0 OR pair.taken < pair.need)"),
    False: _FREE.format(has_place=f"({_HELD_BY_KIND}) < %(per_pair)s"),
}
COLUMNS = "one.id, one.text, other.id, other.text, pair.id, pair.need, pair.taken"

#: The pairs that an annotator holds, unordered: to sort, SQLite would read everything that they judged.
HELD = """
SELECT 0, id, expires_at, {now}, 0, '', 0, '', 0, 0, 0, FALSE, 1.0, 0
FROM annotate_assignment WHERE annotator_id = %(annotator)s AND state = 'open'
"""
#: The first pair that the worker suggests and the annotator may have.
WISHED = f"""
SELECT 1, 0, NULL, NULL, wished.* FROM (
    SELECT {COLUMNS}, wish.is_random, wish.design_weight, wish.drawn_for
    FROM annotate_suggestion wish
    JOIN annotate_item one ON one.id = wish.first_id AND one.not_judged = ''
    JOIN annotate_item other ON other.id = wish.second_id AND other.not_judged = ''
    LEFT JOIN annotate_pair pair ON pair.first_id = wish.first_id AND pair.second_id = wish.second_id
    WHERE wish.item_set_id = %(item_set)s AND {{free}}
    ORDER BY wish.rank LIMIT 1) AS wished
"""
#: The randomly drawn pairs, by the positions of their texts, that the annotator may have. SQLite reads the tables of a
#: CROSS JOIN in this order.
DRAWN = f"""
SELECT 2, drawn.column3, NULL, NULL, {COLUMNS}, TRUE, 1.0, NULL
FROM (VALUES {{drawn}}) AS drawn
CROSS JOIN annotate_item one
CROSS JOIN annotate_item other
LEFT JOIN annotate_pair pair ON pair.first_id = one.id AND pair.second_id = other.id
WHERE one.item_set_id = %(item_set)s AND one.position IN (drawn.column1, drawn.column2) AND one.not_judged = ''
    AND other.item_set_id = %(item_set)s AND other.position IN (drawn.column1, drawn.column2) AND other.not_judged = ''
    AND one.id < other.id AND {{free}}
"""

#: Of an item set's {look} newest answers, the pairs that one other annotator of a kind has judged, newest first.
JUDGED_ONCE = f"""
SELECT judged.reason, judged.design_weight, judged.drawn_for, {PAIR.sql}, {FIRST.sql}, {SECOND.sql}
FROM annotate_assignment judged
JOIN annotate_annotator judge ON judge.id = judged.annotator_id AND judge.excluded_at IS NULL
JOIN annotate_pair pair ON pair.id = judged.pair_id
JOIN annotate_item one ON one.id = pair.first_id AND one.not_judged = ''
JOIN annotate_item other ON other.id = pair.second_id AND other.not_judged = ''
WHERE judged.id IN (SELECT newest.id FROM (
        SELECT id FROM annotate_assignment WHERE item_set_id = %(item_set)s AND reason IN ('random', 'suggested')
        ORDER BY id DESC LIMIT {{look}}) AS newest)
    AND judged.state = 'judged' AND judged.holds_place AND judged.annotator_id <> %(annotator)s
    AND judge.kind = %(kind)s
    AND NOT EXISTS (
        SELECT 1 FROM annotate_assignment again JOIN annotate_annotator who ON who.id = again.annotator_id
        WHERE again.pair_id = judged.pair_id AND again.id <> judged.id AND (again.annotator_id = %(annotator)s
            OR (again.holds_place AND who.kind = %(kind)s AND who.excluded_at IS NULL)))
ORDER BY judged.id DESC
"""

#: Adds an answer to an annotator's sums.
ADD_UP = """
UPDATE annotate_annotator
SET judged_at = %s, judged = %s, seconds = %s, previous = %s, skipped = %s, skips_in_a_row = %s
WHERE id = %s
"""
CLOSE = "UPDATE annotate_assignment SET state = %s, closed_at = %s, holds_place = %s, revision = %s WHERE id = %s"
JUDGE = """
INSERT INTO annotate_judgment (assignment_id, item_set_id, revision, answer, seconds, why, note, confidence, at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) RETURNING id
"""
COUNT = "UPDATE annotate_tally SET taken = taken + %s, data_version = data_version + %s WHERE item_set_id = %s"
ADD_PAIR = """
INSERT INTO annotate_pair (item_set_id, first_id, second_id, need, taken) VALUES (%s, %s, %s, %s, %s) RETURNING id
"""
RESERVE = "UPDATE annotate_pair SET need = %s, taken = %s WHERE id = %s"
LEASED = (
    *("key", "item_set_id", "annotator_id", "pair_id", "swapped", "occasion", "reason", "design_weight", "drawn_for"),
    *("expected", "state", "skip_reason", "holds_place", "revision", "created_at", "expires_at"),
)
LEASE = f"""
INSERT INTO annotate_assignment ({", ".join(LEASED)}) VALUES ({", ".join(["%s"] * len(LEASED))}) RETURNING id
"""


@dataclass(frozen=True)
class Choice:
    """A pair that is free for an annotator, and why it is shown to them. One that was never assigned has no row yet.

    `again`: their own expired assignment, to open again. `swapped` None: random. `expected`: the right side, if there
    is one. `design_weight`, `drawn_for`: as in an assignment.
    """

    pair: Pair
    reason: str
    again: Assignment | None = None
    swapped: bool | None = None
    occasion: int = 0
    expected: str = ""
    design_weight: float = 1.0
    drawn_for: int | None = None


@dataclass(frozen=True)
class Candidates:
    """Pairs for an annotator: the leases that they hold, as (assignment, end, now), and a choice of an item set."""

    held: list[tuple[int, datetime, datetime]]
    choice: Choice | None = None


def find_to_answer(keys: Sequence[UUID]) -> dict[UUID, Assignment]:
    """Assignments by their keys, with what an answer and its page need, and `now`, by the database's clock."""
    by_key: dict[UUID, Assignment] = {}
    for row in read(TO_ANSWER, keys, keys=", ".join(["%s"] * len(keys))):
        assignment = _made(ANSWERED, row)
        assignment.now = moment(row[-1])  # type: ignore[attr-defined]
        by_key[assignment.key] = assignment
    return by_key


def find_to_show(key: UUID) -> Assignment:
    """The assignment with this key, with what its page shows. Raises `Assignment.DoesNotExist`."""
    for row in read(TO_SHOW, [key], keys="%s"):
        assignment = _made(ON_PAGE, row)
        assignment.annotator.undo_revision = (row[-1] or 0) + 1
        return assignment
    raise Assignment.DoesNotExist


def _made(parts: Sequence[Read[Any]], row: Sequence[Any]) -> Assignment:
    """The assignment of a row, with its other parts in their places."""
    values = iter(row)
    assignment, pair, first, second, item_set, topic, annotator, study = (part.make(values) for part in parts)
    pair.first, pair.second, item_set.topic, annotator.study = first, second, topic, study
    assignment.pair, assignment.item_set, assignment.annotator = pair, item_set, annotator
    return cast("Assignment", assignment)


def lock(assignment: Assignment) -> LockedItemSet | None:
    """Lock the item set, the assignment and its annotator, and refresh them and the study.

    None where the set was removed or the assignment moved to its history: then nothing is locked.
    """
    for row in read(LOCK, (assignment.item_set_id, assignment.pk), lock=FOR_UPDATE[connection.vendor]):
        values = iter(row)
        item_set_id, taken, of_summaries, now, last = (next(values) for _column in range(5))
        current = STATE.make(values)
        for field in Assignment.LOCKED:
            setattr(assignment, field, getattr(current, field))
        assignment.annotator = ANNOTATOR.make(values)
        assignment.annotator.study = STUDY.make(values)
        return LockedItemSet(item_set_id, taken, bool(of_summaries), moment(now), last=last)
    return None


def find_candidates(item_set: LockedItemSet | None, annotator: Annotator, drawn: Sequence[Sequence[int]]) -> Candidates:
    """The leases that an annotator holds, and a pair of the set that they may have: the first that the worker
    suggests, if the study allows it, or else the first of those that were `drawn`, as positions of two texts."""
    values: dict[str, Any] = {"annotator": annotator.pk}
    parts, places = [HELD], ""
    if item_set is not None:
        asks = annotator.study.random_share < 1 or item_set.of_summaries
        parts += [*[WISHED] * asks, *[DRAWN] * bool(drawn)]
        values |= {"kind": annotator.kind, "per_pair": annotator.study.judgments_per_pair}
        values |= {"item_set": item_set.pk}
        values |= {f"drawn{number}": position for number, position in enumerate(chain.from_iterable(drawn))}
        places = ", ".join(f"(%(drawn{2 * n})s, %(drawn{2 * n + 1})s, {n})" for n in range(len(drawn)))
    free = FREE[annotator.kind == Annotator.TAKES_PLACES]
    rows = read(" UNION ALL ".join(parts), values, free=free, drawn=places)
    held = [(key, moment(ends), moment(now)) for part, key, ends, now, *_rest in rows if part == 0]
    # SQL cannot tell what reads the same; of sentences, copies are marked already. Columns 5 and 7 are the two texts.
    reads = visible if item_set is not None and item_set.of_summaries else str
    free_pairs = (row for row in rows if row[0] and reads(row[5]) != reads(row[7]))
    best = min(free_pairs, key=itemgetter(0, 1), default=None)
    if item_set is None or best is None:
        return Candidates(held)
    first, text, second, other, key, need, taken, is_random, design_weight, drawn_for = best[4:]
    # A pair that was never assigned has no row, and needs nothing yet.
    pair = Pair(pk=key, item_set_id=item_set.pk, need=need or 0, taken=taken or 0)
    pair._state.adding = key is None
    pair.first, pair.second = FIRST.make(iter((first, text))), SECOND.make(iter((second, other)))
    reason = Reason.RANDOM if is_random else Reason.SUGGESTED
    return Candidates(held, Choice(pair, reason, design_weight=design_weight, drawn_for=drawn_for))


def find_judged_once(item_set: LockedItemSet, annotator: Annotator) -> Choice | None:
    """The newest pair that one other annotator of this kind has judged, for the reason why they got it."""
    values = {"item_set": item_set.pk, "annotator": annotator.pk, "kind": annotator.kind}
    reads = visible if item_set.of_summaries else str
    for reason, design_weight, drawn_for, *columns in read(JUDGED_ONCE, values, look=str(LOOK)):
        rest = iter(columns)
        pair, first, second = PAIR.make(rest), FIRST.make(rest), SECOND.make(rest)
        if reads(first.text) != reads(second.text):
            pair.first, pair.second = first, second
            return Choice(pair, reason, design_weight=design_weight, drawn_for=drawn_for)
    return None


# Writes, in the caller's transaction


def store(assignment: Assignment, judgment: Judgment) -> None:
    """Write an answer, its assignment and its annotator's sums. Raises `DatabaseError` where one is gone."""
    annotator = assignment.annotator
    sums = annotator.judged_at, annotator.judged, annotator.seconds, annotator.previous
    change(ADD_UP, *sums, annotator.skipped, annotator.skips_in_a_row, annotator.pk)
    own = assignment.state, assignment.closed_at, assignment.holds_place, assignment.revision
    change(CLOSE, *own, assignment.pk)
    given = judgment.revision, judgment.answer, judgment.seconds, judgment.why, judgment.note, judgment.confidence
    judgment.pk = add(JUDGE, judgment.assignment_id, judgment.item_set_id, *given, judgment.at)


def count(item_set: LockedItemSet, *, taken: int = 0) -> None:
    """Count places that are `taken` of the set, and raise its version by the answers stored since it was locked.

    A removed set has no tally: then nothing is counted.
    """
    if taken or item_set.answers:
        change(COUNT, taken, item_set.answers, item_set.pk, must_be=False)
        item_set.answers = 0


def reserve(pair: Pair) -> None:
    """Write a pair's `need` and `taken`; its row, too, if it has none."""
    if pair.pk is None:
        pair.pk = add(ADD_PAIR, pair.item_set_id, pair.first_id, pair.second_id, pair.need, pair.taken)
    else:
        change(RESERVE, pair.need, pair.taken, pair.pk)


def lease(assignment: Assignment) -> None:
    """Write a new assignment."""
    assignment.pk = add(LEASE, *(getattr(assignment, name) for name in LEASED))
    assignment._state.adding = False
