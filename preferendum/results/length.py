"""How much of the differences between systems the length of sentences explains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import StatisticsError, correlation

from preferendum.formats.words import gettext as _

#: Of fewer systems, chance alone explains a third or more.
FEWEST = 5
#: What explains more than this share is said in the headline.
MUCH = 0.3


@dataclass(frozen=True, slots=True)
class ByLength:
    """`explained`: the squared correlation, over so many systems, of their scores with the importance that longer
    sentences alone would give them, or (`of_summaries`) with the mean length of their summaries; `by_chance`: what it
    would be in the mean for scores at random, 1 / (systems - 1).
    """

    explained: float
    by_chance: float
    systems: int
    of_summaries: bool = False

    @classmethod
    def of(
        cls, scores: Mapping[str, float], by_length: Mapping[str, float | None], *, of_summaries: bool = False
    ) -> ByLength | None:
        """None for fewer than `FEWEST` systems, and where nothing differs."""
        pairs = [(score, value) for system, score in scores.items() if (value := by_length.get(system)) is not None]
        if len(pairs) < FEWEST:
            return None
        try:
            return cls(correlation(*zip(*pairs, strict=True)) ** 2, 1 / (len(pairs) - 1), len(pairs), of_summaries)
        except StatisticsError:
            return None

    @property
    def is_headline(self) -> bool:
        """Whether length explains so much that the sentence belongs to the headline."""
        return self.explained > MUCH

    @property
    def words(self) -> str:
        """In one sentence."""
        about = {"explained": 100 * self.explained, "systems": self.systems, "chance": 100 * self.by_chance}
        if self.of_summaries:
            sentence = _(
                "The length of summaries explains %(explained).0f%% of how these %(systems)d systems differ; of "
                "scores at random it would explain %(chance).0f%% on average."
            )
            return sentence % about
        sentence = _(
            "The length of sentences explains %(explained).0f%% of how these %(systems)d systems differ; of scores at "
            "random it would explain %(chance).0f%% on average."
        )
        return sentence % about
