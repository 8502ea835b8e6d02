"""What would change if some annotators' judgments were left out, or counted again? Compares two rankings.

Owczarzak et al. (2012) leave out the least consistent of those who rated summaries and ask whether the systems are
still in the same order (by Pearson's and Spearman's correlation). Admins see the same before they exclude annotators.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from preferendum.results import Agreement, Difference, Outcome, Standing, WhatIf
from preferendum.scoring.ranking import Comparison
from preferendum.statistics import finite


def compare(
    before: Sequence[Standing],
    after: Sequence[Standing],
    agreements: tuple[Agreement, Agreement],
    ends: tuple[float, float] = (-np.inf, np.inf),
    *,
    is_tested: bool = True,
) -> WhatIf:
    """The rankings over two versions of the same topics; topics without judgments do not count.

    Parameters
    ----------
    before, after
        What a ranking needs of each topic, in either version.
    agreements
        Of annotators, before and after.
    ends
        The bounds of scores, and of the intervals that are shown.
    is_tested
        Whether differences are tested; if not, nothing is significant.
    """
    before, after = _judged(before), _judged(after)
    comparisons = [Comparison(topics, is_tested=is_tested) for topics in (before, after)]
    old, new = (
        outcome(topics, comparison, agreement, ends)
        for topics, comparison, agreement in zip((before, after), comparisons, agreements, strict=True)
    )
    scores = {result.system: result.score for result in new.systems}
    pairs = [(result.score, scores[result.system]) for result in old.systems if result.system in scores]
    significant, significant_now = (_significant(comparison.differences()) for comparison in comparisons)
    return WhatIf(
        before=old,
        after=new,
        kendall=_correlation(pairs, "kendall"),
        pearson=_correlation(pairs, "pearson"),
        lost=tuple(sorted(significant - significant_now)),
        gained=tuple(sorted(significant_now - significant)),
    )


def outcome(
    topics: Sequence[Standing], comparison: Comparison, agreement: Agreement, ends: tuple[float, float]
) -> Outcome:
    """The ranking over these topics."""
    return Outcome(
        judgments=sum(topic.judgments for topic in topics),
        topics=len(topics),
        systems=comparison.ranked(*ends),
        agreement=agreement,
        ground=comparison.ground,
    )


def _judged(standings: Sequence[Standing]) -> list[Standing]:
    return [standing for standing in standings if standing.judgments]


def _significant(differences: Sequence[Difference]) -> set[tuple[str, str]]:
    return {(difference.better, difference.worse) for difference in differences if difference.significant}


def _correlation(pairs: Sequence[tuple[float, float]], kind: str) -> float | None:
    x, y = np.array(pairs).T if pairs else (np.zeros(0), np.zeros(0))
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return finite((scipy.stats.kendalltau(x, y) if kind == "kendall" else scipy.stats.pearsonr(x, y)).statistic)
