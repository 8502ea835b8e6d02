"""One family of plots for pages, papers and the command line: drawn once, as SVG, at the width of where they stand."""

from formats.plots.axes import Scale, Tick, axis, decimals, round_step, sparkline, spread
from formats.plots.cells import GridWords, score_grid
from formats.plots.courses import course_plot
from formats.plots.curves import Line, convergence_lines, curve_plot
from formats.plots.drawing import NARROW, PAPER, WIDE, Drawing, shortened
from formats.plots.intervals import IntervalRow, Mark, interval_plot
from formats.plots.ranks import rank_plot
from formats.plots.scatter import scatter_plot

__all__ = [
    "NARROW",
    "PAPER",
    "WIDE",
    "Drawing",
    "GridWords",
    "IntervalRow",
    "Line",
    "Mark",
    "Scale",
    "Tick",
    "axis",
    "convergence_lines",
    "course_plot",
    "curve_plot",
    "decimals",
    "interval_plot",
    "rank_plot",
    "round_step",
    "scatter_plot",
    "score_grid",
    "shortened",
    "sparkline",
    "spread",
]
