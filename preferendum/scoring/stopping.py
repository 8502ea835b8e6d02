"""Verdicts on two systems that hold at every look until a study has the judgments that it plans.

A leaderboard is read after every answer, and a test at 5% that is repeated at thirty looks is wrong in three studies of
ten. With these verdicts, the probability is 5% that a study of so many planned judgments ever calls equal systems
different.

The errors of a difference of two systems, D with standard error s, are those of a sum over judgments. Each corrects
what was expected of it before (`preferendum.fit.chances`), so the sum is a martingale, normal in the limit. After a
share t of the planned judgments it is a Brownian motion at time t, B = sqrt(t) D / s, if D is 0. By reflection

    P(|B(t)| > c at any t up to 1) <= 4 (1 - Phi(c)),

so p = 4 (1 - Phi(sqrt(t) |D| / s)) holds at all looks together, and so does the interval D +- 2.24 s / sqrt(t). This
is the bound of O'Brien and Fleming (Biometrics 1979) for looks without number: wide at first, and in the end hardly
wider than that of one look (2.24 standard errors instead of 1.96; of 78 pairs by Holm, 3.6 instead of 3.4). So nearly
nothing is lost where a study runs to its end, and clear differences are found long before. t must not depend on the
answers: planning for more because of them breaks the bound, and so do judgments beyond the plan, for which t stays 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from preferendum.results.statistics import LEVEL

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StopRule:
    """A study that plans so many judgments."""

    planned: int

    def quantile(self, judgments: int, freedom: Array | float = np.inf) -> Array:
        """The interval reaches so many standard errors to either side after so many judgments. `freedom`: of Student's
        distribution, in place of the normal one, where the errors themselves are estimated."""
        if not judgments:
            return np.full(np.shape(freedom), np.inf)
        return np.asarray(stdtrit(freedom, 1 - LEVEL / 4) / np.sqrt(self.share(judgments)))

    def p(self, z: Array, judgments: int, freedom: Array | float = np.inf) -> Array:
        """The p-values of differences of so many standard errors, after so many judgments."""
        p: Array = np.minimum(1.0, 4 * stdtr(freedom, -np.abs(z) * np.sqrt(self.share(judgments))))
        return p

    def share(self, judgments: int) -> float:
        """How much of the planned judgments are in, at most all."""
        return min(1.0, judgments / max(self.planned, 1))
