"""Judgments that references and Pyramids would make (equations 6 to 8)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chisquare

from preferendum.fit.similarity import similarity
from preferendum.scoring.simulate import Annotated, judge, value_by_pyramid, value_by_references

TOPIC = ["Trump won the election.", "It rained in Ohio.", "Voters waited in the rain.", "Zebras graze."]
ALIKE = similarity(TOPIC)

worths = arrays(np.float64, st.integers(2, 12), elements=st.integers(0, 3).map(float))


def test_a_sentence_is_worth_its_largest_similarity_to_any_reference_sentence() -> None:
    references = ["It rained in Ohio.", "Trump lost.", "The rain fell."]
    worth = value_by_references(ALIKE, references)

    assert worth.tolist() == [max(ALIKE.to(references)[:, i]) for i in range(4)]
    assert worth[1] == pytest.approx(1)
    assert 0 < worth[0] < worth[1]
    assert worth[3] == 0


def test_without_references_nothing_is_worth_anything() -> None:
    assert value_by_references(ALIKE, []).tolist() == [0, 0, 0, 0]
    assert value_by_pyramid(ALIKE, []).tolist() == [0, 0, 0, 0]


def test_a_pyramid_gives_the_weights_of_the_units_of_the_most_similar_annotated_sentence() -> None:
    annotated = [
        Annotated("Trump won.", {"who won": 4, "that there was an election": 1}),
        Annotated("It rained in Ohio.", {"rain": 2}),
        Annotated("It rained in Ohio.", {"a later twin": 9}),
        Annotated("Rain in the queue.", {}),
    ]

    assert value_by_pyramid(ALIKE, annotated).tolist() == [5, 2, 0, 0]


@given(worths, st.integers(0, 60), st.integers(0, 2**32))
def test_the_sentence_worth_more_wins_and_equals_decide_nothing(worth: np.ndarray, count: int, seed: int) -> None:
    judgments = judge(worth, count, seed)
    winner = np.where(judgments.outcome == 1, judgments.a, judgments.b)
    loser = np.where(judgments.outcome == 1, judgments.b, judgments.a)

    assert len(judgments) == (count if worth.min() < worth.max() else 0)
    assert (worth[winner] > worth[loser]).all()
    assert set(judgments.outcome.tolist()) <= {0.0, 1.0}
    assert (judgments.weight == 1).all()


@given(worths, st.integers(0, 60), st.integers(0, 30), st.integers(0, 2**32))
def test_fewer_judgments_are_the_first_of_more(worth: np.ndarray, count: int, more: int, seed: int) -> None:
    few, many = judge(worth, count, seed), judge(worth, count + more, seed)

    assert few.a.tolist() == many.a[: len(few)].tolist()
    assert few.b.tolist() == many.b[: len(few)].tolist()


def test_differences_that_are_dust_decide_nothing() -> None:
    assert len(judge(np.array([0.3, 0.1 + 0.2, 0.3]), 10, 0)) == 0


def test_pairs_and_sides_are_drawn_evenly() -> None:
    judgments = judge(np.array([1.0, 2.0, 3.0]), 6000, 1)
    counts = np.bincount(judgments.a * 3 + judgments.b, minlength=9)[[1, 2, 3, 5, 6, 7]]

    assert chisquare(counts).pvalue > 1e-4
    assert abs(judgments.outcome.mean() - 0.5) < 0.05


def test_a_topic_of_one_sentence_leaves_nothing_to_judge() -> None:
    assert len(judge(np.ones(1), 5, 0)) == 0
    assert len(judge(np.empty(0), 5, 0)) == 0
