"""Scores of one topic's summaries, and how sure they are together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from formats.results import Standing

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """`score` (s,): of the systems' summaries, nan for one that has none; `covariance` (s, s): over judgments, nan
    where nothing can be said; `judgments`: how many they rest on."""

    systems: tuple[str, ...]
    score: Vector
    covariance: Matrix
    judgments: int

    @property
    def errors(self) -> Vector:
        """(s,): standard errors, nan where nothing can be said."""
        errors: Vector = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(np.isfinite(self.score), errors, np.nan)

    @property
    def standing(self) -> Standing:
        """What a ranking of the systems needs to know; a summary without a score takes no part in one."""
        ranked = np.flatnonzero(np.isfinite(self.score))
        systems = tuple(self.systems[k] for k in ranked)
        return Standing(
            systems, tuple(self.score[ranked].tolist()), self.covariance[np.ix_(ranked, ranked)], self.judgments
        )


def unknown(systems: int) -> Matrix:
    """The covariance (s, s) of scores of which nobody can say how sure they are."""
    return np.full((systems, systems), np.nan)
