"""Whether scores depend on the document set: the worker's report, as a page and files show it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from annotate.models import Study, StudyDocumentSets, StudyMetrics
from annotate.reports import metrics
from annotate.reports.metrics import AgreementTable, name_of
from formats.results import DocumentSet, DocumentSets, DocumentSetsReport, Scatter


@dataclass(frozen=True, slots=True)
class ScorerLine:
    """One scorer's tests; `gap`: of a metric, how far people's summaries lie above the line through the machines."""

    sets: DocumentSets
    gap: float | None

    @property
    def name(self) -> str:
        return scorer_name(self.sets)

    @property
    def asked(self) -> str:
        """What the address says to choose this scorer."""
        return "" if self.sets.by_human else self.sets.by


@dataclass(frozen=True, slots=True)
class DocumentSetsTable:
    """People in one dimension and every metric: the topics by each, and by the one that is chosen.

    `table`: the study's table of metrics, for the same choice. `report`: None before the worker was there. `is_old`: it
    is of scores that have changed since; `is_left_out`: there are too many topics or scores.
    """

    table: AgreementTable
    report: DocumentSetsReport | None
    scorer: DocumentSets | None
    topic: DocumentSet | None
    is_old: bool
    is_left_out: bool

    @property
    def lines(self) -> list[ScorerLine]:
        if self.report is None:
            return []
        gaps = {scatter.metric: scatter.gap for scatter in self.report.scatters}
        return [ScorerLine(sets, None if sets.by_human else gaps.get(sets.by)) for sets in self.report.scorers]

    @property
    def has_gaps(self) -> bool:
        return any(line.gap is not None for line in self.lines)

    @property
    def name(self) -> str:
        return scorer_name(self.scorer) if self.scorer else ""

    @property
    def by(self) -> str:
        """What the address says to choose the scorer that is chosen."""
        return self.scorer.by if self.scorer and not self.scorer.by_human else ""

    @property
    def scatter(self) -> Scatter | None:
        """Of the chosen metric, or of the first where people are chosen."""
        scatters = self.report.scatters if self.report else ()
        return next((scatter for scatter in scatters if scatter.metric == self.by), next(iter(scatters), None))

    @property
    def metric(self) -> str:
        return name_of(self.scatter.metric) if self.scatter else ""


def scorer_name(sets: DocumentSets) -> str:
    """What a scorer is called on pages."""
    return _("People: %(dimension)s") % {"dimension": sets.by} if sets.by_human else name_of(sets.by)


def of_study(
    study: Study, dimension: str = "", peers: str = "", by: str = "", topic: str = ""
) -> DocumentSetsTable | None:
    """The report for the dimension, or for the first one; None where nobody scored any summary.

    `by`: the metric that is chosen, else people; `topic`: the topic that others are held against, if any.
    """
    table = metrics.of_study(study, dimension, peers)
    if table is None:
        return None
    row = StudyDocumentSets.objects.filter(study=study, peers=table.peers).first()
    progress = StudyMetrics.objects.filter(study=study).first()
    is_done = progress is not None and 0 < progress.version <= progress.sets_version
    report = _of_dimension(row.record, table.dimension) if row else None
    scorer = _chosen(report, by) if report else None
    return DocumentSetsTable(
        table=table,
        report=report,
        scorer=scorer,
        topic=next((own for own in scorer.sets if own.topic == topic), None) if scorer else None,
        is_old=not is_done,
        is_left_out=is_done and row is None,
    )


def _of_dimension(report: DocumentSetsReport, dimension: str) -> DocumentSetsReport:
    return replace(
        report,
        scorers=tuple(sets for sets in report.scorers if not sets.by_human or sets.by == dimension),
        scatters=tuple(scatter for scatter in report.scatters if scatter.dimension == dimension),
    )


def _chosen(report: DocumentSetsReport, by: str) -> DocumentSets | None:
    metric = (sets for sets in report.scorers if not sets.by_human and sets.by == by)
    return next(metric, next(iter(report.scorers), None))
