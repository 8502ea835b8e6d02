"""How many judgments might show a difference: a range from one rule, or nothing."""

from __future__ import annotations

import pytest

from preferendum.results.needed import FURTHEST, Effort, needed


def test_the_range_is_what_one_standard_error_to_either_side_comes_to() -> None:
    found = needed(632, 2.5, 45, Effort(600, seconds=18.0, each=50.0))
    assert found is not None
    assert (found.low, found.high) == (632, 3_000)  # 632 (3.26 / 3.5)^2 is less than there are; 632 (3.26 / 1.5)^2
    assert found.annotators == (0, 48)
    assert found.words == (
        "If the difference is real, up to 3000 judgments in all might show it; there are 632 now; "
        "more hours: up to 11.8; more annotators: up to 48."
    )
    assert (bare := needed(632, 2.1, 45, Effort(600))) is not None
    assert bare.words == "If the difference is real, 700 to 5600 judgments in all might show it; there are 632 now."
    assert bare.words_of_clearest == (
        "If the clearest difference, which is not yet certain, is real, 700 to 5600 judgments in all might show it; "
        "there are 632 now."
    )


def test_nothing_is_said_below_a_judgment_a_sentence_or_without_an_end_in_sight() -> None:
    effort = Effort(sentences=100)
    assert needed(99, 3.0, 45, effort) is None
    assert needed(100, 3.0, 45, effort) is not None
    assert needed(0, 3.0, 1, Effort(0)) is None
    for hopeless in (0.0, 0.9, 1.0, 1.5):
        assert needed(632, hopeless, 45, effort) is None
    assert needed(632, float("inf"), 1, effort) is None


@pytest.mark.parametrize("share", [None, 0.1, 0.6, 1.0])
def test_a_clearer_difference_never_takes_more_and_more_tests_never_less(share: float | None) -> None:
    def ends(clearness: float, tests: int) -> tuple[float, float]:
        found = needed(500, clearness, tests, Effort(100), share)
        assert found is None or 500 <= found.low <= found.high <= (FURTHEST + 1) * 500
        return (found.low, found.high) if found else (float("inf"), float("inf"))

    for tests in (1, 45, 300):
        by_clearness = [ends(z / 10, tests) for z in range(11, 60)]
        assert by_clearness == sorted(by_clearness, reverse=True)
        assert all(ends(z / 10, tests) <= ends(z / 10, tests + 50) for z in range(11, 60))
