"""A page's Download: figures and tables as files, each with what it holds, its form and its size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from annotate.reports.figure_files import DOTS, FIGURES, PLACES, figure
from annotate.reports.plots import Plot
from annotate.views.research.pages import as_file

#: A file's bytes and its media type.
Content = tuple[bytes, str]
#: What a file is: its form, the place of a figure, and both in words.
Form = tuple[str, str, str | Promise]
FIGURE: tuple[Form, ...] = (
    ("pdf", "column", _("PDF as wide as a column (%(points)d pt)")),
    ("pdf", "page", _("PDF as wide as a page (%(points)d pt)")),
    ("png", "slide", _("PNG for a slide (%(dots)d dpi)")),
    ("svg", "page", _("SVG, to change it")),
)
TABLE: tuple[Form, ...] = (
    ("tex", "", _("LaTeX (package booktabs)")),
    ("csv", "", _("CSV, for a spreadsheet")),
)


@dataclass(frozen=True, slots=True)
class Download:
    """What some files hold, and each of them in words with its address."""

    title: str
    files: tuple[tuple[str, str], ...]


def download(
    title: str, name: str, forms: Iterable[Form], keys: Sequence[object], asked: Mapping[str, str] | None = None
) -> Download:
    """The files at the addresses `name_form`, with the choices that the page shows."""

    def address(form: str, place: str) -> str:
        query = urlencode({**(asked or {}), **({"for": place} if place else {})})
        return reverse(f"{name}_{form}", args=keys) + (query and f"?{query}")

    def words(label: str | Promise, place: str) -> str:
        return str(label) % {"points": PLACES[place].points, "dots": DOTS} if place else str(label)

    return Download(title, tuple((words(label, place), address(form, place)) for form, place, label in forms))


def figure_file(request: HttpRequest, plot: Plot | None, form: str, note: str, name: str) -> HttpResponse:
    """A figure as a download, for the place that the request names or else a page; 404 if there is nothing to draw."""
    place = request.GET.get("for", "page")
    if plot is None or place not in PLACES:
        raise Http404
    stem = name if place == "page" else f"{name}-{place}"
    return as_file(figure(plot, form, note, place), FIGURES[form], f"{stem}.{form}")
