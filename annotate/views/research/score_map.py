"""Systems by topics: every summary's score at a glance, on a page and as a file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from annotate.access import in_study
from annotate.database.snapshot import snapshot
from annotate.models import Study
from annotate.reports import score_map
from annotate.views.research.pages import as_file, csv_table, page
from annotate.views.research.results import asked_scored_by
from formats.plots import decimals


@in_study("see")
@require_safe
@snapshot()
def scores_by_topic(request: HttpRequest, study: Study) -> HttpResponse:
    """Every system's score in every topic, shaded."""
    shown = score_map.of_study(study, asked_scored_by(request))
    scores = [cell.score for line in shown.lines for cell in line.cells if cell]
    return page(
        request,
        study,
        "research/score_map.html",
        tab="leaderboard",
        board=shown.board,
        shown=shown,
        shades=range(score_map.SHADES),
        digits=decimals(scores, 2),
    )


@in_study("see")
@require_safe
@snapshot()
def scores_by_topic_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """The same as a file: a row for each system, a column for each topic."""
    shown = score_map.of_study(study, asked_scored_by(request))
    columns = ("system", "mean", *(topic.name for topic in shown.topics))
    rows = ((line.name, line.score, *(cell.score if cell else None for cell in line.cells)) for line in shown.lines)
    name = f"scores-by-topic-{slugify(study.title) or 'study'}-{shown.board.scored_by}.csv"
    return as_file(*csv_table(columns, rows), name)


_STUDY = "studies/<int:study_id>/"
urlpatterns = [
    path(_STUDY + "scores-by-topic/", scores_by_topic, name="scores_by_topic"),
    path(_STUDY + "scores-by-topic.csv", scores_by_topic_csv, name="scores_by_topic_csv"),
]
