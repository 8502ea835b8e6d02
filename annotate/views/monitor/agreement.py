"""How far annotators agree, and the pairs on which they differ."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.models import AgreementReport, Annotator, Study
from annotate.reports import agreement
from annotate.reports.plots import line_plot
from annotate.views.monitor.pages import STUDY, monitor_page
from annotate.views.research.pages import keys


@in_study("annotators")
@require_safe
def study_agreement(request: HttpRequest, study: Study) -> HttpResponse:
    """How far people agree: in all, by topic, over time, and who with whom."""
    report = AgreementReport.objects.filter(study=study).first()
    record = report.record if report else None
    return monitor_page(
        request,
        study,
        "monitor/agreement.html",
        show="agreement",
        problem=report.problem if report else "",
        whole=agreement.AgreementLine(_("The study"), record.study) if record else None,
        topics=agreement.by_topic(study, record) if record else (),
        statistics=agreement.STATISTICS.values(),
        plot=line_plot([(point.judgments, point.alpha) for point in record.time]) if record else None,
        heat=agreement.heat_map(record.table) if record else None,
        thin=agreement.THIN,
    )


@in_study("annotators")
@require_safe
def study_disputed(request: HttpRequest, study: Study) -> HttpResponse:
    """The pairs that divide people most; or those on which two people, `a` and `b`, differ."""
    asked = keys(request.GET.get(name, "") for name in ("a", "b"))
    both = [get_object_or_404(Annotator, study=study, pk=key) for key in asked] if len(asked) == 2 else []
    disputes = agreement.between(study, *both) if both else agreement.most_disputed(study)
    return monitor_page(request, study, "monitor/disputed.html", show="disputed", disputes=disputes, both=both)


urlpatterns = [
    path(STUDY + "agreement/", study_agreement, name="agreement"),
    path(STUDY + "disputed/", study_disputed, name="disputed"),
]
