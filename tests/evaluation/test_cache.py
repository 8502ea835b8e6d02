"""Results that are kept between tasks take a stated amount of memory and no more."""

import gc
import weakref

from evaluation.cache import Cache


class Result:
    """Something that one can watch being forgotten."""


def test_a_result_is_computed_once() -> None:
    kept = Cache(lambda _n: Result(), lambda n: n, 10)
    assert kept(3) is kept(3)


def test_the_longest_unused_results_make_room_before_the_next_is_computed() -> None:
    alive: list[weakref.ref[Result]] = []

    def make(_n: int) -> Result:
        gc.collect()
        survivors.append([ref() is not None for ref in alive])
        result = Result()
        alive.append(weakref.ref(result))
        return result

    survivors: list[list[bool]] = []
    kept = Cache(make, lambda n: n, 10)
    kept(4), kept(5)
    kept(4)
    kept(6)
    assert survivors == [[], [True], [True, False]]


def test_a_result_larger_than_all_that_may_be_kept_finds_room_and_is_not_kept() -> None:
    kept = Cache(lambda _n: Result(), lambda n: n, 10)
    first, large = weakref.ref(kept(4)), weakref.ref(kept(11))
    gc.collect()
    assert first() is None
    assert large() is None
    assert kept(4) is kept(4)
