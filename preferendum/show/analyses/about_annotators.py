"""What annotators said about themselves: how many gave each answer, and the answers of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from preferendum.formats.questionnaire import Question
from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.show.shown import Cell, Column, Show, Shown, Table, as_text


@dataclass(frozen=True, slots=True)
class Answered:
    """What one annotator answered, by the texts of the questions.

    `version`: of the questionnaire that they answered; None where all is from a platform.
    """

    key: int
    pseudonym: str
    version: int | None
    answers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AboutAnnotators:
    """The questions of all versions, the newest first, and the answers in the order of joining."""

    questions: Sequence[Question]
    answered: Sequence[Answered]


def show(about: AboutAnnotators, _asked: Mapping[str, str]) -> Shown:
    """Answers counted, then listed by annotator."""
    n = sum(own.version is not None for own in about.answered)
    of_platform = len(about.answered) - n
    verdicts = {
        ngettext(
            "%(n)d annotator has answered the questionnaire.", "%(n)d annotators have answered the questionnaire.", n
        ): n,
        ngettext(
            "%(n)d annotator has answers of their platform alone.",
            "%(n)d annotators have answers of their platform alone.",
            of_platform,
        ): of_platform,
    }
    return Shown(
        " ".join(verdict % {"n": number} for verdict, number in verdicts.items() if number),
        [_counts(about), _answers(about)],
        rests_on=_("Only members who manage annotators see this."),
    )


def _counts(about: AboutAnnotators) -> Table:
    columns = (
        Column("question", _("Question"), as_text),
        Column("answer", _("Answer"), as_text),
        Column("annotators", _("Annotators")),
    )
    rows = tuple((question.text, *row) for question in about.questions for row in _counted(question, about.answered))
    note = _("A question with several answers counts an annotator once for each. Numbers and texts are listed below.")
    return Table("counts", _("How many gave each answer"), columns, rows, note=note)


def _counted(question: Question, answered: Sequence[Answered]) -> Iterator[tuple[str, int]]:
    given = [own.answers[question.text] for own in answered if question.allows(own.answers.get(question.text))]
    for option in question.options:
        yield option, sum(option in question.chosen(answer) for answer in given)
    if question.kind == "number" and given:
        yield _("mean %(mean).4g, from %(low).4g to %(high).4g") % _spread(given), len(given)
    elif not question.has_options:
        yield _("in words"), len(given)
    if len(given) < len(answered):
        yield _("no answer"), len(answered) - len(given)


def _spread(numbers: Sequence[float]) -> dict[str, float]:
    return {"mean": sum(numbers) / len(numbers), "low": min(numbers), "high": max(numbers)}


def _answers(about: AboutAnnotators) -> Table:
    columns = (Column("annotator", _("Annotator"), as_text), Column("version", _("Version")))
    return Table(
        "answers",
        _("The answers of each annotator"),
        (*columns, *(Column(own.text, own.text, _words_for(own)) for own in about.questions)),
        tuple(
            (own.pseudonym, own.version, *(_cell(own.answers.get(question.text)) for question in about.questions))
            for own in about.answered
        ),
        links=tuple({"annotator_id": own.key} for own in about.answered),
        leads_to="study_annotator",
        note=_("A step of a scale is a number, 1 for the first."),
    )


def _words_for(question: Question) -> Show:
    """An answer on a scale with its step and its last one; a changed scale may not have the step."""
    last = len(question.options)
    of_last = _("%(step)s of %(last)d")
    if question.kind != "scale":
        return as_text
    return lambda cell: of_last % {"step": cell, "last": last} if question.allows(cell) else as_text(cell)


def _cell(answer: Any) -> Cell:
    if isinstance(answer, float) and answer.is_integer():
        return int(answer)
    return "; ".join(answer) if isinstance(answer, list) else answer
