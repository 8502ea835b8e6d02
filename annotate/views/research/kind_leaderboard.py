"""The leaderboard from one kind of annotators alone, next to the study's own."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotate import access, studies
from annotate.access import in_study
from annotate.judging import what_if
from annotate.models import Annotator, Study
from annotate.reports import rests_on
from annotate.reports.study import worker_is_there
from annotate.reports.what_if import beside, score_of, unit
from annotate.views.research.pages import UNCHANGED, digest, is_seen, page, user_of


@in_study("see")
@require_http_methods(["GET", "HEAD", "POST"])
def kind_leaderboard(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """Request it, or see the worker's progress and then both leaderboards. It names no annotator."""
    if kind not in rests_on.of_study(study).kinds_beside:
        raise Http404
    if request.method == "POST" and "count" in request.POST:
        return _count(request, study, kind)
    if request.method == "POST":
        what_if.ask_kind(study, user_of(request), kind)
        return redirect("kind_leaderboard", study_id=study.pk, kind=kind)
    return _answer(request, study, kind)


def _count(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """Count the simulated judgments besides people's, from now on."""
    if not access.may(request.user, study, "settings") or kind != Annotator.Kind.SIMULATED:
        raise PermissionDenied
    studies.change_settings(study, user_of(request), counted_kinds="people-and-simulated")
    return redirect("leaderboard", study_id=study.pk)


def _answer(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    question, has_worker = what_if.latest(study, kind), worker_is_there()
    version = digest(question and (question.pk, question.state, question.done, question.topics), has_worker)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    answer = question.record if question else None
    return page(
        request,
        study,
        "research/boards/kind_leaderboard_state.html"
        if "seen" in request.GET
        else "research/boards/kind_leaderboard.html",
        here="leaderboard",
        kind=kind,
        question=question,
        what_if=answer,
        rows=beside(answer) if answer else (),
        board={"score": (score := score_of(study))},
        unit=unit(answer, score) if answer else None,
        version=version,
        has_worker=has_worker,
        is_old=question is not None and what_if.is_old(question),
    )


urlpatterns = [
    path("studies/<int:study_id>/leaderboard/<slug:kind>/", kind_leaderboard, name="kind_leaderboard"),
]
