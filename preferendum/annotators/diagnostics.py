"""How well a topic is covered, which of its sentences fit badly, and the influence of each annotator.

The influence of an annotator is what changes without their judgments: the utilities are estimated again, while what
the smoothing learnt from all judgments (and the weight of others' judgments) is kept. That is a hundred times faster
than a whole fit and differs from it in the third digit; a what-if (preferendum.annotators.what_if) is a whole fit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.special import expit

from preferendum.annotators.reliability import weighed
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit import newton, preference_matrix, zermelo
from preferendum.fit.similarity import Similarity
from preferendum.results import Coverage, Influence, Misfit, SystemInfluence, TopicInfluence
from preferendum.scoring.evaluate import prepare, score

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: So many of a topic's sentences that fit worst are named.
MOST_MISFITS = 20
#: Means that differ by less are equal: what is left is the order in which floats were added.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`scores` (s,) of the summaries, and what they are `without` (k, s) each annotator; nan: unknown."""

    coverage: Coverage
    misfits: tuple[Misfit, ...]
    scores: Vector
    without: Matrix


def examine(evidence: Evidence, settings: Settings, similarity: Similarity) -> Diagnosis:
    """Look at one topic that has judgments. Raises `zermelo.Undetermined` and `newton.NotConverged`."""
    judgments = weighed(evidence, settings).judgments
    n = len(evidence.sentences)
    texts = prepare(evidence, similarity, settings)
    estimate = preference_matrix.estimate(judgments, n, similarity, settings)
    annotators = int(judgments.annotator.max(initial=-1)) + 1
    without = np.full((annotators, len(evidence.summaries)), np.nan)
    for annotator in range(annotators):
        kept = judgments.some(judgments.annotator != annotator)
        try:
            without[annotator] = score(texts, estimate.again(kept) if len(kept) else None, settings).score
        except (zermelo.Undetermined, newton.NotConverged):
            continue
    scores = score(texts, estimate, settings).score
    return Diagnosis(coverage(judgments, n), misfits(judgments, estimate.utilities), scores, without)


def coverage(judgments: Judgments, n: int) -> Coverage:
    """How much of n sentences was judged, and whether it is connected. A tie connects both ways."""
    a, b = judgments.a, judgments.b
    judged = np.bincount(np.concatenate([a, b]), minlength=n)
    winner = np.concatenate([a[judgments.outcome > 0], b[judgments.outcome < 1]])
    loser = np.concatenate([b[judgments.outcome > 0], a[judgments.outcome < 1]])
    graph = sparse.csr_array((np.ones(len(winner)), (winner, loser)), shape=(n, n))

    def sizes(connection: Literal["weak", "strong"]) -> tuple[int, ...]:
        _number, label = csgraph.connected_components(graph, directed=True, connection=connection)
        return tuple(sorted(np.unique(label[judged > 0], return_counts=True)[1].tolist(), reverse=True))

    return Coverage(
        sentences=n,
        judgments=tuple(np.bincount(judged).tolist()) if n else (),
        pairs=len(np.unique(np.minimum(a, b) * max(n, 1) + np.maximum(a, b))),
        parts=sizes("weak"),
        strong_components=sizes("strong"),
    )


def misfits(judgments: Judgments, utilities: Vector, most: int = MOST_MISFITS) -> tuple[Misfit, ...]:
    """The sentences with the largest standardized residuals: (wins - expected) / sqrt(sum of p (1 - p)).

    The utilities were estimated from these very judgments, so residuals are smaller than errors are: 2 is much already.
    """
    n = len(utilities)
    p = expit(utilities[judgments.a] - utilities[judgments.b])
    variance = _both(judgments, p * (1 - p), p * (1 - p), n)
    wins = _both(judgments, judgments.outcome, 1 - judgments.outcome, n)
    expected = _both(judgments, p, 1 - p, n)
    judged = _both(judgments, np.ones(len(p)), np.ones(len(p)), n)
    z = np.divide(wins - expected, np.sqrt(variance), out=np.zeros(n), where=variance > 0)
    order = np.lexsort((np.arange(n), -np.abs(z)))[:most].tolist()
    return tuple(Misfit(i, float(z[i]), float(wins[i]), float(expected[i]), int(judged[i])) for i in order if judged[i])


def _both(judgments: Judgments, left: Vector, right: Vector, n: int) -> Vector:
    """(n,): what each sentence has from judgments in which it stood on the one or on the other side."""
    return np.asarray(np.bincount(judgments.a, left, n) + np.bincount(judgments.b, right, n), dtype=np.float64)


def influence(topics: Sequence[TopicInfluence], people: Collection[str] = ()) -> Influence | None:
    """Leave out one annotator after the other and rank by mean scores; None where there is nothing to rank.

    `people`: whose summaries have no rank.
    """
    systems = sorted({system for topic in topics for system in topic.systems} - set(people))
    if not systems:
        return None
    annotators = sorted({annotator for topic in topics for annotator in topic.annotators})
    means, change = _mean_scores(topics, systems, annotators)
    is_known = np.asarray(np.isfinite(change).all(axis=1))
    change = change[is_known]
    left_out = list(compress(annotators, is_known))
    rank, without = _ranks(means), _ranks(means + change)
    overtaken = np.flatnonzero(without[:, rank == 1].min(axis=1) > 1).tolist() if left_out else []
    results = [
        _of_system(system, int(rank[k]), without[:, k], change[:, k], left_out) for k, system in enumerate(systems)
    ]
    return Influence(
        annotators=len(annotators),
        unknown=len(annotators) - len(left_out),
        first=systems[int(np.argmin(rank))],
        new_firsts=tuple((left_out[k], systems[int(np.argmin(without[k]))]) for k in overtaken),
        systems=tuple(sorted(results, key=lambda result: (result.rank, result.system))),
    )


def _mean_scores(
    topics: Sequence[TopicInfluence], systems: Sequence[str], annotators: Sequence[int]
) -> tuple[Vector, Matrix]:
    """(s,): each system's mean score; (k, s): its change without each annotator, nan where it is unknown."""
    column = {system: k for k, system in enumerate(systems)}
    row = {annotator: k for k, annotator in enumerate(annotators)}
    total, count = np.zeros(len(systems)), np.zeros(len(systems))
    change = np.zeros((len(annotators), len(systems)))
    for topic in topics:
        ranked = [k for k, system in enumerate(topic.systems) if system in column]
        columns = [column[topic.systems[k]] for k in ranked]
        rows = [row[annotator] for annotator in topic.annotators]
        scores = np.array(topic.scores, dtype=np.float64)[ranked]
        total[columns] += scores
        count[columns] += 1
        without = np.array(topic.without, dtype=np.float64).reshape(len(rows), len(topic.systems))[:, ranked]
        change[np.ix_(rows, columns)] += without - scores
    return total / count, change / count


def _of_system(
    system: str, rank: int, ranks: NDArray[np.int64], change: Vector, left_out: Sequence[int]
) -> SystemInfluence:
    """What leaving out one of these annotators at a time does to a system."""
    largest = int(np.argmax(np.abs(change))) if left_out else 0
    moved = float(change[largest]) if left_out else 0.0
    bounds = [rank, *ranks.tolist()]
    return SystemInfluence(system, rank, min(bounds), max(bounds), moved, left_out[largest] if moved else None)


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """(..., s): 1 + how many are better."""
    rounded = np.round(scores, DECIMALS)
    ordered = -np.sort(-rounded, axis=-1)
    flat, sorted_flat = rounded.reshape(-1, scores.shape[-1]), ordered.reshape(-1, scores.shape[-1])
    ranks = [np.searchsorted(-best, -row, side="left") + 1 for row, best in zip(flat, sorted_flat, strict=True)]
    return np.array(ranks, dtype=np.int64).reshape(scores.shape)
