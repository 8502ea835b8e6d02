"""Those who scored summaries: how consistent they are, and what changes without the worst. A page, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import assessors, rests_on
from annotate.reports.assessors import BASES, AssessorsTable, Effect, dimension_name
from annotate.reports.study import worker_is_there
from annotate.views.monitor.pages import STUDY, monitor_page
from annotate.views.research.pages import LATEX, as_file, csv_table, three_decimals
from annotate.views.research.paper import Content, PaperPart, paper_part
from formats.results import Figure


@in_study("annotators")
@require_safe
def study_assessors(request: HttpRequest, study: Study) -> HttpResponse:
    """How consistent assessors are, how far they agree, what they overlook, and what changes without the worst."""
    shown = _shown(request, study)
    return monitor_page(
        request,
        study,
        "monitor/assessors.html",
        show="assessors",
        shown=shown,
        table=shown.table if shown else None,
        has_worker=worker_is_there(),
        paper=_paper(study, shown) if shown and shown.report and shown.effects else None,
    )


@in_study("annotators")
@require_safe
def study_assessors_file(request: HttpRequest, study: Study, part: str, form: str) -> HttpResponse:
    """A part of it as a file; 404 before anything was worked out."""
    shown = _shown(request, study)
    if shown is None or shown.report is None:
        raise Http404
    content, kind = _FILES[part, form](study, shown)
    of_chosen = slugify(shown.asked) if (part, form) == ("metrics", "tex") else ""
    names = [_NAMES[part], slugify(study.title) or "study", of_chosen, shown.table.peers]
    return as_file(content, kind, f"{'-'.join(filter(None, names))}.{form}")


def _paper(study: Study, shown: AssessorsTable) -> list[PaperPart]:
    asked = {"peers": shown.table.peers, "scores": shown.asked}
    titles = {
        "figures": _("Assessors’ consistency and agreement"),
        "ranks": _("The ranking of systems without the worst assessors"),
        "metrics": _("Metrics without the worst assessors"),
    }
    return [
        paper_part(title, f"assessors_{part}", ("tex", "csv"), [study.pk], **asked) for part, title in titles.items()
    ]


def _shown(request: HttpRequest, study: Study) -> AssessorsTable | None:
    return assessors.of_study(study, *(request.GET.get(name, "") for name in ("scores", "peers")))


# Files


def _latex(columns: Sequence[str], alignment: str, rows: Iterable[Sequence[str]], study: Study) -> Content:
    comment = f"{_('Preferences rest on:')} {rests_on.of_study(study).counted.words}"
    return f"{formats.write_latex(columns, alignment, rows, [comment])}\n".encode(), LATEX


_OF_EFFECT = ("dimension", "by_pyramid", "figure")


def _of_effect(effect: Effect) -> tuple[str | int, ...]:
    return effect.dimension.dimension, int(effect.dimension.by_pyramid), effect.ranking.basis


def _interval(figure: Figure) -> tuple[float | int | None, ...]:
    return figure.value, figure.low, figure.high, figure.n


def _figures_csv(study: Study, shown: AssessorsTable) -> Content:
    columns = (*_OF_EFFECT, "assessor", "ranked", "value", "low", "high", "n", "distance")
    rows = [
        (
            *(*_of_effect(effect), figure.assessor, int(figure.is_ranked), *_interval(figure.value)),
            figure.difference.value if figure.difference else None,
        )
        for effect in shown.effects
        for figure in effect.ranking.assessors
    ]
    return csv_table(columns, rows)


def _figures_latex(study: Study, shown: AssessorsTable) -> Content:
    columns = [_("Scores"), _("Figure"), _("Assessor"), _("Value"), _("95% interval"), "n"]
    rows = [
        [effect.name, str(effect.basis), figure.assessor, *_printed(figure.value), str(figure.value.n)]
        for effect in shown.effects
        for figure in effect.ranking.assessors
    ]
    return _latex(columns, "lllrcr", rows, study)


def _printed(figure: Figure) -> list[str]:
    is_bounded = figure.low is not None and figure.high is not None
    return [
        three_decimals(figure.value),
        f"[{three_decimals(figure.low)}, {three_decimals(figure.high)}]" if is_bounded else "–",
    ]


def _ranks_csv(study: Study, shown: AssessorsTable) -> Content:
    rows = [
        (*_of_effect(effect), "; ".join(row.left_out), row.topics, row.ratings, row.pearson, row.spearman)
        for effect in shown.effects
        for row in effect.ranking.without
    ]
    return csv_table((*_OF_EFFECT, "without", "topics", "ratings", "pearson", "spearman"), rows)


def _ranks_latex(study: Study, shown: AssessorsTable) -> Content:
    columns = [_("Scores"), _("Ordered by"), *(f"{symbol}, {n}" for symbol in ("r", "ρ") for n in ("-1", "-2"))]
    rows = [
        [
            *(effect.name, str(effect.basis)),
            *(three_decimals(row.pearson if row else None) for row in effect.without),
            *(three_decimals(row.spearman if row else None) for row in effect.without),
        ]
        for effect in shown.effects
    ]
    return _latex(columns, "llrrrr", rows, study)


def _metrics_csv(study: Study, shown: AssessorsTable) -> Content:
    of_figure = [f"{level}_{name}" for level in ("systems", "summaries") for name in ("r", "low", "high", "n")]
    rows = [
        (
            *(*_of_effect(effect), "; ".join(row.left_out), beside.metric),
            *(*_interval(beside.systems), *_interval(beside.summaries)),
        )
        for effect in shown.effects
        for row in effect.ranking.without
        for beside in row.metrics
    ]
    return csv_table((*_OF_EFFECT, "without", "metric", *of_figure), rows)


def _metrics_latex(study: Study, shown: AssessorsTable) -> Content:
    levels = _("systems"), _("summaries")
    columns = [_("Scores"), _("Ordered by"), _("Metric")]
    columns += [f"{level}, {n}" for level in levels for n in (_("all"), "-1", "-2")]
    rows = [
        [
            *(dimension_name(effect.dimension), str(BASES[effect.ranking.basis]), name),
            *(three_decimals(own.systems.value if own else None) for own in beside),
            *(three_decimals(own.summaries.value if own else None) for own in beside),
        ]
        for effect in shown.chosen_effects
        for name, beside in effect.metrics
    ]
    return _latex(columns, "lllrrrrrr", rows, study)


_FILES: Mapping[tuple[str, str], Callable[[Study, AssessorsTable], Content]] = {
    ("figures", "csv"): _figures_csv,
    ("figures", "tex"): _figures_latex,
    ("ranks", "csv"): _ranks_csv,
    ("ranks", "tex"): _ranks_latex,
    ("metrics", "csv"): _metrics_csv,
    ("metrics", "tex"): _metrics_latex,
}
_NAMES = {"figures": "assessors", "ranks": "systems-without-the-worst", "metrics": "metrics-without-the-worst"}

urlpatterns = [
    path(STUDY + "assessors/", study_assessors, name="assessors"),
    *(
        path(
            f"{STUDY}assessors/{part}.{form}",
            study_assessors_file,
            {"part": part, "form": form},
            name=f"assessors_{part}_{form}",
        )
        for part, form in _FILES
    ),
]
