"""What would change if annotators were left out, counted again, or one kind of them counted alone: each system before
and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotate.models import ScoredBy, Study
from annotate.reports.leaderboard import headline
from preferendum.metrics.names import WIN_RATE
from preferendum.results import SystemResult, WhatIf
from preferendum.show.points import Unit, unit_of


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


def unit(what_if: WhatIf, score: str) -> Unit:
    """The unit of both scores."""
    results = (*what_if.before.systems, *what_if.after.systems)
    return unit_of(score, [(result.score, result.low, result.high) for result in results])


def _changes(what_if: WhatIf, in_order: Iterable[SystemResult]) -> tuple[SystemChange, ...]:
    before = {result.system: result for result in what_if.before.systems}
    after = {result.system: result for result in what_if.after.systems}
    names = dict.fromkeys(result.system for result in in_order)
    return tuple(SystemChange(name, before.get(name), after.get(name)) for name in names)
