"""The documentation, for everyone."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
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


@require_safe
def plain(request: HttpRequest, name: str) -> HttpResponse:
    """One of its pages as its file has it, for programs."""
    if name not in docs.NAMES:
        raise Http404
    text = (docs.FOLDER / f"{name}.md").read_text(encoding="utf-8")
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


@require_safe
def llms_txt(request: HttpRequest) -> HttpResponse:
    """Where a language model finds what it needs here, in the form of llmstxt.org."""
    text = render_to_string("docs/llms.txt", {"contents": docs.contents(), "origin": settings.ORIGIN})
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


urlpatterns = [
    path("llms.txt", llms_txt, name="llms_txt"),
    path("docs/", documentation, name="docs"),
    path("docs/<slug:name>.md", plain, name="doc_plain"),
    path("docs/<slug:name>/", doc, name="doc"),
]
