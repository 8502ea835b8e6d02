"""Importance, coverage and combined: followed by hand, and what they promise to whoever would play them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from preferendum.evidence import Evidence, Judgments, Settings, SummaryText
from preferendum.fit import preference_matrix
from preferendum.fit.chances import Chances
from preferendum.fit.similarity import similarity
from preferendum.results import SourceWords
from preferendum.scoring.importance import SharedWords, WordScores, cleared_values, score, share_words, source_words
from preferendum.scoring.ranking import Comparison

# All of one length, so that nothing is taken for it.
CATS_AND_DOGS = ("Cats nap", "Cats eat", "Dogs dig")
NEWS = (
    "Donald Trump won the U.S. presidential election.",
    "It rained in Ohio.",
    "Trump won the election on Tuesday.",
    "Voters in Ohio waited in the rain, and some of them went home before the polls had opened.",
)
SUMMARIES = {"winner": ["Trump won the election."], "weather": ["It rained in Ohio."], "both": ["Trump won.", "Rain."]}
NOBODY = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))

sentence_lists = st.lists(st.sampled_from([*NEWS, "Voters won.", "Nothing of this.", "..."]), max_size=4)
some_chances = st.lists(st.floats(-1, 2), min_size=len(NEWS), max_size=len(NEWS)).map(np.array)


def topic(sentences: Sequence[str], summaries: dict[str, list[str]]) -> Evidence:
    texts = tuple(SummaryText(system, tuple(text)) for system, text in summaries.items())
    ids = tuple(f"d:{i}" for i in range(len(sentences)))
    return Evidence("t", ids, tuple(sentences), NOBODY, texts)


def known(values: Sequence[float], error: float = 0.1) -> Chances:
    return Chances(np.array(values), np.array(values), error)


def scores(sentences: Sequence[str], summaries: dict[str, list[str]], values: Sequence[float]) -> WordScores:
    return score(share_words(topic(sentences, summaries)), known(values), 10)


def words_of(shared: SharedWords, values: Sequence[float]) -> SourceWords:
    return source_words(shared, cleared_values(shared, known(values)))


def judged(evidence: Evidence, judgments: Judgments) -> WordScores:
    alike = similarity(evidence.sentences)
    estimate = preference_matrix.estimate(judgments, len(evidence.sentences), alike, Settings())
    found = estimate.chances
    return score(share_words(evidence), found, len(judgments))


def some_judgments(seed: int = 1, count: int = 30) -> Judgments:
    rng = np.random.default_rng(seed)
    a = rng.integers(4, size=count)
    b = (a + rng.integers(1, 4, size=count)) % 4
    outcome = (rng.random(count) < np.where(a < b, 0.8, 0.2)).astype(float)
    return Judgments(a, b, outcome, np.ones(count), np.zeros(count, dtype=np.int64))


def test_a_score_is_followed_by_hand():
    # ln(4/3) + 1 for "cat", in two of three sentences, and ln(4/2) + 1 for the others, in one.
    cat, other = 1.2876820724517808, 1.6931471805599454
    total = 2 * cat + 4 * other
    mean = (2 * cat * 0.65 + other * (0.8 + 0.5 + 0.2 + 0.2)) / total
    summaries = {"a": ["A cat naps."], "b": ["Dogs!"]}
    found = scores(CATS_AND_DOGS, summaries, [0.8, 0.5, 0.2])
    assert words_of(share_words(topic(CATS_AND_DOGS, summaries)), [0.8, 0.5, 0.2]).mean == pytest.approx(mean)
    assert found.coverage == pytest.approx([(2 * cat + other) / total, other / total])
    assert found.importance == pytest.approx(
        [(2 * cat * (0.65 - mean) + other * (0.8 - mean)) / total, other * (0.2 - mean) / total]
    )
    odds = {value: 1 + 4 * (value - mean) for value in (0.65, 0.8, 0.2)}
    assert found.combined == pytest.approx(
        [(2 * cat * odds[0.65] + other * odds[0.8]) / total, other * odds[0.2] / total]
    )
    assert found.importance == pytest.approx([0.101604, -0.051981], abs=1e-6)


def test_the_words_of_a_summary_add_up_to_its_importance():
    shared = share_words(topic(NEWS, SUMMARIES))
    found = score(shared, known([0.9, 0.1, 0.6, 0.4]), 10)
    words = words_of(shared, [0.9, 0.1, 0.6, 0.4])
    for system, importance in zip(found.systems, found.importance, strict=True):
        assert sum(term.contribution for term in words.terms(system, "importance")) == pytest.approx(importance)


def test_a_word_names_the_sentences_that_its_value_comes_from():
    shared = share_words(topic(NEWS, SUMMARIES))
    values = cleared_values(shared, known([0.9, 0.1, 0.6, 0.4]))
    won = next(term for term in source_words(shared, values).terms("winner", "importance") if term.word == "won")
    assert won.sentences == ((0, 1), (2, 1))
    assert won.occurrences == 2
    assert won.value == pytest.approx((values[0] + values[2]) / 2)


@given(sentence_lists, st.floats(0, 1))
def test_combined_is_coverage_where_all_sentences_are_equal(summary: list[str], value: float):
    found = scores(NEWS, {"a": summary, "whole": list(NEWS)}, [value] * len(NEWS))
    assert found.combined[1] == pytest.approx(1.0)
    expected = np.where(found.coverage > 0, found.coverage, np.nan)
    assert found.combined == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_a_combined_score_is_as_sure_as_its_importance():
    chances = known([0.9, 0.1, 0.6, 0.4])
    found = score(share_words(topic(NEWS, SUMMARIES)), chances, 10)
    assert found.of("combined").covariance == pytest.approx(16 * found.of("importance").covariance)


@given(st.lists(sentence_lists, min_size=1, max_size=4), st.floats(0, 1))
def test_equal_chances_give_equal_scores(summaries: list[list[str]], value: float):
    found = scores(NEWS, {str(k): text for k, text in enumerate(summaries)}, [value] * len(NEWS))
    assert np.nan_to_num(found.importance) == pytest.approx(np.zeros(len(summaries)), abs=1e-12)


@given(some_chances)
def test_the_whole_source_has_importance_0(values: np.ndarray):
    assert scores(NEWS, {"whole": list(NEWS), "backwards": list(NEWS[::-1])}, values).importance.tolist() == [0.0, 0.0]


@given(sentence_lists, some_chances)
def test_saying_it_twice_adds_nothing(summary: list[str], values: np.ndarray):
    found = scores(NEWS, {"once": summary, "twice": summary + summary, "shuffled": summary[::-1]}, values)
    for kind in (found.importance, found.combined, found.coverage):
        assert kind == pytest.approx(np.full(3, kind[0]), abs=1e-12, nan_ok=True)


def test_a_foreign_and_an_empty_summary_have_no_importance_and_no_rank():
    found = scores(
        NEWS,
        {**SUMMARIES, "foreign": ["Zebras graze."], "empty": [], "stop words": ["It is what it is."]},
        [0.9, 0.1, 0.6, 0.4],
    )
    assert np.isnan(found.importance).tolist() == [False, False, False, True, True, True]
    for kind in ("importance", "combined"):
        assert {one.system for one in Comparison([found.of(kind).standing]).ranked()} == set(SUMMARIES)
    assert found.coverage[3:].tolist() == [0.0, 0.0, 0.0]


def test_an_interval_of_importance_may_reach_below_0():
    ranked = Comparison([scores(NEWS, SUMMARIES, [0.9, 0.1, 0.6, 0.4]).of("importance").standing]).ranked(-np.inf)
    assert ranked[-1].low is not None
    assert ranked[-1].low < ranked[-1].score < 0


@given(some_chances)
def test_chances_turned_round_turn_the_scores_round(values: np.ndarray):
    straight, turned = scores(NEWS, SUMMARIES, values), scores(NEWS, SUMMARIES, 1 - values)
    assert turned.importance == pytest.approx(-straight.importance, abs=1e-12)


@pytest.mark.parametrize("of_length", [np.log, rankdata], ids=["logarithm", "rank"])
def test_a_preference_for_length_alone_says_next_to_nothing(of_length: Callable[[np.ndarray], np.ndarray]):
    long_first = [f"{'word ' * size}{name}" for name, size in zip("abcdefghijklmnopqrst", range(1, 21), strict=True)]
    length = of_length(np.array([len(sentence) for sentence in long_first]))
    values = 0.5 + 0.2 * (length - length.mean()) / length.std()
    cleared = cleared_values(share_words(topic(long_first, {})), known(values))
    assert np.abs(cleared - 0.5).max() < 0.1 * np.abs(values - 0.5).max()


def test_where_nobody_has_judged_all_importance_is_0_and_nothing_is_sure():
    found = score(share_words(topic(NEWS, SUMMARIES)), Chances.without_judgments(4), 0)
    assert found.importance == pytest.approx(np.zeros(3), abs=1e-12)
    assert [one.se for one in Comparison([found.of("importance").standing]).ranked()] == [None] * 3


def test_order_of_upload_names_and_sides_change_nothing():
    judgments = some_judgments()
    found = judged(topic(NEWS, SUMMARIES), judgments)
    order = np.random.default_rng(2).permutation(len(judgments))
    flipped = Judgments(
        judgments.b[order], judgments.a[order], 1 - judgments.outcome[order], judgments.weight, judgments.annotator
    )
    assert judged(topic(NEWS, SUMMARIES), flipped).importance.tolist() == found.importance.tolist()
    renamed = judged(topic(NEWS, {f"z{name}": text for name, text in reversed(SUMMARIES.items())}), judgments)
    assert renamed.importance[::-1] == pytest.approx(found.importance, abs=1e-12)
    places = np.array([2, 0, 3, 1])  # where each sentence goes in another order of the documents
    moved = replace(judgments, a=places[judgments.a], b=places[judgments.b])
    elsewhere = judged(topic([NEWS[1], NEWS[3], NEWS[0], NEWS[2]], SUMMARIES), moved)
    assert elsewhere.importance == pytest.approx(found.importance, abs=1e-6)


def test_answers_turned_round_turn_the_board_round():
    judgments = some_judgments()
    turned = judged(topic(NEWS, SUMMARIES), replace(judgments, outcome=1 - judgments.outcome))
    assert turned.importance == pytest.approx(-judged(topic(NEWS, SUMMARIES), judgments).importance, abs=1e-6)


def test_a_coin_separates_nobody():
    rng = np.random.default_rng(3)
    standings = []
    for _ in range(8):
        judgments = replace(some_judgments(int(rng.integers(1000)), 60), outcome=rng.integers(0, 2, 60).astype(float))
        standings.append(judged(topic(NEWS, SUMMARIES), judgments).of("importance").standing)
    assert not any(difference.significant for difference in Comparison(standings).differences())


def test_the_covariance_is_that_of_independent_errors_of_the_chances():
    shared = share_words(topic(NEWS, SUMMARIES))
    rng = np.random.default_rng(4)
    drawn = np.array([score(shared, known(row), 1).importance for row in rng.normal(0.5, 0.1, size=(3_000, len(NEWS)))])
    assert score(shared, known([0.5] * 4, error=0.1), 1).covariance == pytest.approx(
        np.cov(drawn.T), rel=0.15, abs=2e-5
    )


def test_topics_without_words_or_sentences_have_no_importance():
    for sentences in ((), ("...", "!")):
        found = scores(sentences, SUMMARIES, [0.5] * len(sentences))
        assert np.isnan(found.importance).all()
        assert found.coverage.tolist() == [0.0, 0.0, 0.0]
