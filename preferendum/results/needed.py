"""How many judgments might show a difference that is not shown yet: a range, and the work that it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from preferendum.formats.words import gettext as _
from preferendum.results.statistics import LEVEL, z_of

#: No number is given beyond so many times the judgments that there are.
FURTHEST = 10


@dataclass(frozen=True, slots=True)
class Effort:
    """What judging takes: `sentences` to judge; on average so many `seconds` a judgment, and judgments `each` annotator
    gave. None where nothing is known."""

    sentences: int
    seconds: float | None = None
    each: float | None = None


@dataclass(frozen=True, slots=True)
class Needed:
    """Between `low` and `high` judgments in all; there are `now`.

    `hours`, `annotators`: what the missing ones take at the pace so far.
    """

    now: int
    low: int
    high: int
    hours: tuple[float, float] | None
    annotators: tuple[int, int] | None

    @property
    def words(self) -> str:
        """In one sentence, of two systems."""
        return self._words(
            _("If the difference is real, %(range)s judgments in all might show it; there are %(now)d now")
        )

    @property
    def words_of_clearest(self) -> str:
        """In one sentence, of the clearest difference of a board on which none is certain."""
        return self._words(
            _(
                "If the clearest difference, which is not yet certain, is real, %(range)s judgments in all might show "
                "it; there are %(now)d now"
            )
        )

    def _words(self, sentence: str) -> str:
        reach = _range("%d", self.low if self.low > self.now else 0, self.high)
        words = sentence % {"range": reach, "now": self.now}
        if self.hours:
            words += _("; more hours: %(range)s") % {"range": _range("%.1f", *self.hours)}
        if self.annotators:
            words += _("; more annotators: %(range)s") % {"range": _range("%d", *self.annotators)}
        return f"{words}."


def needed(
    judgments: int, clearness: float, tests: int, effort: Effort, planned_share: float | None = None
) -> Needed | None:
    """How many judgments might tell the clearest of so many differences from 0, if it is real.

    `clearness`: how many standard errors it is from 0 by so many judgments; one to either side is the range. Errors
    shrink with the square root of the judgments, and of k differences tested together the clearest is significant at
    .05 / k (Holm 1979). None with fewer than a judgment a sentence, and where the range has no end in sight.
    """
    if judgments < max(effort.sentences, 1) or not 1 < clearness < math.inf:
        return None
    factors = [max(1.0, _factor(clearness + se, tests, planned_share)) for se in (1, -1)]
    if factors[1] > FURTHEST:
        return None
    low, high = (_in_two_digits(judgments * factor) if factor > 1 else judgments for factor in factors)
    missing = [number - judgments for number in (low, high)]
    hours = effort.seconds and (missing[0] * effort.seconds / 3600, missing[1] * effort.seconds / 3600)
    annotators = effort.each and (math.ceil(missing[0] / effort.each), math.ceil(missing[1] / effort.each))
    return Needed(judgments, low, high, hours or None, annotators or None)


def _range(form: str, low: float, high: float) -> str:
    ends = {"low": form % low, "high": form % high}
    return (_("%(low)s to %(high)s") if low else _("up to %(high)s")) % ends


def _factor(clearness: float, tests: int, planned_share: float | None) -> float:
    """The factor of the judgments that are needed; by the stop rule, `planned_share` counts until the plan is full."""
    factor = (z_of(LEVEL, tests, None if planned_share is None else 1.0) / clearness) ** 2
    return math.sqrt(factor / planned_share) if planned_share and factor * planned_share < 1 else factor


def _in_two_digits(number: float) -> int:
    """Rounded up, for an estimate that knows no more."""
    step: int = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return math.ceil(number / step) * step
