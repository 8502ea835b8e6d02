"""Which pairs of sentences to show next.

The paper draws pairs at random (section 4.1). Random pairs keep every figure about annotators unbiased, so a study that
shows the most informative pairs still needs a share of these.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Pairs = NDArray[np.int64]

# Up to so many pairs (1,400 sentences) all of them are shuffled; beyond, nobody judges enough to meet one twice often.
_SHUFFLED = 1_000_000

#: Of how many pairs the most telling ones are sought: all those of 300 sentences.
CANDIDATES = 45_000
#: And where each of them takes longer.
TRIED = 600
# Of a difference of two utilities, for sentences that nothing tells apart.
_LEAST_VARIANCE = 1e-9


def random_pairs(n: int, count: int, seed: int, taken: Collection[tuple[int, int]] = ()) -> Pairs:
    """(count, 2): different pairs i < j of n sentences, in the order in which to show them, every pair equally likely.

    `taken`: pairs i < j to leave out. The result has fewer pairs where fewer are left. The same seed gives
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
    # Correct a root that falls just next to an integer.
    j -= j * (j - 1) // 2 > numbers
    j += j * (j + 1) // 2 <= numbers
    return np.stack([numbers - j * (j - 1) // 2, j], axis=1)


def informative_pairs(
    utilities: NDArray[np.float64],
    covariance: NDArray[np.float64],
    count: int,
    seed: int,
    taken: Collection[tuple[int, int]] = (),
) -> Pairs:
    """The pairs most informative on the order of sentences, in the order in which to show them.

    An answer about sentences that differ by d takes

        h / (1 + h v) sum over s < t of w_st ((C d)_s - (C d)_t)^2

    from the variances of all differences, with v = d' C d, h = p (1 - p) and p the expected chance of either answer.
    Close sentences matter most: w_st = exp(-z^2 / 2) / sd, z and sd being those of the difference of s and t. The
    information of a chosen pair is taken from C, so that no two give the same.

    Parameters
    ----------
    utilities : (n,)
        Of the sentences, from a fit.
    covariance : (n, n)
        C, of these utilities.
    count
        How many pairs.
    seed
        Of the random pairs that are tried.
    taken
        Pairs i < j to leave out.

    Returns
    -------
    (count, 2)
        Pairs i < j; fewer where fewer are left.
    """
    first, second = random_pairs(len(utilities), TRIED, seed, taken).T
    own = np.diag(covariance)
    variances = np.maximum(own[:, None] + own - 2 * covariance, _LEAST_VARIANCE)
    weights = np.exp(-np.square(utilities[:, None] - utilities) / (2 * variances)) / np.sqrt(variances)
    np.fill_diagonal(weights, 0.0)
    moved = covariance[:, first] - covariance[:, second]
    weighed = weights.sum(axis=1)[:, None] * moved - weights @ moved
    variance, told = variances[first, second], np.einsum("ij,ij->j", moved, weighed)
    p = expit((utilities[first] - utilities[second]) / np.sqrt(1 + np.pi * variance / 8))
    h, chosen, is_left = p * (1 - p), [], np.ones(len(first), dtype=np.bool_)
    for _ in range(min(count, len(first))):
        k = int(np.argmax(np.where(is_left, h / (1 + h * variance) * told, -np.inf)))
        chosen.append(k)
        is_left[k] = False
        share = h[k] / (1 + h[k] * variance[k])
        x, y = moved[:, k].copy(), weighed[:, k].copy()
        along = share * (x[first] - x[second])
        told += along * (along * (x @ y) - 2 * (x @ weighed))
        variance = variance - np.square(along) / share
        moved -= np.outer(x, along)
        weighed -= np.outer(y, along)
    return np.stack([first, second], axis=1)[chosen].reshape(-1, 2)
