"""A page's figures and tables as files for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from annotate.reports.figure_files import FIGURES, PLACES, figure
from annotate.reports.plots import Plot
from annotate.views.research.pages import as_file

#: A file's bytes and its media type.
Content = tuple[bytes, str]
#: Names of the forms of files.
FORMS = {"svg": "SVG", "pdf": "PDF", "png": "PNG", "tex": "LaTeX", "csv": "CSV", "json": "JSON"}


@dataclass(frozen=True, slots=True)
class PaperPart:
    """A figure or table, and its files: the name of the form, and its addresses by place (empty for a table)."""

    title: str
    files: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


def paper_part(
    title: str, name: str, forms: Iterable[str], keys: Sequence[object], asked: Mapping[str, str]
) -> PaperPart:
    """The files at the addresses `name_form`, with the choices that the page shows."""

    def address(form: str, **place: str) -> str:
        query = urlencode({**asked, **place})
        return reverse(f"{name}_{form}", args=keys) + (query and f"?{query}")

    def addresses(form: str) -> tuple[tuple[str, str], ...]:
        if form not in FIGURES:
            return (("", address(form)),)
        return tuple((str(label), address(form, **{"for": place})) for place, (label, *_widths) in PLACES.items())

    return PaperPart(title, tuple((FORMS[form], addresses(form)) for form in forms))


def figure_file(request: HttpRequest, plot: Plot | None, form: str, note: str, name: str) -> HttpResponse:
    """A figure as a download, for the place that the request names or else a page; 404 if there is nothing to draw."""
    place = request.GET.get("for", "page")
    if plot is None or place not in PLACES:
        raise Http404
    stem = name if place == "page" else f"{name}-{place}"
    return as_file(figure(plot, form, note, place), FIGURES[form], f"{stem}.{form}")
