"""Whose turn it is: the studies share the worker's time, whatever each of them has to do."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush

from evaluation.worker.agenda import Work

#: Seconds that work is expected to take of which nothing is known yet.
UNKNOWN = 0.5


def cost(work: Work) -> float:
    """Seconds that the work is expected to take."""
    return UNKNOWN if work.seconds is None else work.seconds


class Turns:
    """Fair queueing by time: next comes the study that was given least, and none saves up while it has nothing to do.

    (Goyal, Vin and Cheng's start-time fair queueing, SIGCOMM 1996.)
    """

    def __init__(self) -> None:
        self._given: dict[int, float] = {}
        self._clock = 0.0

    def order(self, works: Iterable[Work]) -> Iterator[Work]:
        """The works in turn, each study's in the order in which they come; whatever is taken from here is counted."""
        self._given = {study: until for study, until in self._given.items() if until > self._clock}
        queues: dict[int, deque[Work]] = {}
        for work in works:
            queues.setdefault(work.study, deque()).append(work)
        turns = [(max(self._given.get(study, 0.0), self._clock), order, study) for order, study in enumerate(queues)]
        heapify(turns)
        while turns:
            self._clock, order, study = heappop(turns)
            work = queues[study].popleft()
            self._given[study] = self._clock + cost(work)
            if queues[study]:
                heappush(turns, (self._given[study], order, study))
            yield work
