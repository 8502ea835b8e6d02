"""How many answers about summaries a study needs (docs/model.md, Whole summaries).

With pairs spread evenly over s systems and T topics, m answers a topic, and w the mean of p (1 - p), the difference of
two systems' alpha has the variance

    2 ((s - 1) / (2 w m) + s_d^2 max(1, (s - 1) / m)) / T

of the answers, and of topics that differ: with few answers a topic, each of them meets other deviations. The difference
of win rates has w s / (s - 1) times that standard error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from preferendum.fit.effects import Variances
from preferendum.fit.kernel import expected
from preferendum.results import ForecastPoint, SummaryForecast

#: The default numbers of answers a topic to try.
SIZES = (1, 2, 5, 10, 20, 50)


def expected_error(systems: int, topics: int, answers: float, variances: Variances) -> float:
    """The standard error of the difference of two systems' win rates, after so many `answers` a topic (more than 0)."""
    of_answers = (systems - 1) / (2 * _unclear(variances) * answers)
    of_topics = variances.item * max(1.0, (systems - 1) / answers)
    slope = _unclear(variances) * systems / (systems - 1)
    return float(slope * np.sqrt(2 * (of_answers + of_topics) / topics))


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
    expected_errors = points(sizes, systems, topics, variances)
    return SummaryForecast(topics, systems, variances.system, variances.item, learnt_from, words, expected_errors)


def points(sizes: Sequence[int], systems: int, topics: int, variances: Variances) -> tuple[ForecastPoint, ...]:
    """What to expect after so many answers a topic."""
    return tuple(ForecastPoint(size, expected_error(systems, topics, size, variances), None, None) for size in sizes)


def answers_for(systems: int, topics: int, error: float, variances: Variances) -> int | None:
    """The fewest answers a topic with an expected error of at most this; None where no number of answers has it."""
    if expected_error(systems, topics, 1e12, variances) > error:
        return None
    enough = 1
    while expected_error(systems, topics, enough, variances) > error:
        enough *= 2
    return next(
        m for m in range(enough // 2 or 1, enough + 1) if expected_error(systems, topics, m, variances) <= error
    )


def answers_to_measure(predicted: float, variances: Variances) -> int:
    """So many answers about a new system tell its win rate as surely as a prediction with this standard error, if
    those that it meets are known: each has the variance 1 / w + 2 s_d^2."""
    slope = _unclear(variances)
    return max(1, int(np.ceil((1 / slope + 2 * variances.item) * (slope / max(predicted, 1e-6)) ** 2)))


def _unclear(variances: Variances) -> float:
    """w, over two summaries of two systems drawn at random."""
    return float(expected(np.zeros(1), np.array([2 * sum(variances)]))[1][0])
