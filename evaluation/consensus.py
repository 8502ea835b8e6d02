"""How far a study's people agree: for the study, for each topic, over time, and who with whom.

A judgment is a unit (the pair), a value (1: the pair's first sentence was preferred, 0: its second, 0.5: neither) and
who gave it; each person judges a pair once here. What cannot be told is not a number, and `why` says why not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.annotators import alpha_interval, krippendorff_alpha, percent_agreement
from evaluation.resampling import interval

Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]
#: Nobody judged what another had judged; all who did gave one and the same value.
Why = Literal["", "nobody_twice", "all_equal"]

DRAWS = 500
STEPS = 10
#: How many people the table of who agrees with whom has room for: those with the most judgments.
MOST_PEOPLE = 40
MOST_PAIRS = 30


@dataclass(frozen=True, slots=True)
class Said:
    """Judgments in the order of time, one entry each: pair, value, person, topic, all numbered from 0."""

    pair: Numbers
    value: Vector
    person: Numbers
    topic: Numbers

    def __len__(self) -> int:
        return len(self.pair)

    def only(self, rows: NDArray[np.bool_] | slice) -> Said:
        return Said(self.pair[rows], self.value[rows], self.person[rows], self.topic[rows])


@dataclass(frozen=True, slots=True)
class Bounded:
    """A value between the percentiles of a bootstrap over pairs."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """`pairs` judged by two or more, `comparisons` of two people's judgments of the same pair, and what they show."""

    judgments: int
    pairs: int
    comparisons: int
    percent: Bounded
    alpha: Bounded
    kappa: Bounded
    why: Why


@dataclass(frozen=True, slots=True)
class Table:
    """Who agrees with whom: `people` (k,), and for any two how many pairs both judged and how often alike."""

    people: Numbers
    shared: Numbers
    alike: Numbers


@dataclass(frozen=True, slots=True)
class Disputed:
    """A pair on which people are divided."""

    pair: int
    first: int
    second: int
    ties: int


def agreement(said: Said, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Percent agreement, Krippendorff's alpha and Fleiss' kappa (1971, pooled over pairs of any number of people)."""
    counts = _counts(said)
    sizes = counts.sum(axis=1)
    found = percent_agreement(said.pair, said.value)
    alpha = alpha_interval(said.pair, said.value, draws=draws, seed=seed)
    why: Why = "nobody_twice" if not len(counts) else "all_equal" if math.isnan(alpha.value) else ""
    return Agreement(
        judgments=len(said),
        pairs=len(counts),
        comparisons=round(float((sizes * (sizes - 1)).sum() / 2)),
        percent=_bootstrap(counts, _percent, found.value, draws, seed),
        alpha=Bounded(alpha.value, alpha.low, alpha.high),
        kappa=_bootstrap(counts, _fleiss, float(_fleiss(counts.sum(axis=0)[None], _alike(counts))[0]), draws, seed),
        why=why,
    )


def over_time(said: Said, steps: int = STEPS) -> tuple[tuple[int, float], ...]:
    """Alpha with the first tenth of the judgments, the first two tenths, and so on: (judgments, alpha)."""
    marks = sorted({round(len(said) * step / steps) for step in range(1, steps + 1)} - {0})
    return tuple((m, krippendorff_alpha(said.pair[:m], said.value[:m])) for m in marks)


def who_with_whom(said: Said) -> Table:
    """The table of those with the most judgments."""
    judged = np.bincount(said.person)
    people = np.sort(np.argsort(-judged, kind="stable")[:MOST_PEOPLE])
    people = people[judged[people] > 0].astype(np.int64)
    shared = np.zeros((len(people), len(people)), dtype=np.int64)
    alike = shared.copy()
    if len(people):
        row = np.full(len(judged), -1)
        row[people] = np.arange(len(people))
        mine = row[said.person] >= 0
        pairs = int(said.pair.max()) + 1
        both = np.zeros((len(people), pairs), dtype=np.float32)
        both[row[said.person[mine]], said.pair[mine]] = 1
        shared = np.rint(both @ both.T).astype(np.int64)
        for value in np.unique(said.value):
            same = np.zeros_like(both)
            rows = mine & (said.value == value)
            same[row[said.person[rows]], said.pair[rows]] = 1
            alike += np.rint(same @ same.T).astype(np.int64)
    return Table(people, shared, alike)


def disputed(said: Said) -> tuple[Disputed, ...]:
    """The pairs on which people are divided most: where the smaller side is largest, then where it is most even."""
    if not len(said):
        return ()
    first, second, ties = (np.bincount(said.pair, said.value == value) for value in (1.0, 0.0, 0.5))
    smaller = np.minimum(first, second)
    order = np.lexsort((np.arange(len(first)), np.abs(first - second), -smaller))[:MOST_PAIRS]
    return tuple(
        Disputed(int(pair), int(first[pair]), int(second[pair]), int(ties[pair])) for pair in order if smaller[pair]
    )


def _counts(said: Said) -> Vector:
    """(p, 3): how often each pair that two or more people judged was given 0, 0.5 and 1."""
    counts = np.zeros((int(said.pair.max(initial=-1)) + 1, 3))
    np.add.at(counts, (said.pair, np.rint(2 * said.value).astype(np.int64)), 1)
    return np.asarray(counts[counts.sum(axis=1) >= 2])


def _alike(counts: Vector) -> Vector:
    """(1, 2): how many comparisons came out alike, of how many."""
    sizes = counts.sum(axis=1)
    alike = (counts * (counts - 1)).sum() / 2
    return np.array([[alike, (sizes * (sizes - 1)).sum() / 2]])


def _percent(totals: Vector, alike: Vector) -> Vector:
    found = np.full(len(alike), np.nan)
    np.divide(alike[:, 0], alike[:, 1], out=found, where=alike[:, 1] > 0)
    return found


def _fleiss(totals: Vector, alike: Vector) -> Vector:
    """(b,): (observed - by chance) / (1 - by chance), chance from how often each value was given by anybody."""
    n = totals.sum(axis=1, keepdims=True)
    shares = np.divide(totals, n, out=np.full(totals.shape, np.nan), where=n > 0)
    by_chance = np.square(shares).sum(axis=1)
    found = np.full(len(totals), np.nan)
    np.divide(_percent(totals, alike) - by_chance, 1 - by_chance, out=found, where=by_chance < 1)
    return found


def _bootstrap(
    counts: Vector, figure: Callable[[Vector, Vector], Vector], value: float, draws: int, seed: int
) -> Bounded:
    """Pairs of which the same was said are drawn together: there are few kinds of them."""
    if not len(counts):
        return Bounded(math.nan, math.nan, math.nan)
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(counts), times / len(counts), size=draws).astype(np.float64)
    alike = np.concatenate([_alike(kind[None]) for kind in kinds])
    found = interval(value, figure(drawn @ kinds, drawn @ alike))
    return Bounded(value, found.low, found.high)
