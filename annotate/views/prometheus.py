"""What superusers see of the figures for Prometheus; who shows the scraper's token is answered before (middleware)."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.server.middleware import figures


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Everybody else is told that there is no such page."""
    if not request.user.is_superuser:
        raise Http404
    return figures()


urlpatterns = [path("metrics", metrics, name="metrics")]
