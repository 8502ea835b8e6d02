"""Turns: owners share the worker's time, and each owner's studies share that owner's part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush

from evaluation.agenda import Work

#: Expected seconds of work whose duration is unknown.
UNKNOWN = 0.5
Whose = Callable[[Work], int]


def cost(work: Work) -> float:
    """Expected seconds of the work."""
    return UNKNOWN if work.seconds is None else work.seconds


class Turns:
    """Fair queueing by time: the next turn is for the key served least; time without work earns no credit.

    (Goyal, Vin and Cheng's start-time fair queueing, SIGCOMM 1996; in levels: Goyal, Guo and Vin, OSDI 1996.)
    """

    def __init__(self) -> None:
        self._given: dict[int, float] = {}
        self._clock = 0.0
        self._within = defaultdict[int, Turns](Turns)

    def order(self, works: Iterable[Work], whose: Whose, *within: Whose) -> Iterator[Work]:
        """The works by turns of their `whose` keys, within each by turns of `within`, and last in the given order; all
        that is taken from the iterator is counted."""
        self._given = {key: until for key, until in self._given.items() if until > self._clock}
        theirs: dict[int, list[Work]] = {}
        for work in works:
            theirs.setdefault(whose(work), []).append(work)
        queues = {key: self._within[key].order(own, *within) if within else iter(own) for key, own in theirs.items()}
        turns = [(max(self._given.get(key, 0.0), self._clock), order, key) for order, key in enumerate(queues)]
        heapify(turns)
        while turns:
            self._clock, order, key = heappop(turns)
            if (taken := next(queues[key], None)) is not None:
                self._given[key] = self._clock + cost(taken)
                heappush(turns, (self._given[key], order, key))
                yield taken
