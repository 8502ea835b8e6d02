"""From judgments to utilities: the worked example, the matrix, the four smoothings, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preferendum.evidence import Judgments, Settings
from preferendum.fit import preference_matrix, zermelo
from preferendum.fit.similarity import KnownSimilarity, similarity

SMOOTHINGS = ("paper", "sharpened", "kernel", "none")

# An independent calculation of sections 4.1 and 4.2 for four sentences and the judgments (0,1), (2,3), (0,3).
SIMILARITY = KnownSimilarity(
    np.array(
        [
            [1.0, 0.0, 0.4194722387, 0.0703271938],
            [0.0, 1.0, 0.0, 0.327834392],
            [0.4194722387, 0.0, 1.0, 0.0840652035],
            [0.0703271938, 0.327834392, 0.0840652035, 1.0],
        ]
    )
)
PREFERENCES = np.array(
    [
        [0.0998274992, 1.4653518184, 0.1193282227, 1.7473066307],
        [0.0, 0.0, 0.0, 0.0],
        [0.0998274992, 0.8848240571, 0.1193282227, 1.556989665],
        [0.010857984, 0.1209423315, 0.0129790283, 0.1774480701],
    ]
)
STRENGTHS = [0.53035745, 0.0088802653, 0.4418845479, 0.0188777368]


def judged(*rows: tuple[int, int, float], weight: float = 1.0) -> Judgments:
    """Judgments (a, b, share of the win that goes to a)."""
    a, b, outcome = (np.array(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return Judgments(
        np.array(a, dtype=np.int64),
        np.array(b, dtype=np.int64),
        np.array(outcome, dtype=np.float64),
        np.full(len(rows), weight),
        np.zeros(len(rows), dtype=np.int64),
    )


EXAMPLE = judged((0, 1, 1.0), (2, 3, 1.0), (0, 3, 1.0))


def reordered(judgments: Judgments, order: list[int]) -> Judgments:
    return Judgments(
        judgments.a[order],
        judgments.b[order],
        judgments.outcome[order],
        judgments.weight[order],
        judgments.annotator[order],
    )


def turned(judgments: Judgments) -> Judgments:
    """The same judgments with the two sentences shown the other way round."""
    return Judgments(judgments.b, judgments.a, 1 - judgments.outcome, judgments.weight, judgments.annotator)


@st.composite
def topics(draw):
    n = draw(st.integers(min_value=2, max_value=8))
    row = st.tuples(
        st.integers(0, n - 1),
        st.integers(1, n - 1),
        st.sampled_from([0.0, 0.5, 1.0]),
        st.sampled_from([1.0, 0.1, 0.7, 1 / 3]),
    )
    rows = draw(st.lists(row, min_size=1, max_size=25))
    a, step, outcome, weight = (np.array(column) for column in zip(*rows, strict=True))
    judgments = Judgments(a, (a + step) % n, outcome, weight, np.zeros(len(a), dtype=np.int64))
    features = np.random.default_rng(draw(st.integers(0, 1000))).random((n, 5)) ** 3
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return judgments, np.minimum(features @ features.T, 1.0)


def test_the_worked_example_has_its_preference_matrix():
    assert preference_matrix.smooth(preference_matrix.wins(EXAMPLE, 4), SIMILARITY) == pytest.approx(
        PREFERENCES, abs=1e-9
    )


def test_the_worked_example_has_its_strengths():
    estimate = preference_matrix.estimate(EXAMPLE, 4, SIMILARITY, Settings(smooth="paper", prior=0.1))
    assert estimate.strengths == pytest.approx(STRENGTHS, abs=1e-9)
    assert estimate.wins.tolist() == [2.0, 0.0, 1.0, 0.0]


def test_smoothing_is_the_paper_s_update_summed_over_judgments():
    """M <- M + a_hat (x) b_hat for each judgment, a tie being half of it each way."""
    judgments = judged((0, 1, 1.0), (1, 2, 0.0), (3, 0, 0.5), (0, 1, 1.0))
    M = np.zeros((4, 4))
    for a, b, outcome in zip(judgments.a, judgments.b, judgments.outcome, strict=True):
        M += outcome * np.outer(SIMILARITY.matrix[a], SIMILARITY.matrix[b])
        M += (1 - outcome) * np.outer(SIMILARITY.matrix[b], SIMILARITY.matrix[a])
    assert preference_matrix.smooth(preference_matrix.wins(judgments, 4), SIMILARITY) == pytest.approx(M, abs=1e-12)


def test_a_similarity_that_is_not_symmetric_is_not_transposed():
    S = np.array([[1.0, 0.5], [0.0, 1.0]])
    W = preference_matrix.wins(judged((0, 1, 1.0)), 2)
    assert preference_matrix.smooth(W, KnownSimilarity(S)).tolist() == np.outer(S[0], S[1]).tolist()


def test_wins_count_weights_and_halve_ties():
    W = preference_matrix.wins(judged((0, 1, 1.0), (0, 1, 1.0), (1, 0, 0.5), (2, 1, 0.0), weight=2.0), 3)
    assert W.toarray().tolist() == [[0.0, 5.0, 0.0], [1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def test_no_judgments_make_an_empty_matrix():
    assert preference_matrix.wins(judged(), 3).nnz == 0
    assert (
        preference_matrix.smooth(preference_matrix.wins(judged(), 3), KnownSimilarity(np.eye(3))).tolist()
        == np.zeros((3, 3)).tolist()
    )


@settings(deadline=None)
@given(topics(), st.randoms(use_true_random=False), st.sampled_from(SMOOTHINGS))
def test_the_order_and_the_side_of_judgments_change_not_one_bit(topic, random, smooth):
    judgments, similarity = topic
    order = list(range(len(judgments)))
    random.shuffle(order)
    chosen = Settings(smooth=smooth, prior=1.0)
    estimate = preference_matrix.estimate(judgments, len(similarity), KnownSimilarity(similarity), chosen)
    for same in (reordered(judgments, order), turned(judgments)):
        again = preference_matrix.estimate(same, len(similarity), KnownSimilarity(similarity), chosen)
        assert again.strengths.tobytes() == estimate.strengths.tobytes()
        assert again.covariance.errors().tobytes() == estimate.covariance.errors().tobytes()


@settings(deadline=None, max_examples=50)
@given(topics(), st.randoms(use_true_random=False), st.sampled_from(SMOOTHINGS))
def test_renaming_sentences_renames_their_utilities(topic, random, smooth):
    judgments, similarity = topic
    new = list(range(len(similarity)))
    random.shuffle(new)
    place = np.array(new)
    renamed = Judgments(
        place[judgments.a], place[judgments.b], judgments.outcome, judgments.weight, judgments.annotator
    )
    moved = np.empty_like(similarity)
    moved[np.ix_(place, place)] = similarity
    chosen = Settings(smooth=smooth, prior=1.0)
    estimate = preference_matrix.estimate(judgments, len(similarity), KnownSimilarity(similarity), chosen)
    again = preference_matrix.estimate(renamed, len(similarity), KnownSimilarity(moved), chosen)
    assert again.utilities[place] == pytest.approx(estimate.utilities, abs=1e-7)
    assert again.covariance.errors()[place] == pytest.approx(estimate.covariance.errors(), rel=1e-4, abs=1e-6)


@settings(deadline=None)
@given(topics(), st.sampled_from(["paper", "sharpened", "none"]), st.integers(0, 1000))
def test_the_start_changes_nothing_but_the_time(topic, smooth, seed):
    judgments, similarity = topic
    start = np.random.default_rng(seed).normal(size=len(similarity))
    chosen = Settings(smooth=smooth, prior=1.0)
    estimate = preference_matrix.estimate(judgments, len(similarity), KnownSimilarity(similarity), chosen)
    again = preference_matrix.estimate(judgments, len(similarity), KnownSimilarity(similarity), chosen, start)
    assert again.utilities == pytest.approx(estimate.utilities, abs=1e-8)


def test_sentences_that_resemble_nothing_are_not_smoothed():
    smoothed = preference_matrix.estimate(EXAMPLE, 4, KnownSimilarity(np.eye(4)), Settings(smooth="paper", prior=1.0))
    raw = preference_matrix.estimate(EXAMPLE, 4, None, Settings(smooth="none", prior=1.0))
    assert smoothed.utilities == pytest.approx(raw.utilities, abs=1e-9)


@pytest.mark.parametrize("smooth", ["paper", "kernel"])
def test_what_is_said_of_a_sentence_is_said_of_its_double(smooth):
    similarity = np.eye(4)
    similarity[0, 3] = similarity[3, 0] = 0.95
    judgments = judged(*[(0, 1, 1.0), (0, 2, 1.0), (1, 2, 0.5)] * 4)
    utilities = preference_matrix.estimate(
        judgments, 4, KnownSimilarity(similarity), Settings(smooth=smooth, prior=1.0)
    ).utilities
    assert utilities[3] > utilities[1] + 0.1


def test_smoothing_without_a_similarity_is_refused():
    with pytest.raises(ValueError, match="needs a similarity"):
        preference_matrix.estimate(EXAMPLE, 4, None, Settings(smooth="paper"))


def test_too_few_judgments_without_a_prior_are_undetermined():
    with pytest.raises(zermelo.Undetermined):
        preference_matrix.estimate(EXAMPLE, 4, None, Settings(smooth="none", prior=0.0))


@pytest.mark.parametrize("smooth", SMOOTHINGS)
def test_without_judgments_all_are_equal(smooth):
    estimate = preference_matrix.estimate(judged(), 3, KnownSimilarity(np.eye(3)), Settings(smooth=smooth, prior=1.0))
    assert estimate.strengths == pytest.approx(np.full(3, 1 / 3))


def test_a_preference_matrix_that_would_take_too_much_memory_is_refused_in_words():
    topic = similarity([f"w{i}" for i in range(4001)])
    with pytest.raises(preference_matrix.TooManySentences, match=r"at most 4,000 sentences, not of 4,001"):
        preference_matrix.estimate(EXAMPLE, 4001, topic, Settings(smooth="paper", prior=0.1))
