"""The plots of a study in words: labels of axes, and descriptions for people who cannot see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotate.reports.leaderboard import Board
from preferendum.results import LeaderboardRow
from preferendum.show.plots import NARROW, WIDE, Drawing, IntervalRow, rank_plot
from preferendum.show.points import Unit, score_figure
from preferendum.show.shown import figure


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot, drawn separately for each place: wide and narrow on a page, and for each width of a file."""

    draw: Callable[[float], Drawing]

    @property
    def wide(self) -> SafeString:
        return mark_safe(self.draw(WIDE).on_page())  # noqa: S308  (preferendum.show.plots escapes what it writes)

    @property
    def narrow(self) -> SafeString:
        return mark_safe(self.draw(NARROW).on_page())  # noqa: S308


def plot_of(draw: Callable[..., Drawing | None], *about: object) -> Plot | None:
    """A plot of these data; None if there is nothing to draw."""
    return next((Plot(own.draw) for own in figure("", "", "", draw, *about)), None)


def board_scores(board: Board, rows: Sequence[LeaderboardRow]) -> Plot | None:
    """Systems in the order of their ranks."""
    unit = board.unit
    return scores(
        [unit.row(row.system, row.score, row.low, row.high, str(board.place(row) or "")) for row in rows], unit
    )


def scores(rows: Sequence[IntervalRow], unit: Unit) -> Plot | None:
    """Rows of systems, with a line at the average."""
    return next((Plot(own.draw) for own in score_figure(rows, unit)), None)


def board_ranks(board: Board, most: int) -> Plot | None:
    """How ranks developed, of at most so many systems."""
    curve = board.ranked_curve
    if len(curve) < 2 or not 2 <= len(board.rows) <= most:
        return None
    order = [(point.judgments, sorted(point.scores, key=lambda name: (-point.scores[name], name))) for point in curve]
    label = _("Ranks of the systems against the number of judgments")
    return plot_of(rank_plot, order, label, _("judgments"), _("rank"))
