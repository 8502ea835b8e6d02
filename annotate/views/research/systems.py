"""One system: its place on the leaderboard, and its score in each topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Study, Summary, System
from annotate.reports import leaderboard as boards
from annotate.reports import metric_scores, score_map
from annotate.views.research.analyses import table_part
from annotate.views.research.pages import page
from annotate.views.research.results import asked_scored_by, average_at, has_coverage, scale_of
from preferendum.show.analyses.metric_scores import scores
from preferendum.show.analyses.score_map import ScoredSummary
from preferendum.show.plots import Scale
from preferendum.show.points import unit_of

TOPICS_A_PAGE = 100


@in_study("see")
@require_safe
@snapshot()
def system(request: HttpRequest, study: Study, system_id: int) -> HttpResponse:
    """The topics that a system summarized, with its scores and links to each summary."""
    systems = System.objects.filter(study=study).in_bulk()
    shown = systems.pop(system_id, None)
    if shown is None:
        raise Http404
    board = boards.of_study(study, asked_scored_by(request))
    summaries = (
        Summary.objects.filter(system=shown).select_related("topic__metrics", "system").order_by("topic__position")
    )
    chosen = Paginator(summaries, TOPICS_A_PAGE).get_page(request.GET.get("page"))
    cells = score_map.cells_of(study, board, shown.name)
    own = [(summary, cells.get((shown.name, summary.topic_id))) for summary in chosen]
    numbers = [number for _summary, cell in own if cell for number in (cell.score, cell.low, cell.high)]
    scale = scale_of(board.score, numbers)
    table = metric_scores.table_of(list(chosen))
    return page(
        request,
        study,
        "research/boards/system.html",
        here="leaderboard",
        system=shown,
        board=board,
        row=next((row for row in board.everyone if row.system == shown.name), None),
        chosen=chosen,
        has_intervals=any(cell and cell.low is not None for _summary, cell in own),
        keep=f"scored_by={board.scored_by}&",
        lines=[_line(summary, cell, scale) for summary, cell in own],
        unit_of_topics=unit_of(board.score, [(cell.score, cell.low, cell.high) for _summary, cell in own if cell]),
        others=_nearest(systems.values(), shown, board),
        zero=average_at(board.score, scale),
        has_coverage=has_coverage(board),
        part=table_part(scores(table, is_of_system=True), study.pk, {}) if table.dimensions else None,
        unit=board.unit,
    )


def _nearest(others: Iterable[System], shown: System, board: boards.Board) -> list[System]:
    """The other systems, the nearest in rank first, and of two as near the one below."""
    places = {row.system: place for place, row in enumerate(board.everyone)}
    last = len(places)
    below = [(places.get(other.name, last) - places.get(shown.name, last), other) for other in others]
    return [other for _steps, other in sorted(below, key=lambda near: (abs(near[0]), near[0] < 0))]


def _line(summary: Summary, cell: ScoredSummary | None, scale: Scale) -> dict[str, Any]:
    """One topic with the place of its interval."""
    places = (cell.score, cell.low, cell.high) if cell else (None, None, None)
    x, low, high = (None if number is None else scale.at(number) for number in places)
    return {"summary": summary, "score": cell, "x": x, "low": low, "high": high}


urlpatterns = [path("studies/<int:study_id>/systems/<int:system_id>/", system, name="system")]
