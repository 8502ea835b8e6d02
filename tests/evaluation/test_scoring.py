"""Equations 4 and 5, their variants, and the parts by which a score can be followed by hand."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.content import content
from evaluation.evaluate import AS_PUBLISHED
from evaluation.evidence import Evidence, Judgments, Match, Normalization, Settings, SummaryText
from evaluation.scoring import PIVOT, Matched, gradients, redundancy, score, values
from evaluation.scoring import match as matched_by
from evaluation.similarity import Similarity, similarity

EXAMPLE = json.loads((Path(__file__).parents[1] / "data" / "model_example.json").read_text())
TOPIC = EXAMPLE["sentences"]
ALIKE = similarity(TOPIC)
STRENGTHS = np.array(EXAMPLE["strengths_prior_0_1"])

words = st.sampled_from(["trump", "won", "rain", "ohio", "the", "zebra", "..."])
sentences = st.lists(words, max_size=7).map(" ".join)
summaries = st.lists(sentences, max_size=5).map(tuple)
utilities = arrays(np.float64, len(TOPIC), elements=st.floats(-6, 6))
settings = st.builds(
    Settings,
    redundancy=st.booleans(),
    value=st.sampled_from(["strength", "chance"]),
    normalize=st.sampled_from(get_args(Normalization)),
    match=st.sampled_from(get_args(Match)),
)


def match(
    texts: Sequence[SummaryText], alike: Similarity, chosen: Settings, sentences: Sequence[str] = TOPIC
) -> Matched:
    nobody = np.empty(0, dtype=np.int64)
    judgments = Judgments(nobody, nobody, np.empty(0), np.empty(0), nobody)
    ids = tuple(f"d:{i}" for i in range(len(sentences)))
    return matched_by(Evidence("t", ids, tuple(sentences), judgments, tuple(texts)), alike, chosen)


def scores_of(texts: dict[str, list[str]], chosen: Settings, worth: np.ndarray = STRENGTHS) -> dict[str, float]:
    matched = match([SummaryText(system, tuple(text)) for system, text in texts.items()], ALIKE, chosen)
    return {one.system: one.score for one in score(matched, worth)}


def test_the_worked_example_is_reproduced_with_and_without_redundancy() -> None:
    assert scores_of(EXAMPLE["summaries"], AS_PUBLISHED) == pytest.approx(EXAMPLE["scores"], abs=1e-9)
    assert scores_of(EXAMPLE["summaries"], replace(AS_PUBLISHED, redundancy=False)) == pytest.approx(
        EXAMPLE["scores_without_redundancy"], abs=1e-9
    )


def test_a_score_can_be_followed_by_hand() -> None:
    matched = match([SummaryText("two", ("Trump won the election on Tuesday.", "It rained!"))], ALIKE, AS_PUBLISHED)
    parts = score(matched, STRENGTHS)[0].parts

    assert [part.nearest for part in parts] == [2, 1]
    assert [part.weight for part in parts] == [34 / 44, 10 / 44]
    assert [part.factor for part in parts] == [1.0, 1.0]
    assert parts[0].similarity == pytest.approx(1, abs=1e-12)
    assert parts[1].similarity == ALIKE.to(["It rained!"])[0, 1]
    assert [part.value for part in parts] == [STRENGTHS[2], STRENGTHS[1]]
    assert parts[1].contribution == STRENGTHS[1] * 10 / 44


def test_redundancy_pays_for_every_distinct_bigram_once() -> None:
    # a b, b c / a b, b d: of four bigrams "a b" stands twice, so each sentence keeps (1/2 + 1) / 2.
    assert redundancy(["a b c", "A b d!"]) == [0.75, 0.75]
    assert redundancy(["a b", "a b", "a b"]) == pytest.approx([1 / 3] * 3)
    # Within a sentence a bigram counts as often as it stands there: x x, x x -> one distinct bigram, 2/2 of two.
    assert redundancy(["x x x"]) == [0.5]


def test_a_summary_that_repeats_nothing_loses_nothing() -> None:
    assert redundancy(["a b c", "b a", "c b"]) == [1.0, 1.0, 1.0]


def test_a_sentence_with_fewer_than_two_tokens_keeps_its_value() -> None:
    assert redundancy(["rain", "rain", "...", ""]) == [1.0, 1.0, 1.0, 1.0]


def test_bigrams_do_not_reach_across_the_end_of_a_sentence() -> None:
    assert redundancy(["a b", "c d", "b c"]) == [1.0, 1.0, 1.0]


@given(summaries)
def test_redundancy_lies_between_nought_and_one_and_adds_up_to_the_distinct_bigrams(texts: tuple[str, ...]) -> None:
    factors = redundancy(texts)
    bigrams = [list(pairwise(t)) for t in (text.replace("...", "").split() for text in texts)]

    assert all(0 < factor <= 1 for factor in factors)
    paid = sum(f * len(own) for f, own in zip(factors, bigrams, strict=True))
    assert paid == pytest.approx(len({bigram for own in bigrams for bigram in own}))


@given(summaries, settings, utilities, utilities)
def test_scores_are_linear_in_the_values(
    text: tuple[str, ...], chosen: Settings, some: np.ndarray, others: np.ndarray
) -> None:
    matched = match([SummaryText("s", text)], ALIKE, chosen)

    def total(worth: np.ndarray) -> float:
        return score(matched, worth)[0].score

    assert total(2 * some + others) == pytest.approx(2 * total(some) + total(others), abs=1e-9)
    assert total(some) == pytest.approx(float((matched.weights @ some)[0]), abs=1e-12)


@given(summaries, settings, utilities, st.integers(0, len(TOPIC) - 1))
def test_a_better_sentence_never_lowers_a_score(
    text: tuple[str, ...], chosen: Settings, worth: np.ndarray, better: int
) -> None:
    matched = match([SummaryText("s", text)], ALIKE, chosen)
    raised = worth.copy()
    raised[better] += 1

    assert score(matched, raised)[0].score >= score(matched, worth)[0].score


@given(st.lists(summaries, min_size=1, max_size=3), settings, utilities)
def test_a_score_is_a_share_of_the_values(texts: list[tuple[str, ...]], chosen: Settings, u: np.ndarray) -> None:
    worth = values(u, chosen.value)
    if chosen.match == "content":  # a summary that is longer than the documents could be worth more than they
        chosen = replace(chosen, normalize="length")
    matched = match([SummaryText(str(i), text) for i, text in enumerate(texts)], ALIKE, chosen)

    for one in score(matched, worth):
        assert 0 <= one.score <= worth.max() + 1e-12


def test_the_nearest_sentence_is_the_first_of_equals() -> None:
    twice = ["It rained.", "Trump won.", "It rained."]

    assert match([SummaryText("s", ("It rained.",))], similarity(twice), AS_PUBLISHED, twice).parts[0][0].nearest == 0


def test_what_resembles_nothing_earns_nothing() -> None:
    matched = match([SummaryText("s", ("Zebras graze.", "..."))], ALIKE, AS_PUBLISHED)

    assert [part.nearest for part in matched.parts[0]] == [None, None]
    assert score(matched, np.ones(4))[0].score == 0


def test_an_empty_summary_and_a_topic_without_sentences_score_nought() -> None:
    assert scores_of({"nothing": [], "blank": [""]}, AS_PUBLISHED) == {"nothing": 0, "blank": 0}
    assert scores_of({"nothing": []}, replace(AS_PUBLISHED, normalize="budget")) == {"nothing": 0}
    matched = match([SummaryText("s", ("It rained.",))], similarity([]), AS_PUBLISHED, [])
    assert score(matched, np.empty(0))[0].score == 0
    matched = match([SummaryText("s", ("It rained.",))], similarity([]), Settings(), [])
    assert score(matched, np.empty(0))[0].score == 0


def test_a_budget_is_the_longest_summary_unless_one_is_stated() -> None:
    texts = {"short": ["It rained in Ohio."], "long": ["It rained in Ohio.", "Zebras chew raw grass."]}
    by_length = scores_of(texts, AS_PUBLISHED)
    by_budget = scores_of(texts, replace(AS_PUBLISHED, normalize="budget"))

    assert by_length["short"] == pytest.approx(STRENGTHS[1])
    assert by_length["long"] == pytest.approx(STRENGTHS[1] * 18 / 40)
    assert by_budget["short"] == pytest.approx(STRENGTHS[1] * 18 / 40)
    assert by_budget["long"] == by_length["long"]
    stated = scores_of(texts, replace(AS_PUBLISHED, normalize="budget", budget=100))
    assert stated["short"] == pytest.approx(STRENGTHS[1] * 18 / 100)


def test_a_pivot_lies_between_the_own_length_and_the_common_one() -> None:
    texts = {"short": ["It rained in Ohio."], "long": ["It rained in Ohio.", "Zebras chew raw grass."]}
    by_pivot = scores_of(texts, replace(AS_PUBLISHED, normalize="pivot"))

    assert by_pivot["short"] == pytest.approx(STRENGTHS[1] * 18 / (18**PIVOT * 40 ** (1 - PIVOT)))
    assert by_pivot["long"] == pytest.approx(STRENGTHS[1] * 18 / 40)


def test_content_is_the_cosine_with_the_sentences_each_counting_by_its_value() -> None:
    # Without stop words and stemmed: rain ohio | voter ohio wait rain; "rain" and "ohio" stand in both, idf 1.
    topic = ["It rained in Ohio.", "Voters in Ohio waited in the rain."]
    rare = np.log(3 / 2) + 1
    texts = {"one": ["Raining, and zebras."], "two": ["Ohio voters!", "Wait."]}
    matched = match(
        [SummaryText(system, tuple(text)) for system, text in texts.items()],
        similarity(topic),
        Settings(normalize="length"),
        topic,
    )
    documents = np.sqrt(2**2 + 2**2 + 2 * rare**2)
    one, two = score(matched, np.array([0.25, 0.75]))

    assert one.score == pytest.approx((0.25 + 0.75) / documents)
    assert two.score == pytest.approx((0.25 + 0.75 * (1 + 2 * rare**2)) / (documents * np.sqrt(1 + 2 * rare**2)))
    assert one.parts[0].nearest == 0
    assert one.parts[0].similarity == pytest.approx(1 / np.sqrt(2))
    assert one.parts[0].value == pytest.approx(0.5)
    assert two.parts[1].value == pytest.approx(0.75)
    assert two.parts[1].nearest == 1
    once = Settings(normalize="length", redundancy=False)
    whole = match([SummaryText("all", tuple(topic))], similarity(topic), once, topic)
    assert whole.weights.sum() == pytest.approx(1)


def test_content_keeps_every_word_of_other_languages_and_stems_it_in_theirs() -> None:
    assert content("Die Wahlen und the election", "de") == ["die", "wahl", "und", "the", "election"]
    assert content("The elections and the and", "en-GB") == content("the elections", "") == ["elect"]


def test_a_summary_is_scored_the_same_whoever_stands_beside_it() -> None:
    alone = scores_of({"s": ["It rained in Ohio."]}, Settings())
    among = scores_of({"s": ["It rained in Ohio."], "long": ["Trump won.", "Voters waited in the rain."]}, Settings())

    assert among["s"] == alone["s"] > 0


def test_a_distant_match_earns_the_root_of_its_similarity() -> None:
    texts = {"s": ["It rained."]}
    similar = float(ALIKE.to(["It rained."])[0, 1])

    assert 0 < similar < 1
    assert scores_of(texts, replace(AS_PUBLISHED, match="similarity"))["s"] == pytest.approx(
        STRENGTHS[1] * similar**0.5
    )
    assert scores_of(texts, AS_PUBLISHED)["s"] == pytest.approx(STRENGTHS[1])


def test_chances_are_those_of_being_preferred_to_another_sentence() -> None:
    u = np.log([1.0, 2.0, 4.0])

    assert values(u, "chance") == pytest.approx([(1 / 3 + 1 / 5) / 2, (2 / 3 + 1 / 3) / 2, (4 / 5 + 2 / 3) / 2])
    assert values(u, "strength") == pytest.approx([1 / 7, 2 / 7, 4 / 7])
    assert values(np.zeros(1), "chance").tolist() == [0.5]
    assert values(np.empty(0), "chance").tolist() == []


@given(arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(2, 6)), elements=st.floats(-2000, 2000)))
def test_values_of_many_draws_are_those_of_each_and_never_overflow(draws: np.ndarray) -> None:
    for value in ("strength", "chance"):
        together = values(draws, value)
        assert np.isfinite(together).all()
        np.testing.assert_array_equal(together, [values(draw, value) for draw in draws])
    np.testing.assert_allclose(values(draws, "strength").sum(axis=1), 1)
    np.testing.assert_allclose(values(draws, "chance").mean(axis=1), 0.5)


@given(utilities, st.sampled_from(["strength", "chance"]), arrays(np.float64, (3, 4), elements=st.floats(0, 1)))
def test_gradients_are_what_a_small_step_shows(u: np.ndarray, value: str, weights: np.ndarray) -> None:
    step = 1e-6
    shown = np.empty_like(weights)
    for j in range(4):
        up, down = u.copy(), u.copy()
        up[j] += step
        down[j] -= step
        shown[:, j] = weights @ (values(up, value) - values(down, value)) / (2 * step)

    np.testing.assert_allclose(gradients(weights, u, value), shown, atol=1e-8)


def test_the_only_sentence_of_a_topic_has_nothing_to_vary_with() -> None:
    assert gradients(np.ones((2, 1)), np.zeros(1), "chance").tolist() == [[0.0], [0.0]]


@given(summaries, settings, utilities, st.permutations(range(len(TOPIC))))
def test_renaming_the_topics_sentences_changes_no_score(
    text: tuple[str, ...], chosen: Settings, u: np.ndarray, order: list[int]
) -> None:
    def total(topic: list[str], worth: np.ndarray) -> float:
        matched = match([SummaryText("s", text)], similarity(topic), chosen, topic)
        return score(matched, values(worth, chosen.value))[0].score

    # Only a tie between sentences lets their order matter; without one there is nothing to choose.
    rows = np.round(np.sort(ALIKE.to(text), axis=1), 9)
    if not (np.diff(rows, axis=1)[:, -1:] == 0).any():
        assert total([TOPIC[i] for i in order], u[order]) == pytest.approx(total(TOPIC, u), abs=1e-12)


def test_settings_are_taken_one_by_one() -> None:
    base = AS_PUBLISHED
    texts = {"s": ["It rained in Ohio.", "It rained."], "long": ["Voters waited in the rain in Ohio, voters said."]}
    everything = [base] + [
        replace(base, **{key: other})
        for key, other in (
            ("redundancy", False),
            ("normalize", "budget"),
            ("normalize", "pivot"),
            ("match", "similarity"),
            ("match", "content"),
        )
    ]

    assert len({round(scores_of(texts, chosen)["s"], 9) for chosen in everything}) == 6
