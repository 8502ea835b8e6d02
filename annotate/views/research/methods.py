"""What a paper says of a study: its methods, what to cite, and the Human Evaluation Datasheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Study
from annotate.reports import methods_section, study_facts
from annotate.reports.study_facts import StudyFacts
from annotate.views.research.download import download
from annotate.views.research.pages import LATEX, as_file, page


@in_study("see")
@require_safe
@snapshot()
def study_methods(request: HttpRequest, study: Study) -> HttpResponse:
    """The methods, BibTeX and the datasheet, to be read and copied."""
    facts = study_facts.of_study(study)
    return page(
        request,
        study,
        "research/studies/methods.html",
        here="methods",
        facts=facts,
        methods=methods_section.plain(facts),
        latex=methods_section.latex(facts),
        bibtex=methods_section.bibtex(facts),
        datasheet=methods_section.datasheet(facts),
        downloads=[
            download(str(title), "study_methods", [(form, "", label)], [study.pk])
            for form, (title, label) in _DOWNLOADS.items()
        ],
    )


@in_study("see")
@require_safe
@snapshot()
def study_methods_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """A part of it as a file."""
    name, write, kind = _FILES[form]
    content = write(study_facts.of_study(study)).encode()
    return as_file(content, kind, f"{name}-{slugify(study.title) or 'study'}.{form}")


#: By the form of a file, the beginning of its name, what writes it, and its media type.
_FILES: Mapping[str, tuple[str, Callable[[StudyFacts], str], str]] = {
    "tex": ("methods", methods_section.latex, LATEX),
    "bib": ("references", methods_section.bibtex, "application/x-bibtex; charset=utf-8"),
    "md": ("heds", methods_section.datasheet, "text/markdown; charset=utf-8"),
}
#: What each file holds, and its form in words.
_DOWNLOADS = {
    "tex": (_("Methods"), "LaTeX"),
    "bib": (_("References"), "BibTeX"),
    "md": (_("Human Evaluation Datasheet"), "Markdown"),
}
_PAGE = "studies/<int:study_id>/methods"
urlpatterns = [
    path(f"{_PAGE}/", study_methods, name="study_methods"),
    *(path(f"{_PAGE}.{form}", study_methods_file, {"form": form}, name=f"study_methods_{form}") for form in _FILES),
]
