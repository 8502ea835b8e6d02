"""Which systems do human scores and metrics tell apart? A page, and the same as a file."""

from __future__ import annotations

import io

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_safe

import formats
from annotate.access import in_study
from annotate.models import Study
from annotate.reports import system_pairs
from annotate.reports.study import worker_is_there
from annotate.reports.system_pairs import TESTS, SystemPairsTable
from annotate.views.research.pages import CSV, as_file, page


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
    )


@in_study("see")
@require_safe
def metrics_systems_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """The same as a file; 404 before anything was worked out."""
    pairs = _pairs(request, study)
    if pairs is None or not pairs.scorers:
        raise Http404
    file = io.BytesIO()
    formats.write_rows(file, ("scorer", "by", "systems", "pairs", "draws", "corrected", *TESTS), _rows(pairs))
    name = "-".join(filter(None, ["systems", slugify(study.title) or "study", slugify(pairs.table.dimension)]))
    return as_file(file.getvalue(), CSV, f"{name}.csv")


def _pairs(request: HttpRequest, study: Study) -> SystemPairsTable | None:
    return system_pairs.of_study(study, request.GET.get("dimension", ""), request.GET.get("peers", ""))


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
        for kind in pairs.kinds
        for scorer in kind.scorers
        for line in scorer.lines
    ]


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "metrics/systems/", metrics_systems, name="metrics_systems"),
    path(_STUDY + "metrics/systems.csv", metrics_systems_csv, name="metrics_systems_csv"),
]
