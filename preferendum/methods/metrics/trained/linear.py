"""Scores as linear combinations of features, and how coefficients are learnt from human scores.

The three ways of CLASSY are P. Rankel, J. Conroy & J. Schlesinger, "Better metrics to automatically predict the quality
of a text summary", Algorithms 5(4), 2012, section 5. Matrices are X (m, f), one row a summary, and y (m,), all finite.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from preferendum.methods.metrics.trained.files import Linear

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def combined(linear: Linear, names: Sequence[str], values: Matrix) -> Vector:
    """(summaries,): the scores from features (summaries, f) of these names.

    What is not a number counts as the feature's mean, and without one makes the score not a number.
    """
    columns = [names.index(name) for name in linear.features]
    weights, means = np.array([*linear.features.values()], dtype=np.float64).T
    own = values[:, columns]
    return np.asarray(linear.intercept + np.where(np.isfinite(own), own, means) @ weights)


def least_squares(names: Sequence[str], X: Matrix, y: Vector) -> Linear:
    """On standardized features. Not a number in one counts as its mean; a feature that never varies tells nothing."""
    mean, sd = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    varies = sd > 1e-12 * np.maximum(np.abs(mean), 1)
    standardized = np.nan_to_num((X[:, varies] - mean[varies]) / sd[varies])
    design = np.column_stack([np.ones(len(X)), standardized])
    intercept, *weights = np.linalg.lstsq(design, y, rcond=None)[0]
    coefficients = np.zeros(len(names))
    coefficients[varies] = weights / sd[varies]
    features = zip(coefficients.tolist(), mean.tolist(), strict=True)
    return Linear(float(intercept - coefficients @ mean), dict(zip(names, features, strict=True)))
