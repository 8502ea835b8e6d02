"""How far a study's annotators agree: the worker's figures, any two of them, and the pairs on which they differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotate.models import Annotator, Judgment, Pair, Result, Study, Topic
from formats.answers import HALF, share_of_first
from formats.results import Agreement, Bounded, PairwiseAgreement, StudyAgreement

#: Why there is no alpha or kappa.
WHY = {
    "nobody_twice": _("No pair has been judged by two annotators yet."),
    "all_equal": _("Every answer was “equally important”, so agreement cannot be computed."),
}
#: Two annotators who share fewer pairs are shown in grey: one pair more could turn their share round.
THIN = 5
#: Steps of colour in the heat map.
STEPS = 10
DISPUTED = 100


#: What the figures of an agreement are called, in the order in which they are shown.
STATISTICS = {
    "percent": _("Agreement"),
    "alpha": _("Krippendorff’s alpha, direction-free"),
    "kappa": _("Fleiss’ kappa, direction-free"),
}


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """The agreement in one topic, or of one title, with its `STATISTICS`."""

    title: object
    agreement: Agreement

    @property
    def figures(self) -> tuple[Bounded, ...]:
        return tuple(getattr(self.agreement, name) for name in STATISTICS)

    @property
    def why(self) -> object:
        """Why there is no alpha or kappa; empty where there is."""
        return WHY.get(self.agreement.why, "")


@dataclass(frozen=True, slots=True)
class Cell:
    """Two annotators: how many pairs both judged and how often alike. `step` is the colour, None for too few pairs."""

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
    """Any two annotators: a row for each but the first, of cells with those before them.

    `listed`: the same two by two, those who agree least first, thin ones last.
    """

    annotators: tuple[Annotator, ...]
    rows: tuple[tuple[Annotator, tuple[Cell, ...]], ...]
    listed: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Dispute:
    """A pair of sentences, and who preferred which one."""

    pair: Pair
    first: tuple[Annotator, ...]
    second: tuple[Annotator, ...]
    ties: tuple[Annotator, ...]


def by_topic(study: Study, agreement: StudyAgreement) -> tuple[AgreementLine, ...]:
    """The agreement in each of the study's topics."""
    topics = Topic.objects.filter(study=study).in_bulk()
    return tuple(AgreementLine(topics[own.topic], own) for own in agreement.topics if own.topic in topics)


def heat_map(table: PairwiseAgreement) -> HeatMap | None:
    """The table of those with the most judgments; None where no two of them judged the same pair."""
    annotators = Annotator.objects.in_bulk(table.annotators)
    present = [
        (place, annotators[table.annotators[place]])
        for place in _in_order(table)
        if table.annotators[place] in annotators
    ]
    rows = tuple(
        (
            annotator,
            tuple(
                Cell(annotator, other, table.shared[row][column], table.alike[row][column])
                for column, other in present[:number]
            ),
        )
        for number, (row, annotator) in enumerate(present)
        if number
    )
    cells = [cell for _annotator, row in rows for cell in row if cell.shared]
    cells.sort(key=lambda cell: (cell.is_thin, cell.alike / cell.shared, -cell.shared))
    return HeatMap(tuple(annotator for _place, annotator in present), rows, tuple(cells)) if cells else None


def _in_order(table: PairwiseAgreement) -> list[int]:
    """The places of annotators, so that each shares pairs with those before it; who shares none is left out."""
    partners = {
        place: {other for other, pairs in enumerate(row) if pairs and other != place}
        for place, row in enumerate(table.shared)
    }
    rest = [place for place in partners if partners[place]]
    order: list[int] = []
    while rest:
        order.append(max(rest, key=lambda place: (len(partners[place] & {*order}), len(partners[place]))))
        rest.remove(order[-1])
    return order


def most_disputed(study: Study) -> tuple[Dispute, ...]:
    """The study's pairs on which annotators are divided most, as the worker found them."""
    record = Result.objects.head(study, "annotators").read(StudyAgreement)
    keys = [pair.pair for pair in record.disputed[:DISPUTED]] if record else []
    disputes = {dispute.pair.pk: dispute for dispute in _disputes(_counted(study).filter(assignment__pair__in=keys))}
    return tuple(disputes[key] for key in keys if key in disputes)


def between(study: Study, a: Annotator, b: Annotator) -> tuple[Dispute, ...]:
    """The pairs that these two judged differently, in the order in which the second of them did."""
    preferred: dict[int, dict[int, float]] = {}
    rows = _counted(study).filter(assignment__annotator__in=[a.pk, b.pk])
    for pair, annotator, swapped, answer in rows.values_list(*COLUMNS):
        preferred.setdefault(pair, {})[annotator] = share_of_first(answer, swapped)
    different = [pair for pair, answers in preferred.items() if len(set(answers.values())) > 1]
    return _disputes(rows.filter(assignment__pair__in=different[:DISPUTED]))


COLUMNS = ("assignment__pair_id", "assignment__annotator_id", "assignment__swapped", "answer")


def _counted(study: Study) -> Any:
    """The judgments that count, of the leading kind of annotators, of pairs that they saw for the first time."""
    of_kind = Judgment.objects.counted().filter(assignment__annotator__kind=study.leading_kind)
    return of_kind.filter(topic__study=study, assignment__occasion=0)


def _disputes(rows: Any) -> tuple[Dispute, ...]:
    sides: dict[int, dict[float, list[int]]] = {}
    for pair, annotator, swapped, answer in rows.values_list(*COLUMNS):
        sides.setdefault(pair, {1.0: [], 0.0: [], HALF: []})[share_of_first(answer, swapped)].append(annotator)
    pairs = Pair.objects.select_related("first__document", "second__document", "topic").in_bulk(list(sides))
    annotators = Annotator.objects.in_bulk(
        {key for of_pair in sides.values() for several in of_pair.values() for key in several}
    )

    def named(keys: Iterable[int]) -> tuple[Annotator, ...]:
        return tuple(annotators[key] for key in keys)

    return tuple(Dispute(pairs[key], *map(named, of_pair.values())) for key, of_pair in sides.items())
