"""What verdicts on systems rest on, and for which annotators they hold: one record, made by the worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from preferendum.formats.words import gettext as _

#: Of whom verdicts hold: of annotators like these; of these alone; of one, or of nobody who is known by name.
About = Literal["kind", "these", "one"]
#: Fewer annotators than five (answering equally often; half a one may be missing) are no sample of their kind.
ENOUGH_ANNOTATORS = 4.5
#: With fewer judgments than this in all, or fewer annotators who differ, nothing is tested: errors are estimated from
#: them, too, and two annotators do not show in how many ways annotators differ.
EARLIEST, FEWEST = 20, 2.5


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
        is_early = judgments < EARLIEST or (spread is not None and effective < FEWEST)
        return cls(annotators, effective, spread, about, is_early)

    @property
    def words(self) -> str:
        number = _("%(n)d simulated") % {"n": self.annotators} if self.are_simulated else self.annotators
        return " ".join(sentence % {"n": number, "least": EARLIEST} for sentence in self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.is_early and self.spread is not None and self.effective < FEWEST:
            yield _("It is too early to tell systems apart: that takes three annotators or more.")
        elif self.is_early:
            yield _("It is too early to tell systems apart: that takes %(least)d judgments or more.")
        if self.are_simulated and self.about != "kind":
            yield _("All annotators are simulated.")
        if not self.annotators:
            yield _(
                "Not all answers say who gave them, so intervals leave out how annotators differ: where few judged, "
                "95%% intervals hold in 90 to 95%% of studies."
            )
        elif self.about == "one":
            yield _("All answers are from one annotator: results hold for them alone.")
        elif self.about == "kind":
            yield _("Intervals allow for how far the %(n)s annotators differ, so they hold for others like them.")
        elif self.spread is not None:
            yield _("Few annotators judged, or few gave most of the answers: results are about these annotators only.")
        else:
            yield _(
                "How far annotators differ is not known, which takes several on the same topics and two systems: "
                "results are about these annotators only."
            )
