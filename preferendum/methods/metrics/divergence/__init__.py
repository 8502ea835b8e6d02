"""Divergences of a summary's words from its sources': their names. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import Family, later, register

TITLES = {
    "js": gettext_noop("JS divergence"),
    "js-smoothed": gettext_noop("JS divergence, smoothed"),
    "kl": gettext_noop("KL divergence of the documents"),
    "kl-summary": gettext_noop("KL divergence of the summary"),
}
CONSENSUS = {"js-consensus": gettext_noop("JS divergence from the consensus")}
_CITES = "louis-nenkova-2013-automatically"
_MAKE = later(f"{__name__}.scores")
register(Family(tuple(TITLES), {}, _MAKE, titles=TITLES, place=40, cites=_CITES))
register(
    Family(
        tuple(CONSENSUS),
        {},
        _MAKE,
        titles=CONSENSUS,
        place=41,
        cites=_CITES,
        rests_on=gettext_noop("the summaries of all other systems"),
    )
)
