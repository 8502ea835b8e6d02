"""How far a study's people agree: the worker's figures, who agrees with whom, and the pairs that divide them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from annotate.models import AgreementReport, Annotator, Assignment, Judgment, Pair, Study, Topic

#: Why there is no alpha or kappa.
WHY = {
    "nobody_twice": _("No pair was judged by two people yet, so that nobody can tell."),
    "all_equal": _("Every answer was “equally important”: whether people would notice a difference cannot be told."),
}
#: Two people who share fewer pairs are shown in grey: one pair more could turn their share round.
THIN = 5
#: Steps of colour in the heat map.
STEPS = 10
DISPUTED = 100


@dataclass(frozen=True, slots=True)
class Concord:
    """How far the study's people agree, as stored: the study's figures, `topics` with theirs, and alpha over time."""

    report: AgreementReport
    whole: Mapping[str, Any]
    why: object
    topics: tuple[tuple[Topic, Mapping[str, Any], object], ...]
    course: tuple[tuple[int, float | None], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """Two people: how many pairs both judged and how often alike. `step` is the colour, None for too few pairs."""

    a: Annotator
    b: Annotator
    shared: int
    alike: int

    @property
    def percent(self) -> int | None:
        return round(100 * self.alike / self.shared) if self.shared else None

    @property
    def is_thin(self) -> bool:
        return self.shared < THIN

    @property
    def step(self) -> int | None:
        return None if self.is_thin else min(STEPS - 1, STEPS * self.alike // self.shared)


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Who agrees with whom: a row for each person but the first, of cells with those before them.

    `listed`: the same two by two, those who agree least first, thin ones last.
    """

    people: tuple[Annotator, ...]
    rows: tuple[tuple[Annotator, tuple[Cell, ...]], ...]
    listed: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """A pair of sentences, and who said what of it."""

    pair: Pair
    first: tuple[Annotator, ...]
    second: tuple[Annotator, ...]
    ties: tuple[Annotator, ...]


def agreement(study: Study) -> Concord | None:
    """How far the study's people agree; None before the worker has looked."""
    report = AgreementReport.objects.filter(study=study).first()
    if report is None or not report.figures:
        return None
    topics = {topic.pk: topic for topic in Topic.objects.filter(study=study)}
    whole = report.figures["study"]
    return Concord(
        report,
        whole,
        WHY.get(whole["why"], ""),
        tuple(
            (topics[one["topic"]], one, WHY.get(one["why"], ""))
            for one in report.figures["topics"]
            if one["topic"] in topics
        ),
        tuple((point["judgments"], point["alpha"]) for point in report.figures.get("time", [])),
    )


def heat_map(report: AgreementReport) -> HeatMap | None:
    """The table of those with the most judgments; None where no two of them judged the same pair."""
    table = report.figures.get("table", {})
    keys: Sequence[int] = table.get("annotators", [])
    found = Annotator.objects.in_bulk(keys)
    there = [(place, found[key]) for place, key in enumerate(keys) if key in found]
    rows = tuple(
        (
            person,
            tuple(
                Cell(person, other, table["shared"][row][column], table["alike"][row][column])
                for column, other in there[:number]
            ),
        )
        for number, (row, person) in enumerate(there)
        if number
    )
    cells = [cell for _person, row in rows for cell in row if cell.shared]
    cells.sort(key=lambda cell: (cell.is_thin, cell.alike / cell.shared, -cell.shared))
    return HeatMap(tuple(person for _place, person in there), rows, tuple(cells)) if cells else None


def most_disputed(study: Study) -> tuple[Dispute, ...]:
    """The study's pairs on which people are divided most, as the worker found them."""
    report = AgreementReport.objects.filter(study=study).first()
    stored = report.figures.get("disputed", []) if report else []
    keys = [one["pair"] for one in stored][:DISPUTED]
    found = {one.pair.pk: one for one in _disputes(_said(study).filter(assignment__pair__in=keys))}
    return tuple(found[key] for key in keys if key in found)


def between(study: Study, a: Annotator, b: Annotator) -> tuple[Dispute, ...]:
    """The pairs that these two judged differently, in the order in which the second of them did."""
    said: dict[int, dict[int, str]] = {}
    rows = _said(study).filter(assignment__annotator__in=[a.pk, b.pk])
    for pair, person, swapped, answer in rows.values_list(*COLUMNS):
        said.setdefault(pair, {})[person] = _preferred(swapped, answer)
    apart = [pair for pair, both in said.items() if len(set(both.values())) > 1]
    return _disputes(rows.filter(assignment__pair__in=apart[:DISPUTED]))


COLUMNS = ("assignment__pair_id", "assignment__annotator_id", "assignment__swapped", "answer")


def _said(study: Study) -> Any:
    """The judgments that count, with what is needed of them."""
    return (
        Judgment.objects.filter(
            topic__study=study,
            assignment__state=Assignment.State.JUDGED,
            assignment__holds_place=True,
            assignment__occasion=0,
            assignment__annotator__excluded_at=None,
            revision=F("assignment__revision"),
        )
        .exclude(answer=Judgment.Answer.UNDONE)
        .order_by("pk")
    )


def _disputes(rows: Any) -> tuple[Dispute, ...]:
    said: dict[int, dict[str, list[int]]] = {}
    for pair, person, swapped, answer in rows.values_list(*COLUMNS):
        said.setdefault(pair, {"first": [], "second": [], "tie": []})[_preferred(swapped, answer)].append(person)
    pairs = Pair.objects.select_related("first__document", "second__document", "topic").in_bulk(list(said))
    people = Annotator.objects.in_bulk(
        {one for sides in said.values() for several in sides.values() for one in several}
    )

    def named(keys: Iterable[int]) -> tuple[Annotator, ...]:
        return tuple(people[key] for key in keys)

    return tuple(
        Dispute(pairs[key], named(sides["first"]), named(sides["second"]), named(sides["tie"]))
        for key, sides in said.items()
    )


def _preferred(swapped: bool, answer: str) -> str:
    """Which of the pair's sentences it was, whichever side it stood on."""
    if answer == Judgment.Answer.TIE:
        return "tie"
    return "first" if (answer == Judgment.Answer.LEFT) != swapped else "second"
