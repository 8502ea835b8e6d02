"""How far a study's people agree: for the study, for each topic, over time, and who with whom.

A judgment is a unit (the pair), a value (1: the pair's first sentence was preferred, 0: its second, 0.5: neither) and
who gave it; each person judges a pair once here. What cannot be told is not a number, and `why` says why not.

Which sentence is called a pair's first is an accident of storing. Leads of news come first and win often: counted as
they are stored, such answers would look as if chance explained them. So what is expected by chance is worked out with
every answer counted half in each direction; it is one half where nobody ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.resampling import interval

Vector = NDArray[np.float64]
Numbers = NDArray[np.int64]
#: Nobody judged what another had judged; all who did found both sentences of every pair equally important.
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
    percent, alpha, kappa = (_bootstrap(counts, figure, draws, seed) for figure in (_percent, _alpha, _fleiss))
    why: Why = "nobody_twice" if not len(counts) else "all_equal" if math.isnan(alpha.value) else ""
    comparisons = round(float((sizes * (sizes - 1)).sum() / 2))
    return Agreement(len(said), len(counts), comparisons, percent, alpha, kappa, why)


def over_time(said: Said, steps: int = STEPS) -> tuple[tuple[int, float], ...]:
    """Alpha with the first tenth of the judgments, the first two tenths, and so on: (judgments, alpha)."""
    marks = sorted({round(len(said) * step / steps) for step in range(1, steps + 1)} - {0})
    return tuple((m, _whole(_counts(said.only(slice(m))), _alpha)) for m in marks)


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


# A figure is worked out from sums over pairs: how often each value was given (b, 3), and `_compare`d (b, 3).
Figure = Callable[[Vector, Vector], Vector]


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


def _by_chance(totals: Vector) -> Vector:
    """(b,): how likely two answers are alike that anybody gave, to whatever pair, in whatever direction."""
    n = totals.sum(axis=1, keepdims=True)
    both_ways = (totals + totals[:, ::-1]) / 2
    shares = np.divide(both_ways, n, out=np.full(totals.shape, np.nan), where=n > 0)
    return np.asarray(np.square(shares).sum(axis=1))


def _divide(a: Vector, b: Vector) -> Vector:
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0))


def _whole(counts: Vector, figure: Figure) -> float:
    return float(figure(counts.sum(axis=0)[None], _compare(counts).sum(axis=0)[None])[0])


def _bootstrap(counts: Vector, figure: Figure, draws: int, seed: int) -> Bounded:
    """Pairs of which the same was said are drawn together: there are few kinds of them."""
    if not len(counts):
        return Bounded(math.nan, math.nan, math.nan)
    kinds, times = np.unique(counts, axis=0, return_counts=True)
    drawn = np.random.default_rng(seed).multinomial(len(counts), times / len(counts), size=draws).astype(np.float64)
    value = _whole(counts, figure)
    found = interval(value, figure(drawn @ kinds, drawn @ _compare(kinds)))
    return Bounded(value, found.low, found.high)
