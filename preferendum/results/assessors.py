"""Records of assessors, who score summaries: how consistent each is, and what the worst of them change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from preferendum.results.annotators import Figure
from preferendum.results.metrics import Peers

#: By which figure assessors are ordered: alpha on identical summaries; alpha against the mean of the others; manual
#: less automatic Pyramid scores.
Basis = Literal["consistency", "agreement", "auto_pyramid"]


@dataclass(frozen=True, slots=True)
class AssessorFigure:
    """An assessor's figure. `value`: Krippendorff's alpha of n pairs of scores, or mP - aP, the mean of n topics.

    `difference`: how far the two scores of a pair are apart on average. `is_ranked`: whether that suffices to call the
    assessor better or worse than another.
    """

    assessor: str
    value: Figure
    difference: Figure | None = None
    is_ranked: bool = True


@dataclass(frozen=True, slots=True)
class MetricBeside:
    """A metric against human scores: Pearson's r of n systems' means; r of the summaries that an assessor scored, mean
    of n assessors."""

    metric: str
    systems: Figure
    summaries: Figure


@dataclass(frozen=True, slots=True)
class WithoutWorst:
    """Human scores without those of some assessors: so many topics that still have any, and ratings.

    `pearson`, `spearman`: of the systems' means with those of all scores.
    """

    left_out: tuple[str, ...]
    topics: int
    ratings: int
    pearson: float | None
    spearman: float | None
    metrics: tuple[MetricBeside, ...]


@dataclass(frozen=True, slots=True)
class AssessorRanking:
    """Assessors by one figure, the best first; the scores of all of them, without the worst, without the two worst."""

    basis: Basis
    assessors: tuple[AssessorFigure, ...]
    without: tuple[WithoutWorst, ...]


@dataclass(frozen=True, slots=True)
class AssessedDimension:
    """The assessors of one dimension, or of the Pyramids (`by_pyramid`), by every known figure.

    `assessors`, `ratings`: how many there are; `unattributed`: scores without a named assessor.
    """

    dimension: str
    by_pyramid: bool
    assessors: int
    ratings: int
    unattributed: int
    rankings: tuple[AssessorRanking, ...]


@dataclass(frozen=True, slots=True)
class AssessorsReport:
    """Every dimension of the human scores, then the Pyramids.

    `with_models`: whether automatic Pyramid scores also find what the models' contributors say.
    """

    peers: Peers
    with_models: bool
    dimensions: tuple[AssessedDimension, ...]
