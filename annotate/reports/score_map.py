"""Every summary's score at a glance: systems by topics."""

from __future__ import annotations

from dataclasses import dataclass

from annotate.models import Fit, Score, Study, System, Topic
from annotate.reports import leaderboard as boards
from annotate.reports.leaderboard import Board

#: How many shades there are, from the lowest score to the highest.
SHADES = 9


@dataclass(frozen=True, slots=True)
class Cell:
    """The score of a summary, which is given by its key, and how it is shaded, from 0 to `SHADES` - 1."""

    summary: int
    score: float
    shade: int


@dataclass(frozen=True, slots=True)
class Line:
    """A system with its score in each topic, where it has one."""

    name: str
    system: int
    score: float
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True)
class ScoreMap:
    """The systems of a board, in its order, by topics. Those fitted under other settings than the board's are empty."""

    board: Board
    topics: tuple[Topic, ...]
    lines: tuple[Line, ...]


def of_study(study: Study, scored_by: str = "") -> ScoreMap:
    """As the study shows its scores first, where nothing else is asked for."""
    board = boards.of_study(study, scored_by)
    topics = tuple(Topic.objects.filter(study=study))
    newest = Fit.objects.newest(board.scored_by).filter(topic__study=study).only("settings")
    fits = [fit.pk for fit in newest if boards.is_under(fit, board.settings)]
    rows = Score.objects.filter(fit__in=fits, score__isnull=False)
    columns = ("summary__system__name", "summary__topic", "summary", "score")
    scores = {(system, topic): (key, score) for system, topic, key, score in rows.values_list(*columns)}
    edges = boards.ends_of(board.score, [score for _key, score in scores.values()])
    keys = dict(System.objects.filter(study=study).values_list("name", "pk"))
    lines = []
    for row in board.rows:
        own = [scores.get((row.system, topic.pk)) for topic in topics]
        cells = tuple(Cell(*cell, shade=_shade(cell[1], edges)) if cell else None for cell in own)
        lines.append(Line(row.system, keys[row.system], row.score, cells))
    return ScoreMap(board, topics, tuple(lines))


def _shade(score: float, edges: tuple[float, float]) -> int:
    low, high = edges
    return min(SHADES - 1, int(SHADES * (score - low) / (high - low))) if high > low else SHADES // 2
