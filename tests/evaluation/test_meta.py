"""Whether a metric orders summaries as people do: small tables by hand, scipy, and the limits."""

import math
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from preferendum.methods.analyses.metric_agreement.report import Sampling, dimension_agreement, metric_differences
from preferendum.methods.meta import correlation
from preferendum.methods.meta.agreement import (
    COEFFICIENTS,
    agreement,
    agreement_of_mixed,
    correlate,
    pairwise_accuracy,
    undefined_topics,
)
from preferendum.methods.meta.correlation import Coefficient, without_dust
from preferendum.methods.meta.resampling import Resamples
from preferendum.results import MetricAgreement, SignificantTopics
from preferendum.work.scores import Scores

Matrix = NDArray[np.float64]
NAN = math.nan
SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}

marks = st.sampled_from([1.0, 2.0, 3.0, 4.5])
matrices = arrays(np.float64, (4, 3), elements=marks | st.just(NAN))
rows = st.integers(2, 8).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=marks), arrays(float, n, elements=marks), arrays(int, n, elements=st.integers(0, 3))
    )
)


def whole(scores: Matrix) -> Resamples:
    return Resamples.whole(*scores.shape)


def by_scipy(kind: str, x: Matrix, y: Matrix) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return NAN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(SCIPY[kind](x, y).statistic)


@pytest.mark.parametrize("kind", COEFFICIENTS)
@given(rows)
def test_a_weight_is_how_often_an_item_was_drawn(kind: str, drawn: tuple[Matrix, Matrix, Matrix]) -> None:
    x, y, times = drawn

    found = COEFFICIENTS[kind](x[None], y[None], times[None].astype(float))[0]

    assert found == pytest.approx(by_scipy(kind, np.repeat(x, times), np.repeat(y, times)), nan_ok=True)


@pytest.mark.parametrize("coefficient", [correlation.spearman, correlation.kendall])
def test_more_items_than_a_table_of_pairs_holds_give_the_same(
    coefficient: Coefficient, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, (2, 1, 40)).astype(float)
    w = np.vstack([rng.integers(0, 3, (4, 40)), np.zeros((1, 40), int)]).astype(float)
    expected = coefficient(x, y, w)

    monkeypatch.setattr(correlation, "_ITEMS", 10)

    assert coefficient(x, y, w) == pytest.approx(expected, nan_ok=True)


def test_many_rows_are_worked_on_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(1, 6)), rng.integers(0, 3, (20, 6)).astype(float)
    y = rng.normal(size=(20, 6))
    expected = correlation.kendall(x, y, w)

    monkeypatch.setattr(correlation, "_CELLS", 100)

    assert correlation.kendall(x, y, w) == pytest.approx(expected, nan_ok=True)


def test_agreement_by_hand() -> None:
    """Topic 1: people order three of three pairs, the metric two alike and ties one: 2.5 / 3. Topic 2: people tie one
    pair; of the two others the metric orders one alike: 1 / 2."""
    human = np.array([[3.0, 2.0], [2.0, 2.0], [1.0, 1.0]])
    metric = np.array([[0.9, 0.1], [0.5, 0.3], [0.5, 0.2]])

    found = agreement(human, metric, whole(human))

    assert found.mean[0] == pytest.approx((2.5 / 3 + 1 / 2) / 2)
    assert found.pooled[0] == pytest.approx(3.5 / 5)


@given(matrices, matrices)
def test_agreement_is_counted_pair_by_pair(human: Matrix, metric: Matrix) -> None:
    shares, alike, ordered = [], 0.0, 0
    for h, m in zip(human.T, metric.T, strict=True):
        pairs = [
            (i, j) for i, j in combinations(range(4), 2) if np.isfinite(h[[i, j]] + m[[i, j]]).all() and h[i] != h[j]
        ]
        earned = sum(0.5 if m[i] == m[j] else (m[i] > m[j]) == (h[i] > h[j]) for i, j in pairs)
        shares += [earned / len(pairs)] if pairs else []
        alike, ordered = alike + earned, ordered + len(pairs)

    found = agreement(human, metric, whole(human))

    assert found.mean[0] == pytest.approx(np.mean(shares) if shares else NAN, nan_ok=True)
    assert found.pooled[0] == pytest.approx(alike / ordered if ordered else NAN, nan_ok=True)


@given(matrices, matrices, matrices, arrays(bool, (5, 4, 3)))
def test_the_agreement_of_mixed_metrics_is_that_of_the_mixture(
    human: Matrix, a: Matrix, b: Matrix, swapped: NDArray[np.bool_]
) -> None:
    present = np.isfinite(human + a + b)
    human, a, b = (np.where(present, scores, NAN) for scores in (human, a, b))
    expected = [agreement(human, np.where(mixture, b, a), whole(human)).mean[0] for mixture in swapped]

    assert agreement_of_mixed(human, a, b, swapped) == pytest.approx(expected, nan_ok=True)
    alike = [agreement(human, np.where(mixture, b, a), whole(human)).mean[0] for mixture in swapped[:, :, :1]]
    assert agreement_of_mixed(human, a, b, swapped[:, :, :1]) == pytest.approx(alike, nan_ok=True)


@given(matrices)
def test_people_agree_with_themselves_and_not_with_their_opposite(human: Matrix) -> None:
    for metric, expected in ((np.exp(human), 1.0), (-human, 0.0), (np.ones_like(human), 0.5)):
        found = agreement(human, metric, whole(human)).mean[0]
        assert math.isnan(found) or found == pytest.approx(expected)


@given(matrices, matrices, st.sampled_from(["pearson", "spearman", "kendall"]))
def test_correlations_at_each_level_are_scipys(human: Matrix, metric: Matrix, kind: str) -> None:
    both = np.isfinite(human) & np.isfinite(metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_topic = [by_scipy(kind, h[own], m[own]) for h, m, own in zip(human.T, metric.T, both.T, strict=True)]
        summary = np.nanmean(by_topic)
        means = [np.nanmean(np.where(both, scores, NAN), axis=1) for scores in (human, metric)]
    there = np.isfinite(means[0])
    system = by_scipy(kind, *(without_dust(mean[there]) for mean in means))
    everything = by_scipy(kind, human[both], metric[both])

    for level, expected in (("summary", summary), ("system", system), ("global", everything)):
        found = correlate(human, metric, level, COEFFICIENTS[kind], whole(human))[0]
        assert found == pytest.approx(expected, nan_ok=True, abs=1e-9), level


@given(matrices, matrices, st.integers(0, 100))
def test_a_resample_is_the_table_written_out(human: Matrix, metric: Matrix, seed: int) -> None:
    drawn = Resamples.drawn(*human.shape, "both", 1, seed)
    systems = np.repeat(np.arange(4), drawn.systems[0].astype(int))
    topics = np.repeat(np.arange(3), drawn.topics[0].astype(int))
    h, m = (scores[systems][:, topics] for scores in (human, metric))

    for level in ("summary", "system", "global"):
        assert correlate(human, metric, level, correlation.kendall, drawn) == pytest.approx(
            correlate(h, m, level, correlation.kendall, whole(h)), nan_ok=True
        )
    assert agreement(human, metric, drawn).mean == pytest.approx(agreement(h, m, whole(h)).mean, nan_ok=True)
    assert agreement(human, metric, drawn).pooled == pytest.approx(agreement(h, m, whole(h)).pooled, nan_ok=True)


def test_many_metrics_at_once_give_what_each_gives() -> None:
    rng = np.random.default_rng(0)
    human, metrics = rng.normal(size=(5, 4)), rng.normal(size=(3, 5, 4))
    metrics[1, 2, 3] = NAN

    for level in ("summary", "system", "global"):
        at_once = correlate(human, metrics, level, correlation.spearman, whole(human))
        assert at_once == pytest.approx(
            [correlate(human, one, level, correlation.spearman, whole(human))[0] for one in metrics]
        )
    assert agreement(human, metrics, whole(human)).mean == pytest.approx(
        [agreement(human, one, whole(human)).mean[0] for one in metrics]
    )


def test_sums_in_another_order_are_tied() -> None:
    human = np.array([[1.0], [2.0]])
    metric = np.array([[0.1 + 0.2], [0.3]])

    assert agreement(human, metric, whole(human)).mean[0] == 0.5
    assert without_dust(np.array([1e-300, 0.0, -0.1 - 0.2, NAN, 5e-324]))[2] == -0.3


def test_topics_without_spread_are_counted() -> None:
    human = np.array([[1.0, 2.0, 1.0, NAN], [2.0, 2.0, 3.0, 1.0]])
    metric = np.array([[1.0, 2.0, 0.1 + 0.2, 1.0], [2.0, 3.0, 0.3, 2.0]])

    assert undefined_topics(human, metric) == 3


def test_accuracy_with_ties_by_hand() -> None:
    """Six pairs: one tied by people and within .05 for the metric; of the five others it orders four alike."""
    human = np.array([[1.0], [2.0], [2.0], [3.0]])
    metric = np.array([[0.10], [0.30], [0.34], [0.32]])

    assert pairwise_accuracy(human, metric, epsilon=0.0).value == pytest.approx(4 / 6)
    calibrated = pairwise_accuracy(human, metric)
    assert (calibrated.value, calibrated.epsilon) == pytest.approx((4 / 6, 0.0))
    assert pairwise_accuracy(human, metric, epsilon=0.04).value == pytest.approx(4 / 6)


def test_a_threshold_is_found_where_people_see_no_difference() -> None:
    human = np.array([[1.0], [1.0], [1.0], [2.0]])
    metric = np.array([[0.10], [0.12], [0.11], [0.90]])

    found = pairwise_accuracy(human, metric)

    assert (found.value, found.epsilon) == pytest.approx((1.0, 0.02))


@given(matrices, matrices, st.floats(0, 5))
def test_no_threshold_does_better_than_the_calibrated_one(human: Matrix, metric: Matrix, epsilon: float) -> None:
    best = pairwise_accuracy(human, metric)
    other = pairwise_accuracy(human, metric, epsilon)

    assert math.isnan(best.value) or other.value <= best.value + 1e-12
    assert math.isnan(best.value) or pairwise_accuracy(human, metric, best.epsilon) == best


@given(matrices, matrices, st.sampled_from([0.0, 1.0, 1.5, 2.5]))
def test_accuracy_is_counted_pair_by_pair(human: Matrix, metric: Matrix, epsilon: float) -> None:
    shares = []
    for h, m in zip(human.T, metric.T, strict=True):
        own = np.flatnonzero(np.isfinite(h) & np.isfinite(m))
        right = [
            h[i] == h[j] if abs(m[i] - m[j]) <= epsilon else (h[i] - h[j]) * (m[i] - m[j]) > 0
            for i, j in combinations(own, 2)
        ]
        shares += [np.mean(right)] if right else []

    found = pairwise_accuracy(human, metric, epsilon).value

    assert found == pytest.approx(np.mean(shares) if shares else NAN, nan_ok=True)


def scores_of(human: Matrix, **metrics: Matrix) -> Scores:
    systems, topics = (tuple(map(str, range(n))) for n in human.shape)
    return Scores(systems, topics, {"overall": human}, metrics, dict.fromkeys(metrics, "s"), (True,) * len(systems))


def measured(human: Matrix, metric: Matrix, **sampling: Any) -> MetricAgreement:
    return dimension_agreement(scores_of(human, m=metric), "overall", Sampling(**sampling)).metrics[0]


def test_a_report_holds_every_figure_within_its_interval_and_repeats_itself() -> None:
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, (12, 15)).astype(float)
    metric = human + rng.normal(size=human.shape)

    report = measured(human, metric, draws=300, seed=5)

    assert report.agreement.low < report.agreement.value < report.agreement.high
    assert set(report.correlations) == {"summary", "system", "global"}
    for level in report.correlations.values():
        assert set(level) == {"pearson", "spearman", "kendall"}
        assert all(-1 <= figure.low < figure.high <= 1 for figure in level.values())
    assert report == measured(human, metric, draws=300, seed=5)
    assert report != measured(human, metric, draws=300, seed=6)


def test_a_correlation_that_no_resample_falls_below_has_no_interval() -> None:
    """Of three systems nearly on a line, all resamples are the three or two of them, whose correlation is 1."""
    human = np.tile([[3.0], [2.0], [1.0]], 4)
    found = measured(human, np.tile([[0.9], [0.7], [0.2]], 4), draws=300).correlations["system"]["pearson"]
    assert found.value == pytest.approx(0.970725)
    assert (found.low, found.high) == (None, None)


def test_without_draws_a_report_has_everything_but_intervals() -> None:
    rng = np.random.default_rng(1)
    human, metric, other = rng.normal(size=(3, 6, 5))
    scores = scores_of(human, metric=metric, other=other)

    quick, slow = (
        dimension_agreement(scores, "overall", Sampling(draws=draws), with_differences=True) for draws in (0, 50)
    )

    for soon, later in zip(quick.metrics, slow.metrics, strict=True):
        assert (soon.agreement.value, soon.agreement.low) == (later.agreement.value, None)
        assert (soon.topics, soon.significant) == (later.topics, later.significant)
    assert (quick.differences[0].agreement.p, quick.differences[0].agreement.low) == (None, None)
    assert quick.differences[0].williams_p == slow.differences[0].williams_p


# By R: cor.test on Anscombe's first quartet and on ratings with ties; p of the three, Pearson's interval by Fisher's z.
BY_R = [
    (
        ([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5], [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]),
        {"pearson": 0.00216962887307879, "spearman": 0.00208314484047869},
        (0.424391213393217, 0.950693253786561),
    ),
    (
        ([3, 2, 4, 3, 5, 2, 3, 4, 1, 3, 2, 4, 3, 3, 2, 5, 4, 3, 2, 3],
         [2, 2, 3, 3, 4, 2, 2, 4, 1, 2, 3, 3, 3, 2, 2, 4, 4, 2, 2, 2]),
        {"pearson": 1.063025927862e-05, "spearman": 6.59040475121588e-05, "kendall": 0.00032411102509282},
        (0.588085925566683, 0.925411908516338),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("data", "p", "interval"), BY_R)
def test_p_values_and_fishers_interval_are_those_of_r(
    data: tuple[list[float], list[float]], p: dict[str, float], interval: tuple[float, float]
) -> None:
    human, metric = (np.array([column], dtype=float).T for column in data)

    report = measured(human, metric, draws=0)

    systems = report.correlations["system"]["pearson"]
    assert (systems.fisher_low, systems.fisher_high) == pytest.approx(interval)
    assert {kind: report.topics[0].p[kind] for kind in p} == pytest.approx(p, rel=1e-6)


@pytest.mark.parametrize("y", [[1, 2, 3], [2, 1, 3, 5, 4], [1, 1, 2, 2, 3, 3]])
def test_of_few_items_spearmans_p_is_exact(y: list[int]) -> None:
    """Three in order are no more than one of three chances; Student's t would be sure."""
    x, z = np.arange(len(y), dtype=float), np.array(y, dtype=float)

    p = correlation.spearman_p_value(x, z, stats.spearmanr(x, z).statistic)

    exact = stats.permutation_test(
        (y,), lambda z: stats.spearmanr(x, z).statistic, permutation_type="pairings", n_resamples=np.inf
    )
    assert p == pytest.approx(exact.pvalue)
    assert p == pytest.approx(1 / 3) or len(y) > 3


def test_significant_topics_are_counted_with_their_range() -> None:
    """The first topic in order, the second almost, the third at random, the fourth without any difference."""
    human = np.tile(np.arange(8.0)[:, None], (1, 4))
    metric = np.column_stack([np.arange(8.0), [0, 1, 2, 3, 4, 5, 7, 6], [2, 0, 5, 1, 7, 4, 3, 6], np.zeros(8)])

    significant = measured(human, metric, draws=0).significant["spearman"]

    assert significant == SignificantTopics(3, 2, 2 / 3, pytest.approx(41 / 42), pytest.approx(1.0))


def test_a_dimension_has_the_topics_where_people_gave_scores_in_it() -> None:
    human = np.array([[1.0, NAN], [2.0, NAN], [NAN, NAN]])
    scores = Scores(
        *(("a", "b", "c"), ("t", "u"), {"overall": human}, {"m": np.array([[1.0, 5], [2, 6], [NAN, 7]])}, {"m": "s"}),
        machines=(True, True, False),
    )

    kept = scores.judged("overall")

    assert (kept.systems, kept.topics, kept.machines) == (("a", "b"), ("t",), (True, True))


def test_a_good_metric_is_better_than_noise_and_no_better_than_itself() -> None:
    rng = np.random.default_rng(2)
    human = rng.normal(size=(10, 1)) + rng.normal(size=(10, 12))
    good, noise = human + 0.3 * rng.normal(size=human.shape), rng.normal(size=human.shape)
    scores = scores_of(human, good=good, noise=noise, again=good)

    better, same = metric_differences(
        scores, "overall", Resamples.drawn(10, 12, "topics", 200, seed=0), Sampling("both", draws=199)
    )

    assert better.agreement.low > 0.2
    assert better.agreement.p == better.pearson.p == pytest.approx(0.005)
    assert better.agreement.holm == pytest.approx(0.01)
    assert better.williams_p < 0.05
    assert (same.agreement.value, same.agreement.p, same.pearson.p, same.williams_p) == (0, 1, 1, 1)


def test_metrics_are_compared_on_what_both_scored() -> None:
    rng = np.random.default_rng(3)
    human, a, b = rng.normal(size=(3, 6, 5))
    a[0, 0] = b[5, 4] = NAN
    shared = human.copy()
    shared[0, 0] = shared[5, 4] = NAN

    (difference,) = metric_differences(scores_of(human, a=a, b=b), "overall", whole(human), Sampling(draws=9))

    expected = [agreement(shared, metric, whole(human)).mean[0] for metric in (a, b)]
    assert difference.agreement.value == pytest.approx(expected[0] - expected[1])
