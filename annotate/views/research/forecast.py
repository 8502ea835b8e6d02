"""Forecasts: their forms, and having the worker simulate the study."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import path, reverse
from django.views.decorators.http import require_POST

from annotate import forecasts
from annotate.access import in_study
from annotate.forms import ForecastForm, SimulateForm
from annotate.models import Study
from annotate.views.refusals import refusals_shown
from annotate.views.research.pages import user_of
from preferendum.show.analyses.forecast import Asked


def forms(request: HttpRequest, study: Study) -> dict[str, Any]:
    """The forms next to a forecast."""
    return {"form": ForecastForm(request.GET or None), "simulate_form": SimulateForm()}


@in_study("edit")
@require_POST
def forecast_ask(request: HttpRequest, study: Study) -> HttpResponse:
    """Have the worker simulate the study."""
    form = SimulateForm(request.POST)
    if form.is_valid():
        with refusals_shown(request):
            forecasts.ask(study, user_of(request), form.cleaned_data["careless"])
    else:
        messages.error(request, f"{form['careless'].label}: {form.errors['careless'][0]}")
    return redirect(f"{reverse('analysis', args=[study.pk, 'forecast'])}?{_query(request.POST)}".removesuffix("?"))


def _query(sent: QueryDict) -> str:
    asked = Asked.of({name: str(sent[name]) for name in sent})
    return urlencode({choice.name: choice.chosen for choice in asked.choices})


urlpatterns = [path("studies/<int:study_id>/forecast/ask/", forecast_ask, name="forecast_ask")]
