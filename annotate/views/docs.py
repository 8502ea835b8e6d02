"""The documentation, for everyone."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotate import docs


@require_safe
def documentation(request: HttpRequest) -> HttpResponse:
    """The list of pages, by audience."""
    return render(request, "docs/contents.html", {"contents": docs.contents()})


@require_safe
def doc(request: HttpRequest, name: str) -> HttpResponse:
    """One of its pages."""
    try:
        shown = docs.load(name)
    except KeyError as error:
        raise Http404 from error
    return render(request, "docs/page.html", {"doc": shown, "contents": docs.contents()})


urlpatterns = [
    path("docs/", documentation, name="docs"),
    path("docs/<slug:name>/", doc, name="doc"),
]
