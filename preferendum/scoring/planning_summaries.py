"""How many answers about summaries a study needs (docs/model.md, Whole summaries).

With pairs spread evenly over s systems and T topics, m answers a topic, and w the mean of p (1 - p), the difference of
two systems' alpha has the variance

    2 ((s - 1) / (2 w m) + s_d^2 max(1, (s - 1) / m)) / T

of the answers, and of topics that differ: with few answers a topic, each of them meets other deviations. The difference
of win rates has w s / (s - 1) times that standard error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from preferendum.fit.effects import Variances
from preferendum.fit.kernel import expected
from preferendum.results import ForecastPoint, SummaryForecast

#: The default numbers of answers a topic to try.
SIZES = (1, 2, 5, 10, 20, 50)


def forecast(
    sizes: Sequence[int], systems: int, topics: int, words: float, variances: Variances, learnt_from: int = 0
) -> SummaryForecast:
    """What to expect of a study of whole summaries with so many answers a topic.

    Parameters
    ----------
    sizes
        Numbers of answers a topic.
    systems, topics
        How many there are.
    words
        The mean length of a summary in words.
    variances
        Of systems and of summaries, in utility.
    learnt_from
        How many answers `variances` were learnt from; 0 for the usual ones.
    """
    learnt = variances.system, variances.item, learnt_from, words, _unclear(variances)
    expected = SummaryForecast(topics, systems, *learnt)
    points = tuple(ForecastPoint(size, expected.error(size * topics, topics), None, None) for size in sizes)
    return replace(expected, points=points)


def answers_to_measure(predicted: float, variances: Variances) -> int:
    """So many answers about a new system tell its win rate as surely as a prediction with this standard error, if
    those that it meets are known: each has the variance 1 / w + 2 s_d^2."""
    slope = _unclear(variances)
    return max(1, int(np.ceil((1 / slope + 2 * variances.item) * (slope / max(predicted, 1e-6)) ** 2)))


def _unclear(variances: Variances) -> float:
    """w, over two summaries of two systems drawn at random."""
    return float(expected(np.zeros(1), np.array([2 * sum(variances)]))[1][0])
