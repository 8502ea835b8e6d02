"""What single raters gave summaries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preferendum.formats.pyramid import Annotation


@dataclass(frozen=True, slots=True)
class Rating:
    """What one assessor gave one summary in a dimension."""

    dimension: str
    assessor: str
    system: str
    topic: str
    score: float


@dataclass(frozen=True, slots=True)
class Assessed:
    """Single assessors' scores of summaries, and Pyramids by topic. `texts`: by system and topic."""

    ratings: tuple[Rating, ...]
    texts: Mapping[tuple[str, str], str]
    pyramids: Mapping[str, Annotation]
