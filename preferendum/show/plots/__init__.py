"""One family of plots for pages, papers and the command line: drawn once, as SVG, at the width of their place."""

from preferendum.show.plots.axes import Scale, decimals, sparkline
from preferendum.show.plots.cells import GridWords, score_grid
from preferendum.show.plots.courses import course_plot
from preferendum.show.plots.curves import Line, convergence_lines, curve_plot
from preferendum.show.plots.drawing import NARROW, PAPER, WIDE, Drawing
from preferendum.show.plots.intervals import IntervalRow, Mark, interval_plot
from preferendum.show.plots.ranks import rank_plot
from preferendum.show.plots.scatter import scatter_plot
