"""Pyramid scores: their names and options. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import JACKKNIFE, Family, Option, later, register

register(
    Family(
        ("pyramid", "pyramid-original"),
        {
            "down": Option("round the mean size of a model down (by default half up)"),
            "up": Option("round it up"),
            JACKKNIFE: Option("the mean over the pyramids that lack one model", value=None),
        },
        later(f"{__name__}.scores"),
        titles={"pyramid": gettext_noop("Pyramid"), "pyramid-original": gettext_noop("Pyramid, original")},
        place=90,
        cites="nenkova-passonneau-2004-evaluating",
        rests_on=gettext_noop("a Pyramid"),
    )
)
