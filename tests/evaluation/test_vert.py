"""VERT-F: precision, recall, F and chi-squared of word bigrams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from preferendum.methods.metrics.vert.scores import parts
from preferendum.metrics.registry import UnknownMetric, metric
from tests.evaluation.test_ngram_graphs import score

counts = st.dictionaries(st.tuples(st.sampled_from("ab"), st.sampled_from("abc")), st.integers(1, 9), min_size=1)


def test_an_example_by_hand() -> None:
    """Bigrams of the summary: the-cat twice, cat-sat, sat-the; of the reference: the-cat, cat-ran. Both: the-cat."""
    shared = parts({("the", "cat"): 2, ("cat", "sat"): 1, ("sat", "the"): 1}, {("the", "cat"): 1, ("cat", "ran"): 1})

    assert shared.precision == 1 / 4
    assert shared.recall == 1 / 2
    assert shared.f == pytest.approx(1 / 3)
    assert shared.homogeneity == pytest.approx(2 / 3 * (1 / 4 + 1 / 2))
    assert score("vert-f", "The cat sat.\nThe cat", "the cat ran") == pytest.approx((1 / 4 + 1 / 2 + 1 / 3 + 1 / 2) / 4)
    assert score("vert-f:f", "The cat sat.\nThe cat", "the cat ran") == pytest.approx(1 / 3)
    assert score("vert-f:chi2", "The cat sat.\nThe cat", "the cat ran") == pytest.approx(1 / 2)


@given(counts, counts)
def test_homogeneity_is_chi_squared_as_scipy_has_it(
    one: dict[tuple[str, str], int], other: dict[tuple[str, str], int]
) -> None:
    bigrams = sorted(one.keys() | other.keys())
    table = [[text.get(bigram, 0) for bigram in bigrams] for text in (one, other)]
    chi_squared = chi2_contingency(table, correction=False).statistic if len(bigrams) > 1 else 0.0

    assert parts(one, other).homogeneity == pytest.approx(1 - chi_squared / (sum(table[0]) + sum(table[1])))
    assert parts(one, other).f == pytest.approx(parts(other, one).f)
    assert parts(one, other).precision == parts(other, one).recall


def test_the_same_text_scores_1_and_another_0() -> None:
    text = "The quake hit Chile. Aid came."

    assert score("vert-f", text, text) == pytest.approx(1)
    assert score("vert-f", text, text, "It rained") == pytest.approx(1 / 2)
    assert score("vert-f", text, "It rained in Ohio.") == 0
    assert score("vert-f", "", text) == 0


def test_only_one_part_can_be_asked_for() -> None:
    with pytest.raises(UnknownMetric, match="either f or chi2"):
        metric("vert-f:f:chi2")
