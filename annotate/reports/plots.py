"""The plots of a study in words: what their axes are called, and what they say to who cannot see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from annotate.reports.forecast import ForecastTable
from annotate.reports.leaderboard import Board
from formats.plots import (
    NARROW,
    PAPER,
    WIDE,
    Drawing,
    IntervalRow,
    Line,
    course_plot,
    curve_plot,
    interval_plot,
    rank_plot,
)
from formats.results import LeaderboardRow, StudyAgreement


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot that is drawn anew for each place: wide and narrow on a page, alone in a file."""

    draw: Callable[[float], Drawing | None]

    @property
    def wide(self) -> SafeString:
        return mark_safe(self.at(WIDE).on_page())  # noqa: S308  (formats.plots escapes what it writes)

    @property
    def narrow(self) -> SafeString:
        return mark_safe(self.at(NARROW).on_page())  # noqa: S308

    @property
    def paper(self) -> Drawing:
        return self.at(PAPER)

    def at(self, width: float) -> Drawing:
        """The drawing at a width; `plot_of` made sure that there is one."""
        drawing = self.draw(width)
        assert drawing is not None
        return drawing


def plot_of(draw: Callable[..., Drawing | None], *about: object) -> Plot | None:
    """A plot by what it is drawn from; None where there is nothing to draw."""
    at = cache(lambda width: draw(*about, width=width))
    return None if at(WIDE) is None else Plot(at)


def board_scores(board: Board, rows: Sequence[LeaderboardRow]) -> Plot | None:
    """Systems in the order of their ranks."""
    drawn = [IntervalRow(row.system, row.score, row.low, row.high, rank=str(row.rank)) for row in rows]
    return scores(drawn, board.score)


def scores(rows: Sequence[IntervalRow], score: str = "importance") -> Plot | None:
    """Rows of systems; importance has 0 beside it."""
    label = _("Scores of %(n)d systems with 95%% intervals; the table says the same in numbers") % {"n": len(rows)}
    draw = partial(interval_plot, reference=0.0 if score == "importance" else None)
    heads = _("rank"), _("system")
    return plot_of(draw, rows, label, _("score, with its 95% interval"), heads) if rows else None


def board_ranks(board: Board, most: int) -> Plot | None:
    """How ranks came about, of at most so many systems."""
    if len(board.curve) < 2 or not 2 <= len(board.rows) <= most:
        return None
    curve = [
        (point.judgments, sorted(point.scores, key=lambda name: (-point.scores[name], name))) for point in board.curve
    ]
    label = _("Ranks of the systems against the number of judgments")
    return plot_of(rank_plot, curve, label, _("judgments"), _("rank"))


def forecast(table: ForecastTable) -> Plot | None:
    """How far intervals reach by the number of judgments, and which differences are told apart."""
    with_margin = [(float(row.judgments), row) for row in table.rows if row.margin is not None]
    margins = tuple((x, row.margin or 0.0) for x, row in with_margin)
    resolved = tuple((x, row.resolved or 0.0) for x, row in with_margin)
    spread = tuple(row.sd or 0.0 for _x, row in with_margin)
    lines = [
        Line(_("interval, ±"), margins, spread),
        Line(_("told apart"), resolved),
    ]
    label = _(
        "How far the interval of a difference reaches, by number of judgments; the table says the same in numbers"
    )
    titles = _("judgments a topic"), _("difference of two systems")
    return plot_of(curve_plot, lines, label, *titles) if len(with_margin) > 1 else None


def alpha_over_time(record: StudyAgreement) -> Plot | None:
    """Krippendorff's alpha after a growing number of judgments."""
    course = [(point.judgments, point.alpha) for point in record.time]
    label = _("Krippendorff’s alpha against the number of judgments")
    return plot_of(course_plot, course, label, _("judgments"), _("Krippendorff’s alpha"))
