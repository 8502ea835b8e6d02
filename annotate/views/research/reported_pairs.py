"""Pairs that annotators reported."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.models import Item, ReportedPair, Study
from annotate.reports import reported_pairs
from annotate.views.research.pages import page
from annotate.views.research.workbench import SENTENCES_A_PAGE

REPORTS_A_PAGE = 25


@in_study("see")
@require_safe
def study_reported(request: HttpRequest, study: Study) -> HttpResponse:
    """Pairs that annotators reported, with links to where each sentence can be left out."""
    chosen = Paginator(reported_pairs.of(study), REPORTS_A_PAGE).get_page(request.GET.get("page"))
    lines = [{"report": report, "sentences": _sentences(report)} for report in chosen]
    return page(request, study, "research/people/reported_pairs.html", here="reported", chosen=chosen, lines=lines)


def _sentences(report: ReportedPair) -> list[tuple[Item, int]]:
    """Both sentences as shown, each with its page in its document's workbench."""
    shown = report.assignment.left, report.assignment.right
    return [(sentence, sentence.index // SENTENCES_A_PAGE + 1) for sentence in shown]


urlpatterns = [path("studies/<int:study_id>/reported/", study_reported, name="reported_pairs")]
