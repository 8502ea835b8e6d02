"""Divergence from standard summarizers: its name and options. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import Family, Option, later, register

register(
    Family(
        ("js-pool",),
        {"systems": Option("=NAME+NAME: the systems, in place of the standard summarizers", value=None)},
        later(f"{__name__}.scores"),
        titles={"js-pool": gettext_noop("JS divergence from standard summarizers")},
        across_topics=True,
        place=70,
        rests_on=gettext_noop("summaries by standard summarizers"),
        cites="louis-nenkova-2013-automatically",
    )
)
