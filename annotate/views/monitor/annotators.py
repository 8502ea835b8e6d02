"""How annotators judge, and what can be done about one of them."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotate import judging
from annotate.access import in_study
from annotate.models import Annotator, AuditEntry, Study
from annotate.reports import annotators, audit_log, diagnostics
from annotate.reports.plots import sparkline
from annotate.views.monitor.pages import STUDY, monitor_page
from annotate.views.research.pages import user_of


@in_study("annotators")
@require_safe
def study_annotators(request: HttpRequest, study: Study) -> HttpResponse:
    """All annotators, one line each, so many a page, sorted by any column."""
    sort = request.GET.get("sort", "joined")
    chosen, lines = annotators.page_of(study, sort, request.GET.get("page"))
    return monitor_page(
        request,
        study,
        "monitor/annotators.html",
        show="annotators",
        chosen=chosen,
        lines=[(row, sparkline(row.pace)) for row in lines],
        sort=sort,
        keep=urlencode({"sort": sort}) + "&",
        columns=[_column(name, title, sort) for name, title in _columns()],
    )


def _columns() -> list[tuple[str, str]]:
    """The columns of the table by what sorts them."""
    return [
        ("name", _("Annotator")),
        ("flags", _("Flags")),
        ("judged", _("Judged")),
        ("seconds", _("Median seconds")),
        ("left", _("Left preferred")),
        ("ties", _("Equal")),
        ("skips", _("Skipped")),
        ("gold", _("Gold pairs")),
        ("repeats", _("Repeats")),
        ("circles", _("Circular triples")),
        ("fit", _("Fit to the others")),
        ("e", _("E-value")),
        ("seen", _("Last seen")),
    ]


def _column(name: str, title: str, sort: str) -> dict[str, str]:
    """A column's heading: how it is sorted now, and what a click sorts it by."""
    if sort.lstrip("-") != name:
        # What one looks for first: names from A, all else from the largest.
        return {"name": name, "title": title, "sorted": "", "next": name if name == "name" else f"-{name}"}
    down = sort.startswith("-")
    return {
        "name": name,
        "title": title,
        "sorted": "descending" if down else "ascending",
        "next": name if down else f"-{name}",
    }


@in_study("annotators")
@require_safe
def annotator_page(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Everything about one annotator, and what can be done about them."""
    annotator = get_object_or_404(Annotator, study=study, pk=annotator_id)
    (row,) = annotators.rows_of(study, [annotator.pk])
    entries = AuditEntry.objects.filter(study=study, detail__key=str(annotator.key)).order_by("-pk")
    return monitor_page(
        request,
        study,
        "monitor/annotator.html",
        show="annotators",
        row=row,
        line=sparkline(row.pace),
        entries=audit_log.in_words(entries),
    )


@in_study("annotators")
@require_POST
def annotator_rest(request: HttpRequest, study: Study, annotator_id: int) -> HttpResponse:
    """Give them no pairs for a while, or again."""
    annotator = get_object_or_404(Annotator, study=study, pk=annotator_id)
    is_resting = request.POST.get("rest") == "on"
    if judging.rest(annotator, user_of(request), is_resting):
        message = (
            _("The annotator is paused and gets no pairs until you resume.")
            if is_resting
            else _("The annotator gets pairs again.")
        )
        messages.success(request, message)
    return redirect("study_annotator", study_id=study.pk, annotator_id=annotator.pk)


@in_study("annotators")
@require_safe
def study_consistency(request: HttpRequest, study: Study) -> HttpResponse:
    """Who is least consistent, and the way to what the ranking would be without them."""
    return monitor_page(
        request, study, "monitor/consistency.html", show="consistency", least=diagnostics.least_consistent(study)
    )


urlpatterns = [
    path(STUDY + "annotators/", study_annotators, name="study_annotators"),
    path(STUDY + "annotators/<int:annotator_id>/", annotator_page, name="study_annotator"),
    path(STUDY + "annotators/<int:annotator_id>/rest/", annotator_rest, name="annotator_rest"),
    path(STUDY + "annotators/consistency/", study_consistency, name="consistency"),
]
