"""What admins and operators see: how people judge, and how the worker does."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotate import access, judges
from annotate import health as condition
from annotate.access import in_study
from annotate.models import Study
from annotate.views.research.pages import UNCHANGED, digest, is_seen, page


@login_required
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Whether a worker is running, how far behind it is, what failed and why; moves by itself while it is open."""
    found = condition.look(access.visible_studies(request.user))
    alive = [worker.name for worker in found.workers if worker.is_alive]
    # Not every second counts: a page that is drawn anew all the time cannot be read.
    lag = None if found.lag is None else found.lag // 10
    version = digest(alive, found.busy, found.waiting, found.rankings, found.uploads, found.exports, lag)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    template = "monitor/condition.html" if "seen" in request.GET else "monitor/health.html"
    # Said aloud again only if it is something else.
    is_news = request.GET.get("said", found.state) != found.state
    return render(request, template, {"health": found, "version": version, "is_news": is_news})


@in_study("people")
@require_safe
def study_judges(request: HttpRequest, study: Study) -> HttpResponse:
    """How far people agree, and everybody who judges, one line each, so many a page."""
    everybody = judges.look_at(study)
    chosen = Paginator(everybody, judges.PEOPLE_A_PAGE).get_page(request.GET.get("page"))
    looked = judges.look_up([one.annotator.pk for one in chosen])
    lines = [(one, looked.get(one.annotator.pk)) for one in chosen]
    agreement = judges.agreement(study)
    return page(request, study, "monitor/judges.html", lines=lines, chosen=chosen, agreement=agreement, tab="people")


urlpatterns = [
    path("health/", health, name="health"),
    path("studies/<int:study_id>/judges/", study_judges, name="judges"),
]
