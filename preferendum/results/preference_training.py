"""How well a metric that learnt from summaries made worse tells them apart."""

from __future__ import annotations

from dataclasses import dataclass

from preferendum.results.agreement import Bounded


@dataclass(frozen=True, slots=True)
class PreferenceTraining:
    """`references`: the sources of `pairs` of better and worse texts; `stories`: different documents among them.

    `accuracy`: the share of pairs of held-out stories in the right order, ties one half; `by_length`: the same if the
    longer text were always the better one. Both between percentiles over stories.
    """

    references: int
    stories: int
    pairs: int
    accuracy: Bounded
    by_length: Bounded
