"""What is said of a board that a machine judge helped, on every page and in every file."""

from __future__ import annotations

from collections.abc import Mapping

from preferendum.formats.words import gettext as _
from preferendum.formats.words import gettext_noop
from preferendum.results.helped import FEWEST_ANSWERS, FEWEST_SYSTEMS, Help, WhyNot

_WHY_NOT: Mapping[WhyNot, str] = {
    "few_answers": gettext_noop("that takes %(answers)d answers by people"),
    "few_systems": gettext_noop("that takes %(systems)d systems"),
    "all_equal": gettext_noop("for the machine all systems are equal"),
}


def why_nothing_is_borrowed(why_not: WhyNot) -> str:
    """Say why a machine adds nothing, as a part of a sentence."""
    return _(_WHY_NOT[why_not]) % {"answers": FEWEST_ANSWERS, "systems": FEWEST_SYSTEMS}


def help_notes(own: Help, work: str = "", *, is_tested: bool = True) -> list[str]:
    """Say what a judge's help adds, and what to beware of; each a sentence without its full stop. `work`: how long
    people would take for the answers that they need not give, if that is known; `is_tested`: whether systems are.
    """
    about = {
        "judge": own.judge,
        "n": f"{own.answers:,}",
        "machine": f"{own.of_judge:,}",
        "equivalent": f"{own.equivalent:,}",
        "biased": ", ".join(own.biased),
        "most": own.errs_most,
        "work": work,
    }
    if own.why_not:
        why = {"why": why_nothing_is_borrowed(own.why_not)}
        return [_("People alone: nothing is borrowed from %(judge)s, %(why)s") % (about | why)]
    sure = (
        _(
            "As people would judge, helped by %(judge)s: %(n)s answers by people, as sure as %(equivalent)s by people "
            "alone, who would take %(work)s; no answer by a machine is counted"
        )
        if work
        else _(
            "As people would judge, helped by %(judge)s: %(n)s answers by people, as sure as %(equivalent)s by people "
            "alone; no answer by a machine is counted"
        )
    )
    notes = [sure % about]
    if is_tested:
        notes.append(_("Systems are called different by twice the smaller p, of people alone and helped"))
    if own.biased:
        notes.append(_("%(judge)s judges these otherwise than people do, beyond the others: %(biased)s") % about)
    on_average = _("Intervals hold for systems on average, less often for the one about which the judge errs most")
    return [*notes, f"{on_average} ({own.errs_most})" if own.errs_most else on_average]
