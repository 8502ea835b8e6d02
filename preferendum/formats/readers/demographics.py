"""What a platform knows of its participants, as in Prolific's export of demographic data: a row for each submission."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import BinaryIO

from preferendum.formats.checks.complaints import Complaints, Place, escaped, shown
from preferendum.formats.checks.text import clean
from preferendum.formats.questionnaire import (
    LARGEST,
    LONGEST_ANSWER,
    LONGEST_OPTION,
    LONGEST_QUESTION,
    MOST_OPTIONS,
    MOST_QUESTIONS,
    Question,
)
from preferendum.formats.readers.tables import Columns, checked_rows, is_number, read_table

PARTICIPANT = "Participant id"
COLUMNS = Columns((PARTICIPANT,), others=True)
#: Columns about the submission, which say nothing of the person.
OF_SUBMISSION = frozenset(
    (
        *("Submission id", "Status", "Custom study tncs accepted at", "Started at", "Completed at", "Reviewed at"),
        *("Archived at", "Time taken", "Completion code", "Total approvals"),
    )
)
REVOKED, EXPIRED = "CONSENT_REVOKED", "DATA_EXPIRED"
#: What stands before a column's name in the question that it answers.
PREFIX = "Prolific: "


def read_demographics(file: BinaryIO, *, name: str) -> dict[str, dict[str, str] | None]:
    """Read what each participant answered, by question; None for those who revoked their consent.

    Later rows of a participant count. Raises `Refused` with every complaint.
    """
    place = Place(Complaints(), escaped(name))
    table = read_table(file, place)
    answers: dict[str, dict[str, str]] = {}
    revoked: set[str] = set()
    asked = [] if table is None else [column for column in table.header if column not in {*OF_SUBMISSION, PARTICIPANT}]
    if table is None and not place.complaints.collected:
        place.refuse("an empty file", "the columns %(header)s and answers", header=COLUMNS.header)
    if len(asked) > MOST_QUESTIONS:
        expected = "at most %(limit)s: delete those that you do not need"
        place.refuse("%(count)s columns of answers", expected, count=len(asked), limit=MOST_QUESTIONS)
    for column in asked:
        if clean(place, column) is not None and len(PREFIX + column) > LONGEST_QUESTION:
            place.refuse("the column %(name)s", "a shorter name", name=shown(column))
    for here, row in () if table is None else checked_rows(table, COLUMNS):
        participant = row[PARTICIPANT].strip()
        if not participant:
            here.key(PARTICIPANT).refuse("nothing", "the participant's ID")
        if any(_word(cell) == REVOKED for cell in row.values()):
            revoked.add(participant)
        else:
            answers[participant] = {PREFIX + column: cell for column in asked if (cell := _answer(here, row, column))}
    place.complaints.raise_if_any()
    return {person: None if person in revoked else answers[person] for person in answers.keys() | revoked}


def questions_of(answers: Iterable[Mapping[str, str]]) -> tuple[Question, ...]:
    """State the questions that have these answers: numbers, a choice of what was answered, or texts."""
    given: dict[str, dict[str, None]] = {}
    for own in answers:
        for text, answer in own.items():
            given.setdefault(text, {})[answer] = None
    return tuple(_question(text, sorted(values)) for text, values in sorted(given.items()))


def _question(text: str, values: list[str]) -> Question:
    if all(is_number(value) and abs(float(value)) <= LARGEST for value in values):
        return Question(text, "number")
    is_choice = 1 < len(values) <= MOST_OPTIONS and max(map(len, values)) <= LONGEST_OPTION
    return Question(text, "one", tuple(values)) if is_choice else Question(text, "text")


def _answer(here: Place, row: Mapping[str, str], column: str) -> str:
    place = here.key(column)
    cell = (clean(place, row[column]) or "").strip()
    if len(cell) > LONGEST_ANSWER:
        place.refuse("%(count)s characters", "at most %(limit)s", count=len(cell), limit=LONGEST_ANSWER)
    return "" if _word(cell) == EXPIRED else cell


def _word(cell: str) -> str:
    return "_".join(cell.upper().split())
