"""AutoSummENG and MeMoG, by n-gram graphs: their names and options. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import OVER_REFERENCES, Family, Option, later, register

register(
    Family(
        ("autosummeng", "memog"),
        {"normalized": Option("divided by the similarity of the graphs' sizes"), **OVER_REFERENCES},
        later(f"{__name__}.scores"),
        titles={"autosummeng": "AutoSummENG", "memog": "MeMoG"},
        place=20,
        cites="giannakopoulos-etal-2008-summarization",
        rests_on=gettext_noop("the references"),
    )
)
