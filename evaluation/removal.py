"""What would change if some people's judgments were left out, or counted again: rankings, agreement, beside each other.

Owczarzak et al. (2012) leave out the least consistent assessors and ask whether the systems are still in the same
order; an admin asks the same before excluding anybody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evaluation.ranking import Difference, Standing, SystemResult, compare_systems, rank_systems


@dataclass(frozen=True, slots=True)
class Outcome:
    """A ranking with what it rests on."""

    judgments: int
    topics: int
    systems: tuple[SystemResult, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Two rankings of the same systems beside each other.

    `kendall` (tau-b) and `pearson` correlate the mean scores of the systems that both have; nan where they cannot.
    `lost`, `gained`: pairs (better, worse) that differ significantly only before, or only after.
    """

    before: Outcome
    after: Outcome
    kendall: float
    pearson: float
    lost: tuple[tuple[str, str], ...]
    gained: tuple[tuple[str, str], ...]


def compare(before: Sequence[Standing], after: Sequence[Standing]) -> Change:
    """The rankings over two versions of the same topics; topics without judgments do not count."""
    old, new = _outcome(before), _outcome(after)
    scores = {one.system: one.score for one in new.systems}
    both = [(one.score, scores[one.system]) for one in old.systems if one.system in scores]
    clear, clear_now = (_significant(compare_systems(_judged(one))) for one in (before, after))
    return Change(
        before=old,
        after=new,
        kendall=_correlation(both, "kendall"),
        pearson=_correlation(both, "pearson"),
        lost=tuple(sorted(clear - clear_now)),
        gained=tuple(sorted(clear_now - clear)),
    )


def _outcome(standings: Sequence[Standing]) -> Outcome:
    judged = _judged(standings)
    return Outcome(sum(one.judgments for one in judged), len(judged), rank_systems(judged))


def _judged(standings: Sequence[Standing]) -> list[Standing]:
    return [one for one in standings if one.judgments]


def _significant(differences: Sequence[Difference]) -> set[tuple[str, str]]:
    return {(one.better, one.worse) for one in differences if one.significant}


def _correlation(pairs: Sequence[tuple[float, float]], kind: str) -> float:
    x, y = np.array(pairs).T if pairs else (np.zeros(0), np.zeros(0))
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float((stats.kendalltau(x, y) if kind == "kendall" else stats.pearsonr(x, y)).statistic)
