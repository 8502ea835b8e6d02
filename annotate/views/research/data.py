"""What a study has: what was uploaded when, from which file, by whom; removing it, and restoring it within a day."""

from __future__ import annotations

import operator
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotate import imports
from annotate.access import in_study
from annotate.models import Removal, Study
from annotate.refusal import Refusal
from annotate.reports import data as reports
from annotate.views.refusals import refusals_shown
from annotate.views.research.pages import page, user_of

LINES_A_PAGE = 100
#: What systems can be sorted by, the most first, if not by name.
SORTS = ("summaries", "answers", "first_at")


@in_study("see")
@require_safe
def study_data(request: HttpRequest, study: Study) -> HttpResponse:
    """One of the lists of what the study has, `show`; the uploads first."""
    show = request.GET.get("show", "uploads")
    if show not in LISTS:
        raise Http404
    rows, sort = LISTS[show](study), request.GET.get("sort", "")
    if show == "systems" and sort in SORTS:
        rows = sorted(rows, key=operator.attrgetter(sort), reverse=True)
    chosen = Paginator(rows, LINES_A_PAGE).get_page(request.GET.get("page"))
    lines = _shown(study, show, list(chosen))
    return page(
        request,
        study,
        "research/texts/data.html",
        show=show,
        here=show,
        chosen=chosen,
        lines=lines,
        earlier=reports.earlier_in(study, show),
        keep=f"show={show}&sort={sort}&" if sort in SORTS else f"show={show}&",
    )


LISTS: dict[str, Any] = {
    "uploads": reports.uploads_of,
    "systems": reports.systems_of,
    "scores": reports.dimensions_of,
    "removed": reports.removals_of,
}


def _shown(study: Study, show: str, rows: list[Any]) -> list[Any]:
    if show == "uploads":
        return [{"upload": upload, "brought": reports.in_words(upload.contents)} for upload in rows]
    if show == "removed":
        return [{"removal": removal, "counts": reports.in_words(removal.counts)} for removal in rows]
    return rows


@in_study("edit")
@require_http_methods(["GET", "HEAD", "POST"])
def data_remove(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """Say what will be removed and what stays, and remove it."""
    sent = request.POST if request.method == "POST" else request.GET
    target = imports.find_target(study, kind, sent.get("key", ""))
    if target is None:
        raise Http404
    problem = ""
    if request.method == "POST":
        try:
            removal = imports.remove(study, user_of(request), kind, sent.get("key", ""))
        except Refusal as refusal:
            problem = refusal.message
        else:
            message = _("“%(name)s” was removed. You can restore it within a day.") % {"name": removal.name}
            messages.success(request, message)
            return _to_removed(study)
    return page(
        request,
        study,
        "research/texts/data_remove.html",
        status=409 if problem else 200,
        target=target,
        kind=Removal.Kind(kind).label,
        key=sent.get("key", ""),
        counts=target.counts(),
        going=reports.in_words({name: n for name, n in target.counts().items() if name != "judgments"}),
        problem=problem,
    )


@in_study("edit")
@require_POST
def data_restore(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Restore what was removed."""
    removal = get_object_or_404(Removal, study=study, key=key)
    with refusals_shown(request):
        imports.restore_removed(removal, user_of(request))
        messages.success(request, _("“%(name)s” is back as it was.") % {"name": removal.name})
    return _to_removed(study)


def _to_removed(study: Study) -> HttpResponse:
    return redirect(f"{reverse('study_data', args=[study.pk])}?show=removed")


_DATA = "studies/<int:study_id>/data/"
urlpatterns = [
    path(_DATA, study_data, name="study_data"),
    path(_DATA + "remove/<str:kind>/", data_remove, name="data_remove"),
    path(_DATA + "restore/<uuid:key>/", data_restore, name="data_restore"),
]
