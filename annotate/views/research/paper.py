"""A page's figures and tables as files for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode

from annotate.reports.figure_files import FIGURES, figure
from annotate.reports.plots import Plot
from annotate.views.research.pages import as_file

#: A file's bytes and its media type.
Content = tuple[bytes, str]
#: Names of the forms of files.
FORMS = {"svg": "SVG", "pdf": "PDF", "png": "PNG", "tex": "LaTeX", "csv": "CSV", "json": "JSON"}


@dataclass(frozen=True, slots=True)
class PaperPart:
    """A figure or table, and its files as (name of the form, address)."""

    title: str
    files: tuple[tuple[str, str], ...]


def paper_part(
    title: str, name: str, forms: Iterable[str], keys: Sequence[object], asked: Mapping[str, str]
) -> PaperPart:
    """The files at the addresses `name_form`, with the choices that the page shows."""
    query = f"?{urlencode(asked)}" if asked else ""
    return PaperPart(title, tuple((FORMS[form], reverse(f"{name}_{form}", args=keys) + query) for form in forms))


def figure_file(plot: Plot | None, form: str, note: str, name: str) -> HttpResponse:
    """A figure as a download; 404 if there is nothing to draw."""
    if plot is None:
        raise Http404
    return as_file(figure(plot, form, note), FIGURES[form], f"{name}.{form}")
