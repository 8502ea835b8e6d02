"""The model once more, as its formulas stand in docs/model.md: without smoothing, with a prior, scores by length.

Shares nothing with the product's mathematics; slow and plain on purpose.
"""

from __future__ import annotations

import numpy as np

Two = tuple[int, int]


def utilities(n: int, wins: list[tuple[int, int, float]], prior: float) -> np.ndarray:
    """Log strengths of n sentences, centred, from (winner, loser, weight), by Zermelo's iteration (1929).

    `prior`: pseudo-wins and as many pseudo-losses of each sentence against a phantom of strength 1.
    """
    W = np.zeros((n, n))
    for winner, loser, weight in wins:
        W[winner, loser] += weight
    met, won = W + W.T, W.sum(axis=1) + prior
    v = np.ones(n)
    for _ in range(100_000):
        before = v
        v = won / ((met / (v[:, None] + v[None, :])).sum(axis=1) + 2 * prior / (1 + v))
        if np.abs(np.log(v / before)).max() < 1e-13:
            break
    theta: np.ndarray = np.log(v) - np.log(v).mean()
    return theta


def score(theta: np.ndarray, nearest: list[int], lengths: list[int]) -> float:
    """A summary whose k-th sentence of `lengths[k]` characters is the topic's sentence `nearest[k]`."""
    strengths = np.exp(theta) / np.exp(theta).sum()
    return float(sum(length * strengths[i] for i, length in zip(nearest, lengths, strict=True)) / sum(lengths))
