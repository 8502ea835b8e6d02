"""Metrics that the worker trains for a study: a page that moves while it does, one for each, and files of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

import formats
from annotate import access, training
from annotate.access import in_study
from annotate.forms import TrainForm, complain
from annotate.models import Study, TrainedMetric
from annotate.refusal import Refusal
from annotate.reports import trained_metrics as reports
from annotate.reports.study import worker_is_there
from annotate.reports.trained_metrics import TrainedLine
from annotate.views.research.pages import (
    LATEX,
    UNCHANGED,
    as_file,
    csv_table,
    digest,
    is_seen,
    page,
    three_decimals,
    user_of,
)
from annotate.views.research.paper import paper_part
from formats.trained_metrics import written_trained_metric


@in_study("see")
@require_safe
def trained_metrics(request: HttpRequest, study: Study) -> HttpResponse:
    """The study's trained metrics; kept up to date while one is trained."""
    if "seen" not in request.GET:
        return _show(request, study, _form(request, study))
    lines, has_worker = reports.of_study(study), worker_is_there()
    if is_seen(request, version := _version(lines, has_worker)):
        return HttpResponse(status=UNCHANGED)
    return page(
        request, study, "research/trained_lines.html", lines=lines, version=version, has_worker=has_worker,
        moves=_moves(lines),
    )  # fmt: skip


@in_study("edit")
@require_POST
def metric_train(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for a metric to be trained."""
    form = _form(request, study)
    if form.is_valid():
        source_id, _colon, target = form.cleaned_data["teaching"].partition(":")
        asked = {name: form.cleaned_data[name] for name in ("name", "method", "peers", "without_assessors")}
        source = access.find_study(request.user, int(source_id))
        first_id = form.cleaned_data["first"]
        first = access.find_study(request.user, int(first_id)) if first_id else None
        try:
            training.train(study, user_of(request), source, target=target, first=first, **asked)
        except Refusal as refusal:
            complain(form, refusal)
        else:
            messages.success(request, _("The worker trains the metric. You can leave this page."))
            return redirect("trained_metrics", study_id=study.pk)
    return _show(request, study, form)


@in_study("see")
@require_safe
def trained_metric(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """What a metric weighs, and how well it does."""
    line = TrainedLine(get_object_or_404(TrainedMetric.objects.defer("parts"), study=study, key=key))
    files = [paper_part(line.metric.name, "trained_metric", _FORMS, [study.pk, key])] if line.weights else None
    return page(request, study, "research/trained_metric.html", tab="metrics", line=line, paper=files)


@in_study("edit")
@require_POST
def trained_metric_use(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Score the study's summaries with it, or no longer."""
    metric = get_object_or_404(TrainedMetric, study=study, key=key)
    used = request.POST.get("used") == "1"
    try:
        training.use(metric, user_of(request), used)
    except Refusal as refusal:
        messages.error(request, refusal.message)
    else:
        message = _("Summaries are being scored with it.") if used else _("It no longer scores summaries.")
        messages.success(request, message)
    return redirect("trained_metrics", study_id=study.pk)


@in_study("edit")
@require_POST
def trained_metric_delete(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Delete it, or give up its training."""
    training.delete(get_object_or_404(TrainedMetric, study=study, key=key), user_of(request))
    messages.success(request, _("The trained metric was deleted."))
    return redirect("trained_metrics", study_id=study.pk)


@in_study("see")
@require_safe
def trained_metric_file(request: HttpRequest, study: Study, key: UUID, form: str) -> HttpResponse:
    """The metric for the command line, or its coefficients as a table; 404 before it is trained."""
    line = TrainedLine(get_object_or_404(TrainedMetric.objects.defer("parts"), study=study, key=key))
    if line.metric.record is None:
        raise Http404
    content, kind = _FORMS[form](line)
    return as_file(content, kind, f"{slugify(line.metric.name) or 'metric'}.{form}")


def _form(request: HttpRequest, study: Study) -> TrainForm:
    visible = access.visible_studies(request.user)
    return TrainForm(
        reports.choices(study, visible),
        reports.methods(),
        reports.studies_scored(visible),
        request.POST or None,
        initial={"without_assessors": request.GET.get("without_assessors", "")},
    )


def _show(request: HttpRequest, study: Study, form: TrainForm) -> HttpResponse:
    lines, has_worker = reports.of_study(study), worker_is_there()
    return page(
        request,
        study,
        "research/trained_metrics.html",
        tab="metrics",
        form=form,
        lines=lines,
        moves=_moves(lines),
        has_worker=has_worker,
        version=_version(lines, has_worker),
    )


def _moves(lines: list[TrainedLine]) -> bool:
    return any(line.metric.state == TrainedMetric.State.WAITING for line in lines)


def _version(lines: list[TrainedLine], has_worker: bool) -> str:
    shown = [(line.metric.pk, line.metric.state, line.metric.done, line.metric.used) for line in lines]
    return digest(shown, has_worker)


# Files


def _json(line: TrainedLine) -> tuple[bytes, str]:
    assert line.metric.record is not None
    return written_trained_metric(line.metric.record).encode(), "application/json"


def _csv(line: TrainedLine) -> tuple[bytes, str]:
    rows: list[tuple[Any, ...]] = [(weight.feature, weight.coefficient, weight.chosen) for weight in line.weights]
    return csv_table(("feature", "coefficient", "chosen"), [*rows, ("intercept", _intercept(line), None)])


def _latex(line: TrainedLine) -> tuple[bytes, str]:
    metric = line.metric
    comment = f"{metric.name}: {line.method}, {line.learnt_from}"
    figures = [f"{row.name}: r = {three_decimals(row.pearson.value)}" for row in line.lines]
    if line.pairs:
        shares = {
            "pairs": three_decimals(line.pairs.accuracy.value),
            "length": three_decimals(line.pairs.by_length.value),
        }
        figures.append(_("pairs of other stories told apart: %(pairs)s; by length: %(length)s") % shares)
    rows = [
        [weight.feature, f"{weight.coefficient:.4g}", "–" if weight.chosen is None else str(weight.chosen)]
        for weight in line.weights
    ]
    rows.append([_("intercept"), f"{_intercept(line):.4g}", ""])
    columns = [_("Feature"), _("Coefficient"), _("Chosen in %(parts)d parts") % {"parts": line.parts}]
    return f"{formats.write_latex(columns, 'lrr', rows, [comment, *figures])}\n".encode(), LATEX


def _intercept(line: TrainedLine) -> float:
    record = line.metric.record
    return record.linear.intercept if record else 0.0


_FORMS: Mapping[str, Callable[[TrainedLine], tuple[bytes, str]]] = {"tex": _latex, "csv": _csv, "json": _json}
_PAGE = "studies/<int:study_id>/metrics/trained/"
urlpatterns = [
    path(_PAGE, trained_metrics, name="trained_metrics"),
    path(_PAGE + "train/", metric_train, name="metric_train"),
    path(_PAGE + "<uuid:key>/", trained_metric, name="trained_metric"),
    path(_PAGE + "<uuid:key>/use/", trained_metric_use, name="trained_metric_use"),
    path(_PAGE + "<uuid:key>/delete/", trained_metric_delete, name="trained_metric_delete"),
    *[
        path(f"{_PAGE}<uuid:key>.{form}", trained_metric_file, {"form": form}, name=f"trained_metric_{form}")
        for form in _FORMS
    ],
]
