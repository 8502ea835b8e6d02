"""The one Newton loop of all fits, on likelihoods whose maximum is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from preferendum.fit import newton


class LogCosh:
    """-sum log cosh(theta - centre): steep near its maximum at `centre`, straight far from it."""

    def __init__(self, centre: list[float], bounded: bool = True) -> None:
        self.centre = np.array(centre)
        self.bounded = bounded
        self.hessians = 0

    def gradient(self, theta: newton.Array) -> newton.Array:
        return -np.tanh(theta - self.centre)

    def residual(self, gradient: newton.Array) -> float:
        return float(np.abs(gradient).max())

    def largest_error(self, theta: newton.Array, gradient: newton.Array) -> float:
        return self.residual(gradient) if self.bounded else np.inf

    def inverse_hessian(self, theta: newton.Array) -> Callable[[newton.Array], newton.Array]:
        self.hessians += 1
        curvature = 1 - np.tanh(theta - self.centre) ** 2
        return lambda gradient: gradient / curvature


@pytest.mark.parametrize("start", [0.1, 1.1, 2.0, 5.0])
def test_steps_that_lead_beyond_the_maximum_are_halved(start: float) -> None:
    """From 1.09 on, whole steps would lead ever farther away."""
    solution = newton.solve(LogCosh([0.0]), np.array([start]), 1e-10, 100)
    assert solution.theta == pytest.approx([0.0], abs=1e-9)


def test_a_hessian_from_nearby_is_kept() -> None:
    equations = LogCosh([1.0, -2.0])
    solution = newton.solve(equations, np.array([1.01, -2.01]), 1e-12, 100)
    assert equations.hessians < solution.iterations
    assert solution.theta == pytest.approx([1.0, -2.0], abs=1e-11)


def test_where_no_error_is_bounded_the_residual_falls_as_far_as_it_goes() -> None:
    assert newton.solve(LogCosh([0.3], bounded=False), np.zeros(1), 1e-3, 100).residual <= 1e-16


def test_a_start_at_the_solution_needs_no_step() -> None:
    assert newton.solve(LogCosh([0.5]), np.array([0.5]), 1e-9, 100).iterations == 0


def test_a_gradient_that_is_no_number_never_passes_for_converged() -> None:
    with pytest.raises(newton.NotConverged, match="5 iterations"):
        newton.solve(LogCosh([np.nan]), np.zeros(1), 1e-9, 5)
