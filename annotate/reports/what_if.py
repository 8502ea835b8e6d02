"""What would change if annotators were left out, counted again, or one kind of them counted alone: each system before
and after."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotate.models import ScoredBy, Study, Summary
from annotate.reports.leaderboard import headline
from preferendum.metrics.names import WIN_RATE
from preferendum.results import SystemResult, WhatIf
from preferendum.show.points import Unit, unit_of, why_untested
from preferendum.show.shown import sentences
from preferendum.show.standing import by_author, rows_of


@dataclass(frozen=True, slots=True)
class SystemChange:
    """A system's place before and after; None if it has none."""

    system: str
    before: SystemResult | None
    after: SystemResult | None

    @property
    def risen(self) -> int:
        """The number of ranks that the system rises; below 0 if it falls."""
        return self.before.rank - self.after.rank if self.before and self.after else 0

    @property
    def fallen(self) -> int:
        return -self.risen


def score_of(study: Study) -> str:
    """What the systems of what-ifs are ranked by: the win rate if it is the study's headline."""
    return WIN_RATE if headline(study) == ScoredBy.WIN_RATE else str(study.recommended_settings["score"])


def changes(what_if: WhatIf) -> tuple[SystemChange, ...]:
    """The systems as they would be ordered, then those that would be gone."""
    return _changes(what_if, (*what_if.after.systems, *what_if.before.systems))


def beside(what_if: WhatIf) -> tuple[SystemChange, ...]:
    """The systems as they are ordered now, then those that only the what-if would rank."""
    return _changes(what_if, (*what_if.before.systems, *what_if.after.systems))


def in_words(study: Study, what_if: WhatIf) -> str:
    """What would change of a study's leaderboard, in a sentence or two."""
    return would_change(what_if, Summary.human_authors(study.pk), is_tested=not why_untested(score_of(study)))


def would_change(what_if: WhatIf, persons: Collection[str] = (), *, is_tested: bool = True) -> str:
    """What would change of the systems' places, without the `persons` among them."""
    sides = [rows_of(side.systems, (), persons) for side in (what_if.before, what_if.after)]
    before, after = ({own.system: own.rank for own in by_author(side)[1]} for side in sides)
    if not before:
        return _("There is no leaderboard yet.")
    if not after:
        return _("No system would have a score.")
    (was, *_rest), (first, *_others) = before, after
    moved = sum(after.get(system) != rank for system, rank in before.items())
    if not moved:
        order = _("The order of the systems would stay the same.")
    elif first == was:
        words = ngettext(
            "%(first)s would still score highest; %(n)d system would change its rank.",
            "%(first)s would still score highest; %(n)d systems would change their rank.",
            moved,
        )
        order = words % {"first": first, "n": moved}
    else:
        order = _("%(first)s would score highest in place of %(was)s.") % {"first": first, "was": was}
        # Possible ranks are among all, people included.
        if is_tested and not persons and not any(map(_leads, sides)):
            order = sentences(order, _("Neither can be told from all other systems."))
    lost, gained = len(what_if.lost), len(what_if.gained)
    less = ngettext(
        "%(n)d difference would no longer be significant.", "%(n)d differences would no longer be significant.", lost
    )
    more = ngettext(
        "%(n)d more difference would be significant.", "%(n)d more differences would be significant.", gained
    )
    return sentences(order, less % {"n": lost} if lost else "", more % {"n": gained} if gained else "")


def _leads(rows: Sequence[SystemResult]) -> bool:
    """Whether the first differs significantly from all others."""
    return rows[0].rank_high == 1


def unit(what_if: WhatIf, score: str) -> Unit:
    """The unit of both scores."""
    results = (*what_if.before.systems, *what_if.after.systems)
    return unit_of(score, [(result.score, result.low, result.high) for result in results])


def _changes(what_if: WhatIf, in_order: Iterable[SystemResult]) -> tuple[SystemChange, ...]:
    before = {result.system: result for result in what_if.before.systems}
    after = {result.system: result for result in what_if.after.systems}
    names = dict.fromkeys(result.system for result in in_order)
    return tuple(SystemChange(name, before.get(name), after.get(name)) for name in names)
