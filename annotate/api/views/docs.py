"""The description of the API, and a page to try it on."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Every call of the API, to be read and tried."""
    return render(request, "api/docs.html")
