"""Do the 95% intervals cover the truth as often as they say?

Made-up topics (benchmarks/worlds.py), the three kinds of truth in equal parts. How far utilities spread is drawn anew
for each topic, log-uniformly from sd 0.7 to 2.2 (real crowds: 0.7 to 1.4 on UKPConvArg1), since no judge knows it.
Counted are utilities, differences of two of them, and differences of two summaries of five sentences. "Sampling" is
what a bootstrap over judgments alone would claim for differences: how far the estimate varies, not how far it is off.

    python -m benchmarks.archive.coverage [--quick] [--sentences 100 300]

A second table (`--of importance`) asks the same of the importance of ten systems. Annotators err as Bradley and
Terry's model says, at two levels, and as a coin does. Over judgments, the truth is the score that infinitely many
judgments would give on these topics; over topics, its mean over topics like these (all that were made up). Counted are

    coverage            how often a difference's interval covers the true difference
    family-wise error   in how many studies Holm's tests call any two systems different that are equal; for that, each
                        system's true score is taken from its score first, so that all are
    wrong way round     in how many studies they call a worse system the better one
    power               what share of the pairs they tell apart, so that wide intervals win nothing

Behind each stands its Monte Carlo standard error. Studies share no topic; where all toss a coin, systems have nothing
but their names, so that with the names shuffled in each topic the same topics make many more studies.

    python -m benchmarks.archive.coverage --of importance [--sentences 30 300] [--topics 2000 400]
        [--judgments 50 200 1000]

With `--per-pair 2` each of half as many pairs is judged by two people, as a study may ask for; no pair comes again.
With `--random-share .2` only that share of the pairs is drawn at random, the others by how far they tell systems apart.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import get_args

import numpy as np
from scipy.special import expit

from benchmarks.worlds import TRUTHS, Vector, World, world
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit import preference_matrix, sampling
from preferendum.fit.chances import fitted_chances
from preferendum.formats.settings import SmoothChoice
from preferendum.results import Standing
from preferendum.scoring import asking, importance
from preferendum.scoring.ranking import Comparison, Over

SMOOTHINGS: tuple[SmoothChoice, ...] = ("none", "kernel", "paper")
Z95 = 1.959964
FIGURES = ("coverage", "family-wise error", "wrong way round", "power")
#: So many studies at least are made where all toss a coin.
SHUFFLED = 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="6 topics a row, 60 sentences, no bootstrap")
    options.add_argument("--of", choices=["utilities", "importance"], default="utilities")
    options.add_argument("--sentences", type=int, nargs="+", default=[])
    options.add_argument("--topics", type=int, nargs="+", default=[], help="made up, for each number of sentences")
    options.add_argument("--judgments", type=int, nargs="+", default=[50, 200, 1000])
    options.add_argument("--per-pair", type=int, default=0, help="judgments; 0: as pairs happen to come again")
    options.add_argument("--random-share", type=float, default=1.0)
    options.add_argument("--draws", type=int, default=40, help="of the bootstrap; 0 for none")
    chosen = options.parse_args()
    if chosen.of == "importance":
        sizes, pools = ([30], [20]) if chosen.quick else ([30, 300], [2000, 400])
        ask = Asking(chosen.random_share, chosen.per_pair)
        of_importance(chosen.sentences or sizes, chosen.topics or pools, chosen.judgments, ask)
        return
    chosen.sentences, topics = chosen.sentences or [100, 300], (chosen.topics or [30])[0]
    if chosen.quick:
        chosen.sentences, topics, chosen.draws = [60], 6, 0
    print("Coverage of nominal 95% intervals: mean over topics (standard error)\n")
    columns = ("utilities", "differences", "summaries", "sampling")
    print(f"{'n':>4} {'judgments':>9} {'smoothing':<10} " + " ".join(f"{name:>15}" for name in columns) + "   s/topic")
    for n in chosen.sentences:
        for size in (2 * n // 3, 10 * n // 3, 20 * n // 3):
            for smooth in SMOOTHINGS:
                began = time.perf_counter()
                covered = np.array([topic(n, size, smooth, seed, chosen.draws) for seed in range(topics)])
                each = (time.perf_counter() - began) / topics
                errors = covered.std(axis=0, ddof=1) / np.sqrt(len(covered))
                cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(covered.mean(axis=0), errors, strict=True)]
                print(f"{n:>4} {size:>9} {smooth:<10} " + " ".join(f"{cell:>15}" for cell in cells) + f"   {each:.2f}")


def resampled(
    estimate: preference_matrix.Estimate, judgments: Judgments, rng: np.random.Generator, draws: int
) -> np.ndarray:
    """(draws, n): utilities estimated from as many judgments, drawn with replacement."""
    counts = rng.multinomial(len(judgments), np.full(len(judgments), 1 / len(judgments)), size=draws)
    drawn = (replace(judgments, weight=judgments.weight * count) for count in counts)
    return np.array([estimate.again(own).utilities for own in drawn])


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
        drawn = resampled(estimate, judgments, rng, draws)
        sampling = share(off[a] - off[b], (drawn[:, a] - drawn[:, b]).std(axis=0, ddof=1))
    return (
        share(off, estimate.covariance.errors()),
        share(off[a] - off[b], estimate.covariance.difference(a, b)),
        share(summaries @ off, np.sqrt(np.diag(estimate.covariance.of(summaries)))),
        sampling,
    )


@dataclass(frozen=True)
class Asking:
    """How pairs are drawn; see the options."""

    random_share: float = 1.0
    per_pair: int = 0

    def judge(self, made: World, shared: importance.SharedWords, count: int, rng: np.random.Generator) -> Judgments:
        if self.per_pair:
            pairs = sampling.random_pairs(made.n, count // self.per_pair, int(rng.integers(1 << 30)))
            first, second = np.repeat(pairs, self.per_pair, axis=0).T
            return made.answers(first, second, rng)
        if self.random_share == 1:
            return made.judgments(count, rng)
        return asked(made, shared, count, self.random_share, rng)


@dataclass(frozen=True)
class Fitted:
    """A made-up topic with its board, and the importance that infinitely many judgments would give."""

    standing: Standing
    truth: Vector
    right: float


def of_importance(sizes: Sequence[int], topics: Sequence[int], counts: Sequence[int], ask: Asking) -> None:
    columns = ("sentences", "judgments", "right", "topics", "over", "studies", *FIGURES)
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for (n, made), spread in product(zip(sizes, topics, strict=False), (0.0, 0.7, 2.2)):
        pools = {count: [fitted(n, count, spread, seed, ask) for seed in range(made)] for count in counts}
        everywhere = np.mean([topic.truth for pool in pools.values() for topic in pool], axis=0)
        for (count, pool), size, over in product(pools.items(), (1, 10, 100), get_args(Over)):
            if size > made or (over == "topics" and size == 1):
                continue
            right = f"{np.mean([topic.right for topic in pool]):.0%}"
            figures = np.array(
                [study(sampled, over, everywhere) for sampled in studies(pool, size, is_coin=not spread)]
            )
            errors = figures.std(axis=0, ddof=1) / np.sqrt(len(figures))
            cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(figures.mean(axis=0), errors, strict=True)]
            print(f"| {n} | {count:,} | {right} | {size} | {over} | {len(figures)} | {' | '.join(cells)} |", flush=True)


def fitted(n: int, count: int, spread: float, seed: int, ask: Asking, systems: int = 10) -> Fitted:
    rng = np.random.default_rng((n, count, int(10 * spread), seed))
    made = world(TRUTHS[seed % len(TRUTHS)], n, spread or 1.0, rng)
    summaries = made.summaries(systems, rng)
    if not spread:
        made = replace(made, utilities=np.zeros(n))
    names, unjudged = tuple(str(i) for i in range(n)), made.judgments(0, rng)
    shared = importance.share_words(Evidence("t", names, made.texts, unjudged, summaries))
    judgments = ask.judge(made, shared, count, rng)
    estimate = preference_matrix.estimate(judgments, n, made.similarity, Settings())
    return Fitted(
        importance.score(shared, estimate.chances_by(shared.telling.likelihood_for), count).of("importance").standing,
        shared.importance @ (fitted_chances(made.utilities) - 0.5),
        float(expit(np.abs(made.utilities[:, None] - made.utilities))[np.triu_indices(n, 1)].mean()),
    )


def asked(
    made: World, shared: importance.SharedWords, count: int, random_share: float, rng: np.random.Generator
) -> Judgments:
    """So many judgments, each of a pair of its own."""
    queue = asking.telling_pairs(shared.telling, count, random_share, int(rng.integers(1 << 30)))
    first, second = queue.pairs.T
    return replace(made.answers(first, second, rng), design=queue.design)


def studies(pool: Sequence[Fitted], size: int, *, is_coin: bool) -> Iterator[Sequence[Fitted]]:
    """The topics in groups; of coins at least `SHUFFLED` groups, with other names each time."""
    rng = np.random.default_rng(size)
    groups = len(pool) // size
    for _ in range(-(-SHUFFLED // groups) if is_coin else 1):
        drawn = [renamed(pool[k], rng) for k in rng.permutation(len(pool))] if is_coin else pool
        yield from (drawn[start : start + size] for start in range(0, groups * size, size))


def renamed(topic: Fitted, rng: np.random.Generator) -> Fitted:
    names = rng.permutation(topic.standing.systems)
    return replace(topic, standing=replace(topic.standing, systems=tuple(names.tolist())))


def study(topics: Sequence[Fitted], over: Over, everywhere: Vector) -> tuple[float, float, float, float]:
    """The figures of one study."""
    truths = [topic.truth if over == "judgments" else everywhere for topic in topics]
    truth = dict(zip(topics[0].standing.systems, np.mean(truths, axis=0).tolist(), strict=True))
    standings = [less(topic.standing, own) for topic, own in zip(topics, truths, strict=True)]
    equal = Comparison(standings, over).differences()
    compared = Comparison([topic.standing for topic in topics], over).differences()
    called = [comparison for comparison in compared if comparison.significant]
    return (
        float(np.mean([comparison.low is not None and comparison.low <= 0 for comparison in equal])),
        float(any(comparison.significant for comparison in equal)),
        float(any(truth[comparison.better] < truth[comparison.worse] for comparison in called)),
        len(called) / len(equal),
    )


def less(standing: Standing, truth: Vector) -> Standing:
    return replace(standing, scores=tuple(np.subtract(standing.scores, truth).tolist()))


def share(off: np.ndarray, errors: np.ndarray) -> float:
    return float((np.abs(off) <= Z95 * errors).mean())


if __name__ == "__main__":
    main()
