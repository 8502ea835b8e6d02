"""The description of the API, for programs and for people."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotate.api import reference


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI 3 description, in JSON."""
    return HttpResponse(reference.schema(), content_type="application/json")


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Every call of the API, to be read, and tried where there is JavaScript."""
    return render(request, "api/docs.html", {"groups": reference.reference()})
