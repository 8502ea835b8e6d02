"""Which pairs of sentences to ask about next.

The paper draws pairs at random (section 4.1); so does this. Random pairs keep every figure about annotators unbiased,
so a study that asks cleverer questions still wants a share of these.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

Pairs = NDArray[np.int64]

# Up to so many pairs (1,400 sentences) all of them are shuffled; beyond, nobody judges enough to meet one twice often.
_SHUFFLED = 1_000_000


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
