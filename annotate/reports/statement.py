"""What may be said of studies, as the worker found it: the one record that pages, files and the API read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotate.models import Judgment, Result, ScoredBy, Study
from preferendum.results.statement import Statement, StudyStatement
from preferendum.show.standing import statement_words


@dataclass(frozen=True, slots=True)
class Line:
    """What the answers to one question say, in words; `about` names the question where the study has several; `kinds`:
    whose answers they are where they are not people's alone."""

    scored_by: str
    about: str
    words: str
    kinds: str


def of_study(study: Study) -> StudyStatement | None:
    """The record; None while the worker has not counted the judgments that there are."""
    record = Result.objects.head(study, "statement").read(StudyStatement)
    if record is None and not Judgment.objects.arrived().filter(item_set__study=study).exists():
        return StudyStatement()
    return record


def of_studies(studies: Iterable[Study]) -> dict[int, StudyStatement]:
    """The records of those studies that have one, by key."""
    rows = Result.objects.filter(study__in=list(studies), analysis="statement", choice="")
    return {row.study_id or 0: record for row in rows if (record := row.read(StudyStatement))}


def question(record: StudyStatement | None, scored_by: str) -> Statement | None:
    """What it says of the question that this way of scoring answers."""
    if record is None:
        return None
    return record.summaries if scored_by == ScoredBy.WIN_RATE else record.sentences


def lines(record: StudyStatement | None) -> list[Line]:
    """What each question says, first what is known; nothing of a question where nothing is tested."""
    questions = sorted(record.questions if record else (), key=lambda own: not own.headline.apart)
    names = {True: _("Whole summaries"), False: _("Sentences")}
    worded = [(own, statement_words(own)) for own in questions]
    return [
        Line(
            own.scored_by,
            names[own.scored_by == ScoredBy.WIN_RATE] if len(questions) > 1 else "",
            words,
            own.answers.rests_on.counted.words if own.answers.rests_on.is_mixed else "",
        )
        for own, words in worded
        if words
    ]
