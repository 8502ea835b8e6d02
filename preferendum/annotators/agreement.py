"""How far a study's annotators agree: for the study, for each topic, over time, and of any two of them.

A judgment is a unit (the pair), a value (1: the pair's first sentence was preferred, 0: its second, 0.5: neither) and
who gave it; each annotator judges a pair once here. What cannot be computed is None, and `why` gives the reason.

Which sentence is a pair's first depends on storage alone. Leads of news are often stored first and often win, so
counted as stored, chance would seem to explain such answers. The agreement expected by chance therefore counts every
answer half in each direction; it is one half where there are no ties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from preferendum.results import (
    Agreement,
    AlphaPoint,
    Bounded,
    DisputedPair,
    Figure,
    PairwiseAgreement,
    StudyAgreement,
    TopicAgreement,
    Why,
)
from preferendum.results.agreement import FEWEST_PAIRS, UNKNOWN
from preferendum.results.statistics import wilson
from preferendum.statistics import bounded, bounded_share, finite

Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]

DRAWS = 500
STEPS = 10
#: How many annotators the table of who agrees with whom has room for: those with the most judgments.
MOST_ANNOTATORS = 40
MOST_PAIRS = 30


@dataclass(frozen=True, slots=True)
class PairJudgments:
    """Judgments in the order of time, one entry each: pair, value, annotator, topic, all numbered from 0."""

    pair: Numbers
    value: Vector
    annotator: Numbers
    topic: Numbers

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, rows: NDArray[np.bool_] | slice) -> PairJudgments:
        return PairJudgments(self.pair[rows], self.value[rows], self.annotator[rows], self.topic[rows])


def study_agreement(judgments: PairJudgments, of_summaries: Sequence[bool]) -> StudyAgreement:
    """Everything about the agreement in a study, by the numbers of topics, annotators and pairs.

    `of_summaries`: of each topic, whether it is of summaries rather than of sentences.
    """
    by_topic = [agreement(judgments.only(judgments.topic == topic)) for topic in range(len(of_summaries))]
    about = np.array(of_summaries, dtype=np.bool_)[judgments.topic]
    has_both = 0 < about.sum() < len(about)
    sentences, summaries = (agreement(judgments.only(about == own)) if has_both else None for own in (False, True))
    return StudyAgreement(
        study=agreement(judgments),
        topics=tuple(TopicAgreement(**_fields(own), topic=topic) for topic, own in enumerate(by_topic)),
        sentences=sentences,
        summaries=summaries,
        time=over_time(judgments),
        table=pairwise(judgments),
        disputed=disputed(judgments),
    )


def _fields(record: Agreement) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def agreement(judgments: PairJudgments, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Every one of the `STATISTICS`, over pairs of any number of annotators, between percentiles of a bootstrap.

    Of fewer than `FEWEST_PAIRS` only the share of equal answers.
    """
    counts = _counts(judgments)
    sizes = counts.sum(axis=1)
    figures = {name: _bootstrap(counts, name, draws, seed) for name in STATISTICS}
    why: Why = "nobody_twice" if not len(counts) else "all_equal" if figures["alpha"].value is None else ""
    p = None if why else _p(counts, is_above=(figures["alpha"].value or 0.0) > 0)
    if not why and len(counts) < FEWEST_PAIRS:
        figures, why, p = figures | {"alpha": UNKNOWN, "kappa": UNKNOWN}, "few_pairs", None
    comparisons = round(float((sizes * (sizes - 1)).sum() / 2))
    return Agreement(judgments=len(judgments), pairs=len(counts), comparisons=comparisons, why=why, p=p, **figures)


def with_others(judgments: PairJudgments, is_member: NDArray[np.bool_], draws: int = DRAWS, seed: int = 0) -> Figure:
    """How often a judgment by a member and one of the same pair by another annotator are alike, as `agreement`."""
    counts = np.zeros((int(judgments.pair.max(initial=-1)) + 1, 2, 3))
    np.add.at(counts, (judgments.pair, is_member.astype(np.int64), np.rint(2 * judgments.value).astype(np.int64)), 1)
    alike, every = counts.prod(axis=1).sum(axis=1), counts.sum(axis=2).prod(axis=1)
    pairs = np.stack([alike, every], axis=1)[every > 0]
    if not len(pairs):
        return Figure(None, 0)
    kinds, drawn = _drawn(pairs, draws, seed)
    shares = [_divide(sums[:, 0], sums[:, 1]) for sums in (pairs.sum(axis=0)[None], drawn @ kinds)]
    own = bounded_share(float(shares[0][0]), shares[1], len(pairs))
    return Figure(own.value, int(every.sum()), own.low, own.high)


def over_time(judgments: PairJudgments) -> tuple[AlphaPoint, ...]:
    """Alpha with the first tenth of the judgments, the first two tenths, and so on, once there are `FEWEST_PAIRS`."""
    marks = sorted({round(len(judgments) * step / STEPS) for step in range(1, STEPS + 1)} - {0})
    counts = ((m, _counts(judgments.only(slice(m)))) for m in marks)
    return tuple(AlphaPoint(m, finite(_whole(own, _alpha)) if len(own) >= FEWEST_PAIRS else None) for m, own in counts)


def pairwise(judgments: PairJudgments) -> PairwiseAgreement:
    """Count how often any two of those with the most judgments judged alike."""
    judged = np.bincount(judgments.annotator)
    chosen = np.sort(np.argsort(-judged, kind="stable")[:MOST_ANNOTATORS])
    chosen = chosen[judged[chosen] > 0]
    if not len(chosen):
        return PairwiseAgreement()
    row = np.full(len(judged), -1)
    row[chosen] = np.arange(len(chosen))
    is_chosen = row[judgments.annotator] >= 0
    pairs = int(judgments.pair.max()) + 1

    def shared(rows: NDArray[np.bool_]) -> Numbers:
        """(k, k): how many of the pairs in these rows any two of them judged."""
        judged_pairs = np.zeros((len(chosen), pairs), dtype=np.float32)
        judged_pairs[row[judgments.annotator[rows]], judgments.pair[rows]] = 1
        together: Numbers = np.rint(judged_pairs @ judged_pairs.T).astype(np.int64)
        return together

    alike = sum(shared(is_chosen & (judgments.value == value)) for value in np.unique(judgments.value))
    return PairwiseAgreement(tuple(chosen.tolist()), _table(shared(is_chosen)), _table(np.asarray(alike)))


def _table(numbers: Numbers) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, numbers.tolist()))


def disputed(judgments: PairJudgments) -> tuple[DisputedPair, ...]:
    """The pairs on which annotators are divided most: the smaller side is largest, then it is most even."""
    if not len(judgments):
        return ()
    first, second, ties = (np.bincount(judgments.pair, judgments.value == value) for value in (1.0, 0.0, 0.5))
    smaller = np.minimum(first, second)
    order = np.lexsort((np.arange(len(first)), np.abs(first - second), -smaller))[:MOST_PAIRS]
    return tuple(
        DisputedPair(int(pair), int(first[pair]), int(second[pair]), int(ties[pair])) for pair in order if smaller[pair]
    )


def _counts(judgments: PairJudgments) -> Vector:
    """(p, 3): how often each pair that two or more judged was given 0, 0.5 and 1; or 1, 0.5 and 0, the rarer of them
    first: intervals must not depend on which text is stored first. In an order of their own: no digit depends on which
    pair is."""
    counts = np.zeros((int(judgments.pair.max(initial=-1)) + 1, 3))
    np.add.at(counts, (judgments.pair, np.rint(2 * judgments.value).astype(np.int64)), 1)
    counts[:, [0, 2]] = np.sort(counts[:, [0, 2]], axis=1)
    shared = counts[counts.sum(axis=1) >= 2]
    return np.asarray(shared[np.lexsort(shared.T)])


# A statistic is worked out from sums over pairs: how often each value was given (b, 3), and `_compare`d (b, 3).
Statistic = Callable[[Vector, Vector], Vector]


def _compare(counts: Vector) -> Vector:
    """(p, 3) for each pair: comparisons that came out alike; all of them; Krippendorff's sum of those that did not."""
    sizes = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum(axis=1) / 2
    every = sizes * (sizes - 1) / 2
    return np.stack([alike, every, 2 * (every - alike) / (sizes - 1)], axis=1)


def _percent(totals: Vector, compared: Vector) -> Vector:
    return _divide(compared[:, 0], compared[:, 1])


def _alpha(totals: Vector, compared: Vector) -> Vector:
    """(b,): 1 - observed / expected disagreement, nominal (Krippendorff 2011), direction left out."""
    n = totals.sum(axis=1)
    return 1 - _divide((n - 1) * compared[:, 2], n**2 * (1 - _by_chance(totals)))


def _fleiss(totals: Vector, compared: Vector) -> Vector:
    """(b,): (observed - by chance) / (1 - by chance)."""
    by_chance = _by_chance(totals)
    return _divide(_percent(totals, compared) - by_chance, 1 - by_chance)


#: The figures of an `Agreement`, by their names there: percent agreement, Krippendorff's alpha, Fleiss' kappa (1971).
STATISTICS: Mapping[str, Statistic] = {"percent": _percent, "alpha": _alpha, "kappa": _fleiss}


def _by_chance(totals: Vector) -> Vector:
    """(b,): how likely any two answers are equal, to any pairs, in either direction."""
    n = totals.sum(axis=1, keepdims=True)
    both_ways = (totals + totals[:, ::-1]) / 2
    shares = np.divide(both_ways, n, out=np.full(totals.shape, np.nan), where=n > 0)
    return np.asarray(np.square(shares).sum(axis=1))


def _divide(a: Vector, b: Vector) -> Vector:
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0))


def _whole(counts: Vector, statistic: Statistic) -> float:
    return float(statistic(counts.sum(axis=0)[None], _compare(counts).sum(axis=0)[None])[0])


def _bootstrap(counts: Vector, name: str, draws: int, seed: int) -> Bounded:
    if not len(counts):
        return UNKNOWN
    kinds, drawn = _drawn(counts, draws, seed)
    statistic = STATISTICS[name]
    own = bounded(_whole(counts, statistic), statistic(drawn @ kinds, drawn @ _compare(kinds)))
    return own if own.value is None or own.low is not None else _where_all_are_alike(counts, name, own.value)


def _where_all_are_alike(counts: Vector, name: str, value: float) -> Bounded:
    """Between what it would be at both ends of Wilson's interval (1927) of the share of equal answers, a pair being one
    case."""
    n, chance = counts.sum(), float(_by_chance(counts.sum(axis=0)[None])[0])
    ends = np.array(wilson(len(counts) * _whole(counts, _percent), len(counts)))
    if name != "percent":
        ends = 1 - (1 - ends) / (1 - chance) * ((n - 1) / n if name == "alpha" else 1)
    return Bounded(value, min(value, float(ends[0])), max(value, float(ends[1])))


def _p(counts: Vector, *, is_above: bool) -> float:
    """That so many comparisons of answers that prefer one of the two, or more (fewer, where it is not above chance),
    come out alike if all are a coin's; exact, two-sided."""
    decided = np.rint(counts[:, [0, 2]]).astype(np.int64)
    alike = int((decided * (decided - 1) // 2).sum())
    sizes, times = np.unique(decided.sum(axis=1), return_counts=True)
    most = int((times * (sizes * (sizes - 1) // 2)).sum()) + 1
    together = np.ones(most // 2 + 1, dtype=np.complex128)
    for size, number in zip(sizes.tolist(), times.tolist(), strict=True):
        first = np.arange(size + 1)
        equal = (first * (first - 1) + (size - first) * (size - first - 1)) // 2
        together *= np.fft.rfft(np.bincount(equal, scipy.stats.binom.pmf(first, size, 0.5), most)) ** number
    of_alike = np.fft.irfft(together, most)
    tail = of_alike[alike:] if is_above else of_alike[: alike + 1]
    return float(np.clip(2 * tail.sum(), 0.0, 1.0))


def _drawn(counts: Vector, draws: int, seed: int) -> tuple[Vector, Vector]:
    """(k, ...), (draws, k): the kinds of pairs, and how often each is drawn; equal pairs together, as there are few."""
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(counts), times / len(counts), size=draws)
    return kinds, drawn.astype(np.float64)
