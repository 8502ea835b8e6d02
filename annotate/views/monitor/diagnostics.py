"""What the scores rest on: coverage, and sentences that fit badly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.models import Study
from annotate.reports import diagnostics
from annotate.views.monitor.pages import STUDY
from annotate.views.research.pages import page

#: Bars of the distribution of judgments over sentences, at most.
BARS = 12


@in_study("annotators")
@require_safe
def study_misfits(request: HttpRequest, study: Study) -> HttpResponse:
    """Sentences that won more or less often than their utilities let one expect."""
    return page(
        request, study, "monitor/misfits.html", tab="topics", show="misfits", misfits=diagnostics.misfits(study)
    )


@in_study("annotators")
@require_safe
def study_coverage(request: HttpRequest, study: Study) -> HttpResponse:
    """How much of each topic was judged, and whether it hangs together."""
    lines = [{"row": row, "bars": _bars(row.coverage.judgments)} for row in diagnostics.coverage(study)]
    return page(request, study, "monitor/coverage.html", tab="topics", show="coverage", lines=lines)


def _bars(counts: Sequence[int]) -> list[dict[str, Any]]:
    """Bars of a small histogram 24 units high, of how many sentences have 0, 1, 2, ... judgments: where each stands,
    and from how many judgments to how many it is."""
    step = -(-len(counts) // BARS) or 1
    starts = range(0, len(counts), step)
    sums = [sum(counts[start : start + step]) for start in starts]
    return [
        {
            "x": 8 * k,
            "height": round(22 * sentences / (max(sums) or 1), 2),
            "from": start,
            "to": min(start + step, len(counts)) - 1,
            "sentences": sentences,
        }
        for k, (start, sentences) in enumerate(zip(starts, sums, strict=True))
    ]


urlpatterns = [
    path(STUDY + "misfits/", study_misfits, name="misfits"),
    path(STUDY + "coverage/", study_coverage, name="coverage"),
]
