"""What utilities give to a summary (section 4.2.1, equations 4 and 5 of the paper; docs/model.md for the variants).

A score is a sum over the summary's sentences,

    u(s) = sum_i weight_i * factor_i * closeness_i * value_i,

with value_i that of the nearest sentence of the topic, or (match `content`) the mean over the sentences with which it
shares words. So a score is linear in the values of the topic's sentences: everything but the values rests on texts
alone, is worked out once for a topic (`match`), and is kept as one row of weights for each summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from evaluation.content import shared
from evaluation.evidence import Evidence, Normalization, Settings, Value
from evaluation.similarity import Similarity, nearest
from evaluation.text import tokens

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Sparse = sparse.csr_array[Any, Any]

# How much a summary's own length counts in what it is divided by: the slope of Singhal, Buckley and Mitra's pivoted
# length normalization (SIGIR 1996). 1 favours short summaries, 0 long ones.
PIVOT = 0.75

# exp(-700) is still a float: strengths further apart than this are beyond what anybody could tell by judging.
_LARGEST_GAP = 700.0


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence of a summary, and the sentence of the topic that is most like it.

    `nearest`: its index, None where nothing in the topic has a word in common with it; `similarity` to it;
    `weight`: its share of the characters, or of the content in common with the topic; `factor`: what redundancy
    leaves of it (equation 5); `closeness`: 1, or the root of the similarity where the settings ask for it.
    """

    sentence: str
    nearest: int | None
    similarity: float
    weight: float
    factor: float
    closeness: float

    @property
    def share(self) -> float:
        """What the value is multiplied by."""
        return 0.0 if self.nearest is None else self.weight * self.factor * self.closeness


@dataclass(frozen=True, slots=True)
class Part(Match):
    """One sentence of a summary with the value that it takes from the topic's sentences, 0 where there is none."""

    value: float

    @property
    def contribution(self) -> float:
        return self.share * self.value


@dataclass(frozen=True, slots=True)
class Matched:
    """The summaries of a topic beside its sentences: all that a score needs but the values.

    `weights` (s, n): the summaries' scores are `weights @ values`; `parts`: each summary's sentences; `mix` (k, n):
    of all parts, one after the other, the shares with which the topic's sentences make up their values.
    """

    systems: tuple[str, ...]
    parts: tuple[tuple[Match, ...], ...]
    weights: Matrix
    mix: Sparse


@dataclass(frozen=True, slots=True)
class Score:
    """A summary's score: the sum of what its parts contribute."""

    system: str
    score: float
    parts: tuple[Part, ...]


def match(topic: Evidence, similarity: Similarity, settings: Settings) -> Matched:
    """Find what each sentence of the topic's summaries takes its value from, its weight and its factors."""
    found, mix = _by_content(topic, settings) if settings.match == "content" else _nearest(topic, similarity, settings)
    ends = np.cumsum([0, *(len(summary.sentences) for summary in topic.summaries)])
    of_summaries = sparse.csr_array(
        (np.array([one.share for one in found], dtype=np.float64), np.arange(len(found)), ends),
        shape=(len(topic.summaries), len(found)),
    )
    weights: Matrix = (of_summaries @ mix).toarray()
    parts = tuple(tuple(found[start:end]) for start, end in pairwise(ends))
    return Matched(tuple(summary.system for summary in topic.summaries), parts, weights, mix)


def _nearest(topic: Evidence, similarity: Similarity, settings: Settings) -> tuple[list[Match], Sparse]:
    """Equation 4: each sentence takes the value of the most similar one."""
    sentences = [sentence for summary in topic.summaries for sentence in summary.sentences]
    n = len(topic.sentences)
    rows = similarity.to(sentences) if n else np.zeros((len(sentences), 1))
    columns = nearest(rows)
    closest = rows[np.arange(len(rows)), columns]
    lengths = np.array([sum(map(len, summary.sentences)) for summary in topic.summaries], dtype=np.float64)
    common = settings.budget if settings.budget is not None else lengths.max(initial=0.0)
    divisors = _for_each_sentence(topic, _divisors(lengths, common, settings.normalize))
    found = [
        Match(
            sentence=sentence,
            nearest=int(column) if similar > 0 else None,
            similarity=float(similar),
            weight=len(sentence) / divisor if divisor else 0.0,
            factor=factor,
            closeness=float(np.sqrt(similar)) if settings.match == "similarity" else 1.0,
        )
        for sentence, column, similar, divisor, factor in zip(
            sentences, columns, closest, divisors, _factors(topic, settings), strict=True
        )
    ]
    there = np.flatnonzero(closest > 0)
    return found, sparse.csr_array((np.ones(len(there)), (there, columns[there])), shape=(len(sentences), n))


def _by_content(topic: Evidence, settings: Settings) -> tuple[list[Match], Sparse]:
    """Each sentence takes the values of all sentences with which it shares words, by how much it shares."""
    sentences = [sentence for summary in topic.summaries for sentence in summary.sentences]
    if not topic.sentences:
        return [Match(sentence, None, 0.0, 0.0, 1.0, 1.0) for sentence in sentences], sparse.csr_array(
            (len(sentences), 0)
        )
    common = shared(topic.sentences, [summary.sentences for summary in topic.summaries], topic.language)
    divisors = common.documents * _divisors(common.lengths, common.documents, settings.normalize)
    columns = nearest(common.alike)
    in_all = common.products.sum(axis=1)
    found = [
        Match(
            sentence=sentence,
            nearest=int(column) if alike[column] > 0 else None,
            similarity=float(alike[column]),
            weight=float(products / divisor) if products else 0.0,
            factor=factor,
            closeness=1.0,
        )
        for sentence, column, alike, products, divisor, factor in zip(
            sentences,
            columns,
            common.alike,
            in_all,
            _for_each_sentence(topic, divisors),
            _factors(topic, settings),
            strict=True,
        )
    ]
    mix = np.divide(common.products, in_all[:, None], out=np.zeros_like(common.products), where=in_all[:, None] > 0)
    return found, sparse.csr_array(mix)


def score(matched: Matched, values: Vector) -> tuple[Score, ...]:
    """Equation 4 for every summary, from the values (n,) of the topic's sentences."""
    taken = iter((matched.mix @ values).tolist())
    scores = []
    for system, parts in zip(matched.systems, matched.parts, strict=True):
        earned = tuple(
            Part(m.sentence, m.nearest, m.similarity, m.weight, m.factor, m.closeness, next(taken)) for m in parts
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


def _factors(topic: Evidence, settings: Settings) -> list[float]:
    """What repetition leaves of each sentence of the summaries."""
    if not settings.redundancy:
        return [1.0] * sum(len(summary.sentences) for summary in topic.summaries)
    return [factor for summary in topic.summaries for factor in redundancy(summary.sentences)]


def _divisors(own: Vector, common: float, normalize: Normalization) -> Vector:
    """What is divided by: each summary's own length, a common one, or their geometric mean, weighed `PIVOT` to own."""
    if normalize == "length":
        return own
    if normalize == "budget":
        return np.full_like(own, common)
    divisors: Vector = own**PIVOT * common ** (1 - PIVOT)
    return divisors


def _for_each_sentence(topic: Evidence, of_summaries: Vector) -> list[float]:
    counts = [len(summary.sentences) for summary in topic.summaries]
    repeated: list[float] = np.repeat(of_summaries, counts).tolist()
    return repeated
