"""The plan of a study: written, frozen, and what was done otherwise."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotate import plans
from annotate.access import in_study
from annotate.forms import DeviationForm, PlanForm, complain
from annotate.models import Study
from annotate.refusal import Refusal
from annotate.reports.plan import deviations
from annotate.views.research.pages import page, user_of


@in_study("see")
@require_safe
def study_plan(request: HttpRequest, study: Study) -> HttpResponse:
    """What is planned; once it is frozen, also how the study differs from it."""
    return _show(request, study)


@in_study("edit")
@require_POST
def plan_save(request: HttpRequest, study: Study) -> HttpResponse:
    """Write the plan down; with `freeze`, for good."""
    form = PlanForm(request.POST, instance=plans.plan_of(study))
    if form.is_valid():
        try:
            plans.save(study, user_of(request), **form.cleaned_data)
            if "freeze" in request.POST:
                plans.freeze(study, user_of(request))
        except Refusal as refusal:
            if not refusal.fields:
                return _refused(request, study, refusal)
            complain(form, refusal)
        else:
            is_frozen = "freeze" in request.POST
            messages.success(request, _("The plan is frozen.") if is_frozen else _("The plan was saved."))
            return redirect("study_plan", study_id=study.pk)
    return _show(request, study, form=form, status=422)


@in_study("edit")
@require_POST
def plan_deviation(request: HttpRequest, study: Study) -> HttpResponse:
    """Note what was done otherwise."""
    form = DeviationForm(request.POST)
    if form.is_valid():
        try:
            plans.deviate(study, user_of(request), form.cleaned_data["text"])
        except Refusal as refusal:
            if not refusal.fields:
                return _refused(request, study, refusal)
            complain(form, refusal)
        else:
            messages.success(request, _("The deviation was noted."))
            return redirect("study_plan", study_id=study.pk)
    return _show(request, study, deviation_form=form, status=422)


def _refused(request: HttpRequest, study: Study, refusal: Refusal) -> HttpResponse:
    """What cannot be done as the plan stands; the page shows how it stands."""
    messages.error(request, refusal.message)
    return redirect("study_plan", study_id=study.pk)


def _show(
    request: HttpRequest,
    study: Study,
    form: PlanForm | None = None,
    deviation_form: DeviationForm | None = None,
    status: int = 200,
) -> HttpResponse:
    plan = plans.plan_of(study)
    return page(
        request,
        study,
        "research/plan.html",
        status=status,
        tab="leaderboard",
        plan=plan,
        form=form or PlanForm(instance=plan),
        deviation_form=deviation_form or DeviationForm(),
        deviations=deviations(plan),
        noted=plan.deviations.select_related("user") if plan.is_frozen else (),
        is_whole=not plan.is_frozen or plans.digest_of(plan) == plan.digest,
    )


_PAGE = "studies/<int:study_id>/plan/"
urlpatterns = [
    path(_PAGE, study_plan, name="study_plan"),
    path(_PAGE + "save/", plan_save, name="plan_save"),
    path(_PAGE + "deviations/", plan_deviation, name="plan_deviation"),
]
