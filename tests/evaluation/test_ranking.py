"""Systems in order over topics, the ranks they may have, and which differences are sure."""

from collections import Counter
from itertools import pairwise
from unittest.mock import ANY

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import block_diag
from scipy.stats import norm, ttest_rel

from preferendum.results import Standing
from preferendum.results.statistics import rank
from preferendum.scoring import covariance
from preferendum.scoring.ranking import Comparison


def standing(scores: dict[str, float], sd: float = 0.01, judgments: int = 100, shared: float = 0.0) -> Standing:
    s = len(scores)
    matrix = sd**2 * ((1 - shared) * np.eye(s) + shared)
    return Standing(tuple(scores), tuple(scores.values()), tuple(map(tuple, matrix.tolist())), judgments)


scores = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 10).map(lambda k: k / 10), min_size=1)
standings = st.lists(
    st.builds(standing, scores, st.sampled_from([0.01, 0.3]), st.sampled_from([0, 50])), min_size=1, max_size=5
)


def test_a_systems_score_is_the_mean_over_its_topics() -> None:
    ranking = Comparison([standing({"a": 0.5, "b": 0.1}), standing({"a": 0.7})]).ranked()

    assert [(r.system, r.score, r.topics, r.lacking) for r in ranking] == [("a", 0.6, 2, 0), ("b", ANY, 1, 1)]
    assert ranking[1].score == pytest.approx(0.2)  # .4 behind a in the topic that has both


def test_a_system_with_summaries_of_topics_where_scores_are_high_is_not_first_for_that() -> None:
    """b is highest in no topic, yet the mean of its own scores is the largest."""
    hard, easy = standing({"a": 0.2, "c": 0.1}), standing({"a": 0.9, "b": 0.8, "c": 0.7})
    for over in ("judgments", "topics"):
        ranking = Comparison([easy, hard, easy, hard], over).ranked()

        assert [(r.system, r.topics, r.lacking) for r in ranking] == [("a", 4, 0), ("b", 2, 2), ("c", 4, 0)]
        assert [r.score for r in ranking] == pytest.approx([0.55, 0.475, 0.4])


def test_scores_of_what_is_missing_are_least_squares_with_their_covariance() -> None:
    """Of system + topic, by a general program; the variances are those of the estimates."""
    rng = np.random.default_rng(5)
    has = rng.random((6, 5)) < 0.6
    has[0], has[1:, 0] = True, True
    truth = rng.normal(size=(6, 5))
    square = rng.normal(size=(6, 5, 5))
    names, topics, columns = "abcde", [], []
    for t, own in enumerate(has):
        places = np.flatnonzero(own)
        matrix = (square[t] @ square[t].T)[np.ix_(places, places)]
        topics.append(Standing(tuple(names[k] for k in places), tuple(truth[t, places].tolist()), matrix, 30))
        columns += [(t, k) for k in places]
    design = np.zeros((len(columns), 11))
    for row, (t, k) in enumerate(columns):
        design[row, [t, 6 + k]] = 1.0
    scores = np.zeros((5, 11))
    scores[:, :6], scores[:, 6:] = 1 / 6, np.eye(5)
    weights = scores @ np.linalg.pinv(design)
    errors = block_diag(*(topic.covariance for topic in topics))
    covariance = weights @ errors @ weights.T

    comparison = Comparison(topics)
    means = comparison.means()
    assert [mean.score for mean in means] == pytest.approx(weights @ truth[has])
    assert [mean.se for mean in means] == pytest.approx(np.sqrt(np.diag(covariance)))
    of_system = {mean.system: mean.score for mean in means}
    for own in comparison.differences():
        a, b = names.index(own.better), names.index(own.worse)
        assert own.difference == pytest.approx(of_system[own.better] - of_system[own.worse])
        se = np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
        assert own.high - own.difference == pytest.approx(norm.ppf(0.975) * se)


def test_systems_that_are_equal_wherever_both_are_do_not_differ() -> None:
    """By the fit b is behind a, since c, that comes as close to b as it can, is far behind a elsewhere."""
    both = standing({"a": 0.5, "b": 0.5, "c": 0.5})
    comparison = Comparison([both, both, standing({"a": 0.9, "c": 0.1}), standing({"a": 0.9, "c": 0.1})])
    tests = {(own.better, own.worse): own for own in comparison.differences()}

    assert tests["a", "b"].difference == pytest.approx(0.2)
    assert (tests["a", "b"].p, tests["a", "b"].significant) == (1.0, False)


def test_systems_that_no_chain_of_topics_connects_are_ranked_by_their_own_topics() -> None:
    apart = [standing({"a": 0.5, "b": 0.1}), standing({"c": 0.7, "d": 0.1}), standing({"c": 0.9})]
    ranking = Comparison(apart).ranked()

    assert [(r.system, round(r.score, 12), r.lacking) for r in ranking] == [
        ("c", 0.8, 1),
        ("a", 0.5, 2),
        ("d", 0.2, 2),
        ("b", 0.1, 2),
    ]
    assert {(d.better, d.worse) for d in Comparison(apart).differences()} == {("a", "b"), ("c", "d")}


def test_intervals_of_means_come_from_the_topics_covariances() -> None:
    a, _ = Comparison([standing({"a": 0.5, "b": 0.4}, sd=0.03), standing({"a": 0.7, "b": 0.6}, sd=0.04)]).ranked()

    assert a.se == pytest.approx(0.05 / 2)
    assert a.low == pytest.approx(0.6 - norm.ppf(0.975) * 0.025)
    assert a.high == pytest.approx(0.6 + norm.ppf(0.975) * 0.025)


def test_what_two_scores_share_does_not_blur_their_difference() -> None:
    apart = Comparison([standing({"a": 0.5, "b": 0.45}, sd=0.03)]).differences()[0]
    together = Comparison([standing({"a": 0.5, "b": 0.45}, sd=0.03, shared=0.96)]).differences()[0]

    assert (apart.better, apart.worse) == ("a", "b")
    assert apart.difference == pytest.approx(0.05)
    assert apart.p == pytest.approx(2 * norm.sf(0.05 / (0.03 * 2**0.5)))
    assert not apart.significant
    assert together.significant
    assert together.low is not None
    assert together.low > 0


def test_differences_are_over_common_topics_only() -> None:
    topics = [standing({"a": 0.9, "b": 0.5}), standing({"a": 0.1}), standing({"b": 0.9, "c": 0.2})]
    found = Comparison(topics).differences()

    assert [(d.better, d.worse, round(d.difference, 9), d.topics) for d in found] == [
        ("a", "b", 0.4, 1),
        ("b", "c", 0.7, 1),
    ]


def test_ranks_may_be_those_that_significant_differences_leave() -> None:
    ranking = Comparison([standing({"a": 0.50, "b": 0.49, "c": 0.30, "d": 0.10})]).ranked()

    assert [(r.system, r.rank, r.rank_low, r.rank_high) for r in ranking] == [
        ("a", 1, 1, 2),
        ("b", 2, 1, 2),
        ("c", 3, 3, 3),
        ("d", 4, 4, 4),
    ]


def test_of_too_many_systems_the_same_ranks_are_told_and_no_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    topics = [standing({f"s{k}": score for k, score in enumerate(rng.normal(size=30))}, sd=0.2) for _ in range(3)]
    few = Comparison(topics)
    differences = few.differences()
    assert len(differences) == 30 * 29 / 2
    significant = [difference for difference in differences if difference.significant]
    better, worse = Counter(own.worse for own in significant), Counter(own.better for own in significant)
    monkeypatch.setattr("preferendum.scoring.ranking.MOST_COMPARED", 29)
    many = Comparison(topics)

    assert many.differences() == ()
    assert many.ranked() == few.ranked() == rank(few.means(-np.inf), better, worse)


def test_what_is_kept_of_many_systems_says_the_same_of_their_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covariance, "MOST_COMPARED", 29)
    rng = np.random.default_rng(1)
    slopes = rng.normal(size=(30, 5)) * 0.05
    scores = {f"s{k}": float(score) for k, score in enumerate(rng.normal(size=30))}
    whole = Standing(tuple(scores), tuple(scores.values()), slopes @ slopes.T, 100)
    packed = covariance.pack(whole)
    kept = covariance.unpack(packed, scores, 100)

    assert len(packed.factor) < 30 * 6 * 4 * 4 / 3
    np.testing.assert_allclose(np.asarray(kept.covariance), slopes @ slopes.T, atol=1e-8)
    ranks = {r.system: (r.rank_low, r.rank_high) for r in Comparison([whole]).ranked()}
    assert dict(zip(packed.systems, packed.ranks, strict=True)) == ranks
    assert {r.system: (r.rank_low, r.rank_high) for r in Comparison([kept]).ranked()} == ranks
    some = covariance.unpack(packed, {"s3": 1.0, "s1": 2.0}, 100)
    np.testing.assert_allclose(np.asarray(some.covariance), (slopes @ slopes.T)[[1, 3]][:, [1, 3]], atol=1e-8)


def test_equals_share_a_rank() -> None:
    ranking = Comparison([standing({"b": 0.3, "a": 0.1 + 0.2, "c": 0.1})]).ranked()

    assert [(r.system, r.rank) for r in ranking] == [("a", 1), ("b", 1), ("c", 3)]


def test_topics_without_judgments_do_not_count_but_for_who_has_no_others() -> None:
    ranking = Comparison([standing({"a": 0.5}), standing({"a": 0.1, "b": 0.2}, judgments=0)]).ranked()

    assert [(r.system, r.score, r.topics, r.se) for r in ranking] == [("a", 0.5, 1, 0.01), ("b", 0.2, 1, None)]
    assert ranking[1].low is ranking[1].high is None
    (difference,) = Comparison([standing({"a": 0.5}), standing({"a": 0.1, "b": 0.2}, judgments=0)]).differences()
    assert difference.p is difference.low is difference.high is difference.significant is None
    assert (ranking[0].rank_low, ranking[0].rank_high) == (1, 2)


def test_over_topics_a_difference_is_judged_like_a_paired_t_test() -> None:
    a, b = [0.5, 0.62, 0.41, 0.7], [0.42, 0.6, 0.3, 0.61]
    topics = [standing({"a": x, "b": y}, sd=0.001) for x, y in zip(a, b, strict=True)]
    (difference,) = Comparison(topics, over="topics").differences()

    assert difference.p == pytest.approx(ttest_rel(a, b).pvalue)
    interval = ttest_rel(a, b).confidence_interval()
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high))


def test_over_topics_the_judgments_errors_are_not_counted_twice() -> None:
    """Topics differ by these errors alone: what they show of them, with Student's quantiles, covers 95 of 100."""
    rng = np.random.default_rng(3)
    covered = []
    for _ in range(400):
        topics = [standing({"a": a, "b": b}, sd=0.1) for a, b in rng.normal(0.5, 0.1, (10, 2))]
        (difference,) = Comparison(topics, over="topics").differences()
        covered.append(difference.low <= 0)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.025)


def test_of_many_topics_that_differ_by_the_judgments_errors_alone_both_questions_have_one_answer() -> None:
    rng = np.random.default_rng(4)
    topics = [standing({"a": a, "b": b}, sd=0.1) for a, b in rng.normal(0.5, 0.1, (2000, 2))]
    (judged,), (sampled,) = (Comparison(topics, over).differences() for over in ("judgments", "topics"))

    assert sampled.high - sampled.low == pytest.approx(judged.high - judged.low, rel=0.05)


def test_topics_without_known_errors_still_speak_for_topics_like_them() -> None:
    topics = [standing({"a": a, "b": b}, sd=float("nan")) for a, b in [(0.5, 0.42), (0.62, 0.6), (0.41, 0.3)]]
    assert Comparison(topics).differences()[0].p is None
    assert Comparison(topics, over="topics").differences()[0].p == pytest.approx(
        ttest_rel([0.5, 0.62, 0.41], [0.42, 0.6, 0.3]).pvalue
    )


def test_one_topic_given_twice_is_no_sample_of_topics() -> None:
    """t = .1 / .2 at one degree of freedom, where Student's distribution is Cauchy's."""
    topics = [standing({"a": 0.5, "b": 0.4}, sd=0.2), standing({"a": 0.5, "b": 0.4}, sd=0.2)]

    assert Comparison(topics, over="topics").differences()[0].p == pytest.approx(1 - 2 * np.arctan(0.5) / np.pi)
    assert Comparison(topics, over="topics").ranked()[0].se == pytest.approx(0.2 / 2**0.5)


def test_one_topic_says_nothing_about_other_topics() -> None:
    topic = [standing({"a": 0.5, "b": 0.1})]

    assert Comparison(topic, over="topics").ranked()[0].se is None
    assert Comparison(topic, over="topics").differences()[0].significant is None


def test_where_nothing_is_in_doubt_a_difference_is_sure() -> None:
    (sure,) = Comparison([standing({"a": 0.5, "b": 0.1}, sd=0.0)]).differences()
    (equal,) = Comparison([standing({"a": 0.5, "b": 0.5}, sd=0.0)]).differences()

    assert (sure.p, sure.significant) == (0.0, True)
    assert (equal.p, equal.significant) == (1.0, False)


def test_nothing_to_rank_gives_an_empty_ranking() -> None:
    assert Comparison([]).ranked() == ()
    assert Comparison([]).differences() == ()
    assert Comparison([standing({})]).ranked() == ()


@given(standings)
def test_a_rank_lies_in_its_range_and_the_order_is_that_of_the_scores(found: list[Standing]) -> None:
    for over in ("judgments", "topics"):
        ranking = Comparison(found, over).ranked()

        assert all(1 <= r.rank_low <= r.rank <= r.rank_high <= len(ranking) for r in ranking)
        assert all(x.score >= y.score - 1e-12 and x.rank <= y.rank for x, y in pairwise(ranking))


@given(standings)
def test_no_system_is_above_one_that_is_surely_better(found: list[Standing]) -> None:
    for over in ("judgments", "topics"):
        comparison = Comparison(found, over)
        ranks = {result.system: result for result in comparison.ranked()}
        for own in comparison.differences():
            if own.significant:
                assert ranks[own.better].rank < ranks[own.worse].rank
                assert ranks[own.worse].rank_low > 1


@given(standings, st.randoms(use_true_random=False))
def test_the_order_of_topics_and_systems_does_not_matter(found: list[Standing], random: object) -> None:
    shuffled = []
    for one in found:
        order = list(range(len(one.systems)))
        random.shuffle(order)  # type: ignore[attr-defined]
        systems = tuple(one.systems[i] for i in order)
        scores = tuple(one.scores[i] for i in order)
        matrix = tuple(tuple(one.covariance[i][j] for j in order) for i in order)
        shuffled.append(Standing(systems, scores, matrix, one.judgments))
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    for before, after in zip(Comparison(found).ranked(), Comparison(shuffled).ranked(), strict=True):
        assert (after.system, after.rank, after.topics) == (before.system, before.rank, before.topics)
        assert after.score == pytest.approx(before.score, abs=1e-12)
        assert (after.rank_low, after.rank_high) == (before.rank_low, before.rank_high)
