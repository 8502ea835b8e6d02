"""Which pairs of summaries to show (docs/model.md, Whole summaries): all are chosen before the first answer.

Never two with one text. Pairs of a topic that come up least often have priority; among these, those whose systems have
the fewest pairs in the study; among these, those that say most of the systems if all are equally good: whose difference
alpha_i - alpha_j has the largest variance, with what the pairs before will tell already subtracted. So every system
appears equally often, and all are soon connected. No answer changes the choice (benchmarks/direct.py compares it with
pairs that follow the answers, and with random ones).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from preferendum.fit.effects import USUAL_ITEM, USUAL_SYSTEM, Places
from preferendum.scoring.win_rate import Answers

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Sparse = csr_array[Any, Any]

#: In topics of more systems than this, pairs of those that come up least are looked at.
MOST_LOOKED_AT = 60
#: The variance of an answer about two systems, less that of their difference.
NOISE = 4 + 2 * USUAL_ITEM


def next_pairs(
    summaries: Mapping[str, Mapping[str, Hashable]], answers: Answers, count: int, seed: int
) -> dict[str, list[tuple[str, str]]]:
    """Choose, by topic, at most so many pairs of systems in the order in which to ask about their summaries; the topics
    with the fewest answers first.

    `summaries`: of each topic, by system, the text, or whatever is equal where texts are; `answers`: those given;
    only their pairs matter.
    """
    design = _Design(summaries, answers, seed)
    numbers = {name: number for number, name in enumerate(answers.topics)}
    given = np.bincount(answers.topic, minlength=len(numbers) + 1)
    by_need = sorted(summaries, key=lambda topic: given[numbers.get(topic, -1)])
    topics = {topic: design.topic(summaries[topic], answers, numbers.get(topic, -1)) for topic in by_need}
    queues: dict[str, list[tuple[str, str]]] = {topic: [] for topic in by_need}
    pairs = max((len(topic.systems) * (len(topic.systems) - 1) // 2 for topic in topics.values()), default=0)
    for _ in range(min(count, pairs)):
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
    """What will be known of the systems (s,) once the pairs given and drawn so far are answered: their covariance."""

    def __init__(self, summaries: Mapping[str, Mapping[str, Hashable]], answers: Answers, seed: int) -> None:
        every = (system for own in summaries.values() for system in own)
        self.systems = tuple(dict.fromkeys([*answers.systems, *every]))
        s = len(self.systems)
        sides = np.concatenate([answers.first, answers.second]), np.concatenate([answers.second, answers.first])
        self.answered = np.bincount(sides[0], minlength=s).astype(np.float64)
        together = coo_array((np.ones(len(sides[0])), sides), shape=(s, s)).toarray()
        laplacian = np.diag(self.answered) - together
        self.covariance: Matrix = np.asarray(
            np.linalg.inv(np.identity(s) / USUAL_SYSTEM + laplacian / NOISE), dtype=np.float64
        )
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
        told = self._apart(a, b) * (1 + 1e-6 * self.rng.random(len(a)))  # equals by lot
        times = topic.times[own][:, own].toarray()[first, second]
        k = np.lexsort((-told, self.answered[a] + self.answered[b], times))[0]
        pair = int(a[k]), int(b[k])
        topic.drawn.add(pair)
        self._expect(*pair)
        return self.systems[pair[0]], self.systems[pair[1]]

    def _apart(self, a: Places, b: Places) -> Vector:
        """(k,): the variances of differences."""
        return np.asarray(self.covariance[a, a] + self.covariance[b, b] - 2 * self.covariance[a, b])

    def _expect(self, a: int, b: int) -> None:
        """Take an answer about these two as given."""
        with_both = self.covariance[:, a] - self.covariance[:, b]
        self.covariance -= np.outer(with_both, with_both / (NOISE + with_both[a] - with_both[b]))
        self.answered[[a, b]] += 1
