"""The start of a trial: by a member of a study, or of the demo's five pairs by any visitor. It continues as judging."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotate import access, five_pairs, judging
from annotate.models import Assignment, Study
from annotate.server import limits
from annotate.server.languages import speak
from annotate.views.judging import progress
from annotate.views.judging.join import agrees, welcome
from annotate.views.limited import limited
from preferendum.formats.answers import ANSWERS


@access.in_study("see")
@require_http_methods(["GET", "HEAD", "POST"])
def try_study(request: HttpRequest, study: Study) -> HttpResponse:
    """What annotators read first; a visitor who begins is led to the first pair."""
    speak(request, study.language)
    if request.method == "POST" and agrees(request, study):
        return progress.go_on(request, judging.start_trial(study, access.account(request)))
    return welcome(request, study, None, is_trial=True)


@require_http_methods(["GET", "HEAD", "POST"])
@limited
def try_five_pairs(request: HttpRequest) -> HttpResponse:
    """Begin with the answer that was given to the first pair on the start page, if any."""
    if request.method != "POST":
        return redirect("home")
    limits.spend(limits.TRIALS, limits.visitor(request))
    trial = five_pairs.start()
    answer, first = request.POST.get("answer", ""), judging.draw(trial)
    if isinstance(first, Assignment) and answer in ANSWERS:
        judging.record_judgment(first, 1, answer)
    return progress.go_on(request, trial)


urlpatterns = [
    path("studies/<int:study_id>/try/", try_study, name="try"),
    path("try/", try_five_pairs, name="demo"),
]
