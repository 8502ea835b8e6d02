"""Similarity as docs/model.md has it, held against scikit-learn and against a calculation by hand."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer

from preferendum.fit.similarity import SIMILARITIES, nearest, nearest_to, similarity, whole
from preferendum.text import tokens

EXAMPLE = json.loads((Path(__file__).parents[1] / "data" / "model_example.json").read_text())

WORDS = ["the", "The", "rain", "rains", "in", "Ohio,", "won!", "Trump", "é", "3.5", "?"]
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), min_size=1, max_size=40)
names = st.sampled_from(sorted(SIMILARITIES))


def by_scikit_learn(topic: list[str], texts: list[str]) -> NDArray[np.float64]:
    """The cosine half by scikit-learn, the Jaccard half by Python's sets."""
    vectorizer = TfidfVectorizer(token_pattern=r"\w+")
    weights = vectorizer.fit_transform(topic)
    cosine = (vectorizer.transform(texts) @ weights.T).toarray()
    sets = [[set(tokens(text)) for text in side] for side in (texts, topic)]
    jaccard = [[len(a & b) / len(a | b) if a | b else 0.0 for b in sets[1]] for a in sets[0]]
    return (cosine + np.array(jaccard)) / 2


@given(sentences, sentences)
def test_it_equals_scikit_learn_and_sets(topic: list[str], texts: list[str]) -> None:
    topic = [*topic, "at least one word"]
    built = similarity(topic)
    expected = by_scikit_learn(topic, topic)
    np.fill_diagonal(expected, 1.0)

    np.testing.assert_allclose(whole(built), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(built.to(texts), by_scikit_learn(topic, texts), rtol=0, atol=1e-12)


def test_it_equals_scikit_learn_on_a_long_topic_where_some_words_are_everywhere() -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(2000)])
    often = 1 / np.arange(1, 2001)
    topic = [" ".join(rng.choice(words, size=rng.integers(1, 40), p=often / often.sum())) for _ in range(400)]

    np.testing.assert_allclose(whole(similarity(topic)), by_scikit_learn(topic, topic), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        similarity(topic[:300]).to(topic[300:]), by_scikit_learn(topic[:300], topic[300:]), rtol=0, atol=1e-12
    )


def test_the_worked_example_is_reproduced() -> None:
    np.testing.assert_allclose(whole(similarity(EXAMPLE["sentences"])), EXAMPLE["similarity"], rtol=0, atol=1e-9)


@example(["", "", "the rain 3.5", "the rains in won!", "the rain Ohio,"], "tfidf")
@given(sentences, names)
def test_it_is_symmetric_between_nought_and_one_with_ones_on_the_diagonal(topic: list[str], name: str) -> None:
    matrix = whole(similarity(topic, name))

    np.testing.assert_allclose(matrix, matrix.T, rtol=0, atol=1e-15)  # sums of the same terms in another order
    assert ((matrix >= 0) & (matrix <= 1)).all()
    assert (np.diag(matrix) == 1).all()


@given(sentences, names, st.randoms(use_true_random=False))
def test_renaming_the_sentences_renames_the_similarities(topic: list[str], name: str, random: object) -> None:
    order = list(range(len(topic)))
    random.shuffle(order)  # type: ignore[attr-defined]

    shuffled = whole(similarity([topic[i] for i in order], name))
    np.testing.assert_allclose(shuffled, whole(similarity(topic, name))[np.ix_(order, order)], rtol=0, atol=1e-12)


@given(sentences, names)
def test_a_sentence_of_the_topic_given_from_outside_has_the_same_similarities(topic: list[str], name: str) -> None:
    built = similarity(topic, name)
    rows = [i for i, sentence in enumerate(topic) if tokens(sentence)]

    np.testing.assert_allclose(built.to(topic)[rows], whole(built)[rows], rtol=0, atol=1e-12)


def test_the_mean_is_of_its_two_halves() -> None:
    topic = EXAMPLE["sentences"]
    halves = [whole(similarity(topic, name)) for name in ("tfidf", "jaccard")]

    np.testing.assert_allclose(whole(similarity(topic)), sum(halves) / 2, rtol=0, atol=1e-15)
    assert abs(halves[0] - halves[1]).max() > 0.01


def test_unknown_words_enlarge_the_jaccard_union_only() -> None:
    topic = ["rain in Ohio", "snow"]

    assert similarity(topic, "jaccard").to(["rain in Ohio xylophone xylophone"])[0, 0] == 3 / 4
    assert similarity(topic, "tfidf").to(["rain in Ohio xylophone"])[0, 0] == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("name", sorted(SIMILARITIES))
def test_a_long_topic_is_compared_part_by_part_with_the_same_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    topic = ["...", "..."] + [" ".join(f"w{word}" for word in rng.integers(30, size=6)) for _ in range(80)]
    kept = similarity(topic, name)
    matrix = whole(kept)
    monkeypatch.setattr("preferendum.fit.similarity.KEPT", 10)
    monkeypatch.setattr("preferendum.fit.similarity._AT_ONCE", 300)
    parts = similarity(topic, name)
    some, weights = np.array([0, 1, 7, 50]), rng.normal(size=(2, 4))

    np.testing.assert_allclose(parts.rows(some), matrix[some], rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.among(some), matrix[np.ix_(some, some)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.pairs(some, some[::-1]), matrix[some, some[::-1]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.pairs(some, some), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(parts.product(weights, some), weights @ matrix[some], rtol=0, atol=1e-12)
    places, closest = nearest_to(parts, topic[5:])
    np.testing.assert_array_equal(places, nearest(kept.to(topic[5:])))
    np.testing.assert_allclose(closest, kept.to(topic[5:]).max(axis=1), rtol=0, atol=1e-12)


def test_a_text_without_words_resembles_nothing_but_itself() -> None:
    built = similarity(["...", "rain", "..."])

    assert whole(built).tolist() == np.eye(3).tolist()
    assert built.to(["...", ""]).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_a_topic_without_sentences_has_an_empty_similarity() -> None:
    built = similarity([])

    assert whole(built).shape == (0, 0)
    assert built.to(["rain"]).shape == (1, 0)


def test_the_nearest_is_the_first_of_equals_even_where_floats_differ_by_dust() -> None:
    assert nearest(np.array([[0.1, 0.3, 0.1 + 0.2], [0.0, 0.0, 0.0], [0.1, 0.2, 0.2 + 1e-6]])).tolist() == [1, 0, 2]


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'cosine'.*jaccard, tfidf, tfidf-jaccard"):
        similarity(["rain"], "cosine")
