"""Do scores depend on the document set? Differences between topics, and people's distance from machines.

P. Rankel, J. Conroy, E. Slud & D. O'Leary, "Ranking human and machine summarization systems", EMNLP 2011: Kruskal and
Wallis' test over topics and Tukey's intervals of their mean ranks. P. Rankel, J. Conroy & J. Schlesinger, "Better
metrics to automatically predict the quality of a text summary", Algorithms 5(4), 2012: metric against people, with a
line through the machines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import compress

import numpy as np
import scipy
from numpy.typing import NDArray

from preferendum.methods.meta.correlation import without_dust
from preferendum.methods.meta.resampling import Matrix, Vector
from preferendum.results import (
    DocumentSet,
    DocumentSets,
    DocumentSetsReport,
    RankTest,
    Scatter,
    ScatterPoint,
    ScoreMatrix,
)
from preferendum.results.metrics import Peers
from preferendum.results.statistics import LEVEL
from preferendum.scoring.missing import Additive
from preferendum.statistics import finite
from preferendum.work.scores import Scores


def document_sets_report(scores: Scores, peers: Peers, level: float = LEVEL) -> DocumentSetsReport:
    """The topics by every scorer, people in each dimension and metrics; every metric against people in each."""
    return DocumentSetsReport(
        peers,
        level,
        tuple(
            document_sets(name, matrix, scores, level, by_human=by_human)
            for by_human, matrices in ((True, scores.human), (False, scores.metrics))
            for name, matrix in matrices.items()
        ),
        tuple(scatter(dimension, metric, scores) for dimension in scores.human for metric in scores.metrics),
    )


def document_sets(
    by: str, matrix: Matrix, scores: Scores, level: float = LEVEL, *, by_human: bool = False
) -> DocumentSets:
    """Whether the topics (columns of `matrix`) have equal scores, and which of them differ (Tukey, on mean ranks); of a
    metric only once it can be tested."""
    is_tested = by_human or scores.can_test(by)
    matrix = without_dust(matrix)
    judged = np.asarray(np.isfinite(matrix).any(axis=0))
    names = tuple(compress(scores.topics, judged))
    sets = _sets(names, matrix[:, judged], level) if is_tested else ()
    return DocumentSets(
        by,
        by_human,
        kruskal_wallis(matrix) if is_tested else None,
        friedman(matrix) if is_tested else None,
        pairs=math.comb(len(sets), 2),
        different=sum(len(topic.differs) for topic in sets) // 2,
        sets=sets,
        matrix=_score_matrix(matrix, scores),
    )


def kruskal_wallis(matrix: Matrix) -> RankTest | None:
    """Over topics (columns), of the scores that there are; None with fewer than two topics, or all scores equal."""
    samples = [column[np.isfinite(column)] for column in matrix.T]
    samples = [sample for sample in samples if len(sample)]
    if len(samples) < 2 or np.ptp(np.concatenate(samples)) == 0:
        return None
    result = scipy.stats.kruskal(*samples)
    return RankTest(float(result.statistic), len(samples) - 1, float(result.pvalue))


def friedman(matrix: Matrix) -> RankTest | None:
    """Over systems (rows), topic by topic; None with a missing score, fewer than three systems, or all scores equal."""
    systems, topics = matrix.shape
    if systems < 3 or topics < 2 or not np.isfinite(matrix).all() or not np.ptp(matrix, axis=0).any():
        return None
    result = scipy.stats.friedmanchisquare(*matrix)
    return RankTest(float(result.statistic), systems - 1, float(result.pvalue))


def mean_ranks(matrix: Matrix) -> tuple[Vector, NDArray[np.int64], float]:
    """(t,), (t,): each topic's mean rank among all scores and its number of scores; the variance of a rank.

    V = N (N + 1) / 12 - sum (t^3 - t) / (12 (N - 1)), over groups of t tied scores.
    """
    present = np.isfinite(matrix)
    ranks = np.zeros(matrix.shape)
    ranks[present] = scipy.stats.rankdata(matrix[present])
    counts = present.sum(axis=0)
    n = int(counts.sum())
    _, ties = np.unique(matrix[present], return_counts=True)
    variance = n * (n + 1) / 12 - float((ties.astype(float) ** 3 - ties).sum()) / (12 * max(n - 1, 1))
    return ranks.sum(axis=0) / counts, counts, variance


def _sets(names: Sequence[str], matrix: Matrix, level: float) -> tuple[DocumentSet, ...]:
    """The topics with their mean ranks, Tukey's half widths and those that differ."""
    if len(names) < 2:
        return ()
    means, counts, variance = mean_ranks(matrix)
    factor = _studentized_range(len(names), level) * math.sqrt(variance / 2)
    apart = np.abs(means[:, None] - means) > factor * np.sqrt(1 / counts[:, None] + 1 / counts)
    half = factor * np.sqrt(1 / counts + 1 / counts.mean()) / 2
    columns = names, counts.tolist(), means.tolist(), half.tolist(), apart.tolist()
    return tuple(
        DocumentSet(name, n, mean, mean - width, mean + width, tuple(compress(names, row)))
        for name, n, mean, width, row in zip(*columns, strict=True)
    )


@cache
def _studentized_range(k: int, level: float) -> float:
    """The quantile of the range of k standard normal variables."""
    return float(scipy.stats.studentized_range.ppf(1 - level, k, np.inf))


def _score_matrix(matrix: Matrix, scores: Scores) -> ScoreMatrix:
    """Topics by systems: machines first, then people, each by their means over the same topics, the best first."""
    present = np.isfinite(matrix)
    means = np.where(present.any(axis=1), Additive(present.T).means(matrix.T), -np.inf)
    order = sorted(range(len(matrix)), key=lambda k: (not scores.machines[k], -means[k], scores.systems[k]))
    return ScoreMatrix(
        topics=scores.topics,
        systems=tuple(scores.systems[k] for k in order),
        machines=sum(scores.machines),
        scores=tuple(tuple(map(finite, row)) for row in matrix[order].T.tolist()),
    )


def scatter(dimension: str, metric: str, scores: Scores) -> Scatter:
    """Each system's mean by a metric (x) and by people (y), over the same topics that both scored
    (`preferendum.scoring.missing`), and how far people are.

    `gap`: the people's mean distance above the least-squares line through the machines, in standard deviations of the
    machines from it.
    """
    human, automatic = scores.human[dimension], scores.metrics[metric]
    present = np.isfinite(human) & np.isfinite(automatic)
    rows = np.flatnonzero(present.any(axis=1))
    fit = Additive(present.T)
    x, y = (fit.means(table.T)[rows] for table in (automatic, human))
    machines = np.array(scores.machines, dtype=bool)[rows]
    points = tuple(
        ScatterPoint(scores.systems[k], scores.machines[k], *point)
        for k, *point in zip(rows.tolist(), x.tolist(), y.tolist(), strict=True)
    )
    if machines.sum() < 3 or np.ptp(x[machines]) == 0:
        return Scatter(dimension, metric, points)
    slope, intercept = np.polyfit(x[machines], y[machines], 1).tolist()
    residuals = y - intercept - slope * x
    sd = math.sqrt(float((residuals[machines] ** 2).sum()) / (int(machines.sum()) - 2))
    is_defined = sd > 0 and not machines.all()
    gap = float(residuals[~machines].mean()) / sd if is_defined else None
    return Scatter(dimension, metric, points, slope, intercept, sd, gap)
