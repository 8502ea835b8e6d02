"""One system: its place on the leaderboard, and its score in each topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Score, Study, Summary, System
from annotate.reports import leaderboard as boards
from annotate.reports import metric_scores
from annotate.views.research.analyses import table_part
from annotate.views.research.pages import page
from annotate.views.research.results import asked_scored_by, average_at, has_coverage, scale_of
from preferendum.show.analyses.metric_scores import scores
from preferendum.show.plots import Scale


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
    summaries = list(
        Summary.objects.filter(system=shown).select_related("topic__metrics", "system").order_by("topic__position")
    )
    own = Score.objects.filter(summary__in=summaries, scored_by=board.scored_by).select_related("fit")
    own = own.defer("fit__covariance", "fit__differences", "fit__words")
    of_summary = {score.summary_id: score for score in own}
    scale = scale_of(board.score, [number for score in own for number in (score.score, score.low, score.high)])
    return page(
        request,
        study,
        "research/boards/system.html",
        here="leaderboard",
        system=shown,
        board=board,
        row=next((row for row in board.everyone if row.system == shown.name), None),
        lines=[_line(summary, of_summary.get(summary.pk), board, scale) for summary in summaries],
        others=_nearest(systems.values(), shown, board),
        zero=average_at(board.score, scale),
        has_coverage=has_coverage(board),
        table=(table := metric_scores.table_of(summaries)),
        part=table_part(scores(table, is_of_system=True), study.pk, {}) if table.metrics or table.dimensions else None,
        unit=board.unit,
    )


def _nearest(others: Iterable[System], shown: System, board: boards.Board) -> list[System]:
    """The other systems, the nearest in rank first, and of two as near the one below."""
    places = {row.system: place for place, row in enumerate(board.everyone)}
    last = len(places)
    below = [(places.get(other.name, last) - places.get(shown.name, last), other) for other in others]
    return [other for _steps, other in sorted(below, key=lambda near: (abs(near[0]), near[0] < 0))]


def _line(summary: Summary, score: Score | None, board: boards.Board, scale: Scale) -> dict[str, Any]:
    """One topic with the place of its interval; `is_other`: fitted under settings that the board does not show."""
    places = (score.score, score.low, score.high) if score else (None, None, None)
    x, low, high = (None if number is None else scale.at(number) for number in places)
    is_other = score is not None and bool(board.rows) and not boards.is_under(score.fit, board.settings)
    return {"summary": summary, "score": score, "x": x, "low": low, "high": high, "is_other": is_other}


urlpatterns = [path("studies/<int:study_id>/systems/<int:system_id>/", system, name="system")]
