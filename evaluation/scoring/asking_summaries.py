"""Which pairs of summaries to show next (docs/model.md, Whole summaries).

Never two with one text. Pairs of a topic that were answered least often have priority; among these, those whose systems
have the fewest answers in the study; among these, those whose outcome is least certain and says most of the systems:
p (1 - p) times the variance of alpha_i - alpha_j. The information of a pair is taken from the covariance before the
next one is chosen, so that no two give the same. Without answers, every system appears equally often and all are
connected.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.special import expit

from evaluation.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Places, Variances
from evaluation.scoring.win_rate import Answers, WinRates

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Sparse = csr_array[Any, Any]

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
    design = _Design(summaries, answers, rates, count, seed)
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
    """`systems` (n,), and the `text` (n,) of each as a number; `times` (s, s): how often each two were answered; and
    the pairs that were drawn."""

    systems: Places
    text: Places
    times: Sparse
    drawn: set[tuple[int, int]] = field(default_factory=set)

    def is_left(self, rows: Places) -> NDArray[np.bool_]:
        """(k, k), above the diagonal: whether each two of these rows may still be shown."""
        left: NDArray[np.bool_] = np.triu(self.text[rows, None] != self.text[rows])
        place = {system: k for k, system in enumerate(self.systems[rows].tolist())}
        for a, b in self.drawn:
            if a in place and b in place:
                left[place[a], place[b]] = left[place[b], place[a]] = False
        return left


class _Design:
    """What is known of the systems (s,), and is expected to be known once the pairs drawn so far are answered: their
    covariance less T'T, T (pairs, s)."""

    def __init__(
        self,
        summaries: Mapping[str, Mapping[str, Hashable]],
        answers: Answers,
        rates: WinRates | None,
        count: int,
        seed: int,
    ) -> None:
        every = (system for own in summaries.values() for system in own)
        self.systems = tuple(dict.fromkeys([*answers.systems, *every]))
        s = len(self.systems)
        self.answered = np.bincount(np.concatenate([answers.first, answers.second]), minlength=s).astype(np.float64)
        variances = Variances(USUAL_SYSTEM, USUAL_ITEM) if rates is None else rates.effects.variances
        self.alpha, self.covariance, self.item = np.zeros(s), variances.system * np.identity(s), variances.item
        if rates is not None:
            place = {system: k for k, system in enumerate(self.systems)}
            judged = [place[system] for system in rates.standing.systems]
            self.alpha[judged] = rates.effects.alpha
            self.covariance[np.ix_(judged, judged)] = rates.effects.covariance
        self.told, self.drawn = np.empty((count * len(summaries), s)), 0
        self.rng = np.random.default_rng(seed)

    def topic(self, texts: Mapping[str, Hashable], answers: Answers, number: int) -> _Topic:
        place = {system: k for k, system in enumerate(self.systems)}
        systems = np.array([place[system] for system in texts], dtype=np.int64)
        classes = {text: k for k, text in enumerate(texts.values())}
        text = np.array([classes[text] for text in texts.values()], dtype=np.int64)
        own = answers.topic == number
        shape, sides = (len(self.systems),) * 2, (answers.first[own], answers.second[own])
        times = coo_array((np.ones(len(sides[0])), sides), shape=shape).tocsr()
        return _Topic(systems, text, times + times.T)

    def draw(self, topic: _Topic) -> tuple[str, str] | None:
        """The next pair; None where none is left."""
        rarest = np.argsort(self.answered[topic.systems] + self.rng.random(len(topic.systems)))[:MOST_LOOKED_AT]
        own = topic.systems[rarest]
        first, second = np.nonzero(topic.is_left(rarest))
        if not len(first):
            return None
        a, b = own[first], own[second]
        told = self._told(own)[first, second] * (1 + 1e-6 * self.rng.random(len(a)))  # equals by lot
        times = topic.times[own][:, own].toarray()[first, second]
        k = np.lexsort((-told, self.answered[a] + self.answered[b], times))[0]
        pair = int(a[k]), int(b[k])
        topic.drawn.add(pair)
        self._expect(*pair)
        return self.systems[pair[0]], self.systems[pair[1]]

    def _told(self, some: Places) -> Matrix:
        """(k, k): how much an answer about each two of these systems would tell."""
        told = self.told[: self.drawn, some]
        covariance = self.covariance[np.ix_(some, some)] - told.T @ told
        own, p = np.diag(covariance), expit(self.alpha[some, None] - self.alpha[some])
        return np.asarray(p * (1 - p) * (own[:, None] + own - 2 * covariance))

    def _expect(self, a: int, b: int) -> None:
        """Take an answer about these two as given."""
        p = expit(self.alpha[a] - self.alpha[b])
        told = self.told[: self.drawn]
        apart = self.covariance[:, a] - self.covariance[:, b] - (told[:, a] - told[:, b]) @ told
        noise = 1 / (p * (1 - p)) + 2 * self.item
        self.told[self.drawn] = apart / np.sqrt(noise + apart[a] - apart[b])
        self.drawn += 1
        self.answered[[a, b]] += 1
