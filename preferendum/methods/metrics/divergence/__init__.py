"""Divergences of a summary's words from its sources': their names. `scores` has the mathematics."""

from preferendum.formats.words import gettext_noop
from preferendum.metrics.registry import Family, later, register

TITLES = {
    "js": gettext_noop("JS divergence"),
    "js-smoothed": gettext_noop("JS divergence, smoothed"),
    "kl": gettext_noop("KL divergence of the documents"),
    "kl-summary": gettext_noop("KL divergence of the summary"),
    "js-consensus": gettext_noop("JS divergence from the consensus"),
}
register(
    Family(
        tuple(TITLES),
        {},
        later(f"{__name__}.scores"),
        titles=TITLES,
        place=40,
        cites="louis-nenkova-2013-automatically",
    )
)
