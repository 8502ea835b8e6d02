"""Who a study's checks can find, in words."""

from __future__ import annotations

from preferendum.formats.words import gettext as _
from preferendum.formats.words import ngettext
from preferendum.results.checks import EVERY_PAIR_TWICE, Finding

#: Fewer annotators than this cannot be compared with one another.
FEWEST = 2


def who_is_found(finding: Finding) -> str:
    """Say which careless annotators would not be found, and what would find them."""
    chance = round(10 * (1 - (1 - finding.by_shared) * (1 - finding.by_gold)))
    shared = _("%(share)g%% of pairs shared") % {"share": round(100 * finding.shared_share, 1)}
    coin = ngettext(
        "By these checks alone (%(shared)s, %(gold)g%% gold pairs), %(chance)d of 10 annotators who toss a coin are "
        "found by %(answers)d answer.",
        "By these checks alone (%(shared)s, %(gold)g%% gold pairs), %(chance)d of 10 annotators who toss a coin are "
        "found by %(answers)d answers.",
        finding.answers,
    ) % {
        "shared": shared if finding.shared_share < EVERY_PAIR_TWICE else _("every pair shared"),
        "gold": round(100 * finding.gold_share, 1),
        "answers": finding.answers,
        "chance": chance,
    }
    longer = _(
        "One who always takes the longer text shows in how often the longer one was chosen, and is found by gold pairs "
        "whose better text is the shorter."
    )
    return " ".join(filter(None, [coin, _what_would(finding) if chance < 8 else "", longer]))


def _what_would(finding: Finding) -> str:
    """What would find eight of ten of those who toss a coin."""
    share = {"gold": 100 * (finding.enough_gold or 0), "shared": 100 * (finding.enough_shared or 0)}
    if finding.enough_shared and finding.enough_gold:
        return _("%(shared)g%% shared, or %(gold)g%% gold pairs, would find 8.") % share
    if finding.enough_gold:
        return _("%(gold)g%% gold pairs would find 8; shared pairs alone would not.") % share
    if finding.annotators < FEWEST:
        return _("Nobody can be compared with so few annotators: it takes more of them.")
    return _("To find 8, each annotator must give more answers.")
