"""Judgments by simulated annotators, who take reference summaries or Pyramids at their word (section 4.3).

Simulated judgments are a means of trying things out. They are labelled as simulated wherever they are stored or shown,
and are never counted as people's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Judgments
from preferendum.fit.similarity import DECIMALS, Similarity, nearest

# Pairs drawn at once; a pair of equal value decides nothing and another one is drawn.
_BATCH = 1024


@dataclass(frozen=True, slots=True)
class Annotated:
    """A sentence of a summary in which people marked content units: their weights by label (a Pyramid's SCUs)."""

    text: str
    units: Mapping[str, float]


def value_by_references(similarity: Similarity, references: Sequence[str]) -> NDArray[np.float64]:
    """(n,): equation 6, each sentence's largest similarity to any sentence of the references; 0 without any."""
    rows = similarity.to(references)
    return rows.max(axis=0) if len(rows) else np.zeros(len(similarity))


def value_by_pyramid(similarity: Similarity, annotated: Sequence[Annotated]) -> NDArray[np.float64]:
    """(n,): equations 7 and 8, the summed weights of the distinct units of the most similar annotated sentence.

    The first of equally similar ones counts; a sentence that resembles none of them has value 0.
    """
    if not annotated:
        return np.zeros(len(similarity))
    rows = similarity.to([sentence.text for sentence in annotated]).T
    sums = np.array([sum(sentence.units.values()) for sentence in annotated], dtype=np.float64)
    return np.where(rows.max(axis=1) > 0, sums[nearest(rows)], 0.0)


def seed_for(seed: int, topic_id: str) -> tuple[int, ...]:
    """A seed of its own for each topic, whatever other topics there are."""
    return (seed, *topic_id.encode())


def judge(value: NDArray[np.float64], count: int, seed: int | Sequence[int]) -> Judgments:
    """`count` judgments of random pairs, drawn with replacement; the sentence of higher value wins.

    Pairs of equal value are left out, so there are no judgments where all sentences have the same value.
    """
    value = np.round(value, DECIMALS)
    rng = np.random.default_rng(seed)
    n = len(value)
    pairs = np.empty((0, 2), dtype=np.int64)
    if n > 1 and value.min() < value.max():
        while len(pairs) < count:
            drawn = rng.integers(n, size=(_BATCH, 2))
            pairs = np.concatenate([pairs, drawn[value[drawn[:, 0]] != value[drawn[:, 1]]]])[:count]
    a, b = pairs[:, 0], pairs[:, 1]
    outcome = (value[a] > value[b]).astype(np.float64)
    return Judgments(a, b, outcome, np.ones(len(a)), np.zeros(len(a), dtype=np.int64))
