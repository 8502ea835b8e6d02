"""What strengths give to a summary, as published (section 4.2.1, equations 4 and 5 of Zopf 2018).

A score is a sum over the summary's sentences,

    u(s) = sum_i weight_i * factor_i * value_i,

with weight_i the sentence's share of the summary's characters, factor_i what repetition leaves of it (equation 5) and
value_i the strength v of the source sentence most like it. So a score is linear in the strengths: everything else rests
on texts alone, is worked out once for a topic (`match`), and is kept as one row of weights for each summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence
from preferendum.fit.preference_matrix import Estimate
from preferendum.fit.similarity import Similarity, nearest_to
from preferendum.results import Part
from preferendum.scoring.scores import Scores, unknown
from preferendum.text import tokens

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Match:
    """One sentence of a summary, and the source sentence that is most like it.

    `nearest`: its index, None where nothing in the topic has a word in common with it; `similarity` to it;
    `weight`: its share of the characters; `factor`: what redundancy leaves of it (equation 5).
    """

    sentence: str
    nearest: int | None
    similarity: float
    weight: float
    factor: float


@dataclass(frozen=True, slots=True)
class Matched:
    """The summaries of a topic matched with its n sentences: all that equations 4 and 5 need but the strengths.

    `parts`: each summary's sentences; `weights` (s, n): the summaries' scores are `weights @ strengths`.
    """

    systems: tuple[str, ...]
    parts: tuple[tuple[Match, ...], ...]
    weights: Matrix

    def values(self, estimate: Estimate | None) -> Vector:
        """(s,): equation 4 for every summary; without judgments all sentences are equally strong."""
        n = self.weights.shape[1]
        return np.asarray(self.weights @ (np.full(n, 1 / max(n, 1)) if estimate is None else estimate.strengths))

    def score(self, estimate: Estimate | None) -> Scores:
        """The scores by equation 4 without errors, since those of the strengths are not calibrated (docs/model.md)."""
        judgments = 0 if estimate is None else estimate.judgments
        return Scores(self.systems, self.values(estimate), unknown(len(self.systems)), judgments)

    def terms(self, strengths: Vector) -> tuple[tuple[Part, ...], ...]:
        """What each sentence of each summary adds to its score."""
        return tuple(
            tuple(
                Part(m.sentence, m.nearest, m.similarity, _value(m, strengths), m.factor, m.weight) for m in of_summary
            )
            for of_summary in self.parts
        )


def match(topic: Evidence, similarity: Similarity, redundancy: bool = True) -> Matched:
    """Find the source sentence most like each sentence of the topic's summaries, its weight and its factor.

    Without `redundancy` all factors are 1 (equation 4 alone).
    """
    sentences = [sentence for summary in topic.summaries for sentence in summary.sentences]
    columns, similar = nearest_to(similarity, sentences)
    closest = iter(zip(columns.tolist(), similar.tolist(), strict=True))
    parts = tuple(_parts(summary.sentences, closest, redundancy) for summary in topic.summaries)
    weights = np.zeros((len(parts), len(topic.sentences)))
    for row, of_summary in enumerate(parts):
        for part in of_summary:
            if part.nearest is not None:
                weights[row, part.nearest] += part.weight * part.factor
    return Matched(tuple(summary.system for summary in topic.summaries), parts, weights)


def repetition(sentences: Sequence[str]) -> list[float]:
    """Equation 5: what repetition leaves of each sentence of a summary, in [0, 1].

    The share of a sentence's bigrams that it would be paid for if every distinct bigram of the summary were paid for
    once and shared among the sentences that have it. 1 for a sentence with fewer than two tokens.
    """
    bigrams = [Counter(pairwise(tokens(sentence))) for sentence in sentences]
    whole: Counter[tuple[str, str]] = Counter()
    for own in bigrams:
        whole.update(own)
    return [sum(own[g] / whole[g] for g in own) / own.total() if own else 1.0 for own in bigrams]


def _parts(sentences: Sequence[str], closest: Iterator[tuple[int, float]], redundancy: bool) -> tuple[Match, ...]:
    length = sum(map(len, sentences))
    factors = repetition(sentences) if redundancy else [1.0] * len(sentences)
    parts = []
    for sentence, factor in zip(sentences, factors, strict=True):
        column, similar = next(closest)
        weight = len(sentence) / length if length else 0.0
        parts.append(Match(sentence, column if similar > 0 else None, similar, weight, factor))
    return tuple(parts)


def _value(matched: Match, strengths: Vector) -> float:
    return 0.0 if matched.nearest is None else float(strengths[matched.nearest])
