"""Does it pay to ask about the pairs whose answers would tell most, rather than about random ones?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.asking [sentences] [seeds] [first seed]

Made-up topics (benchmarks/worlds.py, utilities with standard deviation 1.5), judged one by one; after every n/4
judgments the topic is fitted with the recommended settings and a new queue is asked for. A share of the pairs is drawn
at random all the same. Kendall's tau of the estimate with the truth; the mean standard error of the difference of two
random sentences, which is how wide intervals are; the gain in tau over random pairs, with its standard error.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import kendalltau

from benchmarks.worlds import TRUTHS, World, world
from evaluation.evidence import Judgments, Settings
from evaluation.fit import preference_matrix, sampling

SHARES = (1.0, 0.5, 0.2, 0.0)
MULTIPLES = (1, 2, 4)


def judged(topic: World, pairs: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """(m,): whether the first one won."""
    a, b = pairs.T
    won = rng.random(len(pairs)) < expit(topic.utilities[a] - topic.utilities[b])
    return np.asarray(won, dtype=np.float64)


def run(topic: World, share: float, seed: int) -> list[tuple[float, float, float]]:
    """(tau, mean standard error, seconds to make a queue) after n, 2n and 4n judgments."""
    rng = np.random.default_rng(seed)
    n, step = topic.n, topic.n // 4
    pairs, won = np.zeros((0, 2), dtype=np.int64), np.zeros(0)
    queue = pairs
    a, b = sampling.random_pairs(n, 500, 0).T
    measured: list[tuple[float, float, float]] = []
    for turn in range(4 * max(MULTIPLES)):
        asked = int(np.sum(rng.random(step) >= share)) if len(queue) else 0
        taken = {(i, j) for i, j in [*pairs.tolist(), *queue[:asked].tolist()]}
        fresh = sampling.random_pairs(n, step - asked, int(rng.integers(2**32)), taken)
        new = np.concatenate([queue[:asked], fresh])
        pairs, won = np.concatenate([pairs, new]), np.concatenate([won, judged(topic, new, rng)])
        done = (turn + 1) / 4
        if share == 1.0 and done not in MULTIPLES:
            continue
        m = len(pairs)
        judgments = Judgments(pairs[:, 0], pairs[:, 1], won, np.ones(m), np.zeros(m, dtype=np.int64))
        fitted = preference_matrix.estimate(judgments, n, topic.similarity, Settings())
        covariance = fitted.covariance
        began = time.process_time()
        queue = sampling.informative_pairs(
            fitted.utilities, covariance, step, seed + turn, {(i, j) for i, j in pairs.tolist()}
        )
        spent = time.process_time() - began
        if share == 1.0:
            queue = queue[:0]
        if done in MULTIPLES:
            tau = float(kendalltau(fitted.utilities, topic.utilities).statistic)
            measured.append((tau, float(covariance.difference(a, b).mean()), spent))
    return measured


def main() -> None:
    n, seeds, first = (int(given) for given in [*sys.argv[1:], *("100", "6", "1")[len(sys.argv) - 1 :]])
    print(f"{n} sentences, {seeds} topics a truth; random share: tau / mean error (gain in tau, its error)")
    for truth in TRUTHS:
        measured = np.empty((len(SHARES), seeds, len(MULTIPLES), 3))
        for seed in range(seeds):
            topic = world(truth, n, 1.5, np.random.default_rng([first, seed]))
            for row, share in enumerate(SHARES):
                measured[row, seed] = run(topic, share, 100 * first + seed)
        for column, multiple in enumerate(MULTIPLES):
            cells = []
            for row, share in enumerate(SHARES):
                tau, width, _ = measured[row, :, column].mean(axis=0)
                gain = measured[row, :, column, 0] - measured[0, :, column, 0]
                error = gain.std(ddof=1) / np.sqrt(seeds)
                cells.append(f"{share:.0%}: {tau:.3f} / {width:.3f} ({gain.mean():+.3f} {error:.3f})")
            print(f"{truth:<12}{multiple * n:>6}  " + "   ".join(cells), flush=True)
        print(f"{truth:<12} a queue took {1000 * measured[1:, :, :, 2].mean():.0f} ms", flush=True)


if __name__ == "__main__":
    main()
