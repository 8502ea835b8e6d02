"""Which words of a topic's documents are its own, compared with other texts.

T. Dunning, "Accurate methods for the statistics of surprise and coincidence", Computational Linguistics 19(1), 1993;
C.-Y. Lin & E. Hovy, "The automated acquisition of topic signatures for text summarization", COLING 2000.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from preferendum.formats.readers.word_counts import WordCounts

CUTOFF, NATURAL_CUTOFF = 10.0, 10.83
"""What -2 log Lambda of a topic word exceeds: to base 10, and in natural logarithms (chi-squared, p = .001)."""

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]


def log_likelihood_ratio(c: Vector, n: float, b: Vector, total: float) -> Vector:
    """-2 ln Lambda of words that occur c times among n and b times among `total` others; 0 for equal proportions."""
    joint = (c + b) / (n + total)
    alone = _log_likelihood(c, n, c / n) + _log_likelihood(b, total, b / max(total, 1))
    return 2 * (alone - _log_likelihood(c, n, joint) - _log_likelihood(b, total, joint))


def _log_likelihood(k: Vector, n: float, p: Vector) -> Vector:
    return np.asarray(xlogy(k, p) + xlogy(n - k, 1 - p))


def topic_words(
    c: Vector, vocabulary: Iterable[str], background: WordCounts, cutoff: float = CUTOFF, natural: bool = False
) -> Mask:
    """(v,): which words of documents are topic words compared with the background; `c` (v,): how often each occurs."""
    b = np.array([background.counts.get(word, 0) for word in vocabulary], dtype=np.float64)
    ratio = log_likelihood_ratio(c, c.sum(), b, sum(background.counts.values()))
    return np.asarray((ratio / (1.0 if natural else np.log(10)) > cutoff) & (c > 0))
