"""Do metrics agree with human scores? A page that moves by itself, and the same as files for a paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import metrics, plots, rests_on
from annotate.reports.metrics import COEFFICIENTS, LEVELS, AgreementTable, Line
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import LATEX, UNCHANGED, as_file, csv_table, is_seen, page, three_decimals
from annotate.views.research.paper import FIGURES, Content, PaperPart, figure_file, paper_part
from formats.plots import Scale
from formats.results import Bounded
from formats.shown import p_value

MARGIN = 4.0


@in_study("see")
@require_safe
def metrics_agreement(request: HttpRequest, study: Study) -> HttpResponse:
    """How well each metric orders summaries as people do; moves by itself while it is open."""
    if "seen" in request.GET and is_seen(request, metrics.version_of(study)):
        return HttpResponse(status=UNCHANGED)
    table = _table(request, study, timed=True)
    return page(
        request,
        study,
        "research/metrics_news.html" if "seen" in request.GET else "research/metrics.html",
        tab="metrics",
        table=table,
        drawn=_drawn(table.lines) if table else (),
        levels=LEVELS.values(),
        coefficients=COEFFICIENTS.values(),
        plot=plots.metric_agreement(table) if table else None,
        paper=_paper(study, table) if table and table.lines else None,
        rests_on=rests_on.of_study(study),
        has_worker=worker_is_there(),
    )


@in_study("see")
@require_safe
def metrics_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """The same as a file; 404 before anything was worked out."""
    table = _table(request, study)
    if table is None or not table.lines:
        raise Http404
    name = "-".join(filter(None, ["metrics", slugify(study.title) or "study", slugify(table.dimension)]))
    if form in FIGURES:
        words = rests_on.of_study(study).counted.words
        return figure_file(plots.metric_agreement(table), form, words, name)
    content, kind = _TABLES[form](study, table)
    return as_file(content, kind, f"{name}.{form}")


def _paper(study: Study, table: AgreementTable) -> list[PaperPart]:
    asked = {"dimension": table.dimension, "peers": table.peers}
    return [paper_part(_("Agreement with people"), "study_metrics", _FORMS, [study.pk], **asked)]


def _table(request: HttpRequest, study: Study, *, timed: bool = False) -> AgreementTable | None:
    asked = request.GET.get("dimension", ""), request.GET.get("peers", "")
    return metrics.of_study(study, *asked, timed=timed)


def _drawn(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """The lines with where their agreement lies on the small plots beside them, chance in the middle."""
    figures = [line.agreement for line in lines]
    distances = [abs(number - 0.5) for figure in figures for number in _numbers(figure)]
    reach = max(distances, default=0.5) or 0.5
    scale = Scale(0.5 - reach, 0.5 + reach, MARGIN, 100 - MARGIN)

    def at(number: float | None) -> float | None:
        return None if number is None else scale.at(number)

    return [
        {"line": line, "x": at(figure.value), "low": at(figure.low), "high": at(figure.high), "p": _p_of(line)}
        for line, figure in zip(lines, figures, strict=True)
    ]


def _numbers(figure: Bounded) -> list[float]:
    return [number for number in (figure.value, figure.low, figure.high) if number is not None]


def _p_of(line: Line) -> dict[str, str]:
    """The p-values of its difference from the first metric, as papers print them."""
    values = {"p": line.tested.p, "holm": line.tested.holm} if line.tested else {}
    return {name: p_value(p) for name, p in values.items()}


# Files


def _csv(study: Study, table: AgreementTable) -> Content:
    of_levels = [f"{kind}_{level}" for level in LEVELS for kind in COEFFICIENTS]
    columns = ("metric", "agreement", "low", "high", "pooled", *of_levels, "difference", "p", "holm", "signature")
    return csv_table(columns, [_cells(line) for line in table.lines])


def _cells(line: Line) -> Sequence[str | float | None]:
    metric, figure, tested = line.metric, line.agreement, line.tested
    difference = (tested.value, tested.p, tested.holm) if tested else (None, None, None)
    correlations = (correlation.value for correlation in line.correlations)
    bounds = figure.value, figure.low, figure.high
    return (metric.metric, *bounds, metric.agreement_pooled.value, *correlations, *difference, metric.signature)


def _latex(study: Study, table: AgreementTable) -> Content:
    record = table.record
    comment = _("Agreement with human %(dimension)s: %(topics)d topics, %(systems)d systems; %(rests_on)s") % {
        "dimension": table.dimension,
        "topics": record.topics if record else 0,
        "systems": record.systems if record else 0,
        "rests_on": rests_on.of_study(study).counted.words,
    }
    signatures = [f"{line.name}: {line.metric.signature}" for line in table.lines]
    columns = [_("Metric"), _("Agreement"), _("95% interval"), "r", "ρ", "τ", _("p (Holm)")]
    content = formats.write_latex(columns, "lrcrrrr", map(_latex_cells, table.lines), [comment, *signatures])
    return f"{content}\n".encode(), LATEX


def _latex_cells(line: Line) -> list[str]:
    figure, tested = line.agreement, line.tested
    interval = "–" if figure.low is None or figure.high is None else f"[{figure.low:.3f}, {figure.high:.3f}]"
    systems = [three_decimals(line.metric.correlations["system"][kind].value) for kind in COEFFICIENTS]
    p = p_value(tested.holm if tested else None)
    return [line.name, three_decimals(figure.value), interval, *systems, p]


_TABLES: Mapping[str, Callable[[Study, AgreementTable], Content]] = {"tex": _latex, "csv": _csv}
_FORMS = (*FIGURES, *_TABLES)

_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "metrics/", metrics_agreement, name="study_metrics"),
    *[path(f"{_STUDY}metrics.{form}", metrics_file, {"form": form}, name=f"study_metrics_{form}") for form in _FORMS],
]
