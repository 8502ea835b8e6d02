"""Which pairs of summaries to ask about next (docs/model.md, Which pair of summaries next).

Never two with one text. Of the pairs of a topic, those first that were answered least often; of these the ones whose
systems have the fewest answers in the study; of these the ones whose outcome is least certain and says most of the
systems: p (1 - p) times the variance of alpha_i - alpha_j. What a pair will tell is taken from the covariance before
the next one is chosen, so that no two tell the same. Without answers that is a design in which every system comes up
equally often and all are connected.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evaluation.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Places, Variances
from evaluation.scoring.win_rate import Answers, WinRates

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: In topics of more systems than this, pairs of those that have the fewest answers are looked at.
MOST_LOOKED_AT = 60


def next_pairs(
    summaries: Mapping[str, Mapping[str, Hashable]], answers: Answers, rates: WinRates | None, count: int, seed: int
) -> dict[str, list[tuple[str, str]]]:
    """By topic, at most so many pairs of systems in the order in which to ask about their summaries; the topics with
    the fewest answers first.

    `summaries`: of each topic, by system, the text, or whatever is equal where texts are; `answers`: those given, and
    those under way; `rates`: the last fit, if there is one.
    """
    design = _Design.of(summaries, answers, rates, seed)
    numbers = {name: number for number, name in enumerate(answers.topics)}
    given = np.bincount(answers.topic, minlength=len(numbers) + 1)
    by_need = sorted(summaries, key=lambda topic: given[numbers.get(topic, -1)])
    topics = {topic: design.topic(summaries[topic], answers, numbers.get(topic, -1)) for topic in by_need}
    queues: dict[str, list[tuple[str, str]]] = {topic: [] for topic in by_need}
    for _ in range(count):
        for name, topic in topics.items():
            if (pair := design.draw(topic)) is not None:
                queues[name].append(pair)
    return queues


@dataclass(frozen=True, slots=True)
class _Topic:
    """`systems` (n,); of each two (n, n), how often they were answered, and whether they may still be asked about."""

    systems: Places
    times: Matrix
    is_left: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Design:
    """What is known of the systems, and is expected to be known once the pairs drawn so far are answered."""

    systems: tuple[str, ...]
    answered: Vector
    alpha: Vector
    covariance: Matrix
    item: float
    rng: np.random.Generator

    @classmethod
    def of(
        cls, summaries: Mapping[str, Mapping[str, Hashable]], answers: Answers, rates: WinRates | None, seed: int
    ) -> _Design:
        systems = tuple(dict.fromkeys([*answers.systems, *(system for own in summaries.values() for system in own)]))
        sides = np.concatenate([answers.first, answers.second])
        answered = np.bincount(sides, minlength=len(systems)).astype(np.float64)
        variances = Variances(USUAL_SYSTEM, USUAL_ITEM) if rates is None else rates.effects.variances
        alpha, covariance = np.zeros(len(systems)), variances.system * np.identity(len(systems))
        if rates is not None:
            place = {system: k for k, system in enumerate(systems)}
            judged = [place[system] for system in rates.standing.systems]
            alpha[judged] = rates.effects.alpha
            covariance[np.ix_(judged, judged)] = rates.effects.covariance
        return cls(systems, answered, alpha, covariance, variances.item, np.random.default_rng(seed))

    def topic(self, texts: Mapping[str, Hashable], answers: Answers, number: int) -> _Topic:
        place = {system: k for k, system in enumerate(self.systems)}
        systems = np.array([place[system] for system in texts], dtype=np.int64)
        classes = {text: k for k, text in enumerate(texts.values())}
        text = np.array([classes[text] for text in texts.values()], dtype=np.int64)
        row = np.full(len(self.systems), -1)
        row[systems] = np.arange(len(systems))
        sides = row[np.stack([answers.first, answers.second])[:, answers.topic == number]]
        times = np.zeros((len(systems),) * 2)
        np.add.at(times, tuple(sides[:, (sides >= 0).all(axis=0)]), 1.0)
        return _Topic(systems, times + times.T, text[:, None] != text)

    def draw(self, topic: _Topic) -> tuple[str, str] | None:
        """The next pair; None where none is left."""
        rarest = np.argsort(self.answered[topic.systems] + self.rng.random(len(topic.systems)))[:MOST_LOOKED_AT]
        own, square = topic.systems[rarest], np.ix_(rarest, rarest)
        first, second = np.nonzero(np.triu(topic.is_left[square]))
        if not len(first):
            return None
        a, b = own[first], own[second]
        fewest = np.lexsort((self._told(a, b), self.answered[a] + self.answered[b], topic.times[square][first, second]))
        k = fewest[0]
        topic.is_left[rarest[first[k]], rarest[second[k]]] = topic.is_left[rarest[second[k]], rarest[first[k]]] = False
        self._expect(int(a[k]), int(b[k]))
        return self.systems[a[k]], self.systems[b[k]]

    def _told(self, a: Places, b: Places) -> Vector:
        """(k,): less for pairs that tell more; equals by lot."""
        p, own = expit(self.alpha[a] - self.alpha[b]), np.diag(self.covariance)
        told = p * (1 - p) * (own[a] + own[b] - 2 * self.covariance[a, b])
        return np.asarray(-told * (1 + 1e-6 * self.rng.random(len(a))))

    def _expect(self, a: int, b: int) -> None:
        """Take an answer about these two as given."""
        p = expit(self.alpha[a] - self.alpha[b])
        apart = self.covariance[:, a] - self.covariance[:, b]
        noise = 1 / (p * (1 - p)) + 2 * self.item
        self.covariance[:] -= np.outer(apart, apart) / (noise + apart[a] - apart[b])
        self.answered[[a, b]] += 1
