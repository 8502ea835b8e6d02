"""The audit log."""

from __future__ import annotations

from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate import audit_log
from annotate.access import in_study
from annotate.models import AuditEntry, Study
from annotate.reports.audit_log import in_words
from annotate.views.research.pages import STUDY, page

ENTRIES_A_PAGE = 50


@in_study("annotators")
@require_safe
def study_log(request: HttpRequest, study: Study) -> HttpResponse:
    """The audit log: who did what and when, and whether it is intact."""
    rows = AuditEntry.objects.filter(study=study)
    kinds = sorted(set(rows.order_by().values_list("action", flat=True)))
    asked = request.GET.get("act", "")
    kind = asked if asked in kinds else ""
    wanted = rows.filter(action=kind) if kind else rows
    chosen = Paginator(wanted.order_by("-number"), ENTRIES_A_PAGE).get_page(request.GET.get("page"))
    return page(
        request,
        study,
        "monitor/log.html",
        here="log",
        chosen=chosen,
        lines=in_words(chosen),
        kinds=kinds,
        kind=kind,
        keep=urlencode({"act": kind}) + "&" if kind else "",
        broken=audit_log.check(study),
    )


urlpatterns = [path(STUDY + "log/", study_log, name="log")]
