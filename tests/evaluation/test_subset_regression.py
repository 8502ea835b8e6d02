"""Robust, non-negative and canonical regression: R's and MATLAB's figures, scipy's, symmetries, and a known truth."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from preferendum.methods.training import subset_regression
from preferendum.methods.training.subset_regression import (
    METHODS,
    Examples,
    NotConverged,
    are_determined,
    canonical,
    non_negative,
    robust,
)

FIGURES = json.loads((Path(__file__).parent.parent / "data" / "regression.json").read_text())
A, b, b2 = (np.array(FIGURES[name]) for name in ("A", "b", "b2"))
ALL = np.array([[0, 1, 2]])


def some(seed: int = 0, rows: int = 80, features: int = 4) -> Examples:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features)) * [1, 10, 0.1, 3][:features] + [0, 5, 2, -7][:features]
    y = X[:, 0] - 0.2 * X[:, 1] + rng.standard_t(2, size=rows)
    return Examples(X, np.column_stack([y, X[:, 2] + rng.normal(size=rows)]), 0)


@pytest.mark.parametrize(("excluded", "name"), [(0, "paper"), (-1, "matlab")])
def test_robust_regression_is_robustfit(excluded: int, name: str) -> None:
    (found,) = robust(Examples(A, b2[:, None], 0), ALL, excluded=excluded)

    assert found == pytest.approx(FIGURES["robust"][name], rel=1e-8)


def test_non_negative_least_squares_are_those_of_r_with_the_signs_of_correlations() -> None:
    (found,) = non_negative(Examples(A, b[:, None], 0), ALL)

    signs = [np.sign(np.corrcoef(column, b)[0, 1]) for column in A.T]
    assert found[0] == 0
    assert found[1:] * signs == pytest.approx(FIGURES["nnls"], rel=1e-8, abs=1e-8)


def test_canonical_correlation_is_that_of_r_turned_to_the_target_and_of_variance_1() -> None:
    human = np.column_stack([b, b2])

    ((intercept, *weights),) = canonical(Examples(A, human, 0), ALL)

    assert -np.array(weights) == pytest.approx(np.sqrt(30) * np.array(FIGURES["cancor_xcoef"]), rel=1e-8)
    scores = intercept + A @ weights
    basis = np.linalg.qr(np.column_stack([np.ones(31), human]))[0]
    fitted = basis @ (basis.T @ scores)
    assert np.corrcoef(scores, fitted)[0, 1] == pytest.approx(FIGURES["cancor"][0], abs=1e-10)
    assert (scores.mean(), scores.std(ddof=1)) == pytest.approx((0, 1), abs=1e-9)
    (turned,) = canonical(Examples(A, -human, 0), ALL)
    assert turned == pytest.approx(-np.array([intercept, *weights]))


def test_with_one_human_score_canonical_correlation_is_least_squares() -> None:
    (found,) = canonical(Examples(A, b[:, None], 0), ALL)

    least = np.linalg.lstsq(np.column_stack([np.ones(31), A]), b, rcond=None)[0]
    assert found[1:] / found[1] == pytest.approx(least[1:] / least[1])


@pytest.mark.parametrize("name", METHODS)
def test_many_subsets_at_once_are_each_by_itself(name: str) -> None:
    examples, columns = some(), np.array(list(combinations(range(4), 2)))

    together = METHODS[name](examples, columns)

    for row, own in zip(together, columns, strict=True):
        alone = Examples(examples.X[:, own], examples.human, 0)
        (expected,) = METHODS[name](alone, np.array([[0, 1]]))
        assert row[[0, *(own + 1)]] == pytest.approx(expected, rel=1e-8, abs=1e-9)
        assert not np.delete(row, [0, *(own + 1)]).any()


def test_subsets_in_small_portions_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    examples, columns = some(), np.array(list(combinations(range(4), 3)))
    whole = robust(examples, columns)

    monkeypatch.setattr(subset_regression, "AT_ONCE", 1)

    assert robust(examples, columns) == pytest.approx(whole, rel=1e-9)


def test_non_negative_least_squares_are_scipys_on_all_rows() -> None:
    examples = some(3)
    (found,) = non_negative(examples, np.array([[0, 1, 2, 3]]))

    signs = np.sign([np.corrcoef(column, examples.y)[0, 1] for column in examples.X.T])
    expected = optimize.nnls(examples.X * signs, examples.y)[0]
    assert found[1:] * signs == pytest.approx(expected, abs=1e-9)


def test_units_of_features_and_scores_change_no_prediction_of_robust_regression() -> None:
    examples, columns = some(1), np.array([[0, 1, 3]])
    scaled = Examples(examples.X * [1e3, 1e-3, 1, 7] + 5, examples.human * 12 - 4, 0)

    (plain,), (other,) = robust(examples, columns), robust(scaled, columns)

    predicted = plain[0] + examples.X @ plain[1:]
    assert other[0] + scaled.X @ other[1:] == pytest.approx(12 * predicted - 4, rel=1e-7)


def test_robust_regression_recovers_a_line_through_a_third_of_nonsense() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2))
    y = 3 + X @ [2, -1]
    y[:30] += rng.uniform(20, 80, 30)

    (found,) = robust(Examples(X, y[:, None], 0), np.array([[0, 1]]))

    assert found == pytest.approx([3, 2, -1], abs=1e-4)


def test_what_does_not_settle_is_told_unless_a_rough_answer_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subset_regression, "MOST_ROUNDS", 1)

    with pytest.raises(NotConverged, match="did not settle in 1 rounds"):
        robust(some(), np.array([[0, 1]]))
    assert np.isfinite(robust(some(), np.array([[0, 1]]), 1e-4)).all()


def test_subsets_that_say_no_more_than_smaller_ones_are_passed_over() -> None:
    X = some().X
    wide = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(len(X), 7.0)])
    columns = np.array([[0, 1, 2], [0, 1, 4], [0, 2, 5], [0, 2, 4]])

    assert are_determined(wide, columns).tolist() == [True, False, False, True]
    assert not are_determined(wide[:4], columns[:1]).any()
