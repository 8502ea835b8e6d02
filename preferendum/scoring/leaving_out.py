"""Win rates without some of the answers: fits in which variances and weights stay as all answers have them.

To leave out an answer about items i and j moves the systems' scores, in a step of Newton's method, by

    -slopes P^-1 A_t (e_i - e_j) (y - p)

with P and A_t as in `preferendum.fit.effects`. To leave out annotator k moves them by e_k / (1 - v_k) likewise
(`preferendum.scoring.between_annotators`), which stands in for fits where there are too many annotators.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from preferendum.results import TopicInfluence
from preferendum.scoring.win_rate import Answers, between_systems, fit, surpluses, win_rates

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Annotators are left out by whole fits where they, times the items and answers of each fit, are no more than this:
#: 200 annotators of 20,000 answers about 55 systems in 44 topics, in about ten seconds.
MOST_FITTED = 5_000_000
#: Answers are left out on trial where a fit has at most so many.
MOST_TRIED = 20_000


class JudgedSummaries:
    """The answers about a study's summaries, which `keys` (m,) name, and the fit of those that are `kept` (m,).

    A system that no kept answer is about is taken to be an average one. Raises `newton.NotConverged`.
    """

    def __init__(self, answers: Answers, keys: Sequence[int] = ()) -> None:
        self.answers, self.keys = answers, keys
        self._rates = win_rates(answers)
        self.systems = self._rates.standing.systems
        self.is_tried = len(answers) <= MOST_TRIED
        self.kept: Flags = np.ones(len(answers), dtype=np.bool_)
        self._now = self._rates.effects

    @property
    def scores(self) -> Vector:
        """(s,): the win rates of the systems."""
        return between_systems(self._now)[0]

    def keep(self, kept: Flags) -> None:
        """Fit those answers alone."""
        self.kept = kept
        weighed, judged = self._rates.answers, self._rates.judged
        self._now = self._rates.effects
        if not kept.all():
            self._now = fit(weighed.some(kept), judged, self._rates.effects.variances)

    def scores_of(self, kept: Flags) -> Vector:
        """(s,): what the win rates would be."""
        now = fit(self._rates.answers.some(kept), self._rates.judged, self._rates.effects.variances)
        return between_systems(now)[0]

    def whole_scores(self) -> Vector:
        """(s,): those of the kept answers, with variances and weights of their own."""
        standing = win_rates(self.answers.some(self.kept)).standing
        by_system = dict(zip(standing.systems, standing.scores, strict=True))
        return np.array([by_system.get(system, 0.5) for system in self.systems])

    def moved(self, shares: Vector) -> Vector:
        """(m,): by how much scores @ shares would nearly move without each answer; 0 for one that is left out."""
        if not self.kept.any():
            return np.zeros(len(self.kept))
        sloped = between_systems(self._now)[1]
        of_alpha = self._now.covariance @ sloped(shares[:, None])[:, 0]
        of_items = np.concatenate([topic.A @ of_alpha[topic.systems] for topic in self._now.topics()])
        first, second, surplus = surpluses(self._rates.answers.some(self.kept), self._rates.judged, self._now)
        moved = np.zeros(len(self.kept))
        moved[self.kept] = -surplus * (of_items[first] - of_items[second])
        return moved

    def influence(self, annotators: Collection[int]) -> TopicInfluence:
        """The scores without each of these annotators, by number; None of a system that no other answer is about."""
        numbers = [number for number in np.unique(self.answers.annotator).tolist() if number in annotators]
        cost = len(numbers) * (len(self.answers) + len(self._rates.effects.items))
        without = self._refitted if cost <= MOST_FITTED else self._nearly
        rows = (tuple(None if np.isnan(x) else x for x in without(number).tolist()) for number in numbers)
        return TopicInfluence(self.systems, tuple(self.scores.tolist()), tuple(numbers), tuple(rows))

    def _refitted(self, annotator: int) -> Vector:
        kept = self.answers.annotator != annotator
        about = np.concatenate([self.answers.first[kept], self.answers.second[kept]])
        return np.where(np.isin(self._rates.judged, about), self.scores_of(kept) if kept.any() else 0.5, np.nan)

    def _nearly(self, annotator: int) -> Vector:
        shares = self._rates.standing.shares
        if shares is None:
            return np.full(len(self.systems), np.nan)
        place, judged, added = shares.annotators.index(annotator), np.array(shares.judged), np.asarray(shares.added)
        away = added[place] - judged[place] * added.sum(axis=0)
        return np.asarray(self.scores - away / max(1 - judged[place], 1e-9))
