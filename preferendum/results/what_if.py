"""What would change if some annotators were left out, or counted again; what a group of them alone says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preferendum.results.agreement import Agreement
from preferendum.results.annotators import Figure
from preferendum.results.ground import Ground
from preferendum.results.scores import Difference, ScoreCovariance, SystemResult


@dataclass(frozen=True, slots=True)
class Outcome:
    """A ranking and an agreement, with what they rest on. `ground`: for whom differences of the systems hold."""

    judgments: int
    topics: int
    systems: tuple[SystemResult, ...]
    agreement: Agreement
    ground: Ground


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Two outcomes of the same study compared.

    `kendall` (tau-b) and `pearson` correlate the mean scores of the systems that both have; None where they cannot.
    `lost`, `gained`: systems (better, worse) that differ significantly only before, or only after, where there are not
    too many systems to compare every two.
    """

    before: Outcome
    after: Outcome
    kendall: float | None
    pearson: float | None
    lost: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class WhatIfTopic:
    """What one topic would say of the systems; `version`: that of the data that it rests on."""

    scores: Mapping[str, float]
    covariance: ScoreCovariance
    judgments: int
    version: int


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """What so many annotators say, as if they alone had judged, with the differences of each two systems.

    `with_others`: how often one of them and one of the others judged the same pair alike.
    """

    annotators: int
    outcome: Outcome
    differences: tuple[Difference, ...]
    with_others: Figure
