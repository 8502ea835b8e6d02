"""Every summary's score at a glance: systems by topics."""

from __future__ import annotations

from collections import defaultdict

from annotate.models import Fit, Score, ScoredBy, Study, Summary, System, Topic
from annotate.reports import leaderboard as boards
from annotate.reports.answers_between import counted_between
from preferendum.formats.answers import SHARES
from preferendum.results.statistics import wilson
from preferendum.show.analyses.score_map import SHADES, ScoredSummary, ScoreMap, SystemLine

#: A system's name and a topic's key.
Place = tuple[str, int]


def of_study(study: Study, scored_by: str) -> ScoreMap:
    """The systems of the board that is scored in this way."""
    board = boards.of_study(study, scored_by)
    topics = tuple((topic.pk, topic.name, str(topic)) for topic in Topic.objects.filter(study=study))
    cells = cells_of(study, board)
    edges = boards.ends_of(board.score, [cell.score for cell in cells.values() if cell.score is not None])
    keys = dict(System.objects.filter(study=study).values_list("name", "pk"))
    lines = []
    for row in board.everyone:
        own = (cells.get((row.system, topic)) for topic, _name, _title in topics)
        shaded = tuple(cell and cell.shaded(_shade(cell, edges)) for cell in own)
        lines.append(SystemLine(keys[row.system], row, shaded))
    return ScoreMap(scored_by, board.score, board.answer, topics, tuple(lines))


def cells_of(study: Study, board: boards.Board, system: str = "") -> dict[Place, ScoredSummary]:
    """What each topic says of each system, or of one, where it says anything."""
    return _answered(study, system) if board.scored_by == ScoredBy.WIN_RATE else _scored(study, board, system)


def _scored(study: Study, board: boards.Board, system: str) -> dict[Place, ScoredSummary]:
    """Scores of each topic's own fit, with the judgments of it; coverage rests on none."""
    newest = Fit.objects.newest(board.scored_by).filter(item_set__study=study).only("settings")
    fits = [fit.pk for fit in newest if boards.is_under(fit, board.settings)]
    rows = Score.objects.filter(fit__in=fits, score__isnull=False)
    rows = rows.filter(summary__system__name=system) if system else rows
    columns = ("summary__system__name", "summary__topic", "summary", "fit__judgments", "score", "low", "high")
    return {
        (name, topic): ScoredSummary(summary, None if board.score == "coverage" else judgments, *score)
        for name, topic, summary, judgments, *score in rows.values_list(*columns)
    }


def _answered(study: Study, system: str) -> dict[Place, ScoredSummary]:
    """How often each summary was preferred to others of its topic: win rates of a topic lean on all topics."""
    preferred, total = defaultdict[Place, float](float), defaultdict[Place, int](int)
    for topic, first, second, answer, times in counted_between(study.topics.all(), about=system):
        for own, share in ((first, SHARES[answer]), (second, 1 - SHARES[answer])):
            preferred[own, topic] += share * times
            total[own, topic] += times
    summaries = Summary.objects.filter(topic__study=study)
    summaries = summaries.filter(system__name=system) if system else summaries
    keys = {(own, topic): key for own, topic, key in summaries.values_list("system__name", "topic", "pk")}
    return {
        place: ScoredSummary(keys[place], n, preferred[place] / n, *wilson(preferred[place], n))
        for place, n in total.items()
        if place in keys
    }


def _shade(cell: ScoredSummary, edges: tuple[float, float]) -> int:
    low, high = edges
    if cell.is_thin or high <= low:
        return SHADES // 2
    return min(SHADES - 1, int(SHADES * (cell.score - low) / (high - low)))
