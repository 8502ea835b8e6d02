"""Errors between annotators: what scores would be by others of the kind."""

from dataclasses import replace

import numpy as np
import pytest

from preferendum.evidence import Judgments, Settings
from preferendum.fit import preference_matrix
from preferendum.fit.chances import Chances
from preferendum.fit.similarity import KnownSimilarity
from preferendum.methods.analyses.metric_agreement.report import Sampling, dimension_agreement
from preferendum.results import AnnotatorShares, MetricDifference, Standing
from preferendum.scoring import covariance
from preferendum.scoring.between_annotators import Panel, squares_away
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.stopping import StopRule
from preferendum.work.scores import Scores

Vector = np.ndarray
WITHIN = 0.1


def topic(
    away: Vector, judged: Vector | None = None, names: tuple[str, ...] = (), scores: tuple[float, float] = (0.5, 0.1)
) -> Standing:
    """Two systems, of which annotators add `away` (g,) to the first, each their share of it."""
    judged = np.full(len(away), 1 / len(away)) if judged is None else judged
    added = np.outer(judged * away, [1.0, 0.0])
    shares = AnnotatorShares(names or tuple(map(str, range(len(away)))), tuple(judged.tolist()), added)
    half = WITHIN**2 / 2
    return Standing(("a", "b"), scores, ((half, 0.0), (0.0, half)), 100, shares)


def margin(standings: list[Standing]) -> float:
    (difference,) = Comparison(standings).differences()
    assert difference.high is not None
    return difference.high - difference.difference


def test_with_equal_shares_the_error_is_the_cluster_robust_one() -> None:
    away = np.array([2.0, -1.0, 0.5, -1.5, 0.0])
    own = (away - away.mean()) / 5
    robust = np.sqrt(5 / 4 * np.sum(own**2))
    assert margin([topic(away)]) == pytest.approx(2.776445 * robust)  # Student's t with 4 degrees of freedom
    assert margin([topic(away)] * 3) == pytest.approx(2.776445 * robust)  # a taste that holds in all topics stays


def test_annotators_who_agree_leave_the_errors_of_their_answers() -> None:
    """With as many degrees of freedom as were used to see that they agree."""
    assert margin([topic(np.full(20, 3.0))]) == pytest.approx(2.093024 * WITHIN)


@pytest.mark.parametrize("together", [20, 4, 2])
def test_a_known_spread_is_found_whoever_shares_topics(together: int) -> None:
    rng, spread, made = np.random.default_rng(together), 0.7, []
    for _ in range(300):
        tastes = spread * rng.standard_normal(20)
        standings = []
        for _topic in range(30):
            who = rng.choice(20, together, replace=False)
            judged = rng.dirichlet(np.full(together, 20.0))
            answered = tastes[who] + WITHIN * rng.standard_normal(together) / np.sqrt(judged)
            standings.append(topic(answered, judged, tuple(map(str, who))))
        found = Comparison(standings).ground.spread
        assert found is not None
        made.append(found**2)
    assert np.mean(made) == pytest.approx(spread**2, rel=0.1)


def test_nothing_is_known_of_one_annotator_of_nobody_or_of_those_who_share_no_topic() -> None:
    alone = topic(np.array([3.0]))
    unnamed = Standing(alone.systems, alone.scores, alone.covariance, 100)
    nearly_alone = topic(np.array([3.0, -3.0]), np.array([0.99, 0.01]))
    for standings, about in (([alone], "one"), ([unnamed], "one"), ([nearly_alone], "these")):
        ground = Comparison(standings).ground
        assert (ground.spread, ground.about) == (None, about)
        assert margin(standings) == pytest.approx(1.959964 * WITHIN)
    apart = Comparison([topic(np.array([1.0]), names=(name,)) for name in "abcdefgh"])
    assert (apart.ground.annotators, apart.ground.spread, apart.ground.about) == (8, None, "these")


def test_five_annotators_are_a_sample_of_their_kind_and_four_are_not() -> None:
    about = [Comparison([topic(np.arange(float(g)))]).ground.about for g in (2, 4, 5, 20)]
    assert about == ["these", "these", "kind", "kind"]
    dominated = np.array([0.9, *[0.02] * 5])
    assert Comparison([topic(np.arange(6.0), dominated)]).ground.about == "these"


def test_two_systems_that_one_taste_sets_apart_are_not_called_different() -> None:
    agreed, split = topic(np.full(6, 0.1)), topic(np.array([3.0, 2.5, 2.0, -2.0, -2.5, -3.0]))
    assert [difference.significant for difference in Comparison([agreed]).differences()] == [True]
    assert [difference.significant for difference in Comparison([split]).differences()] == [False]
    rule = StopRule(100)
    assert [difference.significant for difference in Comparison([split], stop_rule=rule).differences()] == [False]


def test_a_handful_of_judgments_is_not_tested() -> None:
    few = Standing(("a", "b"), (1.0, 0.0), ((1e-9, 0.0), (0.0, 1e-9)), 2)
    compared = Comparison([few])
    (difference,) = compared.differences()
    assert (difference.p, difference.significant, difference.verdict(0.1)) == (None, None, "early")
    assert [(system.rank_low, system.rank_high) for system in compared.ranked()] == [(1, 2), (1, 2)]
    assert "too early" in compared.ground.words


def test_topics_that_nobody_judged_change_nothing_for_those_that_annotators_did() -> None:
    judged = [topic(np.array([2.0, -1.0, 0.5])) for _topic in range(3)]
    unjudged = Standing(("a", "b", "c"), (0.0, 0.0, 0.0), np.full((3, 3), np.nan), 0)
    together = Comparison([*judged, unjudged])
    assert together.ground == Comparison(judged).ground
    pairs = {(pair.better, pair.worse): pair for pair in together.differences()}
    (alone,) = Comparison(judged).differences()
    assert (pairs["a", "b"].low, pairs["a", "b"].high) == (alone.low, alone.high)
    assert {pairs["a", "c"].p, pairs["b", "c"].p} == {None}


def test_topics_without_summaries_have_annotators_and_no_differences() -> None:
    shares = AnnotatorShares(("x", "y"), (0.5, 0.5), np.zeros((2, 0)))
    bare = Standing((), (), (), 100, shares)
    stored = covariance.unpack(covariance.pack(bare), {}, 100)
    for standing in (bare, stored):
        compared = Comparison([standing])
        assert (compared.differences(), compared.ground.annotators, compared.ground.spread) == ((), 2, None)
        assert "which takes several on the same topics and two systems" in compared.ground.words
    assert Comparison([bare, topic(np.arange(2.0), names=("x", "y"))]).ground.annotators == 2


def test_a_topic_without_summaries_adds_nothing_where_others_lack_some() -> None:
    bare = Standing((), (), (), 100, AnnotatorShares(("0", "1"), (0.5, 0.5), np.zeros((2, 0))))
    third = replace(topic(np.array([1.0, 0.5, -0.5])), systems=("b", "c"))
    gaps = [topic(np.array([2.0, -1.0, 0.5])), third]
    whole, more = Comparison(gaps), Comparison([*gaps, bare])
    assert [(own.score, own.rank) for own in more.ranked()] == [(own.score, own.rank) for own in whole.ranked()]
    assert [own.difference for own in more.differences()] == [own.difference for own in whole.differences()]


def test_shares_survive_being_stored() -> None:
    whole = topic(np.array([2.0, -1.0, 0.5]))
    kept = covariance.unpack(covariance.pack(whole), {"a": 0.5, "b": 0.1}, 100)
    assert margin([kept]) == margin([whole])
    assert covariance.unpack(covariance.pack(whole), {"b": 0.1}, 100).shares is not None


@pytest.mark.parametrize("design", [1.0, 1.5])
def test_what_annotators_add_is_what_judgments_add_to_the_fit(design: float) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(6, size=60)
    b = (a + rng.integers(1, 6, size=60)) % 6
    outcome = rng.choice([0.0, 0.5, 1.0], size=60)
    weights = np.where(np.arange(60) % 3 == 0, design, 1.0)
    judged = Judgments(a, b, outcome, rng.uniform(0.5, 1, 60), rng.integers(4, size=60), weights)
    found: Chances = preference_matrix.estimate(judged, 6, KnownSimilarity(np.eye(6)), Settings()).chances
    assert found.shares is not None
    assert found.shares.added.sum(axis=1) == pytest.approx(found.values - found.fitted)
    assert found.shares.judged.sum() == pytest.approx(1.0)


def test_the_inflation_of_one_topic_is_that_of_its_definition() -> None:
    share = np.random.default_rng(5).dirichlet(np.ones(40))
    apart = np.diag(share) - np.outer(share, share)
    panel = Panel(share[None], np.ones(1))
    assert panel.inflation == pytest.approx(share @ share / np.square(apart).sum(), rel=1e-12)
    assert Panel(np.ones((1, 1)), np.ones(1)).inflation == np.inf


def test_a_panel_without_topics_is_none() -> None:
    assert Panel.of([]) is None


def test_agreement_with_people_allows_for_annotators_who_differ() -> None:
    rng = np.random.default_rng(5)
    human = rng.normal(size=(8, 12))
    metric, other = human + rng.normal(size=human.shape), human + 4 * rng.normal(size=human.shape)
    away = np.array([1.0, 0.5, 0.2, -0.3, -0.6, -0.8])[:, None, None] * human

    def found(moved: dict[str, Vector]) -> MetricDifference:
        metrics = {"m": metric, "n": other}
        names = dict.fromkeys(metrics, "")
        systems, topics = (tuple(map(str, range(size))) for size in human.shape)
        scores = Scores(systems, topics, {"d": human}, metrics, names, (True,) * 8, without_each=moved)
        return dimension_agreement(scores, "d", Sampling(draws=200), with_differences=True).differences[0]

    alike, apart = found({"m": np.zeros_like(away)}), found({"m": away})
    assert None not in (alike.agreement.p, apart.agreement.p, alike.agreement.low, apart.agreement.low)
    assert apart.agreement.low < alike.agreement.low
    assert apart.agreement.p > alike.agreement.p
    two = found({"m": 3 * away[::5]})  # with one degree of freedom, Student's quantile alone is 12.7
    assert -1 <= two.agreement.low <= two.agreement.high <= 1
    assert -2 <= two.pearson.low <= two.pearson.high <= 2


def test_what_is_the_same_whoever_answers_is_not_taken_for_what_annotators_make():
    """Annotators whose answers leave as much as chance lets them add nothing to a variance, most of it of topics."""
    rng = np.random.default_rng(0)
    judged, variance, of_answers = np.full(10, 0.1), 1.0, 0.25
    ratios, tastes = [], []
    for _ in range(300):
        added = rng.normal(0, np.sqrt(of_answers * variance / 10), (10, 2))
        shares = AnnotatorShares(tuple(range(10)), tuple(judged), added, of_answers)
        standing = Standing(("A", "B"), (0.0, 0.0), variance * np.eye(2), 100, shares)
        panel = Panel.of([standing])
        assert panel is not None
        away = squares_away([standing], ("A", "B"), np.ones((1, 2)))[0, 1]
        ratios.append(panel.inflation * away / (2 * of_answers * variance))
        tastes.append(Comparison([standing])._tastes.ratio)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.05)
    assert tastes == pytest.approx(np.maximum(ratios, 1.0))


def test_two_annotators_have_intervals_and_no_verdicts() -> None:
    compared = Comparison([topic(np.array([1.0, 0.9]))])
    (difference,) = compared.differences()
    assert (difference.p, difference.significant) == (None, None)
    assert difference.low is not None
    assert (compared.ground.about, "three annotators or more" in compared.ground.words) == ("these", True)
    assert Comparison([topic(np.array([1.0, 0.9, 1.1]))]).differences()[0].significant is not None


def test_annotators_who_differ_in_one_way_leave_fewer_degrees_of_freedom_than_those_who_differ_in_many() -> None:
    rng = np.random.default_rng(0)
    systems, number = tuple("abcdefgh"), 10
    freedom = []
    for tastes in (np.outer(rng.standard_normal(number), rng.standard_normal(8)), rng.standard_normal((number, 8))):
        shares = AnnotatorShares(tuple(range(number)), (1 / number,) * number, tastes / number)
        standing = Standing(systems, (0.0,) * 8, 0.01 * np.eye(8), 100, shares)
        freedom.append(Comparison([standing])._tastes.freedom)
    assert freedom[0] == pytest.approx(number - 1, rel=0.2)
    assert freedom[1] > 3 * freedom[0]


def test_answers_that_name_nobody_are_remarked_on() -> None:
    one, nobody = topic(np.array([3.0])), Standing(("a", "b"), (0.5, 0.1), WITHIN**2 * np.eye(2), 100)
    assert "Not all answers say who gave them" in Comparison([nobody]).ground.words
    assert "do not say" not in Comparison([one]).ground.words
