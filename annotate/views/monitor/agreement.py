"""How far annotators agree, and the pairs on which they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Annotator, Result, Study
from annotate.reports import agreement, plots, rests_on
from annotate.reports.agreement import STATISTICS, AgreementLine
from annotate.views.monitor.pages import STUDY, monitor_page
from annotate.views.research.pages import LATEX, as_file, csv_table, keys
from annotate.views.research.paper import FIGURES, Content, PaperPart, figure_file, paper_part
from formats.results import Bounded, StudyAgreement


@in_study("annotators")
@require_safe
def study_agreement(request: HttpRequest, study: Study) -> HttpResponse:
    """How far people agree: in all, by topic, over time, and who with whom."""
    report = Result.objects.head(study, "annotators")
    record = report.read(StudyAgreement)
    return monitor_page(
        request,
        study,
        "monitor/agreement.html",
        show="agreement",
        problem=report.problem,
        whole=AgreementLine(_("The study"), record.study) if record else None,
        topics=agreement.by_topic(study, record) if record else (),
        statistics=STATISTICS.values(),
        plot=(plot := plots.alpha_over_time(record) if record else None),
        paper=_paper(study, has_plot=plot is not None) if record else None,
        heat=agreement.heat_map(record.table) if record else None,
        thin=agreement.THIN,
    )


@in_study("annotators")
@require_safe
def study_agreement_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """The same as a file; 404 before anything was worked out."""
    record = Result.objects.head(study, "annotators").read(StudyAgreement)
    if record is None:
        raise Http404
    name, words = f"agreement-{slugify(study.title) or 'study'}", rests_on.of_study(study).counted.words
    if form in FIGURES:
        return figure_file(plots.alpha_over_time(record), form, words, name)
    content, kind = _TABLES[form](_lines(study, record), words)
    return as_file(content, kind, f"{name}.{form}")


def _lines(study: Study, record: StudyAgreement) -> list[AgreementLine]:
    return [AgreementLine(_("The study"), record.study), *agreement.by_topic(study, record)]


def _paper(study: Study, *, has_plot: bool) -> list[PaperPart]:
    forms = [*(FIGURES if has_plot else ()), *_TABLES]
    return [paper_part(_("Agreement of annotators"), "agreement", forms, [study.pk])]


def _csv(lines: Sequence[AgreementLine], words: str) -> Content:
    columns = [f"{name}{bound}" for name in STATISTICS for bound in ("", "_low", "_high")]
    rows = [
        (str(line.title), line.agreement.pairs, *(number for own in line.figures for number in _numbers(own)), words)
        for line in lines
    ]
    return csv_table(("topic", "pairs", *columns, "rests_on"), rows)


def _numbers(figure: Bounded) -> tuple[float | None, ...]:
    return figure.value, figure.low, figure.high


def _latex(lines: Sequence[AgreementLine], words: str) -> Content:
    columns = [_("Topic"), _("Pairs"), *map(str, STATISTICS.values())]
    rows = [[str(line.title), str(line.agreement.pairs), *map(_printed, line.figures)] for line in lines]
    comment = f"{_('Judgments that count:')} {words}"
    return f"{formats.write_latex(columns, 'lrccc', rows, [comment])}\n".encode(), LATEX


def _printed(figure: Bounded) -> str:
    if figure.value is None:
        return "–"
    is_bounded = figure.low is not None and figure.high is not None
    return f"{figure.value:.2f}" + (f" [{figure.low:.2f}, {figure.high:.2f}]" if is_bounded else "")


_TABLES: Mapping[str, Callable[[Sequence[AgreementLine], str], Content]] = {"tex": _latex, "csv": _csv}


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
    *(
        path(f"{STUDY}agreement.{form}", study_agreement_file, {"form": form}, name=f"agreement_{form}")
        for form in (*FIGURES, *_TABLES)
    ),
    path(STUDY + "disputed/", study_disputed, name="disputed"),
]
