"""What utilities give to a summary (section 4.2.1, equations 4 and 5 of the paper; docs/model.md for the variants).

A score is a sum over the summary's sentences,

    u(s) = sum_i weight_i * factor_i * match_i * value(nearest(s_i)),

and so it is linear in the values of the topic's sentences: everything but the values rests on texts alone, is worked
out once for a topic (`match`), and is kept as one row of weights for each summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evaluation.evidence import Settings, SummaryText, Value
from evaluation.similarity import Similarity, nearest
from evaluation.text import tokens

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

# exp(-700) is still a float: strengths further apart than this are beyond what anybody could tell by judging.
_LARGEST_GAP = 700.0


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence of a summary, and the sentence of the topic whose value it earns.

    `nearest`: its index, None where nothing in the topic has a word in common with it; `similarity` to it;
    `weight`: its share of the characters; `factor`: what redundancy leaves of it (equation 5); `closeness`: 1, or
    the root of the similarity where the settings ask for it.
    """

    sentence: str
    nearest: int | None
    similarity: float
    weight: float
    factor: float
    closeness: float

    @property
    def share(self) -> float:
        """What the value of the nearest sentence is multiplied by."""
        return 0.0 if self.nearest is None else self.weight * self.factor * self.closeness


@dataclass(frozen=True, slots=True)
class Part(Match):
    """One sentence of a summary with the value of its nearest, 0 where there is none."""

    value: float

    @property
    def contribution(self) -> float:
        return self.share * self.value


@dataclass(frozen=True, slots=True)
class Matched:
    """The summaries of a topic beside its sentences: all that a score needs but the values.

    `weights` (s, n): the summaries' scores are `weights @ values`; `parts`: each summary's sentences.
    """

    systems: tuple[str, ...]
    parts: tuple[tuple[Match, ...], ...]
    weights: Matrix


@dataclass(frozen=True, slots=True)
class Score:
    """A summary's score: the sum of what its parts contribute."""

    system: str
    score: float
    parts: tuple[Part, ...]


def match(summaries: Sequence[SummaryText], similarity: Similarity, settings: Settings) -> Matched:
    """Find each summary sentence's nearest sentence of the topic, its weight and its factors."""
    sentences = [sentence for summary in summaries for sentence in summary.sentences]
    n = len(similarity.matrix)
    rows = similarity.to(sentences) if n else np.zeros((len(sentences), 1))
    columns = nearest(rows)
    closest = rows[np.arange(len(rows)), columns]
    lengths = _divisors(summaries, settings)
    parts: list[tuple[Match, ...]] = []
    weights = np.zeros((len(summaries), n))
    k = 0
    for row, summary in enumerate(summaries):
        factors = redundancy(summary.sentences) if settings.redundancy else [1.0] * len(summary.sentences)
        own: list[Match] = []
        for sentence, factor in zip(summary.sentences, factors, strict=True):
            similar = float(closest[k])
            found = Match(
                sentence=sentence,
                nearest=int(columns[k]) if similar > 0 else None,
                similarity=similar,
                weight=len(sentence) / lengths[row] if lengths[row] else 0.0,
                factor=factor,
                closeness=float(np.sqrt(similar)) if settings.match == "similarity" else 1.0,
            )
            if found.nearest is not None:
                weights[row, found.nearest] += found.share
            own.append(found)
            k += 1
        parts.append(tuple(own))
    return Matched(tuple(summary.system for summary in summaries), tuple(parts), weights)


def score(matched: Matched, values: Vector) -> tuple[Score, ...]:
    """Equation 4 for every summary, from the values (n,) of the topic's sentences."""
    scores = []
    for system, parts in zip(matched.systems, matched.parts, strict=True):
        earned = tuple(
            Part(m.sentence, m.nearest, m.similarity, m.weight, m.factor, m.closeness, _value(m, values)) for m in parts
        )
        scores.append(Score(system, sum((part.contribution for part in earned), 0.0), earned))
    return tuple(scores)


def redundancy(sentences: Sequence[str]) -> list[float]:
    """Equation 5: what repetition leaves of each sentence of a summary, in [0, 1].

    The share of a sentence's bigrams that it would be paid for if every distinct bigram of the summary were paid for
    once and shared among the sentences that have it. 1 for a sentence with fewer than two tokens.
    """
    bigrams = [Counter(pairwise(tokens(sentence))) for sentence in sentences]
    whole: Counter[tuple[str, str]] = Counter()
    for own in bigrams:
        whole.update(own)
    return [sum(own[g] / whole[g] for g in own) / own.total() if own else 1.0 for own in bigrams]


def values(utilities: NDArray[np.float64], value: Value) -> NDArray[np.float64]:
    """What the topic's sentences are worth, from utilities (n,) or any number of draws of them (..., n).

    `strength`: v, summing to 1. `chance`: how probably a sentence is preferred to another one of the topic drawn at
    random; 1/2 for the only sentence of a topic, which meets no other.
    """
    n = utilities.shape[-1]
    if n == 0:
        return np.zeros_like(utilities)
    gaps = utilities - utilities.max(axis=-1, keepdims=True)
    v: NDArray[np.float64] = np.exp(np.maximum(gaps, -_LARGEST_GAP))
    if value == "strength":
        strengths: NDArray[np.float64] = v / v.sum(axis=-1, keepdims=True)
        return strengths
    if n == 1:
        return np.full_like(utilities, 0.5)
    chances = np.empty_like(v)
    for index in np.ndindex(v.shape[:-1]):  # one (n, n) table at a time: many draws of many sentences fit no memory
        own = v[index]
        chances[index] = ((own[:, None] / (own[:, None] + own[None, :])).sum(axis=1) - 0.5) / (n - 1)
    return chances


def gradients(weights: Matrix, utilities: Vector, value: Value) -> Matrix:
    """(s, n): how the scores `weights @ values(utilities)` change with each utility, for the delta method."""
    n = len(utilities)
    if value == "strength":
        v = values(utilities, value)
        strength_gradients: Matrix = weights * v - np.outer(weights @ v, v)
        return strength_gradients
    if n < 2:
        return np.zeros_like(weights)
    chance = expit(utilities[:, None] - utilities[None, :])
    slope = chance * chance.T
    np.fill_diagonal(slope, 0.0)
    chance_gradients: Matrix = (weights * slope.sum(axis=1) - weights @ slope) / (n - 1)
    return chance_gradients


def _value(match: Match, values: Vector) -> float:
    return 0.0 if match.nearest is None else float(values[match.nearest])


def _divisors(summaries: Sequence[SummaryText], settings: Settings) -> list[int]:
    """What each summary's characters are divided by: their own number, or one for all."""
    lengths = [sum(len(sentence) for sentence in summary.sentences) for summary in summaries]
    if settings.normalize == "length":
        return lengths
    budget = settings.budget if settings.budget is not None else max(lengths, default=0)
    return [budget] * len(lengths)
