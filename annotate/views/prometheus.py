"""Figures for Prometheus, as superusers see them; requests with the scraper's token are answered by the middleware."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.server.middleware import figures


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """404 for everyone but superusers."""
    if not request.user.is_superuser:
        raise Http404
    return figures()


urlpatterns = [path("metrics", metrics, name="metrics")]
