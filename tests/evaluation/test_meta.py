"""Whether a metric orders summaries as people do: small tables by hand, scipy, and the limits."""

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from evaluation.meta import correlation
from evaluation.meta.agreement import (
    COEFFICIENTS,
    agreement,
    compare,
    correlate,
    pairwise_accuracy,
    report,
    undefined_topics,
)
from evaluation.meta.correlation import Coefficient, without_dust
from evaluation.meta.resampling import Resamples

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


def test_a_report_holds_every_figure_within_its_interval_and_repeats_itself() -> None:
    rng = np.random.default_rng(1)
    human = rng.integers(1, 6, (12, 15)).astype(float)
    metric = human + rng.normal(size=human.shape)

    found = report("m", "s", human, metric, Resamples.drawn(12, 15, "both", 300, seed=5))

    assert found.agreement.low < found.agreement.value < found.agreement.high
    assert set(found.correlations) == {"summary", "system", "global"}
    for level in found.correlations.values():
        assert set(level) == {"pearson", "spearman", "kendall"}
        assert all(-1 <= one.low < one.high <= 1 for one in level.values())
    assert found == report("m", "s", human, metric, Resamples.drawn(12, 15, "both", 300, seed=5))
    assert found != report("m", "s", human, metric, Resamples.drawn(12, 15, "both", 300, seed=6))


def test_a_good_metric_is_better_than_noise_and_no_better_than_itself() -> None:
    rng = np.random.default_rng(2)
    human = rng.normal(size=(10, 1)) + rng.normal(size=(10, 12))
    good, noise = human + 0.3 * rng.normal(size=human.shape), rng.normal(size=human.shape)
    drawn = Resamples.drawn(10, 12, "topics", 200, seed=0)

    better = compare(("good", "noise"), human, good, noise, drawn, "both", draws=199, seed=0)
    same = compare(("good", "good"), human, good, good, drawn, "both", draws=199, seed=0)

    assert better.agreement.low > 0.2
    assert better.agreement_p == better.pearson_p == pytest.approx(0.005)
    assert better.williams_p < 0.05
    assert (same.agreement.value, same.agreement_p, same.pearson_p, same.williams_p) == (0, 1, 1, 1)


def test_metrics_are_compared_on_what_both_scored() -> None:
    rng = np.random.default_rng(3)
    human, a, b = rng.normal(size=(3, 6, 5))
    a[0, 0] = b[5, 4] = NAN
    shared = human.copy()
    shared[0, 0] = shared[5, 4] = NAN

    found = compare(("a", "b"), human, a, b, whole(human), "both", draws=9, seed=0)

    expected = [agreement(shared, one, whole(human)).mean[0] for one in (a, b)]
    assert found.agreement.value == pytest.approx(expected[0] - expected[1])
