"""Whose turn it is: owners share the worker's time, and the studies of each owner share what that one gets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush

from evaluation.worker.agenda import Work

#: Seconds that work is expected to take of which nothing is known yet.
UNKNOWN = 0.5
Whose = Callable[[Work], int]


def cost(work: Work) -> float:
    """Seconds that the work is expected to take."""
    return UNKNOWN if work.seconds is None else work.seconds


class Turns:
    """Fair queueing by time: next is who was given least, and nobody saves up while there is nothing to do for them.

    (Goyal, Vin and Cheng's start-time fair queueing, SIGCOMM 1996; in levels: Goyal, Guo and Vin, OSDI 1996.)
    """

    def __init__(self) -> None:
        self._given: dict[int, float] = {}
        self._clock = 0.0
        self._within = defaultdict[int, Turns](Turns)

    def order(self, works: Iterable[Work], whose: Whose, *within: Whose) -> Iterator[Work]:
        """The works in turn of those whose they are, of each in turn of those `within`, and of these in the order in
        which they come; whatever is taken from here is counted."""
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
