"""The win rates that preferences between whole summaries give, as a metric. `scores` has the mathematics."""

from preferendum.metrics.names import WIN_RATE
from preferendum.metrics.registry import Family, later, register

register(Family((WIN_RATE,), {}, later(f"{__name__}.scores"), for_studies=False))
