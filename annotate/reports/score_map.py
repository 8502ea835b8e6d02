"""Every summary's score at a glance: systems by topics."""

from __future__ import annotations

from annotate.models import Fit, Score, Study, System, Topic
from annotate.reports import leaderboard as boards
from preferendum.show.analyses.score_map import SHADES, ScoredSummary, ScoreMap, SystemLine


def of_study(study: Study, scored_by: str) -> ScoreMap:
    """The systems of the board that is scored in this way."""
    board = boards.of_study(study, scored_by)
    topics = tuple((topic.pk, topic.name, str(topic)) for topic in Topic.objects.filter(study=study))
    newest = Fit.objects.newest(scored_by).filter(item_set__study=study).only("settings")
    fits = [fit.pk for fit in newest if boards.is_under(fit, board.settings)]
    rows = Score.objects.filter(fit__in=fits, score__isnull=False)
    columns = ("summary__system__name", "summary__topic", "summary", "score")
    scores = {(system, topic): (key, score) for system, topic, key, score in rows.values_list(*columns)}
    edges = boards.ends_of(board.score, [score for _key, score in scores.values()])
    keys = dict(System.objects.filter(study=study).values_list("name", "pk"))
    lines = []
    for row in board.everyone:
        own = [scores.get((row.system, topic)) for topic, _name, _title in topics]
        cells = tuple(ScoredSummary(*cell, shade=_shade(cell[1], edges)) if cell else None for cell in own)
        lines.append(SystemLine(keys[row.system], row, cells))
    return ScoreMap(scored_by, board.score, board.answer, topics, tuple(lines))


def _shade(score: float, edges: tuple[float, float]) -> int:
    low, high = edges
    return min(SHADES - 1, int(SHADES * (score - low) / (high - low))) if high > low else SHADES // 2
