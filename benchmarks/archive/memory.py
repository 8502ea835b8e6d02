"""How much memory and time does a topic of many sentences take in the worker?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.memory [sentences judgments systems]...

Each size in a process of its own: loaded once, then what a refit does (similarity, matching, fit, errors, scores), with
the ranking of its systems. The memory is what the process grew by at its peak; the times are the processor's, the next
fit and the ranking with the similarity kept.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time

import numpy as np

from preferendum.evidence import Evidence, Judgments, Settings, SummaryText
from preferendum.fit.similarity import similarity
from preferendum.scoring.evaluate import evaluate
from preferendum.scoring.ranking import Comparison

SIZES = (
    (2000, 200, 10),
    (2000, 2000, 10),
    (10_000, 200, 10),
    (10_000, 2000, 10),
    (10_000, 20_000, 10),
    (30, 100, 1500),
)


def topic(n: int, m: int, systems: int) -> Evidence:
    """`n` sentences of 4 to 12 words by Zipf's law, `m` answers on random pairs, summaries of three sentences."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, 20_001)
    words = rng.choice(20_000, size=12 * n, p=chances / chances.sum())
    lengths = rng.integers(4, 13, size=n)
    sentences = tuple(" ".join(f"w{w}" for w in words[12 * i : 12 * i + k]) + "." for i, k in enumerate(lengths))
    a = rng.integers(n, size=m)
    b = (a + rng.integers(1, n, size=m)) % n
    judgments = Judgments(a, b, (rng.random(m) < 0.5).astype(float), np.ones(m), np.zeros(m, np.int64))
    chosen = rng.integers(n, size=(systems, 3))
    summaries = tuple(SummaryText(f"s{k}", tuple(sentences[i] for i in row)) for k, row in enumerate(chosen))
    return Evidence("t", tuple(f"d:{i}" for i in range(n)), sentences, judgments, summaries)


def measure(n: int, m: int, systems: int) -> tuple[float, float, float]:
    """(megabytes at the peak, seconds of the first fit, of the next)."""
    evidence = topic(n, m, systems)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    compared = similarity(evidence.sentences)
    evaluate(evidence, Settings(), similarity=compared)
    first = time.process_time()
    result = evaluate(evidence, Settings(), similarity=compared)
    comparison = Comparison((result.standing,))
    comparison.ranked(), comparison.differences()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (after - before) / 1024, first - began, time.process_time() - first


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:]]
    sizes = list(zip(*[iter(numbers)] * 3, strict=True)) or SIZES
    print(f"{'sentences':>9} {'judgments':>9} {'systems':>7} {'MB':>6} {'first s':>8} {'next s':>7}")
    for size in sizes:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            megabytes, first, following = pool.apply(measure, size)
        print(
            f"{size[0]:>9,} {size[1]:>9,} {size[2]:>7,} {megabytes:>6.0f} {first:>8.1f} {following:>7.1f}", flush=True
        )


if __name__ == "__main__":
    main()
