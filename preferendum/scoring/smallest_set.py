"""On how few answers first place rests: the fewest judgments without which another system is first.

Leaving a judgment out changes a system's importance by what it added to the corrected chances
(`preferendum.fit.chances`): its residual, in the direction of its two sentences, and the share of all others that it
took. The fit's own part is of second order, since the correction takes back what it predicts otherwise. So judgments
are ordered by what each alone would take from the lead of the first system over another (as in the approximate maximum
influence perturbation of Broderick, Giordano and Meager 2020; for arenas, Huang et al. 2026), and left out, with new
fits in between. Where few are enough, each of the most promising is left out on trial, and in the end put back on
trial. A set is reported only if whole fits without it have another first. For win rates
`preferendum.scoring.leaving_out` says what leaving out an answer changes.

A smaller set may exist, since not all can be tried. On small studies, where all were tried, it is at most one judgment
smaller (benchmarks/archive/smallest_set.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from preferendum.annotators.reliability import weighed
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit import newton
from preferendum.fit.preference_matrix import Estimate
from preferendum.fit.similarity import Similarity
from preferendum.results import SmallestSet
from preferendum.scoring.evaluate import estimate, score
from preferendum.scoring.importance import SharedWords, share_words
from preferendum.scoring.leaving_out import JudgedSummaries

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: A set of so many judgments is put together one by one; of a larger one nobody counts the last.
SMALL = 12
#: Of so many of the most promising judgments each is left out on trial.
TRIED = 24
#: How many systems are tried in the first one's place: those that it seems to take fewest judgments for.
RIVALS = 2
#: How often a set is enlarged because whole fits think otherwise.
ENLARGED = 8
#: By how much at least, in scores.
TINY = 1e-9


@dataclass
class JudgedTopic:
    """A topic with judgments, which `keys` (m,) name, and the fit of those that are `kept` (m,)."""

    evidence: Evidence
    settings: Settings
    similarity: Similarity
    keys: Sequence[int]
    texts: SharedWords = field(init=False)
    judgments: Judgments = field(init=False)
    is_tried: bool = field(default=True, init=False)
    kept: Flags = field(init=False)

    def __post_init__(self) -> None:
        self.texts = share_words(self.evidence)
        self.judgments = weighed(self.evidence, self.settings).judgments
        self.kept = np.ones(len(self.judgments), dtype=np.bool_)
        self._whole = self._now = self._estimated(self.judgments)

    @property
    def systems(self) -> Sequence[str]:
        """Whose summaries these are."""
        return self.texts.systems

    @cached_property
    def scores(self) -> Vector:
        """(s,): of the summaries, nan for one without a score."""
        return score(self.texts, self._now, self.settings).score

    def keep(self, kept: Flags) -> None:
        """Fit those judgments alone; what the smoothing learnt from all of them stays."""
        self.kept = kept
        self._now = self._whole if kept.all() else self._again(kept)
        for of_this_fit in ("scores", "changes"):
            self.__dict__.pop(of_this_fit, None)

    def scores_of(self, kept: Flags) -> Vector:
        """(s,): what the scores would be."""
        return score(self.texts, self._again(kept), self.settings).score

    def whole_scores(self) -> Vector:
        """(s,): those of a whole fit of the judgments that are kept."""
        if self.kept.all():
            return self.scores
        some = replace(self.evidence, judgments=self.evidence.judgments.some(self.kept))
        whole = self._estimated(weighed(some, self.settings).judgments)
        return score(self.texts, whole, self.settings).score

    def moved(self, shares: Vector) -> Vector:
        """(m,): by how much scores @ shares would nearly move without each judgment."""
        return np.asarray(self.changes @ shares)

    @cached_property
    def changes(self) -> Matrix:
        """(m, s): how each score would move if one judgment were left out, of those that are kept, nearly."""
        random = self.kept & (self.judgments.design > 0)
        a, b, weight = self.judgments.a, self.judgments.b, self.judgments.weight * random
        if self._now is None or np.count_nonzero(random) < 2:
            return np.zeros((len(a), len(self.texts.systems)))
        utilities = self._now.utilities
        residual = weight * (self.judgments.outcome - expit(utilities[a] - utilities[b]))
        of_each = np.zeros((len(a), len(self.texts.systems)))
        of_each[random] = self._now.directions(self.texts.importance, self.texts.telling.likelihood_for)
        of_each *= residual[:, None]
        total = weight.sum()
        left = np.where(random, total - weight, np.inf)[:, None]
        mean = of_each.sum(axis=0) / total
        return np.asarray(len(utilities) / 2 * (weight[:, None] * mean - of_each) / left)

    def _estimated(self, judgments: Judgments) -> Estimate | None:
        return estimate(self.evidence, judgments, self.similarity, self.settings)

    def _again(self, kept: Flags) -> Estimate | None:
        some = self.judgments.some(kept)
        return self._whole.again(some) if self._whole is not None and len(some) else None


Judged = JudgedTopic | JudgedSummaries


def smallest_set(topics: Sequence[Judged], people: Collection[str] = ()) -> SmallestSet | None:
    """The fewest judgments of these topics, as far as can be found, without which another system is first.

    None where there is no one first system, or no set is found. Only for scores that are sums over judgments:
    importance, and combined; and the win rates of all topics together. `people`: whose summaries have no place.
    """
    means = _means([topic.scores for topic in topics], topics, people)
    ordered = sorted(means, key=lambda system: (-means[system], system))
    if len(ordered) < 2 or means[ordered[0]] <= means[ordered[1]]:
        return None
    leads = [_Lead(topics, ordered[0], other, people) for other in ordered[1:]]
    promising = sorted(leads, key=_Lead.size)[:RIVALS]
    for lead in promising:
        lead.search()
    in_order = sorted((lead for lead in promising if lead.kept), key=lambda lead: sum(map(np.sum, lead.kept)))
    return next((smallest for lead in reversed(in_order) if (smallest := lead.proved()) is not None), None)


class _Lead:
    """What `first` has over `other` in the mean over topics, and how it falls as judgments are left out."""

    def __init__(self, topics: Sequence[Judged], first: str, other: str, people: Collection[str]) -> None:
        self.topics, self.first, self.other, self.people = topics, first, other, people
        of_first, of_other = (self._shares(system) for system in (first, other))
        self.shares = [mine - theirs for mine, theirs in zip(of_first, of_other, strict=True)]
        self.wanted = 0.0
        self.kept: list[Flags] = []

    def _shares(self, system: str) -> list[Vector]:
        """The shares by topic, (s,): what part of the system's mean each score is."""
        own = [
            np.array([name == system for name in topic.systems], bool) & np.isfinite(topic.scores)
            for topic in self.topics
        ]
        number = sum(int(flags.any()) for flags in own)
        return [flags / number for flags in own]

    def size(self) -> int:
        """How many judgments it nearly takes to turn it; all, where none of them do."""
        sums = np.cumsum(np.sort(self._falls())[::-1])
        enough = np.flatnonzero(sums > self._gap() - self.wanted)
        return int(enough[0]) + 1 if len(enough) else len(sums)

    def search(self) -> None:
        """Find what may be `kept` of each topic, for a fit in which the smoothing stays as it was."""
        try:
            if self._turn():
                self.kept = [topic.kept for topic in self.topics]
        except newton.NotConverged:
            return
        finally:
            self._keep(np.ones_like(topic.kept) for topic in self.topics)

    def proved(self) -> SmallestSet | None:
        """The set, once whole fits agree; the topics are left as they were."""
        self._keep(self.kept)
        try:
            for _attempt in range(ENLARGED):
                if not self._turn():
                    return None
                means = _means([topic.whole_scores() for topic in self.topics], self.topics, self.people)
                first = min(means, key=lambda system: (-means[system], system))
                if first != self.first:
                    return SmallestSet(self.first, first, self._keys(), int(self._ends[-1]))
                self.wanted = self._gap() - (means[self.first] - means[self.other]) - TINY
            return None
        except newton.NotConverged:
            return None
        finally:
            self._keep(np.ones_like(topic.kept) for topic in self.topics)

    def _keep(self, of_topics: Iterable[Flags]) -> None:
        for topic, kept in zip(self.topics, of_topics, strict=True):
            if (topic.kept != kept).any():
                topic.keep(kept)

    def _turn(self) -> bool:
        """Leave judgments out until the gap is below what is wanted; whether less than half of them did that."""
        while self._gap() >= self.wanted:
            falls, left = self._falls(), sum(int(topic.kept.sum()) for topic in self.topics)
            if 2 * left <= len(falls) or falls.max() <= 0:
                return False
            places = np.argsort(-falls, kind="stable")[:left]  # those that are out already come last
            size = self.size()
            if len(falls) - left + size <= SMALL:
                self._leave_out([self._best(places[: TRIED if self.topics[0].is_tried else 1])])
            else:
                self._leave_out(places[: max(1, min(1 + 3 * size // 4, left // 8))])
        self._put_back()
        return True

    def _put_back(self) -> None:
        """Whatever a small set does not need."""
        left_out = self._left_out()
        for topic, place in left_out if len(left_out) <= SMALL else ():
            kept = topic.kept.copy()
            kept[place] = True
            if self._gap_with(topic, topic.scores_of(kept)) < self.wanted:
                topic.keep(kept)

    def _best(self, places: NDArray[np.int64]) -> int:
        """The judgment of some without which the gap is least."""

        def gap(place: int) -> float:
            topic, kept = self._without(place)
            return self._gap_with(topic, topic.scores_of(kept))

        return int(min(places, key=gap))

    def _without(self, place: int) -> tuple[Judged, Flags]:
        """The topic of a judgment, by its place among those of all topics, and what is kept there without it."""
        number = int(np.searchsorted(self._ends, place, side="right"))
        topic = self.topics[number]
        kept = topic.kept.copy()
        kept[place - self._ends[number] + len(kept)] = False
        return topic, kept

    def _leave_out(self, places: Sequence[int] | NDArray[np.int64]) -> None:
        out = np.zeros(self._ends[-1], dtype=np.bool_)
        out[places] = True
        for topic, begin, end in zip(self.topics, [0, *self._ends], self._ends, strict=False):
            if out[begin:end].any():
                topic.keep(topic.kept & ~out[begin:end])

    @property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum([len(topic.kept) for topic in self.topics])

    def _falls(self) -> Vector:
        """(m of all topics,): what the gap would nearly lose without each judgment; of those left out, nothing."""
        return np.concatenate(
            [
                np.where(topic.kept, -topic.moved(shares), -np.inf)
                for topic, shares in zip(self.topics, self.shares, strict=True)
            ]
        )

    def _gap(self) -> float:
        return sum(_dot(topic.scores, shares) for topic, shares in zip(self.topics, self.shares, strict=True))

    def _gap_with(self, changed: Judged, scores: Vector) -> float:
        """The gap if one topic had other scores."""
        own = next(shares for topic, shares in zip(self.topics, self.shares, strict=True) if topic is changed)
        return self._gap() + _dot(scores, own) - _dot(changed.scores, own)

    def _left_out(self) -> list[tuple[Judged, int]]:
        return [(topic, int(place)) for topic in self.topics for place in np.flatnonzero(~topic.kept)]

    def _keys(self) -> tuple[int, ...]:
        return tuple(topic.keys[place] for topic, place in self._left_out())


def _dot(scores: Vector, shares: Vector) -> float:
    return float(scores[shares != 0] @ shares[shares != 0])


def _means(scores: Sequence[Vector], topics: Sequence[Judged], people: Collection[str]) -> Mapping[str, float]:
    """The mean score of each system, people left out, over the topics that have one."""
    of_systems: dict[str, list[float]] = {}
    for topic, of_topic in zip(topics, scores, strict=True):
        for system, value in zip(topic.systems, of_topic.tolist(), strict=True):
            if np.isfinite(value) and system not in people:
                of_systems.setdefault(system, []).append(value)
    return {system: float(np.mean(values)) for system, values in of_systems.items()}
