"""VERT-F: its name and options. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import OVER_REFERENCES, Family, Option, later, register

register(
    Family(
        ("vert-f",),
        {"f": Option("F alone"), "chi2": Option("the part of chi-squared alone"), **OVER_REFERENCES},
        later(f"{__name__}.scores"),
        either=(frozenset({"f", "chi2"}),),
        place=30,
        cites="oliveira-etal-2008-evaluating",
        rests_on=gettext_noop("the references"),
    )
)
