"""Divergences: by hand, against scipy, and at their limits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy.spatial import distance

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.methods.metrics.divergence.scores import jensen_shannon, smoothed
from preferendum.metrics.registry import metric
from preferendum.vocabulary.words import words

NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
KINDS = ["js", "js-smoothed", "js-consensus", "kl", "kl-summary"]

counts = arrays(np.float64, 5, elements=st.integers(0, 9).map(float))


def topic(documents: list[str], *summaries: list[str], language: str = "en") -> Evidence:
    systems = tuple(SummaryText(str(i), tuple(summary)) for i, summary in enumerate(summaries))
    return Evidence("t", tuple(map(str, range(len(documents)))), tuple(documents), NONE, systems, language=language)


def score(kind: str, documents: list[str], *summaries: list[str]) -> NDArray[np.float64]:
    return metric(kind).score(topic(documents, *summaries))


@given(counts, counts)
def test_js_is_the_square_of_scipys_distance(p: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    found = jensen_shannon(p, q)

    if p.sum() and q.sum():
        assert found == pytest.approx(distance.jensenshannon(p, q) ** 2, abs=1e-12)
    assert 0 <= found <= math.log(2) + 1e-12
    assert found == pytest.approx(jensen_shannon(q, p), abs=1e-12)
    assert found == pytest.approx(jensen_shannon(3 * p, q), abs=1e-12)


def test_js_by_hand() -> None:
    """p = (1/2, 1/2), q = (1, 0), the middle (3/4, 1/4): (1/2 ln 2/3 + 1/2 ln 2) / 2 + (ln 4/3) / 2."""
    expected = (0.5 * math.log(2 / 3) + 0.5 * math.log(2)) / 2 + math.log(4 / 3) / 2

    assert score("js", ["Quakes. Storms."], ["Quakes quake."])[0] == pytest.approx(-expected)


def test_a_summary_that_shares_no_word_or_has_none_is_as_far_as_can_be() -> None:
    found = score("js", ["Quakes hit Chile."], ["Elections won."], [], ["the of and"], ["Quakes hit Chile"])

    assert found == pytest.approx([-math.log(2)] * 3 + [0.0], abs=1e-12)


def test_kl_by_hand() -> None:
    """Documents 3 a, 1 b; summary 1 a, 1 c; bins 1.5 x 2 = 3, so that gamma adds .015 to each total."""
    p = np.array([3.005, 1.005, 0.005]) / 4.015
    q = np.array([1.005, 0.005, 1.005]) / 2.015
    documents, summary = ["Quakes quake quaking storms"], ["quakes floods"]

    assert score("kl", documents, summary)[0] == pytest.approx(-float((p * np.log(p / q)).sum()))
    assert score("kl-summary", documents, summary)[0] == pytest.approx(-float((q * np.log(q / p)).sum()))
    middle = (p + q) / 2
    expected = float((p * np.log(p / middle)).sum() + (q * np.log(q / middle)).sum()) / 2
    assert score("js-smoothed", documents, summary)[0] == pytest.approx(-expected)


def test_smoothing_makes_probabilities_that_sum_to_one_over_all_bins() -> None:
    found = smoothed(np.array([3.0, 1.0, 0.0]), bins=10, gamma=0.5)

    assert found.sum() + 7 * 0.5 / (4 + 5) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_source_itself_diverges_least(kind: str) -> None:
    documents = ["Quakes hit Chile.", "Aid reached Chile late."]

    found = score(kind, documents, documents, ["Quakes hit Chile."], ["Nothing happened anywhere."])

    assert found[0] > found[1] > found[2] if kind != "js-consensus" else found[2] == min(found)
    assert np.all(found <= 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_words_and_sentences_changes_nothing(kind: str) -> None:
    documents = ["Quakes hit Chile.", "Aid reached Chile late."]

    there = score(kind, documents, ["Aid was late.", "Quakes hit."])
    back = score(kind, documents[::-1], ["Hit, quakes!", "Late was aid."])

    assert there == pytest.approx(back)


def test_the_consensus_is_of_all_systems_and_needs_no_documents() -> None:
    alike, other = ["Quakes hit Chile"], ["Stocks fell"]

    found = metric("js-consensus").score(topic([], alike, alike, other))

    assert found[0] == found[1] > found[2]
    together = words([*alike, *alike, *other], "en")
    own = words(other, "en")
    order = sorted(together)
    assert found[2] == pytest.approx(
        -jensen_shannon(np.array([together[w] for w in order], float), np.array([own[w] for w in order], float))
    )


def test_english_words_are_stemmed_without_stop_words_or_other_characters() -> None:
    assert words(["The cats' naïve RUNNING-mates aren't 3rd"], "en") == words(["cat na ve run mate aren 3rd t"], "en")
    assert "the" not in words(["The cats"], "en")
    assert words(["The cats"], "") == words(["the cat"], "en-GB")


def test_other_languages_keep_their_letters() -> None:
    assert words(["Die Äpfel"], "de").total() == 2
    assert metric("js").score(topic(["東京 地震"], ["東京 地震"], language="ja"))[0] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_documents_without_words_say_nothing(kind: str) -> None:
    assert math.isnan(score(kind, ["the of", "..."], ["..."])[0])


def test_a_signature_says_what_was_left_out_and_how_it_was_smoothed() -> None:
    assert "natural logarithm, unsmoothed" in metric("js").signature
    assert "SMART stop words (596)" in metric("js").signature
    assert "Lidstone 0.005 over 1.5 x input vocabulary" in metric("kl").signature


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "js-consensus"])
def test_other_summaries_make_no_difference_to_one(kind: str) -> None:
    documents, own, other = ["Quakes hit Chile."], ["Quakes hit Peru."], ["Stocks fell on Monday."]

    assert score(kind, documents, own, other)[0] == pytest.approx(score(kind, documents, own)[0], abs=1e-15)
