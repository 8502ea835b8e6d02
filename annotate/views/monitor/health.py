"""The state of the worker."""

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
    """Whether a worker is running, how far it lags, what failed and why; updates itself while open.

    For superusers, and owners and admins of studies.
    """
    if not access.may_see_health(request.user):
        raise Http404
    state = worker.look(access.visible_studies(request.user))
    alive = [process.name for process in state.workers if process.is_alive]
    # Rounded to ten seconds: a page that is redrawn all the time cannot be read.
    lag = None if state.lag is None else state.lag // 10
    failed = state.rankings, state.uploads, state.exports, state.unread, state.failing
    version = digest(alive, state.busy, state.waiting, *failed, lag)
    if is_seen(request, version):
        return HttpResponse(status=UNCHANGED)
    template = "monitor/condition.html" if "seen" in request.GET else "monitor/health.html"
    # Announced to screen readers only if it changed.
    is_news = request.GET.get("said", state.state) != state.state
    return render(request, template, {"health": state, "version": version, "is_news": is_news})


urlpatterns = [path("health/", health, name="health")]
