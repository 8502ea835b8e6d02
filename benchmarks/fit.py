"""How fast are strengths found, beside others who find the same ones?

Dense: 200 judgments on n sentences with real overlap of words, smoothed as in the paper. Sparse: raw judgments on
random pairs, or on pairs of near rank. Prior 1 everywhere: peers are given the phantom as one more sentence, which is
the same model. Each, ours among them, stops at the loosest tolerance (a power of ten) at which no log v is off by more
than 1e-8; "off" says by how much it is, and those that never get there are shown with what they reach. The product asks
for more, which has a row of its own. Times are those of the processor on one thread, the least of several runs; memory
is what the process grew by at its peak, in a child.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.fit [--quick]

evalica is timed as its users call it, lists in and a series out, and its Rust core alone, fed with arrays.
Newman + Anderson is Newman's iteration (JMLR 2023) with Anderson's mixing over 6 steps on log v, in numpy (dense, in
cache-sized blocks) or on scipy's sparse matrices.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import choix
import evalica
import numpy as np
import pandas as pd
from evalica import Winner, _brzo
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from benchmarks.worlds import world
from preferendum.evidence import Judgments
from preferendum.fit import newton, preference_matrix, zermelo

PRIOR = 1.0
ENOUGH = 1e-8
RUNS = 30  # of what takes milliseconds
Solver = Callable[[float], np.ndarray]


@dataclass(frozen=True)
class Result:
    seconds: float
    off: float
    megabytes: float


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="n = 300 and a small sparse topic, fewer runs")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    names = ("numpy", "scipy", "choix", "evalica", "scikit-learn")
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {version(name)}" for name in names))
    with threadpool_limits(1):
        for n in (300,) if chosen.quick else (300, 1000, 3000):
            dense(n, slow=n <= 1000)
        sizes = [(2000, 40_000, False)] if chosen.quick else [(10_000, 200_000, False)]
        if not chosen.quick:
            sizes += [(100_000, 2_000_000, False), (100_000, 2_000_000, True)]
        for n, m, near in sizes:
            raw(n, m, near)


def dense(n: int, slow: bool) -> None:
    rng = np.random.default_rng(0)
    made = world("words", n, 1.5, rng)
    judgments = made.judgments(200, rng)
    wins = preference_matrix.wins(judgments, n)
    M = preference_matrix.smooth(wins, made.similarity)
    best = zermelo.fit(M, PRIOR, tol=1e-13)
    grown = with_phantom(M)
    solvers: dict[str, Solver] = {
        "Newman + Anderson(6)": lambda tol: newman_anderson(Dense(M), tol),
        "evalica bradley_terry": evalica_solver(grown),
        "  its Rust core alone": evalica_core(grown),
        "choix ilsr_pairwise_dense": lambda tol: choix.ilsr_pairwise_dense(grown, tol=tol, max_iter=10_000)[:-1],
    }
    if slow:
        solvers["scikit-learn newton-cg"] = logistic_solver(grown, "newton-cg")
        solvers["Zermelo, plain"] = lambda tol: zermelo.plain(M, PRIOR, tol).utilities
    if n <= 300:
        solvers["scikit-learn lbfgs"] = logistic_solver(grown, "lbfgs")
    table(f"dense, n = {n}, 200 judgments smoothed", M, solvers, best.utilities)


def raw(n: int, m: int, near: bool) -> None:
    rng = np.random.default_rng(0)
    utilities = rng.normal(size=n) * 1.5
    a = rng.integers(n, size=m)
    b = (a + rng.integers(1, n, size=m)) % n
    if near:
        rank = np.argsort(utilities)
        place = rng.integers(n, size=m)
        other = np.clip(place + rng.integers(1, 50, size=m) * rng.choice([-1, 1], m), 0, n - 1)
        other[other == place] += np.where(place[other == place] == 0, 1, -1)
        a, b = rank[place], rank[other]
    won = rng.random(m) < 1 / (1 + np.exp(utilities[b] - utilities[a]))
    judgments = Judgments(a, b, won.astype(float), np.ones(m), np.zeros(m, np.int64))
    wins = preference_matrix.wins(judgments, n)
    best = zermelo.fit(wins, PRIOR, tol=1e-13)
    solvers: dict[str, Solver] = {"Newman + Anderson(6)": lambda tol: newman_anderson(Sparse(wins), tol)}
    if n <= 10_000:  # beyond, evalica needs 160 GB, and choix hours
        solvers["evalica bradley_terry"] = evalica_solver(with_phantom(wins.toarray()))
        solvers["choix mm_pairwise"] = mm_solver(judgments, n)
        solvers["scikit-learn newton-cg"] = logistic_solver(sparse_with_phantom(wins), "newton-cg")
    pairs = "pairs of near rank" if near else "random pairs"
    table(f"sparse, n = {n:,}, {m:,} judgments, {pairs}", wins, solvers, best.utilities)
    matrix = processor_time(lambda: preference_matrix.wins(judgments, n), 2)
    print(f"{'(judgments to matrix)':<28} {matrix * 1e3:>10.1f}")


def table(
    title: str, preferences: np.ndarray | sparse.csr_array, solvers: dict[str, Solver], truth: np.ndarray
) -> None:
    print(f"\n{title}\n{'':<28} {'ms':>10} {'ratio':>8} {'off':>9} {'MB':>7}")

    def product() -> zermelo.Fit:
        return zermelo.fit(preferences, PRIOR)

    own = measured(lambda tol: zermelo.fit(preferences, PRIOR, tol=tol).utilities, truth)
    row("ours", own, own)
    fit = product()
    off = float(np.abs(fit.utilities - truth).max())
    default = Result(processor_time(product, RUNS), off, own.megabytes)
    row("  as the product calls it", default, own, f"residual {fit.residual:.0e}, {fit.iterations} iterations")
    for name, solver in solvers.items():
        result = measured(solver, truth)
        row(name, result, own, "" if result.off <= ENOUGH else "not equal")


def row(name: str, result: Result, own: Result, note: str = "") -> None:
    print(
        f"{name:<28} {result.seconds * 1e3:>10.1f} {result.seconds / own.seconds:>8.1f} {result.off:>9.0e} "
        f"{result.megabytes:>7.0f}   {note}".rstrip(),
        flush=True,
    )


def measured(solver: Solver, truth: np.ndarray) -> Result:
    """Of the loosest tolerance that is tight enough, or of the tightest where none is."""
    off = np.inf
    for exponent in range(5, 15):
        tol = 10.0**-exponent
        began = time.process_time()
        try:
            utilities = solver(tol)
        except (newton.NotConverged, RuntimeError):
            break
        spent = time.process_time() - began
        off = float(np.abs(utilities - utilities.mean() - truth).max())
        if off <= ENOUGH or (spent > 60 and off > 1e-6):
            break
    more = RUNS if spent < 0.1 else 3 if spent < 5 else 0
    seconds = min(spent, processor_time(lambda: solver(tol), more)) if more else spent
    return Result(seconds, off, grown_by(lambda: solver(tol)) if spent < 20 else float("nan"))


def processor_time(work: Callable[[], object], times: int) -> float:
    least = np.inf
    for _ in range(times):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return float(least)


def grown_by(work: Callable[[], object]) -> float:
    """Megabytes by which a child process that does the work grows at its peak."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def child() -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work()
        sender.send((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)

    process = context.Process(target=child)
    process.start()
    grown = float(receiver.recv())
    process.join()
    return grown


def with_phantom(M: np.ndarray) -> np.ndarray:
    grown = np.full((len(M) + 1, len(M) + 1), PRIOR)
    grown[:-1, :-1] = M
    np.fill_diagonal(grown, 0.0)
    return grown


def sparse_with_phantom(wins: sparse.csr_array) -> sparse.csr_array:
    column = sparse.csr_array(np.full((wins.shape[0], 1), PRIOR))
    return sparse.block_array([[wins, column], [column.T, None]]).tocsr()


def evalica_solver(grown: np.ndarray) -> Solver:
    """As its users call it, with the Rust solver: one weighted comparison for each entry of the matrix."""
    row, column = np.nonzero(grown)
    xs, ys, weights = row.tolist(), column.tolist(), grown[row, column].tolist()
    winners, index = [Winner.X] * len(xs), pd.Index(range(len(grown)))

    def solve(tol: float) -> np.ndarray:
        fitted = evalica.bradley_terry(
            xs, ys, winners, index=index, weights=weights, solver="pyo3", tolerance=tol, limit=100_000
        )
        return np.log(fitted.scores.sort_index().to_numpy()[:-1])

    return solve


def evalica_core(grown: np.ndarray) -> Solver:
    """What its public function hands on to, fed with arrays ready made."""
    row, column = np.nonzero(grown)
    xs, ys, weights = row.astype(np.uintp), column.astype(np.uintp), grown[row, column]
    winners = [Winner.X] * len(xs)

    def solve(tol: float) -> np.ndarray:
        scores, _ = _brzo.bradley_terry(
            xs=xs,
            ys=ys,
            winners=winners,
            weights=weights,
            total=len(grown),
            win_weight=1.0,
            tie_weight=0.5,
            tolerance=tol,
            limit=100_000,
        )
        return np.log(scores[:-1])

    return solve


def mm_solver(judgments: Judgments, n: int) -> Solver:
    won = judgments.outcome == 1
    winners, losers = np.where(won, judgments.a, judgments.b), np.where(won, judgments.b, judgments.a)
    data = list(zip(winners.tolist(), losers.tolist(), strict=True))
    data += [pair for i in range(n) for pair in ((i, n), (n, i))]
    return lambda tol: choix.mm_pairwise(n + 1, data, tol=tol * n, max_iter=100_000)[:-1]


def logistic_solver(grown: np.ndarray | sparse.csr_array, solver: str) -> Solver:
    entries = sparse.coo_array(grown)
    m = len(entries.data)
    row = np.arange(m)
    places = (np.concatenate([row, row]), np.concatenate([entries.row, entries.col]))
    side = np.where(row % 2 == 0, 1.0, -1.0)  # both classes are needed: every other win is written as a loss
    features = sparse.csr_array((np.concatenate([side, -side]), places), shape=(m, grown.shape[0]))

    def solve(tol: float) -> np.ndarray:
        model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver, tol=tol, max_iter=10_000)
        return model.fit(features, side > 0, sample_weight=entries.data).coef_[0, :-1]

    return solve


class Dense:
    """What Newman's iteration asks of a dense matrix, row block by row block."""

    def __init__(self, M: np.ndarray) -> None:
        self.M, self.n = M, len(M)
        self.rows = max(1, (1 << 16) // self.n)
        self.block = np.empty((self.rows, self.n))

    def sums(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """sum_j M_ij v_j / (v_i + v_j) and sum_j M_ji / (v_i + v_j)."""
        up, down = np.empty(self.n), np.zeros(self.n)
        ones = np.ones(self.n)
        for a in range(0, self.n, self.rows):
            b = min(self.n, a + self.rows)
            share = np.add(v[a:b, None], v, out=self.block[: b - a])
            np.divide(self.M[a:b], share, out=share)
            share.reshape(-1)[a :: self.n + 1] = 0.0
            up[a:b] = share @ v
            down += ones[: b - a] @ share
        return up, down


class Sparse:
    """The same of a sparse one."""

    def __init__(self, wins: sparse.csr_array) -> None:
        self.wins, self.n = wins, wins.shape[0]
        self.row = np.repeat(np.arange(self.n), np.diff(wins.indptr))

    def sums(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = self.wins.data / (v[self.row] + v[self.wins.indices])
        matrix = sparse.csr_array((share, self.wins.indices, self.wins.indptr), shape=self.wins.shape)
        return matrix @ v, matrix.T @ np.ones(self.n)


def newman_anderson(met: Dense | Sparse, tol: float, memory: int = 6) -> np.ndarray:
    """Newman's step on log v, each mixed from the last ones so that the residual is least."""
    theta = np.zeros(met.n)
    steps: list[np.ndarray] = []
    points: list[np.ndarray] = []
    for _ in range(10_000):
        v = np.exp(theta)
        up, down = met.sums(v)
        step = np.log((up + PRIOR / (1 + v)) / (down + PRIOR / (1 + v))) - theta
        if np.abs(step).max() <= tol:
            return theta
        points, steps = [*points[-memory:], theta], [*steps[-memory:], step]
        theta = theta + step
        if len(steps) > 1:
            changes = np.diff(np.array(steps), axis=0).T
            weights = np.linalg.lstsq(changes, step, rcond=None)[0]
            theta = theta - (np.diff(np.array(points), axis=0).T + changes) @ weights
    raise RuntimeError("no convergence")


if __name__ == "__main__":
    main()
