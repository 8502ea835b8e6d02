"""What verdicts on systems rest on, and for which annotators they hold: one record, made by the worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from formats.words import gettext as _

#: Of whom verdicts hold: of annotators like these; of these alone; of one, or of nobody who is known by name.
About = Literal["kind", "these", "one"]
#: Fewer annotators than five (answering equally often; half a one may be missing) are no sample of their kind.
ENOUGH_ANNOTATORS = 4.5
#: With fewer judgments than this in all, nothing is tested: errors are estimated from them, too.
EARLIEST = 20


@dataclass(frozen=True, slots=True)
class Ground:
    """`annotators`: how many have judged (0: none is named); `effective`: as many who answer equally often (Kish
    1965).

    `spread`: how far a difference of two systems varies from one annotator to the next, as a standard deviation (root
    mean square over every two); None where it is unknown. `is_early`: nothing is tested yet.
    `are_simulated`: no answer is by people or machines.
    """

    annotators: int = 0
    effective: float = 0.0
    spread: float | None = None
    about: About = "one"
    is_early: bool = False
    are_simulated: bool = False

    @classmethod
    def of(cls, judgments: int, annotators: int = 0, effective: float = 0.0, spread: float | None = None) -> Ground:
        """Verdicts allow for how annotators differ wherever that is known."""
        is_sample = spread is not None and effective >= ENOUGH_ANNOTATORS
        about: About = "one" if annotators < 2 else "kind" if is_sample else "these"
        return cls(annotators, effective, spread, about, judgments < EARLIEST)

    @property
    def words(self) -> str:
        number = _("%(n)d simulated") % {"n": self.annotators} if self.are_simulated else self.annotators
        return " ".join(sentence % {"n": number, "least": EARLIEST} for sentence in self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.is_early:
            yield _("It is too early to tell systems apart: that takes %(least)d judgments or more.")
        if self.are_simulated and self.about != "kind":
            yield _("All annotators are simulated.")
        if self.about == "one":
            yield _("All answers are from one annotator, or do not say whose they are: results hold for them alone.")
        elif self.about == "kind":
            yield _("Intervals allow for how far the %(n)s annotators differ, so they hold for others like them.")
        elif self.spread is not None:
            yield _("Few annotators judged, or few gave most of the answers: results are about these annotators only.")
        else:
            yield _(
                "How far annotators differ is not known, which takes several on the same topics and two systems: "
                "results are about these annotators only."
            )
