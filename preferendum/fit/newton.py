"""Newton's method for the equations that hold where a concave log-likelihood is greatest: the one loop of all fits.

The equations say gradient(theta) = 0. With H the negative Hessian a step is H^-1 gradient; it need not be exact, and H
is kept while that pays (a chord method): near the solution each step with an H from nearby leaves a small part of the
residual. Far from it a step may lead beyond the summit, where the gradient along the step points back: it is halved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: H is kept as long as a step leaves less than this of the residual.
KEEP = 0.01
#: Of the gradient along a step, how much may point back at its end.
BACK = 0.1


class NotConverged(ArithmeticError):
    """The equations do not hold after the last iteration that was allowed."""

    def __init__(self, residual: float, iterations: int) -> None:
        self.residual = residual
        self.iterations = iterations
        super().__init__(f"no convergence in {iterations} iterations: the largest residual is still {residual:.3g}")


class Equations(Protocol):
    """What `solve` needs of a model; theta and gradient are arrays of one shape.

    At its start `solve` computes the Hessian first, for it may hold what makes the gradient there cheap.
    """

    def gradient(self, theta: Array) -> Array:
        """The gradient of the log-likelihood."""

    def residual(self, gradient: Array) -> float:
        """How far the equations are from holding, in units of the model's own."""

    def largest_error(self, theta: Array, gradient: Array) -> float:
        """What the error of no element of theta exceeds, to first order; infinite where nothing bounds it."""

    def inverse_hessian(self, theta: Array) -> Callable[[Array], Array]:
        """gradient -> step: H^-1 gradient, or close to it."""


@dataclass(frozen=True, slots=True)
class Solution:
    """theta, its residual, and how many gradients were taken before the one that showed that it solves."""

    theta: Array
    residual: float
    iterations: int


def solve(equations: Equations, start: Array, tol: float, max_iterations: int) -> Solution:
    """The theta at which the residual is at most `tol` and every element is right to 10 `tol`.

    Where the second cannot be shown, the residual falls as far as floating point allows: until a step with a new H no
    longer halves it. Raises `NotConverged`.
    """
    inverse_hessian = equations.inverse_hessian(start)
    theta, step, slope = start, np.zeros_like(start), 0.0
    residual, renewed = np.inf, True
    for iteration in range(max_iterations + 1):
        gradient = equations.gradient(theta)
        if residual > tol and np.vdot(gradient, step) < -BACK * slope:
            step, slope = step / 2, slope / 2
            theta = theta - step
            continue
        before, residual = residual, equations.residual(gradient)
        exhausted = renewed and residual >= before / 2
        if residual <= tol and (exhausted or equations.largest_error(theta, gradient) <= 10 * tol):
            return Solution(theta, residual, iteration)
        renewed = not residual < KEEP * before
        if renewed:
            inverse_hessian = equations.inverse_hessian(theta)
        step = inverse_hessian(gradient)
        slope = float(np.vdot(gradient, step))
        theta = theta + step
    raise NotConverged(residual, max_iterations)
