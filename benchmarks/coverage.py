"""Do the 95% intervals cover the truth as often as they say?

Made-up topics (benchmarks/worlds.py), the three kinds of truth in equal parts. How far utilities spread is drawn anew
for each topic, log-uniformly from sd 0.7 to 2.2 (real crowds: 0.7 to 1.4 on UKPConvArg1), since no judge knows it.
Counted are utilities, differences of two of them, and differences of two summaries of five sentences. "Sampling" is
what a bootstrap over judgments alone would claim for differences: how far the estimate varies, not how far it is off.

    python -m benchmarks.coverage [--quick] [--sentences 100 300]

A second table (`--of importance`) asks the same of the importance of ten systems: how often a difference's interval
covers the truth, in what share of studies Holm's tests call two systems different the wrong way round (the family-wise
error), and what share of the pairs they tell apart (power, so that wide intervals win nothing). Annotators err as
Bradley and Terry's model says, at two levels, and as a coin does. Over judgments, the truth is the score that
infinitely many judgments would give on these topics; over topics, its mean over topics like these.

    python -m benchmarks.coverage --of importance [--sentences 30 300] [--topics 300]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import get_args

import numpy as np
from scipy.special import expit

from benchmarks.worlds import TRUTHS, world
from evaluation.evidence import Evidence, Settings
from evaluation.fit import preference_matrix
from evaluation.fit.chances import fitted_chances
from evaluation.scoring import importance
from evaluation.scoring.ranking import Over, compare_systems
from formats.results import Standing
from formats.settings import SmoothChoice

SMOOTHINGS: tuple[SmoothChoice, ...] = ("none", "kernel", "paper")
Z95 = 1.959964


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="6 topics a row, 60 sentences, no bootstrap")
    options.add_argument("--of", choices=["utilities", "importance"], default="utilities")
    options.add_argument("--sentences", type=int, nargs="+", default=[])
    options.add_argument("--topics", type=int, default=0)
    options.add_argument("--draws", type=int, default=40, help="of the bootstrap; 0 for none")
    chosen = options.parse_args()
    if chosen.of == "importance":
        sizes, topics = ([30], 20) if chosen.quick else ([30, 300], 300)
        of_importance(chosen.sentences or sizes, chosen.topics or topics)
        return
    chosen.sentences, chosen.topics = chosen.sentences or [100, 300], chosen.topics or 30
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


def topic(n: int, size: int, smooth: SmoothChoice, seed: int, draws: int) -> tuple[float, float, float, float]:
    """The shares of utilities, differences and summaries that were covered, for one made-up topic."""
    rng = np.random.default_rng(seed)
    spread = float(np.exp(rng.uniform(np.log(0.7), np.log(2.2))))
    made = world(TRUTHS[seed % len(TRUTHS)], n, spread, rng)
    judgments = made.judgments(size, rng)
    estimate = preference_matrix.estimate(judgments, n, made.similarity, Settings(smooth=smooth, prior=1.0))
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


@dataclass(frozen=True)
class Fitted:
    """A made-up topic with its board, and the importance that infinitely many judgments would give."""

    standing: Standing
    truth: np.ndarray
    right: float


def of_importance(sizes: Sequence[int], topics: int) -> None:
    columns = ("sentences", "judgments", "right", "topics", "over", "studies", "coverage", "family-wise error", "power")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for n, count, spread in product(sizes, (50, 200, 1000), (0.0, 0.7, 2.2)):
        made = [fitted(n, count, spread, seed) for seed in range(topics)]
        everywhere = np.mean([one.truth for one in made], axis=0)
        right = f"{np.mean([one.right for one in made]):.0%}"
        for size, over in product((1, 10, 100), get_args(Over)):
            if size > topics or (over == "topics" and size == 1):
                continue
            studies = [made[start : start + size] for start in range(0, topics - size + 1, size)]
            figures = np.array([study(one, over, everywhere) for one in studies])
            cells = " | ".join(f"{mean:.3f}" for mean in figures.mean(axis=0))
            print(f"| {n} | {count} | {right} | {size} | {over} | {len(studies)} | {cells} |", flush=True)


def fitted(n: int, count: int, spread: float, seed: int, systems: int = 10) -> Fitted:
    rng = np.random.default_rng((n, count, int(10 * spread), seed))
    made = world(TRUTHS[seed % len(TRUTHS)], n, spread or 1.0, rng)
    summaries = made.summaries(systems, rng)
    if not spread:
        made = replace(made, utilities=np.zeros(n))
    judgments = made.judgments(count, rng)
    names = tuple(str(i) for i in range(n))
    shared = importance.share_words(Evidence("t", names, made.texts, judgments, summaries))
    estimate = preference_matrix.estimate(judgments, n, made.similarity, Settings())
    known = estimate.chances
    return Fitted(
        importance.score(shared, known, count).of("importance").standing,
        shared.importance @ (fitted_chances(made.utilities) - 0.5),
        float(expit(np.abs(made.utilities[:, None] - made.utilities))[np.triu_indices(n, 1)].mean()),
    )


def study(topics: Sequence[Fitted], over: Over, everywhere: np.ndarray) -> tuple[float, float, float]:
    """The share of differences covered, whether one is called the wrong way round, the share told apart."""
    truth = np.mean([one.truth for one in topics], axis=0) if over == "judgments" else everywhere
    value = dict(zip(topics[0].standing.systems, truth.tolist(), strict=True))
    differences = compare_systems([one.standing for one in topics], over)
    gaps = [value[one.better] - value[one.worse] for one in differences]
    called = [bool(one.significant) for one in differences]
    covered = [one.low <= gap <= one.high for one, gap in zip(differences, gaps, strict=True)]
    wrong = any(different and gap <= 0 for different, gap in zip(called, gaps, strict=True))
    return float(np.mean(covered)), float(wrong), float(np.mean(called))


def share(off: np.ndarray, errors: np.ndarray) -> float:
    return float((np.abs(off) <= Z95 * errors).mean())


if __name__ == "__main__":
    main()
