"""A cache of results between tasks, within a limit of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Cache(Generic[P, R]):
    """A function of hashable arguments that keeps its last used results, up to `capacity` bytes in all; a larger
    one is not kept.

    `size`: the bytes of a result, estimated from the arguments: room is made before it is computed.
    """

    def __init__(self, function: Callable[P, R], size: Callable[P, int], capacity: int) -> None:
        self._function, self._size, self._capacity = function, size, capacity
        self._results: OrderedDict[object, tuple[R, int]] = OrderedDict()
        self._taken = 0

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        key = (args, tuple(kwargs.items()))
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key][0]
        size = self._size(*args, **kwargs)
        while self._results and size + self._taken > self._capacity:
            self._taken -= self._results.popitem(last=False)[1][1]
        result = self._function(*args, **kwargs)
        if size <= self._capacity:
            self._taken += size
            self._results[key] = result, size
        return result
