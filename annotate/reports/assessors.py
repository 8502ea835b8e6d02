"""Assessors of summaries: the worker's report, as a page and files show it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotate.models import Result, Study
from annotate.reports import metrics
from annotate.reports.metrics import AgreementTable
from formats.metric_names import title_of
from formats.results import (
    AssessedDimension,
    AssessorFigure,
    AssessorRanking,
    AssessorsReport,
    MetricBeside,
    WithoutWorst,
)
from formats.results.assessors import Basis

BASES: dict[Basis, object] = {
    "consistency": gettext_lazy("Consistency"),
    "agreement": gettext_lazy("Agreement"),
    "auto_pyramid": gettext_lazy("Pyramid, manual less automatic"),
}
#: So many assessors are on a page; files have all.
MOST_SHOWN = 200
PYRAMIDS = "pyramids"


@dataclass(frozen=True, slots=True)
class FiguresTable:
    """Assessors, by name, by one figure in every dimension where it can be told; else `why` not."""

    basis: Basis
    dimensions: tuple[str, ...]
    rows: tuple[tuple[str, tuple[AssessorFigure | None, ...]], ...]
    why: str

    @property
    def name(self) -> object:
        return BASES[self.basis]

    @property
    def shown(self) -> tuple[tuple[str, tuple[AssessorFigure | None, ...]], ...]:
        return self.rows[:MOST_SHOWN]

    @property
    def hidden(self) -> int:
        return len(self.rows) - len(self.shown)


@dataclass(frozen=True, slots=True)
class Effect:
    """What leaving out the worst by one figure changes in a dimension."""

    dimension: AssessedDimension
    ranking: AssessorRanking

    @property
    def name(self) -> str:
        return dimension_name(self.dimension)

    @property
    def basis(self) -> object:
        return BASES[self.ranking.basis]

    @property
    def without(self) -> tuple[WithoutWorst | None, ...]:
        """Without the worst, without the two worst; None where too few are left."""
        rows = self.ranking.without[1:]
        return (*rows, *(None,) * (2 - len(rows)))

    @property
    def metrics(self) -> list[tuple[str, tuple[MetricBeside | None, ...]]]:
        """Every metric beside all scores, without the worst, without the two worst."""
        rows = [row.metrics for row in self.ranking.without]
        missing = (None,) * (3 - len(rows))
        return [(title_of(own[0].metric), (*own, *missing)) for own in zip(*rows, strict=True)]


@dataclass(frozen=True, slots=True)
class AssessorsTable:
    """Assessors of machines' summaries, or of all, with one dimension that is chosen.

    `table`: the study's table of metrics among these summaries. `report`: None before the worker was there. `is_old`:
    it is of scores that have changed since; `is_left_out`: there are too many ratings.
    """

    table: AgreementTable
    report: AssessorsReport | None
    chosen: AssessedDimension | None
    is_old: bool
    is_left_out: bool

    @property
    def choices(self) -> list[tuple[str, str]]:
        """What the address says to choose a dimension, and its name: of those that anything can be told of."""
        told = (own for own in (self.report.dimensions if self.report else ()) if own.rankings)
        return [(asked_for(own), dimension_name(own)) for own in told]

    @property
    def asked(self) -> str:
        return asked_for(self.chosen) if self.chosen else ""

    @property
    def name(self) -> str:
        return dimension_name(self.chosen) if self.chosen else ""

    @property
    def figures(self) -> list[FiguresTable]:
        return [figures_table(self.report, basis) for basis in BASES] if self.report else []

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody is named, neither with a score nor with a Pyramid."""
        return self.report is not None and not any(own.assessors for own in self.report.dimensions)

    @property
    def unattributed(self) -> list[tuple[str, int]]:
        """Dimensions in which some scores name an assessor and others none."""
        dimensions = self.report.dimensions if self.report else ()
        return [(dimension_name(own), own.unattributed) for own in dimensions if own.assessors and own.unattributed]

    @property
    def effects(self) -> list[Effect]:
        dimensions = self.report.dimensions if self.report else ()
        return [Effect(own, ranking) for own in dimensions for ranking in own.rankings]

    @property
    def chosen_effects(self) -> list[Effect]:
        return [effect for effect in self.effects if effect.dimension == self.chosen]


def of_study(study: Study, asked: str = "", peers: str = "") -> AssessorsTable | None:
    """What is said of assessors, and of the dimension that is asked for, or the first; None without human scores."""
    table = metrics.of_study(study, "", peers)
    if table is None:
        return None
    row = Result.objects.by_keys(study, "assessors").get((table.peers,))
    metrics_version = Result.objects.head(study, "metrics").version
    is_done = 0 < metrics_version <= Result.objects.head(study, "assessors").version
    report = row.read(AssessorsReport) if row else None
    told = [own for own in report.dimensions if own.rankings] if report else []
    return AssessorsTable(
        table=table,
        report=report,
        chosen=next((own for own in told if asked_for(own) == asked), next(iter(told), None)),
        is_old=not is_done,
        is_left_out=is_done and row is None,
    )


def dimension_name(dimension: AssessedDimension) -> str:
    return _("Pyramids") if dimension.by_pyramid else dimension.dimension


def asked_for(dimension: AssessedDimension) -> str:
    """What the address says to choose it; a dimension of the human scores may have any name."""
    return PYRAMIDS if dimension.by_pyramid else f"human:{dimension.dimension}"


def figures_table(report: AssessorsReport, basis: Basis) -> FiguresTable:
    told = [(own, ranking) for own in report.dimensions for ranking in own.rankings if ranking.basis == basis]
    by_name = [{figure.assessor: figure for figure in ranking.assessors} for _own, ranking in told]
    names = sorted({name for figures in by_name for name, figure in figures.items() if figure.value.n})
    return FiguresTable(
        basis,
        tuple(dimension_name(own) for own, _ranking in told),
        tuple((name, tuple(figures.get(name) for figures in by_name)) for name in names),
        "" if told else " ".join(_why_not(report, basis)),
    )


def _why_not(report: AssessorsReport, basis: Basis) -> Iterator[str]:
    pyramids = [own for own in report.dimensions if own.by_pyramid]
    if basis == "consistency":
        yield _("Nobody scored two summaries of a topic that have the same text, so this cannot be told.")
    elif basis == "agreement":
        yield _("No summary was scored by two assessors in the same dimension, so this cannot be told.")
    elif not pyramids:
        yield _("No summary was annotated with a Pyramid.")
    else:
        yield _("The Pyramids do not say who annotated them (“assessor”).")
