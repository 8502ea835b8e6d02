"""Bradley and Terry's model with random effects, of the summaries of all topics at once (docs/model.md).

The summary of system i in topic t is preferred to that of system j with probability 1 / (1 + exp(theta_tj - theta_ti)),

    theta_ti = alpha_i + delta_ti,    alpha_i ~ N(0, s_a^2),    delta_ti ~ N(0, s_d^2).

That is a prior of theta as in `preferendum.fit.kernel`, with covariance s_a^2 between the summaries of a system, and
s_d^2 more of each with itself. A tie is half a win each way. With z = (alpha / s_a, delta / s_d), theta = S z and
g = wins observed - wins expected, the mode solves S'g = z, and the negative Hessian there is I + S'LS, with L = D'WD
the Laplacian of the pairs under their curvatures W. Once alpha is given it falls into topics, so that with
A_t = (I + s_d^2 L_t)^-1, of those summaries of topic t that answers are about,

    precision of alpha       P = I / s_a^2 + sum_t A_t L_t,    each topic's part added at its summaries' systems
    covariance of theta_t    s_d^2 A_t + A_t V_t A_t,          V_t being P^-1 at its summaries' systems

and of the covariance of alpha P^-1 (sum_t A_t L_t A_t) P^-1 is due to answers.

What machines judged may be borrowed (`preferendum.scoring.helped`): alpha_i = u_i + sum_c B_ic g_c and theta_ti =
alpha_i + sum_c z_tic h_c + delta_ti, with u_i ~ N(0, v_i) in place of the prior above, and g and h ~ N(0, 1): two
columns more for each machine, X = [systems, B, z], and P = diag(1 / v, 1) + sum_t X_t' A_t L_t X_t.

The variances are those of greatest evidence, with a weak prior of their own. Without a prior of theta and within one
topic the model is Zermelo's (`preferendum.fit.zermelo`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from preferendum.fit import newton
from preferendum.fit.comparisons import Matrix, Vector
from preferendum.fit.kernel import Pairs, expected, totals
from preferendum.fit.threads import on_one_thread

Places = NDArray[np.int64]

#: The logarithms of the variances have normal priors around these, so that a handful of answers, which say nothing of
#: them, makes nobody sure that all systems are equal.
USUAL_SYSTEM, USUAL_ITEM = 1.0, 0.5
LOG_VARIANCE_SPREAD = 1.5
#: Variances are sought within e to plus or minus this times the usual ones.
FARTHEST_LOG = 7.0
#: Steps are as long as their longest part, where a logarithm of a variance counts for so many differences. The search
#: ends with one of `TOLERANCE`; longer ones than `NEAR` are halved, since whole ones might go to and fro for ever.
LOG_WEIGHT, TOLERANCE, NEAR = 10.0, 1e-7, 10.0
#: So many steps are mixed with the last one.
MIXED, MOST_STEPS = 5, 200
#: The evidence is that of at most so many summaries, in so many topics at least: enough for two numbers.
ITEMS_FOR_EVIDENCE, TOPICS_FOR_EVIDENCE = 1500, 5
#: Systems are fitted under a prior so many times as wide as they are thought to differ: it keeps systems with few
#: answers from infinity, and draws the others hardly together. (With 1, intervals of few systems cover 92 %.)
BROADER = 4.0
#: From so many summaries of a topic on it pays to keep those apart that were compared least, as long as these are such
#: a share of all.
MANY, LEAST_APART = 500, 0.2
#: How exactly conjugate gradients solve for a step.
FORCING = 1e-4


class Variances(NamedTuple):
    """s_a^2, of systems, and s_d^2, of their summaries' deviations."""

    system: float
    item: float


@dataclass(frozen=True, slots=True)
class Items:
    """Summaries that answers are about, topic by topic: `system`, `topic` (n,) of each, of so many `systems`; and the
    answers as `pairs` of them, each two of one topic."""

    systems: int
    system: Places
    topic: Places
    pairs: Pairs

    @classmethod
    def of(cls, systems: int, topic: Places, first: Places, second: Places, won: Vector, lost: Vector) -> Items:
        """The items of answers (m,) about two systems' summaries of a topic, with the weights of wins either way."""
        numbers, place = np.unique(
            np.concatenate([topic * systems + first, topic * systems + second]), return_inverse=True
        )
        n, (a, b) = len(numbers), place.reshape(2, -1)
        wins = sparse.coo_array((np.concatenate([won, lost]), (np.r_[a, b], np.r_[b, a])), shape=(n, n))
        return cls(systems, numbers % max(systems, 1), numbers // max(systems, 1), Pairs.of(wins.tocsr()))

    def __len__(self) -> int:
        return len(self.system)

    def by_topic(self) -> Iterator[tuple[int, slice, slice]]:
        """Each topic, with its places among the summaries and among the pairs."""
        topics, starts = np.unique(self.topic, return_index=True)
        bounds = np.append(starts, len(self))
        of_pairs = np.searchsorted(self.pairs.first, bounds)
        for k, topic in enumerate(topics.tolist()):
            yield topic, slice(int(bounds[k]), int(bounds[k + 1])), slice(int(of_pairs[k]), int(of_pairs[k + 1]))

    def some(self, most: int, topics: int) -> Items:
        """About so many at most, of evenly chosen topics (not fewer than so many) and, if need be, systems."""
        if len(self) <= most:
            return self
        share = most / len(self)
        number = len(np.unique(self.topic))
        kept = np.isin(self.topic, _evenly(self.topic, max(round(share * number), topics)))
        share = most / max(int(kept.sum()), 1)
        if share < 1:
            kept &= np.isin(self.system, _evenly(self.system, round(share * self.systems)))
        pairs = self.pairs
        own = kept[pairs.first] & kept[pairs.second]
        topic, system = self.topic[pairs.first[own]], np.unique(self.system[kept], return_inverse=True)[1]
        place = np.zeros(len(self), dtype=np.int64)
        place[kept] = system
        first, second = place[pairs.first[own]], place[pairs.second[own]]
        return Items.of(int(system.max()) + 1, topic, first, second, pairs.wins[own], pairs.losses[own])


def _evenly(places: Places, number: int) -> Places:
    every = np.unique(places)
    return every[np.linspace(0, len(every) - 1, min(number, len(every))).round().astype(np.int64)]


@dataclass(frozen=True, slots=True)
class Borrowed:
    """What machines say beforehand: `variances` (s,), v; `of_systems` (s, c), B; `of_summaries` (topics, s, c), z;
    `between` (c, c): the covariance of z_ti - z_tj over all pairs."""

    variances: Vector
    of_systems: Matrix
    of_summaries: Matrix
    between: Matrix

    def columns(self, items: Items) -> Matrix:
        """B and z of each item (n, 2 c)."""
        return np.hstack([self.of_systems[items.system], self.of_summaries[items.topic, items.system]])


@dataclass(frozen=True, slots=True)
class Parts:
    """A of many summaries, most of them compared with few others: diag(`alone`) + J C J'. Those that were never
    compared with each other hang on the rest alone, by J (n, k); C (k, k), of the rest, may be in parts again."""

    alone: Vector
    J: sparse.csr_array
    C: Matrix | Parts
    __array_ufunc__ = None

    def __matmul__(self, X: Matrix) -> Matrix:
        product = np.asarray(self.J @ (self.C @ (self.J.T @ X)))
        product += (self.alone * X.T).T
        return product

    def __rmatmul__(self, X: Matrix) -> Matrix:
        return np.asarray((self @ X.T).T)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Matrix:
        return self @ np.identity(len(self.alone))

    def split(self) -> tuple[sparse.csr_array, Matrix]:
        """S (n, n), B (n, r) with A = S + B B'."""
        alone = sparse.diags_array(self.alone).tocsr()
        if not isinstance(self.C, Parts):
            return alone, self.J @ linalg.cholesky(self.C, lower=True, check_finite=False)
        S, B = self.C.split()
        return sparse.csr_array(alone + self.J @ S @ self.J.T), self.J @ B


@dataclass(frozen=True, slots=True)
class TopicItems:
    """A topic that answers are about: its places among the summaries, `items`, and among the pairs; the `systems` (n,)
    of the summaries, and A (n, n)."""

    topic: int
    items: slice
    pairs: slice
    systems: Places
    A: Matrix | Parts
    log_det: float
    variance: float

    @property
    def precision(self) -> Matrix:
        """(n, n): A L = (I - A) / s_d^2, of the alpha of its systems."""
        return np.asarray((np.identity(len(self.systems)) - np.asarray(self.A)) / self.variance)

    def covariance(self, alpha: Matrix) -> Matrix:
        """(n, n): of theta, from that of alpha (s, s)."""
        shared: Matrix = self.A @ alpha[np.ix_(self.systems, self.systems)] @ self.A
        return self.variance * np.asarray(self.A) + shared


@dataclass(frozen=True, slots=True)
class Effects:
    """The mode, `alpha` (s,) and `theta` (n,) of the summaries that answers are about; `covariance` (s, s) of alpha,
    and `of_answers` (s, s): of it, what answers add; the rest is of topics.

    `residual`: the largest |S'g - z|; `iterations`: Newton's; `log_evidence`: by Laplace's method, without the constant
    that answers alone decide. `coefficients` (2 c,): g and h of what is `borrowed`; `joint`: the covariance of u, g, h.
    """

    items: Items
    variances: Variances
    alpha: Vector
    theta: Vector
    covariance: Matrix
    of_answers: Matrix
    residual: float
    iterations: int
    log_evidence: float
    coefficients: Vector
    joint: Matrix
    borrowed: Borrowed | None = None

    @property
    def deviations(self) -> Vector:
        """delta (n,)."""
        own = self.theta - self.alpha[self.items.system]
        if self.borrowed is None:
            return own
        z = self.borrowed.of_summaries[self.items.topic, self.items.system]
        return np.asarray(own - z @ self.coefficients[z.shape[1] :])

    @property
    def between_summaries(self) -> float:
        """The variance of the difference of two summaries' theta, apart from their systems."""
        if self.borrowed is None:
            return 2 * self.variances.item
        h = self.coefficients[len(self.borrowed.between) :]
        return float(2 * self.variances.item + h @ self.borrowed.between @ h)

    def expected(self, topic: int, systems: Places) -> tuple[Vector, Matrix]:
        """theta of some systems' summaries in a topic but for delta, and its covariance."""
        if self.borrowed is None:
            return self.alpha[systems].copy(), self.covariance[np.ix_(systems, systems)]
        s, z = len(self.alpha), self.borrowed.of_summaries[topic, systems]
        X = np.hstack([np.identity(s)[systems], self.borrowed.of_systems[systems], z])
        return self.alpha[systems] + z @ self.coefficients[z.shape[1] :], X @ self.joint @ X.T

    def topics(self) -> Iterator[TopicItems]:
        """Worked out one after the other, since all of them may be too large to keep."""
        return _topics(self.items, self.variances, self.items.pairs.scores(self.theta)[1])


@on_one_thread
def fit(
    items: Items,
    variances: Variances | None = None,
    tol: float = 1e-9,
    max_iterations: int = 100,
    borrowed: Borrowed | None = None,
    near: Effects | None = None,
) -> Effects:
    """Find the effects of greatest posterior density; the prior of alpha is `BROADER`, or what is borrowed.

    Raises `newton.NotConverged`.

    Parameters
    ----------
    items : the summaries and their answers
    variances : the likeliest if not given
    tol, max_iterations : of Newton's method
    borrowed : what machines say of systems and summaries
    near : the effects under another `borrowed.variances`, from which the search starts
    """
    chosen = variances or likely_variances(items)
    s = items.systems
    own = np.full(s, BROADER * chosen.system) if borrowed is None else borrowed.variances
    columns = np.zeros((len(items), 0)) if borrowed is None else borrowed.columns(items)
    whole = s + columns.shape[1]
    equations = _Equations(items, np.sqrt(own), float(np.sqrt(chosen.item)), columns)
    start = np.zeros(whole + len(items))
    if near is not None and borrowed is not None:
        of_systems_alone = near.alpha - borrowed.of_systems @ near.coefficients[: borrowed.of_systems.shape[1]]
        scaled = of_systems_alone / np.sqrt(own), near.coefficients, near.deviations / np.sqrt(chosen.item)
        start = np.concatenate(scaled)
    solution = newton.solve(equations, start, tol, max_iterations)
    z, theta = solution.theta, equations.theta(solution.theta)
    sums, log_det = np.zeros((2, whole, whole)), float(np.log(own).sum())
    for topic in _topics(items, chosen, items.pairs.scores(theta)[1]):
        _add(sums, topic, columns[topic.items])
        log_det += topic.log_det
    precision, answered = (upper + np.triu(upper, 1).T for upper in map(np.triu, sums))
    precision[np.diag_indices(whole)] += np.concatenate([1 / own, np.ones(whole - s)])
    joint, of_systems = _inverse(precision)
    alpha, covariance, of_answers = np.sqrt(own) * z[:s], joint, joint @ answered @ joint
    if borrowed is not None:
        c = borrowed.of_systems.shape[1]
        to_alpha = np.hstack([np.identity(s), borrowed.of_systems, np.zeros((s, c))])
        alpha = alpha + borrowed.of_systems @ z[s : s + c]
        covariance, of_answers = (to_alpha @ matrix @ to_alpha.T for matrix in (joint, of_answers))
    return Effects(
        items=items,
        variances=chosen,
        alpha=alpha,
        theta=theta,
        covariance=covariance,
        of_answers=of_answers,
        residual=solution.residual,
        iterations=solution.iterations,
        log_evidence=items.pairs.log_likelihood(theta) - float(z @ z + log_det + of_systems) / 2,
        coefficients=z[s:whole],
        joint=joint,
        borrowed=borrowed,
    )


def _add(sums: Matrix, topic: TopicItems, columns: Matrix) -> None:
    """Add X'MX, X = [systems, columns], to the upper triangles of two sums (2, s + k, s + k): M = A L = (I - A) / v,
    and M = A L A = (A - A^2) / v. Of A = S + B B' the columns B are few."""
    A, v, s = topic.A, topic.variance, len(sums[0]) - columns.shape[1]
    if not isinstance(A, Parts):
        left = topic.precision
        own: Any = left, A @ left
    else:
        S, B = A.split()
        left = (sparse.eye_array(len(B)) - S) / v
        own, of_half = (left, left @ S), B / 2 - S @ B - B @ (B.T @ B) / 2
        rows = np.zeros((2, B.shape[1], len(sums[0])))
        for row, of in zip(rows, (B, of_half), strict=True):
            row[:, topic.systems], row[:, s:] = of.T, of.T @ columns
        # In Fortran's order a matrix of ours is its transpose, and its lower triangle our upper one.
        linalg.blas.dsyrk(-1 / v, rows[0].T, 1.0, sums[0].T, lower=1, overwrite_c=1)
        linalg.blas.dsyr2k(1 / v, rows[0].T, rows[1].T, 1.0, sums[1].T, lower=1, overwrite_c=1)
    for matrix, M in zip(sums, own, strict=True):
        if isinstance(A, Parts):
            entries = M.tocoo()
            matrix[topic.systems[entries.row], topic.systems[entries.col]] += entries.data
        else:
            matrix[np.ix_(topic.systems, topic.systems)] += M
        if columns.shape[1]:
            moved = M @ columns
            matrix[topic.systems, s:] += moved
            matrix[s:, s:] += columns.T @ moved


@on_one_thread
def likely_variances(items: Items) -> Variances:
    """The variances of greatest evidence and prior together; the usual ones where there are no answers.

    The evidence is its lower bound by the Gaussian nearest to the posterior (Opper and Archambeau 2009). The Gaussian
    follows from the variances, and the variances from it (EM); Anderson's mixing (1965) of the last steps finds both in
    10 to 20 steps, and to 1e-6. (Where hundreds of answers never contradict each other, the last of `MOST_STEPS` is
    close enough.)
    """
    usual = np.log([USUAL_SYSTEM, USUAL_ITEM])
    if not len(items):
        return Variances(*np.exp(usual).tolist())
    items = items.some(ITEMS_FOR_EVIDENCE, TOPICS_FOR_EVIDENCE)
    now = np.concatenate([np.zeros(2 * len(items.pairs)), LOG_WEIGHT * usual])
    points: list[Vector] = []
    steps: list[Vector] = []
    for _ in range(MOST_STEPS):
        then = _likelier(items, now, usual)
        step = then - now
        if np.abs(step).max() <= TOLERANCE:
            break
        if np.abs(step).max() > NEAR:
            now, points, steps = (now + then) / 2, [], []
            continue
        now, points, steps = then, [*points[-MIXED:], then], [*steps[-MIXED:], step]
        if len(steps) > 1:
            weights = np.linalg.lstsq(np.diff(steps, axis=0).T, step, rcond=None)[0]
            now = then - np.diff(points, axis=0).T @ weights
    return Variances(*np.exp(then[-2:] / LOG_WEIGHT).tolist())


def _likelier(items: Items, now: Vector, usual: Vector) -> Vector:
    """One step of EM, for means and variances (k,), (k,) of the pairs' differences and two logarithms of variances."""
    pairs, k = items.pairs, len(items.pairs)
    f, v, logs = now[:k], np.maximum(now[k:-2], 0.0), now[-2:] / LOG_WEIGHT
    logs = np.clip(logs, usual - FARTHEST_LOG, usual + FARTHEST_LOG)
    p, slope = expected(f, v)
    weight = (pairs.wins + pairs.losses) * slope
    back = pairs.spread(weight * f + pairs.wins - (pairs.wins + pairs.losses) * p)
    variances = Variances(*np.exp(logs).tolist())
    topics = [*_topics(items, variances, weight)]
    precision = np.identity(items.systems) / variances.system
    for topic in topics:
        precision[np.ix_(topic.systems, topic.systems)] += topic.precision
    covariance = _inverse(precision)[0]
    pulls = np.concatenate([topic.A @ back[topic.items] for topic in topics])
    alpha = covariance @ totals(items.system, pulls, items.systems)
    squares = np.array([alpha @ alpha + np.trace(covariance), 0.0])
    f, v = np.empty(k), np.empty(k)
    for topic in topics:
        own, start = alpha[topic.systems], topic.items.start
        theta = topic.A @ own + variances.item * pulls[topic.items]
        spread, shared = topic.covariance(covariance), covariance[np.ix_(topic.systems, topic.systems)]
        with_alpha = (np.asarray(topic.A) * shared).sum()  # the trace of A_t V_t
        squares[1] += np.square(theta - own).sum() + np.trace(spread) - 2 * with_alpha + np.trace(shared)
        first, second = pairs.first[topic.pairs] - start, pairs.second[topic.pairs] - start
        f[topic.pairs] = theta[first] - theta[second]
        v[topic.pairs] = spread[first, first] + spread[second, second] - 2 * spread[first, second]
    information = squares * np.exp(-logs) / 2
    gain = information - np.array([items.systems, len(items)]) / 2 - (logs - usual) / LOG_VARIANCE_SPREAD**2
    logs = logs + np.clip(gain / (information + 1 / LOG_VARIANCE_SPREAD**2), -1.0, 1.0)
    return np.concatenate([f, v, LOG_WEIGHT * logs])


def _topics(items: Items, variances: Variances, curvature: Vector) -> Iterator[TopicItems]:
    pairs = items.pairs
    for topic, own, compared in items.by_topic():
        n = own.stop - own.start
        first, second = pairs.first[compared] - own.start, pairs.second[compared] - own.start
        weight = variances.item * curvature[compared]
        yield TopicItems(topic, own, compared, items.system[own], *_solved(n, first, second, weight), variances.item)


def _solved(n: int, first: Places, second: Places, weight: Vector) -> tuple[Matrix | Parts, float]:
    """A, and the logarithm of the determinant of its inverse H."""
    if n < MANY:
        H = np.zeros((n, n))
        H[first, second] = H[second, first] = -weight
        np.fill_diagonal(H, 1 - H.sum(axis=1))
        return _inverse(H)
    own, ends = np.arange(n), np.r_[first, second]
    entries = np.r_[1 + totals(ends, np.r_[weight, weight], n), -weight, -weight]
    places = np.r_[own, ends], np.r_[own, second, first]
    return _parted(sparse.csr_array(sparse.coo_array((entries, places), shape=(n, n))))


def _parted(H: sparse.csr_array) -> tuple[Matrix | Parts, float]:
    """The inverse of H, in parts where these save work, and the logarithm of the determinant of H."""
    n, own, upper = H.shape[0], H.diagonal(), sparse.triu(H, 1)
    is_apart = _apart(n, *upper.coords)
    if is_apart.sum() <= LEAST_APART * n:
        return _inverse(H.toarray())
    rest, alone = np.flatnonzero(~is_apart), np.where(is_apart, 1 / own, 0.0)
    J = sparse.csr_array(sparse.eye_array(n, format="csr")[:, rest] - sparse.diags_array(alone) @ H[:, rest])
    C, log_det = _parted(H[rest] @ J)
    return Parts(alone, J, C), log_det + float(np.log(own[is_apart]).sum())


def _apart(n: int, first: Places, second: Places) -> NDArray[np.bool_]:
    """(n,): summaries that were never compared with each other, those first that were compared least."""
    ends, others = np.concatenate([first, second]), np.concatenate([second, first])
    rank = np.argsort(np.argsort(np.bincount(ends, minlength=n), kind="stable"))
    left, chosen = np.ones(n, dtype=np.bool_), np.zeros(n, dtype=np.bool_)
    while left.any():
        lowest = np.full(n, n)
        np.minimum.at(lowest, ends, np.where(left[others], rank[others], n))
        new = left & (rank < lowest)
        chosen |= new
        left &= ~new
        left[others[new[ends]]] = False
    return chosen


def _inverse(matrix: Matrix) -> tuple[Matrix, float]:
    """The inverse of a positive definite matrix, with the logarithm of its determinant."""
    if not len(matrix):
        return matrix, 0.0
    factor, _ = linalg.lapack.dpotrf(matrix, lower=1)
    log_det = 2 * float(np.log(factor.diagonal()).sum())
    lower, _ = linalg.lapack.dpotri(factor, lower=1)  # zero above the diagonal, as the factor is
    inverse = lower + lower.T
    np.fill_diagonal(inverse, lower.diagonal())
    return inverse, log_det


@dataclass(frozen=True, slots=True)
class _Equations:
    """S'g(S z) = z, for z (s + k + n,). `of_systems` (s,) and `of_item`: standard deviations; `columns` (n, k)."""

    items: Items
    of_systems: Vector
    of_item: float
    columns: Matrix

    def theta(self, z: Vector) -> Vector:
        """S z (n,)."""
        s, whole = self.items.systems, self.items.systems + self.columns.shape[1]
        of_system = self.of_systems * z[:s]
        theta = of_system[self.items.system] + self.of_item * z[whole:]
        return np.asarray(theta + self.columns @ z[s:whole] if whole > s else theta)

    def gradient(self, z: Vector) -> Vector:
        return self._back(self.items.pairs.scores(self.theta(z))[0]) - z

    def residual(self, gradient: Vector) -> float:
        return float(np.abs(gradient).max(initial=0.0))

    def largest_error(self, z: Vector, gradient: Vector) -> float:
        """No eigenvalue of the Hessian is below 1, so no step is longer than the gradient."""
        return float(np.linalg.norm(gradient))

    def inverse_hessian(self, z: Vector) -> Callable[[Vector], Vector]:
        """The product with the inverse of the Hessian, by conjugate gradients, preconditioned with the diagonal."""
        laplacian = self.items.pairs.laplacian(self.items.pairs.scores(self.theta(z))[1])
        s, k, n = self.items.systems, self.columns.shape[1], len(self.items)
        roots = np.concatenate([self.of_systems, np.ones(k), np.full(n, self.of_item)])
        diagonal = 1 + roots * self._back(laplacian.diagonal())
        diagonal[s : s + k] = 1 + np.einsum("nk,nk->k", self.columns, laplacian @ self.columns)
        shape = (len(z), len(z))
        hessian = LinearOperator(shape, matvec=lambda x: x + self._back(laplacian @ self.theta(x)), dtype=np.float64)
        precondition = LinearOperator(shape, matvec=lambda x: x / diagonal, dtype=np.float64)
        return lambda gradient: np.asarray(cg(hessian, gradient, rtol=FORCING, M=precondition)[0])

    def _back(self, x: Vector) -> Vector:
        """S'x (s + k + n,)."""
        of_system = totals(self.items.system, x, self.items.systems)
        return np.concatenate([self.of_systems * of_system, self.columns.T @ x, self.of_item * x])
