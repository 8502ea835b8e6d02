"""How much of a board the length of sentences explains."""

from __future__ import annotations

import random

import pytest

from preferendum.results.length import ByLength

BY_LENGTH = {"a": 0.3, "b": 0.1, "c": -0.2, "d": 0.0, "e": 0.2}


def test_scores_that_follow_length_are_explained_and_scores_apart_from_it_are_not() -> None:
    follows = ByLength.of({system: 2 - 3 * value for system, value in BY_LENGTH.items()}, BY_LENGTH)
    assert follows is not None
    assert follows.explained == pytest.approx(1)
    assert follows.words.startswith("The length of sentences explains 100% of how these 5 systems differ")
    apart = ByLength.of(
        dict(zip("abcde", (1.0, 2.0, 3.0, 2.0, 1.0), strict=True)), {name: k - 2.0 for k, name in enumerate("abcde")}
    )
    assert apart == ByLength(0.0, 0.25, 5)


def test_scores_at_random_are_explained_as_often_as_the_sentence_says() -> None:
    rng = random.Random(1)
    drawn = [ByLength.of({system: rng.gauss(0, 1) for system in BY_LENGTH}, BY_LENGTH) for _ in range(2_000)]
    known = [one for one in drawn if one is not None]
    assert sum(one.explained for one in known) / len(known) == pytest.approx(known[0].by_chance, abs=0.03)


def test_nothing_is_said_of_four_systems_or_of_equal_ones() -> None:
    assert ByLength.of({"a": 1.0, "b": 2.0, "c": 0.0, "d": 4.0}, BY_LENGTH) is None
    assert ByLength.of(dict.fromkeys(BY_LENGTH, 1.0), BY_LENGTH) is None
    assert ByLength.of({name: ord(name) / 100 for name in BY_LENGTH}, BY_LENGTH | {"a": None}) is None


@pytest.mark.parametrize(("explained", "is_headline"), [(0.79, True), (0.31, True), (0.3, False), (0.0, False)])
def test_length_that_explains_much_stands_beside_the_verdict(explained: float, is_headline: bool) -> None:
    own = ByLength(explained, 0.1, 11)
    assert own.is_headline is is_headline
    assert own.words.startswith(f"The length of sentences explains {100 * explained:.0f}% of how these 11")
