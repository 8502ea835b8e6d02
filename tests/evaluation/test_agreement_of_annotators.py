from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, norm

from preferendum.annotators import agreement
from preferendum.annotators.agreement import PairJudgments
from preferendum.results.agreement import UNKNOWN, AlphaPoint
from preferendum.show.analyses.annotator_agreement import agreement_words as sentence_of
from preferendum.show.analyses.annotator_agreement import verdict


def said(*answers: list[float]) -> PairJudgments:
    """What people answered, pair by pair."""
    pair = np.repeat(np.arange(len(answers)), [len(one) for one in answers])
    person = np.concatenate([np.arange(len(one)) for one in answers])
    return PairJudgments(pair, np.concatenate(answers).astype(float), person, np.zeros_like(pair))


def alike_in(share: float, first: float, pairs: int) -> PairJudgments:
    """Two people on so many pairs, alike in a share of them; the first sentence wins in a share of them."""
    rng = np.random.default_rng(0)
    one = (np.arange(pairs) < first * pairs).astype(float)
    other = np.where(np.arange(pairs) % 100 < share * 100, one, 1 - one)
    order = rng.permutation(pairs)
    return said(*np.stack([one, other], axis=1)[order].tolist())


def mirrored(answers: PairJudgments, which: NDArray[np.bool_]) -> PairJudgments:
    value = np.where(which[answers.pair], 1 - answers.value, answers.value)
    return PairJudgments(answers.pair, value, answers.annotator, answers.topic)


def test_two_people_who_agree_on_69_of_100_pairs_have_an_alpha_of_38_hundredths() -> None:
    """By hand: n = 200, observed 31 of 100, expected 200 / 199 of one half."""
    found = agreement.agreement(alike_in(0.69, 0.5, 100))
    assert found.percent.value == pytest.approx(0.69)
    assert found.alpha.value == pytest.approx(1 - 0.31 * 199 / 100)
    assert found.kappa.value == pytest.approx(2 * 0.69 - 1)


def test_agreement_does_not_know_which_sentence_of_a_pair_was_stored_first() -> None:
    answers = said(*2 * [[1, 1], [1, 0], [1, 1, 1], [0.5, 1], [0, 0], [1, 0, 0.5], [1, 1]])
    found = agreement.agreement(answers)
    for seed in range(20):
        which = np.random.default_rng(seed).random(14) < 0.5
        assert agreement.agreement(mirrored(answers, which)) == found, "intervals, too, to the last digit"


def test_first_sentences_that_always_win_do_not_make_agreement_look_like_chance() -> None:
    lopsided, even = (agreement.agreement(alike_in(0.9, first, 1000)) for first in (0.95, 0.5))
    assert lopsided.alpha.value == pytest.approx(even.alpha.value)
    assert lopsided.alpha.value > 0.79


def test_people_who_always_agree_have_an_alpha_of_one_and_people_who_never_prefer_none() -> None:
    assert agreement.agreement(said(*10 * [[1, 1]])).alpha.value == 1
    ties = agreement.agreement(said([0.5, 0.5], [0.5, 0.5]))
    assert ties.alpha.value is None
    assert ties.why == "all_equal"


@pytest.mark.parametrize("pairs", [1, 2, 9])
def test_of_fewer_than_ten_shared_pairs_there_is_a_share_with_wilsons_interval_and_no_coefficient(pairs: int) -> None:
    found = agreement.agreement(said(*pairs * [[1, 1]]))

    assert (found.percent.value, found.percent.high) == (1, 1)
    assert found.percent.low == pytest.approx(pairs / (pairs + norm.ppf(0.975) ** 2))
    assert found.alpha == found.kappa == UNKNOWN
    assert (found.why, found.p) == ("few_pairs", None)
    assert [point.alpha for point in agreement.over_time(said(*pairs * [[1, 1]]))] == [None] * min(10, 2 * pairs)


@pytest.mark.parametrize("answers", [[1, 1], [1, 0], [1, 1, 0], [1, 0.5], [0.5, 1, 0.5]])
def test_no_interval_of_agreement_is_a_single_point(answers: list[float]) -> None:
    """Also where all pairs are divided alike."""
    for pairs in (3, 12):
        found = agreement.agreement(said(*pairs * [answers]))
        for own in (found.percent, found.alpha, found.kappa):
            if own.value is not None:
                assert own.low <= own.value <= own.high
                assert own.high - own.low > 0.1
    others = agreement.with_others(said(*12 * [answers]), said(*12 * [answers]).annotator == 0)
    assert others.high - others.low > 0.1


def test_agreement_is_more_than_chance_where_a_binomial_test_says_so() -> None:
    """Of two people on 20 pairs the number of equal answers is binomial."""
    for alike, p in ((14, binomtest(14, 20).pvalue), (15, binomtest(15, 20).pvalue), (4, binomtest(4, 20).pvalue)):
        found = agreement.agreement(said(*alike * [[1, 1]], *(20 - alike) * [[1, 0]]))
        assert found.p == pytest.approx(p)
    threes = agreement.agreement(said(*12 * [[1, 1, 0]]))
    assert threes.alpha.value < 0
    assert threes.p == pytest.approx(2 * 0.75**12)  # one of three is alone in three of four cases
    assert agreement.agreement(said(*12 * [[1, 1, 0]], [1, 1, 1], [1, 1, 1])).p > 0.05


def test_the_interval_holds_the_value_and_narrows_with_more_pairs() -> None:
    few, many = (agreement.agreement(alike_in(0.8, 0.5, pairs)).alpha for pairs in (100, 2000))
    assert few.low < few.value < few.high
    assert many.high - many.low < (few.high - few.low) / 3


def test_the_course_ends_with_the_alpha_of_all() -> None:
    answers = alike_in(0.7, 0.5, 200)
    assert agreement.over_time(answers)[-1] == AlphaPoint(400, agreement.agreement(answers).alpha.value)


def test_agreement_with_others_compares_each_of_a_group_with_each_outside_it() -> None:
    """The first two are a group: 1 of 2, 0 of 2 and 2 of 2 comparisons are alike, and nobody else judged the last."""
    answers = said([1, 0, 1], [1, 1, 0.5], [0, 0, 0], [1, 1])
    found = agreement.with_others(answers, answers.annotator < 2)
    assert (found.value, found.n) == (0.5, 6)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high
    assert agreement.with_others(answers, answers.annotator < 3).value is None
    two = alike_in(0.69, 0.5, 100)
    alone, within = agreement.with_others(two, two.annotator == 0), agreement.agreement(two).percent
    assert (alone.value, alone.low, alone.high) == pytest.approx((within.value, within.low, within.high), abs=0.02)


def test_words_say_more_or_less_than_chance_only_where_the_test_does() -> None:
    def words(answers: PairJudgments) -> str:
        return verdict(agreement.study_agreement(answers, [False]))

    assert words(said([1, 1])) == "1 pair has two answers; agreement needs ten."
    assert words(said(*9 * [[1, 1]])) == "9 pairs have two answers or more; agreement needs ten."
    assert words(said([0.5, 0.5])) == "1 pair has two answers; agreement needs ten."
    assert "more often than by chance" in words(said(*12 * [[1, 1]]))
    assert "less often than by chance" in words(said(*12 * [[1, 0]]))
    assert "no more alike than chance, as far as 12 pairs can tell" in words(said(*7 * [[1, 1]], *5 * [[1, 0]]))


def test_a_record_says_itself_whether_a_coefficient_may_be_printed() -> None:
    """Also one that an older version made of a single pair."""
    many = agreement.agreement(said(*12 * [[1, 1]]))
    assert (many.has_coefficient, many.than_chance) == (True, "more")
    one = replace(many, pairs=1)
    assert (one.has_coefficient, one.than_chance) == (False, "")
    assert "alpha" not in sentence_of(one)
