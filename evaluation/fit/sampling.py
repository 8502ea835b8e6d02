"""Which pairs of sentences to ask about next.

The paper draws pairs at random (section 4.1). Random pairs keep every figure about annotators unbiased, so a study that
asks cleverer questions, about the pairs whose answers would tell most, still wants a share of these.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Pairs = NDArray[np.int64]

# Up to so many pairs (1,400 sentences) all of them are shuffled; beyond, nobody judges enough to meet one twice often.
_SHUFFLED = 1_000_000

#: Of how many pairs the most telling ones are sought: all those of 300 sentences.
CANDIDATES = 45_000


def random_pairs(n: int, count: int, seed: int, taken: Collection[tuple[int, int]] = ()) -> Pairs:
    """(count, 2): different pairs i < j of n sentences, in the order in which to ask them, every pair equally likely.

    `taken`: pairs i < j that are not to come again. Fewer pairs come back where fewer are left. The same seed gives
    the same pairs, and a shorter queue is the beginning of a longer one.
    """
    every = n * (n - 1) // 2
    used = {_number(i, j) for i, j in taken}
    wanted = max(0, min(count, every - len(used)))
    rng = np.random.default_rng(seed)
    chosen: list[int] = []
    if every <= _SHUFFLED:
        order = rng.permutation(every)
        free = order[~np.isin(order, np.fromiter(used, dtype=np.int64, count=len(used)))]
        chosen = free[:wanted].tolist()
    while len(chosen) < wanted:
        drawn = int(rng.integers(every))
        if drawn not in used:
            used.add(drawn)
            chosen.append(drawn)
    return _pairs(np.array(chosen, dtype=np.int64))


def _number(i: int, j: int) -> int:
    """Pairs i < j are counted through: (0, 1), (0, 2), (1, 2), (0, 3) ..."""
    return j * (j - 1) // 2 + i


def _pairs(numbers: NDArray[np.int64]) -> Pairs:
    j = np.floor((1 + np.sqrt(1 + 8 * numbers.astype(np.float64))) / 2).astype(np.int64)
    # A root that falls just beside an integer is put right.
    j -= j * (j - 1) // 2 > numbers
    j += j * (j + 1) // 2 <= numbers
    return np.stack([numbers - j * (j - 1) // 2, j], axis=1)


class Differences(Protocol):
    """What is known of differences of utilities (evaluation.fit.uncertainty.Covariance)."""

    def difference(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.float64]:
        """The standard errors of utilities[a] - utilities[b]."""


def informative_pairs(
    utilities: NDArray[np.float64],
    errors: Differences,
    count: int,
    seed: int,
    taken: Collection[tuple[int, int]] = (),
) -> Pairs:
    """(count, 2): pairs i < j whose answers would tell most, in the order in which to ask them.

    `utilities` (n,) and the `errors` of their differences come from a fit. What an answer is expected to tell of a
    difference d = N(m, v) is, nearly, ln(1 + p (1 - p) v) / 2, p the expected chance of either answer: most for two
    sentences that are close and of which little is known. No sentence comes more often than its fair share of the queue
    and once more, so that it is not all about the few that hardly anybody has judged. `taken`: pairs i < j that are
    not to come.
    """
    n = len(utilities)
    a, b = random_pairs(n, CANDIDATES, seed, taken).T
    if not len(a):
        return np.zeros((0, 2), dtype=np.int64)
    variance = np.square(errors.difference(a, b))
    p = expit((utilities[a] - utilities[b]) / np.sqrt(1 + np.pi * variance / 8))
    best = np.argsort(-p * (1 - p) * variance, kind="stable")
    most = 2 * count // n + 1
    asked = [0] * n
    chosen: list[tuple[int, int]] = []
    for i, j in zip(a[best].tolist(), b[best].tolist(), strict=True):
        if asked[i] < most and asked[j] < most:
            asked[i], asked[j] = asked[i] + 1, asked[j] + 1
            chosen.append((i, j))
            if len(chosen) == count:
                break
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)
