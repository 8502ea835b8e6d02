"""Which smoothing orders sentences best, for few judgments and for many?

Made-up topics (benchmarks/worlds.py): Kendall's tau between estimated and true utilities. Real judgments: UKPConvArg1
(Habernal and Gurevych, ACL 2016), 8 topics: pairs of arguments are held out, the rest is replayed in random order, and
what counts is the share of the held-out judgments (ties left out) whose winner has the higher utility; equal
utilities count one half.

    python -m benchmarks.archive.smoothing [--quick] [--data ../shared/data/ukpconvarg1]
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

from benchmarks.worlds import TRUTHS, world
from preferendum.evidence import Judgments, Settings
from preferendum.fit import preference_matrix
from preferendum.fit.similarity import similarity
from preferendum.formats.settings import SmoothChoice

SMOOTHINGS: tuple[SmoothChoice, ...] = ("none", "paper", "kernel")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="few seeds and sizes")
    options.add_argument("--data", type=Path, default=Path("../shared/data/ukpconvarg1"))
    chosen = options.parse_args()
    simulated(n=100 if chosen.quick else 300, seeds=2 if chosen.quick else 6)
    if chosen.data.is_dir():
        replayed(chosen.data, seeds=2 if chosen.quick else 10)
    else:
        print(f"\nno replay: {chosen.data} is not there")


def simulated(n: int, seeds: int) -> None:
    sizes = [n // 6, 2 * n // 3, 10 * n // 3, 20 * n // 3]
    print(f"Made-up topics, {n} sentences, utilities with sd 1.5, {seeds} seeds: Kendall's tau (standard error)\n")
    print(f"{'truth':<12} {'judgments':>9}  " + "  ".join(f"{name:>13}" for name in SMOOTHINGS))
    for truth in TRUTHS:
        taus = np.empty((len(sizes), len(SMOOTHINGS), seeds))
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            topic = world(truth, n, 1.5, rng)
            judgments = topic.judgments(max(sizes), rng)
            for row, size in enumerate(sizes):
                for column, name in enumerate(SMOOTHINGS):
                    utilities = utilities_of(first(judgments, size), n, topic.similarity, name)
                    taus[row, column, seed] = kendalltau(utilities, topic.utilities).statistic
        for row, size in enumerate(sizes):
            print(f"{truth:<12} {size:>9}  " + "  ".join(map(cell, taus[row])))


def replayed(data: Path, seeds: int) -> None:
    topics = read(data)
    sizes = [10, 25, 50, 100, 200, 400, 800]
    right = np.empty((len(sizes), len(SMOOTHINGS), len(topics), seeds))
    for place, (texts, judgments) in enumerate(topics):
        compared = similarity(texts)
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            seen, held_out = split(judgments, rng)
            for row, size in enumerate(sizes):
                for column, name in enumerate(SMOOTHINGS):
                    utilities = utilities_of(first(seen, size), len(texts), compared, name)
                    right[row, column, place, seed] = ordered_rightly(utilities, held_out)
    print(f"\nUKPConvArg1, {len(topics)} topics, {seeds} replays: held-out judgments ordered rightly")
    print("(standard error over topics of the difference from none)\n")
    print(f"{'judgments':>9}  " + "  ".join(f"{name:>13}" for name in SMOOTHINGS))
    for row, size in enumerate(sizes):
        means = right[row].mean(axis=-1)
        gains = (means - means[0]).std(axis=-1, ddof=1) / np.sqrt(len(topics))
        line = "  ".join(f"{mean:.4f} ({gain:.4f})" for mean, gain in zip(means.mean(axis=-1), gains, strict=True))
        print(f"{size:>9}  {line}")


def utilities_of(judgments: Judgments, n: int, compared: np.ndarray, smooth: SmoothChoice) -> np.ndarray:
    return preference_matrix.estimate(judgments, n, compared, Settings(smooth=smooth, prior=1.0)).utilities


def cell(values: np.ndarray) -> str:
    return f"{values.mean():.3f} ({values.std(ddof=1) / np.sqrt(len(values)):.3f})"


def first(judgments: Judgments, size: int) -> Judgments:
    return taken(judgments, np.arange(min(size, len(judgments))))


def taken(judgments: Judgments, which: np.ndarray) -> Judgments:
    return Judgments(
        judgments.a[which],
        judgments.b[which],
        judgments.outcome[which],
        judgments.weight[which],
        judgments.annotator[which],
    )


def split(judgments: Judgments, rng: np.random.Generator) -> tuple[Judgments, Judgments]:
    """Judgments on seven tenths of the pairs, in random order; those on the other pairs."""
    low, high = np.minimum(judgments.a, judgments.b), np.maximum(judgments.a, judgments.b)
    pairs, pair = np.unique(low * (1 + high.max()) + high, return_inverse=True)
    kept = (rng.random(len(pairs)) < 0.7)[pair]
    return taken(judgments, rng.permutation(np.flatnonzero(kept))), taken(judgments, np.flatnonzero(~kept))


def ordered_rightly(utilities: np.ndarray, judgments: Judgments) -> float:
    decided = judgments.outcome != 0.5
    ahead = np.sign(utilities[judgments.a] - utilities[judgments.b])[decided]
    return float((0.5 + ahead * np.where(judgments.outcome[decided] == 1, 0.5, -0.5)).mean())


def read(data: Path) -> list[tuple[list[str], Judgments]]:
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    with (data / "items.jsonl").open() as lines:
        for item in map(json.loads, lines):
            texts[item["topic"]][item["id"]] = item["text"]
    rows: dict[str, list[tuple[int, int, float]]] = defaultdict(list)
    with (data / "preferences.jsonl").open() as lines:
        for row in map(json.loads, lines):
            places = list(texts[row["topic"]])
            share = {"a": 1.0, "b": 0.0, "tie": 0.5}[row["winner"]]
            rows[row["topic"]].append((places.index(row["item_a_id"]), places.index(row["item_b_id"]), share))
    topics = []
    for topic, entries in rows.items():
        a, b, outcome = (np.array(column) for column in zip(*entries, strict=True))
        judgments = Judgments(a, b, outcome.astype(float), np.ones(len(a)), np.zeros(len(a), np.int64))
        topics.append((list(texts[topic].values()), judgments))
    return topics


if __name__ == "__main__":
    main()
