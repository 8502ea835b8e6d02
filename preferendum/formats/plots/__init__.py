"""One family of plots for pages, papers and the command line: drawn once, as SVG, at the width of their place."""

from preferendum.formats.plots.axes import Scale, decimals, sparkline
from preferendum.formats.plots.cells import GridWords, score_grid
from preferendum.formats.plots.courses import course_plot
from preferendum.formats.plots.curves import Line, convergence_lines, curve_plot
from preferendum.formats.plots.drawing import NARROW, PAPER, WIDE, Drawing
from preferendum.formats.plots.intervals import IntervalRow, Mark, interval_plot
from preferendum.formats.plots.ranks import rank_plot
from preferendum.formats.plots.scatter import scatter_plot
