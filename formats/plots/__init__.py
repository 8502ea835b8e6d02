"""One family of plots for pages, papers and the command line: drawn once, as SVG, at the width of their place."""

from formats.plots.axes import Scale, decimals, sparkline
from formats.plots.cells import GridWords, score_grid
from formats.plots.courses import course_plot
from formats.plots.curves import Line, convergence_lines, curve_plot
from formats.plots.drawing import NARROW, PAPER, WIDE, Drawing
from formats.plots.intervals import IntervalRow, Mark, interval_plot
from formats.plots.ranks import rank_plot
from formats.plots.scatter import scatter_plot
