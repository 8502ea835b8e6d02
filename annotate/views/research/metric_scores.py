"""What metrics and human scores say of single summaries: of a topic's, and of all that a study has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Study, Summary, System, Topic
from annotate.reports import metric_scores
from annotate.views.research.pages import as_file, csv_table, keys, page
from formats.analyses.metric_scores import ScoresTable, SummaryScores

SUMMARIES_A_PAGE = 50


@in_study("see")
@require_safe
@snapshot()
def metrics_scores(request: HttpRequest, study: Study) -> HttpResponse:
    """What metrics and people say of all summaries of a study, or of those of a topic or a system."""
    topic, system = _asked(request, study)
    paginator = Paginator(_chosen(study, topic, system), SUMMARIES_A_PAGE)
    shown = paginator.get_page(request.GET.get("page"))
    asked = {name: row.pk for name, row in (("topic", topic), ("system", system)) if row}
    return page(
        request,
        study,
        "research/metrics_scores.html",
        tab="metrics",
        table=metric_scores.table_of(list(shown)),
        chosen=shown,
        topic=topic,
        system=system,
        topics=study.topics.order_by("position"),
        systems=study.systems.order_by("name"),
        asked=urlencode(asked),
        keep=urlencode(asked) + "&" if asked else "",
    )


@in_study("see")
@require_safe
@snapshot()
def metrics_scores_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """The same as a file, whole."""
    topic, system = _asked(request, study)
    table = metric_scores.table_of(list(_chosen(study, topic, system)))
    columns = ("topic", "system", "person", *table.metrics, *(f"human:{name}" for name in table.dimensions))
    names = [slugify(study.title) or "study", *(slugify(str(row.name)) for row in (topic, system) if row)]
    return as_file(
        *csv_table(columns, (_cells(row, table) for row in table.summaries)),
        f"{'-'.join(filter(None, ['scores', *names]))}.csv",
    )


def _asked(request: HttpRequest, study: Study) -> tuple[Topic | None, System | None]:
    """The topic and the system that summaries are asked of; what is not one of the study's is not asked for."""
    topics, systems = (keys([request.GET.get(name, "")]) for name in ("topic", "system"))
    return study.topics.filter(pk__in=topics).first(), study.systems.filter(pk__in=systems).first()


def _chosen(study: Study, topic: Topic | None, system: System | None) -> QuerySet[Summary]:
    return metric_scores.chosen(study, topic.pk if topic else None, system.name if system else "")


def _cells(row: SummaryScores, table: ScoresTable) -> Sequence[str | float | None]:
    figures: Iterable[float | None] = (*map(row.metrics.get, table.metrics), *map(row.human.get, table.dimensions))
    return (row.topic, row.system, str(row.person).lower(), *figures)


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "metrics/scores/", metrics_scores, name="metrics_scores"),
    path(_STUDY + "metrics/scores.csv", metrics_scores_csv, name="metrics_scores_csv"),
]
