"""How many judgments does a study need, and how far is it? A page, and the same as a table."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from annotate import forecasts
from annotate.access import in_study
from annotate.forms import ForecastForm, SimulateForm
from annotate.models import Study
from annotate.refusal import Refusal
from annotate.reports import forecast as reports
from annotate.reports import plots
from annotate.reports.forecast import Asked, Course
from annotate.reports.study import worker_is_there
from annotate.views.research.pages import UNCHANGED, as_file, csv_table, digest, is_seen, page, user_of
from formats.results.planning import SECONDS


@in_study("see")
@require_safe
def study_forecast(request: HttpRequest, study: Study) -> HttpResponse:
    """What is to be expected of the study, and what it cost and will cost; moves while the worker simulates."""
    latest = forecasts.latest(study)
    has_worker = worker_is_there()
    version = digest(latest and (latest.pk, latest.state, latest.done), has_worker)
    if "seen" in request.GET and is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    course = reports.course(study)
    form, asked = _asked(request, course)
    shown = reports.table(study, latest, asked)
    return page(
        request,
        study,
        "research/forecast_news.html" if "seen" in request.GET else "research/forecast.html",
        tab="overview",
        form=form,
        asked=asked,
        course=course,
        so_far=course.so_far(asked),
        to_come=course.to_come(asked),
        forecast=latest,
        table=shown,
        plot=plots.forecast(shown) if shown else None,
        query=_query(request.GET),
        simulate_form=SimulateForm(),
        version=version,
        has_worker=has_worker,
    )


@in_study("edit")
@require_POST
def forecast_ask(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the worker simulate the study."""
    form = SimulateForm(request.POST)
    if form.is_valid():
        try:
            forecasts.ask(study, user_of(request), form.share)
        except Refusal as refusal:
            messages.error(request, refusal.message)
    else:
        messages.error(request, f"{form['careless'].label}: {form.errors['careless'][0]}")
    return redirect(f"{reverse('study_forecast', args=[study.pk])}?{_query(request.POST)}".removesuffix("?"))


@in_study("see")
@require_safe
def forecast_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """The forecast as a table; 404 before anything was simulated."""
    _, asked = _asked(request, reports.course(study))
    shown = reports.table(study, forecasts.latest(study), asked)
    if shown is None:
        raise Http404
    columns = "judgments", "in_all", "hours", "cost", "margin", "sd", "resolved", "chance"
    rows = [
        (
            *(row.judgments, row.work.judgments, row.work.hours, row.work.cost),
            *(row.margin, row.sd, row.resolved, row.chance),
        )
        for row in shown.rows
    ]
    content, kind = csv_table(columns, rows)
    return as_file(content, kind, f"forecast-{slugify(study.title) or 'study'}.csv")


def _asked(request: HttpRequest, course: Course) -> tuple[ForecastForm, Asked]:
    """What the address asks for; what it says badly counts as not said, and the form says why."""
    form = ForecastForm(request.GET or None)
    form.is_valid()
    values = getattr(form, "cleaned_data", {})
    usual = SECONDS if course.seconds is None else course.seconds
    return form, Asked(values.get("difference"), values.get("seconds") or usual, values.get("pay"))


def _query(sent: QueryDict) -> str:
    return urlencode({name: sent[name] for name in ForecastForm.base_fields if sent.get(name)})


urlpatterns = [
    path("studies/<int:study_id>/forecast/", study_forecast, name="study_forecast"),
    path("studies/<int:study_id>/forecast/ask/", forecast_ask, name="forecast_ask"),
    path("studies/<int:study_id>/forecast.csv", forecast_csv, name="forecast_csv"),
]
