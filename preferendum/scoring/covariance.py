"""How sure a topic's scores are together, as it is kept: whole for up to `MOST_COMPARED` systems, as a factor beyond.

A summary's score is a sum of values of sentences, so the covariance of a thousand summaries has no more than the rank
of that of a topic's sentences, and a factor of it is as small as the topic is.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from preferendum.results import AnnotatorShares, ScoreCovariance, Standing
from preferendum.results.statistics import MOST_COMPARED
from preferendum.scoring.ranking import Comparison
from preferendum.statistics import packed

Matrix = NDArray[np.float64]


class Factor:
    """The matrix rows @ rows.T of `rows` (s, r), computed only when it is needed."""

    def __init__(self, rows: Matrix) -> None:
        self.rows = rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        product: Matrix = self.rows @ self.rows.T
        return product

    def __getitem__(self, row: int) -> Any:
        return self.rows @ self.rows[row]

    def __len__(self) -> int:
        return len(self.rows)


def pack(standing: Standing) -> ScoreCovariance:
    """What is kept of a topic's covariance; of many systems in single precision, with the ranks that it leaves them."""
    covariance, shares = _packed(standing), standing.shares
    if shares is None:
        return covariance
    return replace(
        covariance,
        annotators=shares.annotators,
        judged=shares.judged,
        added=packed(np.asarray(shares.added)),
        of_answers=shares.of_answers,
    )


def _packed(standing: Standing) -> ScoreCovariance:
    matrix = np.asarray(standing.covariance, dtype=np.float64)
    if not np.isfinite(matrix).all():
        return ScoreCovariance(standing.systems)
    if len(standing.systems) <= MOST_COMPARED:
        return ScoreCovariance(standing.systems, packed(matrix))
    ranks = {result.system: (result.rank_low, result.rank_high) for result in Comparison([standing]).ranked()}
    factor = packed(root_of(matrix), "<f4")
    return ScoreCovariance(standing.systems, factor=factor, ranks=tuple(ranks[name] for name in standing.systems))


def unpack(packed: ScoreCovariance, scores: Mapping[str, float], judgments: int) -> Standing:
    """What the topic says of the systems that have these scores; each must be one of those that were packed."""
    places = [k for k, system in enumerate(packed.systems) if system in scores]
    systems = tuple(packed.systems[k] for k in places)
    covariance: Any = np.full((len(places), len(places)), np.nan)
    if packed.factor:
        covariance = Factor(_rows(packed.factor, len(packed.systems), "<f4").astype(np.float64)[places])
    elif packed.matrix:
        covariance = _rows(packed.matrix, len(packed.systems))[np.ix_(places, places)]
    shares = None
    if packed.annotators:
        added = _rows(packed.added, len(packed.annotators))[:, places]
        shares = AnnotatorShares(packed.annotators, packed.judged, added, packed.of_answers)
    return Standing(systems, tuple(scores[system] for system in systems), covariance, judgments, shares)


def _rows(text: str, number: int, kind: str = "<f8") -> Matrix:
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(number, -1)


def root_of(matrix: Matrix) -> Matrix:
    """(s, r) with factor @ factor.T = matrix, by Cholesky's method with pivots, which stops at the matrix's rank."""
    lower, pivots, rank, _info = linalg.lapack.dpstrf(matrix, lower=1)
    factor = np.zeros((len(matrix), rank))
    factor[pivots - 1] = np.tril(lower[:, :rank])
    return factor
