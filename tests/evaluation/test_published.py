"""Equations 4 and 5 as published, and the parts by which a score can be followed by hand."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.fit.similarity import Similarity, similarity
from preferendum.scoring.content import content
from preferendum.scoring.published import Matched, repetition
from preferendum.scoring.published import match as matched_by

EXAMPLE = json.loads((Path(__file__).parents[1] / "data" / "model_example.json").read_text())
TOPIC = EXAMPLE["sentences"]
ALIKE = similarity(TOPIC)
STRENGTHS = np.array(EXAMPLE["strengths_prior_0_1"])

words = st.sampled_from(["trump", "won", "rain", "ohio", "the", "zebra", "..."])
sentences = st.lists(words, max_size=7).map(" ".join)
summaries = st.lists(sentences, max_size=5).map(tuple)
some_strengths = arrays(np.float64, len(TOPIC), elements=st.floats(0.01, 6)).map(lambda v: v / v.sum())


def match(
    texts: Sequence[SummaryText], alike: Similarity, redundancy: bool = True, sentences: Sequence[str] = TOPIC
) -> Matched:
    nobody = np.empty(0, dtype=np.int64)
    judgments = Judgments(nobody, nobody, np.empty(0), np.empty(0), nobody)
    ids = tuple(f"d:{i}" for i in range(len(sentences)))
    return matched_by(Evidence("t", ids, tuple(sentences), judgments, tuple(texts)), alike, redundancy)


def scores_of(texts: dict[str, list[str]], redundancy: bool = True, v: np.ndarray = STRENGTHS) -> dict[str, float]:
    matched = match([SummaryText(system, tuple(text)) for system, text in texts.items()], ALIKE, redundancy)
    return dict(zip(matched.systems, (matched.weights @ v).tolist(), strict=True))


def test_the_worked_example_is_reproduced_with_and_without_redundancy() -> None:
    assert scores_of(EXAMPLE["summaries"]) == pytest.approx(EXAMPLE["scores"], abs=1e-9)
    assert scores_of(EXAMPLE["summaries"], redundancy=False) == pytest.approx(
        EXAMPLE["scores_without_redundancy"], abs=1e-9
    )


def test_a_score_can_be_followed_by_hand() -> None:
    matched = match([SummaryText("two", ("Trump won the election on Tuesday.", "It rained!"))], ALIKE)
    parts = matched.terms(STRENGTHS)[0]

    assert [part.nearest for part in parts] == [2, 1]
    assert [part.weight for part in parts] == [34 / 44, 10 / 44]
    assert [part.factor for part in parts] == [1.0, 1.0]
    assert parts[0].similarity == pytest.approx(1, abs=1e-12)
    assert parts[1].similarity == ALIKE.to(["It rained!"])[0, 1]
    assert [part.value for part in parts] == [STRENGTHS[2], STRENGTHS[1]]
    assert parts[1].contribution == STRENGTHS[1] * 10 / 44
    assert sum(part.contribution for part in parts) == pytest.approx(float((matched.weights @ STRENGTHS)[0]))


def test_redundancy_pays_for_every_distinct_bigram_once() -> None:
    # a b, b c / a b, b d: of four bigrams "a b" stands twice, so each sentence keeps (1/2 + 1) / 2.
    assert repetition(["a b c", "A b d!"]) == [0.75, 0.75]
    assert repetition(["a b", "a b", "a b"]) == pytest.approx([1 / 3] * 3)
    # Within a sentence a bigram counts as often as it stands there: x x, x x -> one distinct bigram, 2/2 of two.
    assert repetition(["x x x"]) == [0.5]


def test_a_summary_that_repeats_nothing_loses_nothing() -> None:
    assert repetition(["a b c", "b a", "c b"]) == [1.0, 1.0, 1.0]


def test_a_sentence_with_fewer_than_two_tokens_keeps_its_value() -> None:
    assert repetition(["rain", "rain", "...", ""]) == [1.0, 1.0, 1.0, 1.0]


def test_bigrams_do_not_reach_across_the_end_of_a_sentence() -> None:
    assert repetition(["a b", "c d", "b c"]) == [1.0, 1.0, 1.0]


@given(summaries)
def test_redundancy_lies_between_nought_and_one_and_adds_up_to_the_distinct_bigrams(texts: tuple[str, ...]) -> None:
    factors = repetition(texts)
    bigrams = [list(pairwise(t)) for t in (text.replace("...", "").split() for text in texts)]

    assert all(0 < factor <= 1 for factor in factors)
    paid = sum(f * len(own) for f, own in zip(factors, bigrams, strict=True))
    assert paid == pytest.approx(len({bigram for own in bigrams for bigram in own}))


@given(summaries, st.booleans(), some_strengths, st.integers(0, len(TOPIC) - 1))
def test_a_stronger_sentence_never_lowers_a_score(
    text: tuple[str, ...], redundancy: bool, v: np.ndarray, better: int
) -> None:
    weights = match([SummaryText("s", text)], ALIKE, redundancy).weights
    raised = v + np.eye(len(TOPIC))[better]

    assert (weights @ raised)[0] >= (weights @ v)[0]
    assert 0 <= (weights @ v)[0] <= v.max() + 1e-12


def test_the_nearest_sentence_is_the_first_of_equals() -> None:
    twice = ["It rained.", "Trump won.", "It rained."]

    assert match([SummaryText("s", ("It rained.",))], similarity(twice), sentences=twice).parts[0][0].nearest == 0


def test_what_resembles_nothing_earns_nothing() -> None:
    matched = match([SummaryText("s", ("Zebras graze.", "..."))], ALIKE)

    assert [part.nearest for part in matched.parts[0]] == [None, None]
    assert not matched.weights.any()


def test_an_empty_summary_and_a_topic_without_sentences_score_nought() -> None:
    assert scores_of({"nothing": [], "blank": [""]}) == {"nothing": 0, "blank": 0}
    matched = match([SummaryText("s", ("It rained.",))], similarity([]), sentences=[])
    assert matched.score(None).score.tolist() == [0.0]


def test_content_keeps_every_word_of_other_languages_and_stems_it_in_theirs() -> None:
    assert content("Die Wahlen und the election", "de") == ["die", "wahl", "und", "the", "election"]
    assert content("The elections and the and", "en-GB") == content("the elections", "") == ["elect"]


@given(summaries, st.booleans(), some_strengths, st.permutations(range(len(TOPIC))))
def test_renaming_the_topics_sentences_changes_no_score(
    text: tuple[str, ...], redundancy: bool, v: np.ndarray, order: list[int]
) -> None:
    def total(topic: list[str], strengths: np.ndarray) -> float:
        matched = match([SummaryText("s", text)], similarity(topic), redundancy, topic)
        return float((matched.weights @ strengths)[0])

    # Only a tie between sentences lets their order matter; without one there is nothing to choose.
    rows = np.round(np.sort(ALIKE.to(text), axis=1), 9)
    if not (np.diff(rows, axis=1)[:, -1:] == 0).any():
        assert total([TOPIC[i] for i in order], v[order]) == pytest.approx(total(TOPIC, v), abs=1e-12)
