"""Which systems do human scores and metrics tell apart? A page, and the same as files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import rests_on, system_pairs
from annotate.reports.study import worker_is_there
from annotate.reports.system_pairs import TESTS, SystemPairsTable
from annotate.views.research.pages import LATEX, as_file, csv_table, page
from annotate.views.research.paper import PaperPart, paper_part


@in_study("see")
@require_safe
def metrics_systems(request: HttpRequest, study: Study) -> HttpResponse:
    """How many pairs of systems people and each metric tell apart, by every test."""
    pairs = _pairs(request, study)
    return page(
        request,
        study,
        "research/system_pairs.html",
        tab="metrics",
        pairs=pairs,
        table=pairs.table if pairs else None,
        tests=TESTS.values(),
        has_worker=worker_is_there(),
        paper=_paper(study, pairs) if pairs and pairs.scorers else None,
    )


@in_study("see")
@require_safe
def metrics_systems_file(request: HttpRequest, study: Study, form: str) -> HttpResponse:
    """The same as a file; 404 before anything was worked out."""
    pairs = _pairs(request, study)
    if pairs is None or not pairs.scorers:
        raise Http404
    content, kind = _FORMS[form](study, pairs)
    name = "-".join(filter(None, ["systems", slugify(study.title) or "study", slugify(pairs.table.dimension)]))
    return as_file(content, kind, f"{name}.{form}")


def _pairs(request: HttpRequest, study: Study) -> SystemPairsTable | None:
    return system_pairs.of_study(study, request.GET.get("dimension", ""), request.GET.get("peers", ""))


def _paper(study: Study, pairs: SystemPairsTable) -> list[PaperPart]:
    asked = {"dimension": pairs.table.dimension, "peers": pairs.table.peers}
    return [paper_part(_("Pairs of systems that differ"), "metrics_systems", _FORMS, [study.pk], **asked)]


def _csv(study: Study, pairs: SystemPairsTable) -> tuple[bytes, str]:
    return csv_table(("scorer", "by", "systems", "pairs", "draws", "corrected", *TESTS), _rows(pairs))


def _rows(pairs: SystemPairsTable) -> list[tuple[str | int | None, ...]]:
    return [
        (
            "people" if scorer.by_human else "metric",
            scorer.by,
            kind.kind,
            scorer.pairs,
            pairs.draws,
            line.correction,
            *line.told_apart,
        )
        for kind, scorer, line in pairs.lines
    ]


def _latex(study: Study, pairs: SystemPairsTable) -> tuple[bytes, str]:
    columns = [_("Scored by"), _("Systems"), _("Pairs"), _("Correction"), *map(str, TESTS.values())]
    comment = _("Pairs of systems that differ with p at most .05; %(draws)d draws; %(rests_on)s") % {
        "draws": pairs.draws,
        "rests_on": rests_on.of_study(study).counted.words,
    }
    rows = [
        [scorer.name, str(kind.name), str(scorer.pairs), str(line.name), *map(_count, line.told_apart)]
        for kind, scorer, line in pairs.lines
    ]
    content = formats.write_latex(columns, "llrl" + "r" * len(TESTS), rows, [comment])
    return f"{content}\n".encode(), LATEX


def _count(told_apart: int | None) -> str:
    return "–" if told_apart is None else str(told_apart)


_FORMS = {"tex": _latex, "csv": _csv}

_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "metrics/systems/", metrics_systems, name="metrics_systems"),
    *[
        path(f"{_STUDY}metrics/systems.{form}", metrics_systems_file, {"form": form}, name=f"metrics_systems_{form}")
        for form in _FORMS
    ],
]
