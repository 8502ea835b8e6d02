"""The smallest set: the fewest answers without which another system would be first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results import SmallestSet
from preferendum.show.shown import Column, Shown, Table, as_text


@dataclass(frozen=True, slots=True)
class AnswerOfSet:
    """A judgment of the smallest set. `annotator`: key and name; `answer`: what it says of a sentence and another, or
    of the summaries of a system and another."""

    judgment: int
    annotator: tuple[int, str]
    topic: str
    sentence: str
    answer: str
    other: str
    at: str


@dataclass(frozen=True, slots=True)
class FoundSet:
    """The set, None where none was found, and its judgments that were not changed or taken back since. `is_open`: the
    leaderboard does not tell its two systems apart."""

    smallest: SmallestSet | None
    answers: Sequence[AnswerOfSet]
    is_open: bool = False


def show(listed: FoundSet, _asked: Mapping[str, str]) -> Shown:
    """How many answers, and which."""
    smallest = listed.smallest
    if smallest is None:
        none = _("We found no small set of answers on which first place depends.")
        return Shown(none, [])
    n = len(smallest.judgments)
    sentence = ngettext(
        "First place rests on %(n)d of %(among)d answers: without it, %(instead)s would be first, not %(first)s.",
        "First place rests on %(n)d of %(among)d answers: without them, %(instead)s would be first, not %(first)s.",
        n,
    )
    if listed.is_open:
        sentence = _(
            "So far the answers do not tell %(first)s and %(instead)s apart: without %(n)d of %(among)d answers, "
            "%(instead)s would score highest."
        )
    about = {"n": n, "among": smallest.among, "instead": smallest.instead, "first": smallest.first}
    search = _("A smaller set was looked for and not found, which does not prove that there is none.")
    verdict = sentence % about if n == 1 else f"{sentence % about} {search}"
    return Shown(verdict, [_answers(listed.answers), _size(smallest)])


def _answers(answers: Sequence[AnswerOfSet]) -> Table:
    """For those who look after annotators."""
    labels = {
        "annotator": _("Annotator"),
        "topic": _("Topic"),
        "sentence": _("Sentence or system"),
        "answer": _("Answer"),
        "other": _("The other one"),
        "at": _("Time (UTC)"),
        "judgment": "",
    }
    return Table(
        "answers",
        _("These answers"),
        tuple(Column(name, label, as_text, ability="annotators") for name, label in labels.items()),
        tuple((own.annotator[1], *(getattr(own, name) for name in [*labels][1:])) for own in answers),
        links=tuple({"annotator_id": own.annotator[0]} for own in answers),
        leads_to="study_annotator",
    )


def _size(smallest: SmallestSet) -> Table:
    columns = tuple(map(Column, ("first", "instead", "answers", "among")))
    row = smallest.first, smallest.instead, len(smallest.judgments), smallest.among
    return Table("size", _("How many answers"), columns, (row,), folded=True)
