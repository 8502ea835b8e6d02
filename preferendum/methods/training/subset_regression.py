"""How human scores are learnt from features, by many subsets of these at once: the three ways of CLASSY.

P. Rankel, J. Conroy & J. Schlesinger, "Better metrics to automatically predict the quality of a text summary",
Algorithms 5(4), 2012, section 5. Subsets are given as `columns` (s, k): which of the f features each of s subsets has,
all of one size. Coefficients come as (s, 1 + f): the intercept first, 0 for features that a subset lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Columns = NDArray[np.int64]

TUNING = 4.685
MOST_ROUNDS = 200
#: By how much of the largest one coefficients of standardized features still change in the last round.
SETTLED = 1e-10
#: Numbers in memory at once, of one matrix of subsets and summaries.
AT_ONCE = 2_000_000


class NotConverged(ArithmeticError):
    """Robust regression went on changing."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Summaries by rows: features X (m, f) and human scores (m, d), all finite; column `target` is to be predicted."""

    X: Matrix
    human: Matrix
    target: int

    @property
    def y(self) -> Vector:
        return self.human[:, self.target]


class Method(Protocol):
    """`tolerance`: how exact coefficients must be, where they are approached step by step; None: as they can be."""

    def __call__(self, examples: Examples, columns: Columns, tolerance: float | None = None) -> Matrix: ...


def robust(examples: Examples, columns: Columns, tolerance: float | None = None, excluded: int = 0) -> Matrix:
    """Iteratively reweighted least squares with an intercept.

    With residuals r and leverages h, the scale s is the median of |r| / sqrt(1 - h), without the smallest as many as
    there are coefficients, over .6745; a summary's weight is (1 - u^2)^2 with u = r / (4.685 s sqrt(1 - h)), or 0 where
    |u| >= 1. `excluded` is added to the number of the smallest (-1: as MATLAB's robustfit). Raises `NotConverged` after
    200 rounds; not if a `tolerance` says how little coefficients of standardized features may still change.
    """
    size = max(AT_ONCE // len(examples.X), 1)
    parts = [columns[start : start + size] for start in range(0, len(columns), size)]
    design = _Design(examples.X, examples.y)
    return np.concatenate([design.robust(part, tolerance, part.shape[1] + 1 + excluded) for part in parts])


def non_negative(examples: Examples, columns: Columns, tolerance: float | None = None) -> Matrix:
    """Least squares without an intercept, each coefficient of the sign of its feature's correlation with the scores."""
    centred = examples.X - examples.X.mean(axis=0)
    signs = np.where(centred.T @ (examples.y - examples.y.mean()) < 0, -1.0, 1.0)
    # |Ax - b| = |R x - z| for every choice of A's columns.
    triangle: Matrix = np.asarray(np.linalg.qr(np.column_stack([examples.X * signs, examples.y]), mode="r"))
    A, b = triangle[:, :-1], triangle[:, -1]
    weights = np.array([scipy.optimize.nnls(A[:, chosen], b)[0] for chosen in columns])
    coefficients = _spread(weights, columns + 1, 1 + len(signs))
    coefficients[:, 1:] *= signs
    return coefficients


def canonical(examples: Examples, columns: Columns, tolerance: float | None = None) -> Matrix:
    """The combination of features that correlates most with any combination of all human scores.

    Of variance 1, and turned to where it rises with the scores that are to be predicted.
    """
    mean = examples.X.mean(axis=0)
    Q, R = np.linalg.qr(examples.X - mean)
    own, human = R[:, columns].transpose(1, 0, 2), examples.human - examples.human.mean(axis=0)
    U, singular, Vt = np.linalg.svd(own, full_matrices=False)
    left, *_rest = np.linalg.svd(U.transpose(0, 2, 1) @ (Q.T @ _basis(human)), full_matrices=False)
    weights = Vt.transpose(0, 2, 1) @ (left[:, :, :1] / singular[:, :, None])
    rises = (own @ weights)[:, :, 0] @ (Q.T @ human[:, examples.target])
    weights = weights[:, :, 0] * np.where(rises < 0, -1, 1)[:, None] * np.sqrt(len(examples.X) - 1)
    coefficients = _spread(weights, columns + 1, 1 + len(mean))
    coefficients[:, 0] = -coefficients[:, 1:] @ mean
    return coefficients


METHODS: Mapping[str, Method] = {"robust": robust, "nnls": non_negative, "canon": canonical}


def are_determined(X: Matrix, columns: Columns) -> NDArray[np.bool_]:
    """(s,): whether no feature of the subset is constant, or a combination of the others: a smaller subset says as
    much."""
    sd = X.std(axis=0)
    varies = sd > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1)
    standardized = (X - X.mean(axis=0)) / np.where(varies, sd, 1)
    correlations = standardized.T @ standardized / len(X)
    smallest = np.linalg.eigvalsh(correlations[columns[:, :, None], columns[:, None, :]])[:, 0]
    return np.asarray(varies[columns].all(axis=1) & (smallest > 1e-8) & (len(X) > columns.shape[1] + 1))


class _Design:
    """A column of ones with standardized features, and the products of every two columns: weighted sums of these, one
    matrix product for all subsets, are the normal equations of each."""

    def __init__(self, X: Matrix, y: Vector) -> None:
        self.mean, sd = X.mean(axis=0), X.std(axis=0)
        self.sd = np.where(sd > 0, sd, 1)
        self.y = y
        self.D = np.column_stack([np.ones(len(X)), (X - self.mean) / self.sd])
        self.first, self.second = np.triu_indices(self.D.shape[1])
        self.products = self.D[:, self.first] * self.D[:, self.second]

    def robust(self, columns: Columns, tolerance: float | None, smallest: int) -> Matrix:
        chosen = np.column_stack([np.zeros(len(columns), dtype=np.int64), columns + 1])
        equal = np.ones((len(chosen), len(self.y)))
        larger = 1 / np.sqrt(1 - np.minimum(self.leverages(chosen), 0.9999))
        tiny = 1e-6 * float(self.y.std(ddof=1)) or 1.0
        coefficients, moving = self.weighted(equal, chosen), np.arange(len(chosen))
        for _round in range(MOST_ROUNDS):
            residuals = (self.y - coefficients[moving] @ self.D.T) * larger[moving]
            scale = np.maximum(_median_of_largest(np.abs(residuals), smallest) / 0.6745, tiny)
            u = residuals / (TUNING * scale[:, None])
            changed = self.weighted(np.where(np.abs(u) < 1, (1 - u**2) ** 2, 0.0), chosen[moving])
            step = np.abs(changed - coefficients[moving]).max(axis=1) / np.abs(changed).max(axis=1)
            coefficients[moving] = changed
            moving = moving[step > (tolerance or SETTLED)]
            if not len(moving):
                break
        else:
            if tolerance is None:
                raise NotConverged(f"robust regression did not settle in {MOST_ROUNDS} rounds")
        coefficients[:, 1:] /= self.sd
        coefficients[:, 0] -= coefficients[:, 1:] @ self.mean
        return coefficients

    def weighted(self, weights: Matrix, chosen: Columns) -> Matrix:
        """(s, 1 + f): least squares, each subset with its own weights (s, m)."""
        right = np.take_along_axis((weights * self.y) @ self.D, chosen, axis=1)
        # Weights of 0 may leave fewer summaries than coefficients: nothing is divided by 0 then.
        grams = self._grams(weights @ self.products, chosen) + 1e-13 * len(self.y) * np.eye(chosen.shape[1])
        solved = np.linalg.solve(grams, right[:, :, None])[:, :, 0]
        return _spread(solved, chosen, self.D.shape[1])

    def leverages(self, chosen: Columns) -> Matrix:
        """(s, m): of ordinary least squares."""
        total = np.broadcast_to(self.products.sum(axis=0), (len(chosen), len(self.first)))
        inverse = np.zeros((len(chosen), self.D.shape[1], self.D.shape[1]))
        inverse[_blocks(chosen)] = np.linalg.inv(self._grams(total, chosen))
        twice = np.where(self.first == self.second, 1, 2)
        return np.asarray((inverse[:, self.first, self.second] * twice) @ self.products.T)

    def _grams(self, sums: Matrix, chosen: Columns) -> Matrix:
        """(s, k, k): of each subset's columns, from the weighted sums of all products."""
        whole = np.empty((len(sums), self.D.shape[1], self.D.shape[1]))
        whole[:, self.first, self.second] = whole[:, self.second, self.first] = sums
        return whole[_blocks(chosen)]


def _blocks(chosen: Columns) -> tuple[Columns, Columns, Columns]:
    """What picks of each of s matrices the rows and columns of its subset."""
    return np.arange(len(chosen))[:, None, None], chosen[:, :, None], chosen[:, None, :]


def _median_of_largest(values: Matrix, excluded: int) -> Vector:
    """(s,): of each row, the median without so many of its smallest values."""
    m = values.shape[1]
    start = min(max(excluded, 0), m - 1)
    low, high = start + (m - start - 1) // 2, start + (m - start) // 2
    ordered = np.partition(values, (low, high), axis=1)
    return np.asarray((ordered[:, low] + ordered[:, high]) / 2)


def _spread(values: Matrix, columns: Columns, width: int) -> Matrix:
    """(s, width): each subset's values in its columns, 0 elsewhere."""
    wide = np.zeros((len(columns), width))
    np.put_along_axis(wide, columns, values, axis=1)
    return wide


def _basis(centred: Matrix) -> Matrix:
    """An orthonormal one of the columns' space."""
    U, singular, _Vt = np.linalg.svd(centred, full_matrices=False)
    return np.asarray(U[:, singular > 1e-9 * singular[0]])
