"""How far the annotators of a study agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from preferendum.results.statistics import LEVEL

#: Of fewer shared pairs there are no coefficients: they may be anything.
FEWEST_PAIRS = 10
#: Why there is no alpha: nobody judged what another had judged; all who did found both sentences of every pair equally
#: important; there are fewer pairs than `FEWEST_PAIRS`.
Why = Literal["", "nobody_twice", "all_equal", "few_pairs"]


@dataclass(frozen=True, slots=True)
class Bounded:
    """A value between the ends of its 95% interval; None where they are unknown."""

    value: float | None
    low: float | None
    high: float | None


UNKNOWN = Bounded(None, None, None)


@dataclass(frozen=True, slots=True)
class Agreement:
    """`pairs` judged by two or more annotators, `comparisons` of two judgments of the same pair, and what they show.

    `percent` of the comparisons with equal judgments; `alpha`: Krippendorff's; `kappa`: Fleiss'. Chance counts every
    answer half in each direction. `p`: that answers which prefer one of the two
    would agree so far from chance, on the side where alpha is, if all were given by a coin; two-sided.
    """

    judgments: int
    pairs: int
    comparisons: int
    percent: Bounded
    alpha: Bounded
    kappa: Bounded
    why: Why
    p: float | None = None

    @property
    def has_coefficient(self) -> bool:
        """Whether alpha and kappa may be printed: never below `FEWEST_PAIRS`."""
        return not self.why and self.pairs >= FEWEST_PAIRS and self.alpha.value is not None

    @property
    def than_chance(self) -> Literal["more", "less", "no more", ""]:
        """How often annotators agree, compared with chance: as the test of `p` says; "" where nothing may be said."""
        if not self.has_coefficient:
            return ""
        if self.p is None or self.p > LEVEL:
            return "no more"
        return "more" if (self.alpha.value or 0) > 0 else "less"


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicAgreement(Agreement):
    """The agreement in one topic, by its number."""

    topic: int


@dataclass(frozen=True, slots=True)
class AlphaPoint:
    """Krippendorff's alpha with the first so many judgments."""

    judgments: int
    alpha: float | None


@dataclass(frozen=True, slots=True)
class PairwiseAgreement:
    """Of any two of these annotators (k,), how many pairs both judged (k, k) and how often alike (k, k)."""

    annotators: tuple[int, ...] = ()
    shared: tuple[tuple[int, ...], ...] = ()
    alike: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class DisputedPair:
    """A pair on which annotators are divided: how many preferred its first sentence, its second, neither."""

    pair: int
    first: int
    second: int
    ties: int


@dataclass(frozen=True, slots=True)
class StudyAgreement:
    """The agreement in the study, in each topic and over time, of any two annotators, and the most disputed pairs.

    `sentences`, `summaries`: about each alone, where annotators judged both.
    """

    study: Agreement
    topics: tuple[TopicAgreement, ...]
    time: tuple[AlphaPoint, ...] = ()
    table: PairwiseAgreement = PairwiseAgreement()
    disputed: tuple[DisputedPair, ...] = ()
    sentences: Agreement | None = None
    summaries: Agreement | None = None
