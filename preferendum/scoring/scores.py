"""Scores of one topic's summaries, and how sure they are together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preferendum.fit.chances import Shares
from preferendum.results import AnnotatorShares, Standing
from preferendum.results.scores import Key

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """`score` (s,): of the systems' summaries, nan for one that has none; `covariance` (s, s): over judgments, nan
    where nothing can be said; `judgments`: how many they rest on; `shares`: of the annotators, where they are known;
    `skew` (s, s) and `halves` (3, s): see `Standing`."""

    systems: tuple[str, ...]
    score: Vector
    covariance: Matrix
    judgments: int
    shares: Shares | None = None
    skew: Matrix | None = None
    halves: Matrix | None = None

    @property
    def standing(self) -> Standing:
        """What a ranking of the systems needs, where the annotators are unknown."""
        return self.standing_by(())

    def standing_by(self, annotators: Sequence[Key]) -> Standing:
        """What a ranking of the systems needs, with `annotators` by number; a summary without a score takes no part in
        a ranking.
        """
        ranked = np.flatnonzero(np.isfinite(self.score))
        shares = None
        if annotators and self.shares is not None:
            some = tuple(annotators[k] for k in range(len(self.shares.judged)))
            own = self.shares
            shares = AnnotatorShares(some, tuple(own.judged.tolist()), own.added[ranked].T, own.of_answers)
        return Standing(
            tuple(self.systems[k] for k in ranked),
            tuple(self.score[ranked].tolist()),
            self.covariance[np.ix_(ranked, ranked)],
            self.judgments,
            shares,
            None if self.skew is None else self.skew[np.ix_(ranked, ranked)],
            None if self.halves is None else self.halves[:, ranked],
        )


def unknown(systems: int) -> Matrix:
    """The covariance (s, s) of scores whose uncertainty is unknown: nan."""
    return np.full((systems, systems), np.nan)
