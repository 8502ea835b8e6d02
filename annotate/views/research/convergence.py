"""How many judgments does agreement with human scores take? A page, and the same as files for a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import convergence, plots
from annotate.reports.convergence import ConvergenceTable
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import LATEX, UNCHANGED, as_file, csv_table, is_seen, page, three_decimals
from annotate.views.research.paper import FIGURES, Content, PaperPart, figure_file, paper_part
from formats.metric_names import title_of
from formats.results import Convergence, ConvergencePoint


@in_study("see")
@require_safe
def metrics_convergence(request: HttpRequest, study: Study) -> HttpResponse:
    """How agreement with people grows with the number of judgments a topic; says how far the worker is."""
    if "seen" in request.GET and is_seen(request, convergence.version_of(study)):
        return HttpResponse(status=UNCHANGED)
    curves = _curves(request, study)
    return page(
        request,
        study,
        "research/convergence_news.html" if "seen" in request.GET else "research/convergence.html",
        tab="metrics",
        curves=curves,
        table=curves.table if curves else None,
        plot=plots.convergence(curves) if curves else None,
        paper=_paper(study, curves) if curves and curves.record else None,
        has_worker=worker_is_there(),
    )


@in_study("see")
@require_safe
def metrics_convergence_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """The same as a file; 404 before anything was worked out."""
    curves = _curves(request, study)
    if curves is None or curves.record is None:
        raise Http404
    name = "-".join(filter(None, ["convergence", slugify(study.title) or "study", slugify(curves.table.dimension)]))
    if form in FIGURES:
        return figure_file(plots.convergence(curves), form, curves.rests_on.words, name)
    content, kind = _TABLES[form](curves, curves.record)
    return as_file(content, kind, f"{name}.{form}")


def _curves(request: HttpRequest, study: Study) -> ConvergenceTable | None:
    return convergence.of_study(study, request.GET.get("dimension", ""), request.GET.get("peers", ""))


def _paper(study: Study, curves: ConvergenceTable) -> list[PaperPart]:
    asked = {"dimension": curves.table.dimension, "peers": curves.table.peers}
    return [paper_part(_("Agreement by number of judgments"), "metrics_convergence", _FORMS, [study.pk], **asked)]


# Files


def _csv(curves: ConvergenceTable, record: Convergence) -> Content:
    """Every metric over all topics, then in each; metrics without judgments have no number of them."""
    rows: list[tuple[str | int | float | None, ...]] = []
    for metric in record.metrics:
        for topic, points in [("", metric.points), *((own.topic, own.points) for own in metric.topics)]:
            rows += [
                (metric.metric, topic, point.judgments, point.agreement, point.sd, point.undefined) for point in points
            ]
    for flat in record.baselines:
        rows += [
            (flat.metric, topic, None, value, None, None)
            for topic, value in {"": flat.agreement, **flat.topics}.items()
        ]
    return csv_table(("metric", "topic", "judgments", "agreement", "sd", "undefined"), rows)


def _latex(curves: ConvergenceTable, record: Convergence) -> Content:
    comment = _("Agreement with human %(dimension)s by number of judgments a topic: %(topics)d topics; %(rests_on)s")
    about = {"dimension": record.dimension, "topics": curves.topics, "rests_on": curves.rests_on.words}
    drawn = _("mean (sd) over %(runs)d samples, seed %(seed)d") % {"runs": record.runs, "seed": record.seed}
    signatures = {own.metric: own.signature for own in record.metrics}
    signatures |= {own.metric: own.signature for own in record.baselines}
    named = [f"{title_of(metric)}: {signature}" for metric, signature in signatures.items()]
    columns = [_("Metric"), *map(str, record.sizes)]
    rows = [[title_of(own.metric), *map(_cell, own.points)] for own in record.metrics]
    last = [""] * (len(record.sizes) - 1)
    rows += [[title_of(own.metric), *last, three_decimals(own.agreement)] for own in record.baselines]
    content = formats.write_latex(columns, "l" + "r" * len(record.sizes), rows, [comment % about, drawn, *named])
    return f"{content}\n".encode(), LATEX


def _cell(point: ConvergencePoint) -> str:
    return (
        f"{three_decimals(point.agreement)} ({three_decimals(point.sd)})"
        if point.sd
        else three_decimals(point.agreement)
    )


_TABLES: Mapping[str, Callable[[ConvergenceTable, Convergence], Content]] = {"tex": _latex, "csv": _csv}
_FORMS = (*FIGURES, *_TABLES)

_PAGE = "studies/<int:study_id>/metrics/convergence"
urlpatterns = [
    path(f"{_PAGE}/", metrics_convergence, name="metrics_convergence"),
    *[
        path(f"{_PAGE}.{form}", metrics_convergence_file, {"form": form}, name=f"metrics_convergence_{form}")
        for form in _FORMS
    ],
]
