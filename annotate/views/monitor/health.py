"""How the worker does."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotate import access
from annotate.reports import worker
from annotate.views.research.pages import UNCHANGED, digest, is_seen


@login_required
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Whether a worker is running, how far behind it is, what failed and why; moves by itself while it is open.

    For superusers, and for owners and admins of studies.
    """
    if not access.may_see_health(request.user):
        raise Http404
    state = worker.look(access.visible_studies(request.user))
    alive = [process.name for process in state.workers if process.is_alive]
    # Not every second counts: a page that is drawn anew all the time cannot be read.
    lag = None if state.lag is None else state.lag // 10
    version = digest(alive, state.busy, state.waiting, state.rankings, state.uploads, state.exports, lag)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    template = "monitor/condition.html" if "seen" in request.GET else "monitor/health.html"
    # Said aloud again only if it is something else.
    is_news = request.GET.get("said", state.state) != state.state
    return render(request, template, {"health": state, "version": version, "is_news": is_news})


urlpatterns = [path("health/", health, name="health")]
