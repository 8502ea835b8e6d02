"""Do the 95% intervals cover the truth as often as they say?

Made-up topics (benchmarks/worlds.py), the three kinds of truth in equal parts. How far utilities spread is drawn anew
for each topic, log-uniformly from sd 0.7 to 2.2 (real crowds: 0.7 to 1.4 on UKPConvArg1), since no judge knows it.
Counted are utilities, differences of two of them, and differences of two summaries of five sentences. "Sampling" is
what a bootstrap over judgments alone would claim for differences: how far the estimate varies, not how far it is off.

    python -m benchmarks.coverage [--quick] [--sentences 100 300]
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from benchmarks.worlds import TRUTHS, world
from evaluation import preference
from evaluation.evidence import Settings, Smoothing

SMOOTHINGS: tuple[Smoothing, ...] = ("none", "kernel", "paper", "sharpened")
Z95 = 1.959964


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="6 topics a row, 60 sentences, no bootstrap")
    options.add_argument("--sentences", type=int, nargs="+", default=[100, 300])
    options.add_argument("--topics", type=int, default=30)
    options.add_argument("--draws", type=int, default=40, help="of the bootstrap; 0 for none")
    chosen = options.parse_args()
    if chosen.quick:
        chosen.sentences, chosen.topics, chosen.draws = [60], 6, 0
    print("Coverage of nominal 95% intervals: mean over topics (standard error)\n")
    columns = ("utilities", "differences", "summaries", "sampling")
    print(f"{'n':>4} {'judgments':>9} {'smoothing':<10} " + " ".join(f"{name:>15}" for name in columns) + "   s/topic")
    for n in chosen.sentences:
        for size in (2 * n // 3, 10 * n // 3, 20 * n // 3):
            for smooth in SMOOTHINGS:
                began = time.perf_counter()
                covered = np.array([topic(n, size, smooth, seed, chosen.draws) for seed in range(chosen.topics)])
                each = (time.perf_counter() - began) / chosen.topics
                errors = covered.std(axis=0, ddof=1) / np.sqrt(len(covered))
                cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(covered.mean(axis=0), errors, strict=True)]
                print(f"{n:>4} {size:>9} {smooth:<10} " + " ".join(f"{cell:>15}" for cell in cells) + f"   {each:.2f}")


def topic(n: int, size: int, smooth: Smoothing, seed: int, draws: int) -> tuple[float, float, float, float]:
    """The shares of utilities, differences and summaries that were covered, for one made-up topic."""
    rng = np.random.default_rng(seed)
    spread = float(np.exp(rng.uniform(np.log(0.7), np.log(2.2))))
    made = world(TRUTHS[seed % len(TRUTHS)], n, spread, rng)
    judgments = made.judgments(size, rng)
    estimate = preference.estimate(judgments, n, made.similarity, Settings(smooth=smooth, prior=1.0))
    off = estimate.utilities - made.utilities
    a = rng.integers(n, size=3000)
    b = (a + rng.integers(1, n, size=3000)) % n
    summaries = np.zeros((200, n))
    for row in summaries:
        row[rng.choice(n, 5, replace=False)] += 0.2
        row[rng.choice(n, 5, replace=False)] -= 0.2
    sampling = np.nan
    if draws:
        drawn = estimate.resample(rng, draws)
        sampling = share(off[a] - off[b], (drawn[:, a] - drawn[:, b]).std(axis=0, ddof=1))
    return (
        share(off, estimate.covariance.errors()),
        share(off[a] - off[b], estimate.covariance.difference(a, b)),
        share(summaries @ off, np.sqrt(np.diag(estimate.covariance.of(summaries)))),
        sampling,
    )


def share(off: np.ndarray, errors: np.ndarray) -> float:
    return float((np.abs(off) <= Z95 * errors).mean())


if __name__ == "__main__":
    main()
