"""How well a topic is covered, which of its sentences fit badly, and whether any one person moves the ranking.

Everything is as the fit had it, but for what one person moves: their judgments are left out and the utilities
estimated anew, while what the smoothing learnt from all judgments (and what others' judgments weigh) is kept. That is
a hundred times faster than a whole fit and differs from one in the third digit; a preview (evaluation.removal) is
a whole one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.special import expit

from evaluation import preference, scoring, zermelo
from evaluation.evidence import Evidence, Judgments, Settings
from evaluation.similarity import Similarity

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: So many of a topic's sentences that fit worst are named.
MOST_MISFITS = 20
#: Means that differ by less are equal: what is left is the order in which floats were added.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a topic was judged, and whether it hangs together.

    `judgments`: how many sentences have 0, 1, 2, ... judgments; `pairs`: how many different ones were compared.
    `parts`: how many sentences each part has that comparisons tie together, the largest first, and `circuits` those
    within which every sentence is, over others, preferred to every other one (strongly connected, Ford 1957): more than
    one, and without a prior there are no finite utilities. Sentences that nobody judged are in neither.
    """

    sentences: int
    judgments: tuple[int, ...]
    pairs: int
    parts: tuple[int, ...]
    circuits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Misfit:
    """A sentence that won more or less often than its utility lets one expect; `z`: the standardized residual."""

    sentence: int
    z: float
    wins: float
    expected: float
    judgments: int


@dataclass(frozen=True, slots=True)
class TopicExamination:
    """`scores` (s,) of the summaries, and what they are `without` (k, s) each annotator; nan: cannot be told."""

    coverage: Coverage
    misfits: tuple[Misfit, ...]
    scores: Vector
    without: Matrix


def examine(evidence: Evidence, settings: Settings, similarity: Similarity) -> TopicExamination:
    """Look at one topic that has judgments. Raises `zermelo.Undetermined` and `zermelo.NotConverged`."""
    judgments = evidence.judgments
    n = len(evidence.sentences)
    matched = scoring.match(evidence, similarity, settings)
    estimate = preference.estimate(judgments, n, similarity.matrix, settings)

    def scores(utilities: Vector) -> Vector:
        found = scoring.score(matched, scoring.values(utilities, settings.value))
        return np.array([one.score for one in found], dtype=np.float64)

    people = int(judgments.annotator.max(initial=-1)) + 1
    without = np.full((people, len(evidence.summaries)), np.nan)
    for person in range(people):
        kept = only(judgments, judgments.annotator != person)
        try:
            utilities = estimate.again(kept) if len(kept) else np.zeros(n)
        except (zermelo.Undetermined, zermelo.NotConverged):
            continue
        without[person] = scores(utilities)
    return TopicExamination(
        coverage(judgments, n), misfits(judgments, estimate.utilities), scores(estimate.utilities), without
    )


def only(judgments: Judgments, rows: NDArray[np.bool_]) -> Judgments:
    """Some of the judgments, people keeping their numbers."""
    columns = (getattr(judgments, one.name)[rows] for one in dataclasses.fields(judgments))
    return Judgments(*columns)


def coverage(judgments: Judgments, n: int) -> Coverage:
    """How much of n sentences was judged, and whether it hangs together. A tie leads both ways."""
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
        circuits=sizes("strong"),
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


@dataclass(frozen=True, slots=True)
class Moved:
    """One topic, to be put together with others: `people` (k,) and `systems` by any names that mean the same in all."""

    systems: tuple[str, ...]
    people: tuple[int, ...]
    scores: Vector
    without: Matrix


@dataclass(frozen=True, slots=True)
class Steadiness:
    """One system: its rank, the ranks that the removal of any one person can give it, and its largest change.

    `change` is that of the mean score, when `person` is removed (None where nobody changes anything).
    """

    system: str
    rank: int
    rank_low: int
    rank_high: int
    change: float
    person: int | None


@dataclass(frozen=True, slots=True)
class Robustness:
    """Whether the ranking survives the removal of any one person.

    `people` were each removed; for `unknown` of them it cannot be told. `takers`: whose removal puts another system
    first, and which.
    """

    people: int
    unknown: int
    first: str
    takers: tuple[tuple[int, str], ...]
    systems: tuple[Steadiness, ...]


def robustness(topics: Sequence[Moved]) -> Robustness | None:
    """Leave out one person after the other and rank by mean scores; None where there is nothing to rank."""
    systems = sorted({system for topic in topics for system in topic.systems})
    if not systems:
        return None
    people = sorted({person for topic in topics for person in topic.people})
    column = {system: k for k, system in enumerate(systems)}
    row = {person: k for k, person in enumerate(people)}
    total, count = np.zeros(len(systems)), np.zeros(len(systems))
    change = np.zeros((len(people), len(systems)))
    for topic in topics:
        places = [column[system] for system in topic.systems]
        total[places] += topic.scores
        count[places] += 1
        rows = [row[person] for person in topic.people]
        change[np.ix_(rows, places)] += topic.without - topic.scores
    means = total / count
    change /= count
    told = np.asarray(np.isfinite(change).all(axis=1))
    rank = _ranks(means)
    without = _ranks(means + change[told])
    first = systems[int(np.argmin(rank))]
    known = [people[k] for k in np.flatnonzero(told).tolist()]
    ahead = without[:, rank == 1].min(axis=1) > 1 if len(known) else np.zeros(0, dtype=bool)
    takers = [(known[k], systems[int(np.argmin(without[k]))]) for k in np.flatnonzero(ahead).tolist()]
    steady = []
    for k, system in enumerate(systems):
        largest = int(np.argmax(np.abs(change[told][:, k]))) if known else 0
        moved = float(change[told][largest, k]) if known else 0.0
        ranks = [int(rank[k]), *without[:, k].tolist()]
        person = known[largest] if moved else None
        steady.append(Steadiness(system, int(rank[k]), min(ranks), max(ranks), moved, person))
    steady.sort(key=lambda one: (one.rank, one.system))
    return Robustness(len(people), len(people) - len(known), first, tuple(takers), tuple(steady))


def _ranks(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """(..., s): 1 + how many are better."""
    rounded = np.round(scores, DECIMALS)
    ordered = -np.sort(-rounded, axis=-1)
    flat, sorted_flat = rounded.reshape(-1, scores.shape[-1]), ordered.reshape(-1, scores.shape[-1])
    found = [np.searchsorted(-best, -one, side="left") + 1 for one, best in zip(flat, sorted_flat, strict=True)]
    return np.array(found, dtype=np.int64).reshape(scores.shape)
