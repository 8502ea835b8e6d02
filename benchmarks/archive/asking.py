"""How many judgments does the order of systems need, if pairs are asked for that tell them apart?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.asking [--sets summeval_op squality] [--seeds 20] [--first 1000]
        [--topics 0] [--later] [--share .2]

Annotators prefer the sentence that is more similar to the references, and are right 80% of the time; the true order is
that by infinitely many such judgments. All topics of a study are judged alike, `MARKS` judgments a sentence, no pair
twice, and scored as the product does. For random pairs, and for telling ones with a share of random ones: Kendall's tau
of the order with the true one; of the differences of systems, the mean standard error, and how many of their intervals
cover the truth. `needed`: how many judgments telling pairs need for what random pairs reach with 1, 2 and 4 a sentence,
as a share of these, from the means over seeds (in brackets the standard error, by drawing seeds). With `--later` pairs
are asked for that tell every other system apart, and what counts is the order of the others, which come later.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.asking --items [--seeds 20] [--first 1000] [--topics 0]

Without systems: replays of UKPConvArg1's real judgments, an answer about a pair drawn among those that it got.
Kendall's tau of the order of the arguments with that by all answers, for random pairs and for those whose answers tell
most, which are chosen anew after every `BATCH` answers; and how many judgments these need for what random pairs reach.

    python -m benchmarks.archive.asking --time

Milliseconds to choose 64 pairs of 300 and 1,000 sentences with 20 systems.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from benchmarks import replay
from benchmarks.corpora import SETS, read
from preferendum.evidence import Evidence, Judgments, Settings, evidence
from preferendum.fit import preference_matrix, sampling
from preferendum.fit.similarity import DECIMALS, Similarity, similarity
from preferendum.results import Standing
from preferendum.results.statistics import Z95
from preferendum.scoring import asking, importance, simulate
from preferendum.scoring.ranking import Comparison

Vector = NDArray[np.float64]
RIGHT = 0.8
MARKS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
AT = (1.0, 2.0, 4.0)
ITEM_MARKS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
ITEMS_AT = (2.0, 4.0, 8.0)
BATCH = 8
NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))


@dataclass(frozen=True)
class Texts:
    """What of a topic does not change: its words, and how probably the first of two sentences wins (n, n)."""

    alike: Similarity
    words: importance.SharedWords
    wins: NDArray[np.float64]

    @classmethod
    def of(cls, topic: Evidence, systems: Sequence[str]) -> Texts:
        kept = tuple(summary for summary in topic.summaries if summary.system in systems)
        alike = similarity(topic.sentences)
        references = [sentence for reference in topic.references for sentence in reference]
        value = np.round(simulate.value_by_references(alike, references), DECIMALS)
        wins = 0.5 + (RIGHT - 0.5) * np.sign(value[:, None] - value)
        return cls(alike, importance.share_words(replace(topic, summaries=kept)), wins)

    @property
    def n(self) -> int:
        return len(self.wins)

    @property
    def truth(self) -> Vector:
        """(s,): the systems' importance by infinitely many judgments."""
        return np.asarray(self.words.importance @ (self.wins.sum(axis=1) - 0.5) / (self.n - 1))


@dataclass
class Asked:
    """One topic of a study, and what was judged of it by now."""

    texts: Texts
    rng: np.random.Generator
    judgments: Judgments = NONE
    taken: set[tuple[int, int]] = field(default_factory=set)

    def ask(self, queue: asking.Queue) -> None:
        first, second = queue.pairs.T
        won = (self.rng.random(len(first)) < self.texts.wins[first, second]).astype(float)
        ones, nobody = np.ones(len(first)), np.zeros(len(first), dtype=np.int64)
        drawn_for = np.fromiter([queue.drawn_for] * len(first), np.object_)
        judged = Judgments(first, second, won, ones, nobody, queue.design, drawn_for=drawn_for)
        self.judgments = Judgments.joined([self.judgments, judged])
        self.taken |= set(map(tuple, queue.pairs.tolist()))

    def queue(self, count: int, share: float, telling: asking.Telling) -> asking.Queue:
        seed = int(self.rng.integers(1 << 32))
        if share == 1:
            return asking.equally_likely_pairs(self.texts.n, count, seed, self.taken)
        return asking.telling_pairs(telling, count, share, seed, self.taken)

    def standing(self) -> Standing:
        fit = preference_matrix.estimate(self.judgments, self.texts.n, self.texts.alike, Settings())
        chances = fit.chances_by(self.texts.words.telling.likelihood_for)
        return importance.score(self.texts.words, chances, len(self.judgments)).of("importance").standing


def study(topics: Sequence[Texts], share: float, seed: int, later: bool) -> list[tuple[float, float, float]]:
    """After each of the `MARKS`: tau, and of all differences the mean standard error and the share covered."""
    systems = topics[0].words.systems
    seen, counted = (np.arange(int(part), len(systems), 1 + later) for part in (False, later))
    names = {systems[k] for k in counted}
    truth = np.mean([topic.truth for topic in topics], axis=0)
    of = dict(zip(systems, truth.tolist(), strict=True))
    asked = [Asked(topic, np.random.default_rng((seed, k))) for k, topic in enumerate(topics)]
    names_seen = tuple(systems[k] for k in seen)
    telling = [asking.Telling(topic.words.importance[seen], names_seen) for topic in topics]
    measured = []
    for mark in MARKS:
        for topic, tells in zip(asked, telling, strict=True):
            topic.ask(topic.queue(round(mark * topic.texts.n) - len(topic.judgments), share, tells))
        standings = [topic.standing() for topic in asked]
        scores = np.mean([standing.scores for standing in standings], axis=0)
        tau = kendalltau(np.round(scores[counted], 12), np.round(truth[counted], 12)).statistic
        compared = [pair for pair in Comparison(standings).differences() if {pair.better, pair.worse} <= names]
        off = np.array([pair.difference - of[pair.better] + of[pair.worse] for pair in compared])
        margins = np.array([np.nan if pair.high is None else pair.high - pair.difference for pair in compared])
        measured.append(
            (float(np.nan_to_num(tau)), float(margins.mean() / Z95), float(np.mean(np.abs(off) <= margins)))
        )
    return measured


def needed(
    random: NDArray[np.float64],
    targeted: NDArray[np.float64],
    at: Sequence[float] = AT,
    marks: Sequence[float] = MARKS,
) -> Vector:
    """Shares of so many judgments a sentence (`at`), from curves (seeds, marks) that rise."""
    reached = np.interp(at, marks, np.maximum.accumulate(random.mean(axis=0)))
    curve = np.maximum.accumulate(targeted.mean(axis=0))
    shares: Vector = np.interp(reached, curve, marks, right=np.inf) / np.array(at)
    return shares


def of_systems(name: str, seeds: int, first: int, most: int, share: float, later: bool) -> None:
    chosen = SETS[name]
    without = () if name == "squality" else chosen.without
    read_topics = read(chosen.path, without)
    read_topics = read_topics[:: max(1, len(read_topics) // most) if most else 1]
    systems = [summary.system for summary in read_topics[0].summaries if summary.system not in without]
    topics = [Texts.of(topic, systems) for topic in read_topics]
    rng, curves = np.random.default_rng(0), []
    for way in (1.0, share):
        began = time.process_time()
        measured = np.array([study(topics, way, first + seed, later) for seed in range(seeds)])
        curves.append(measured)
        each = (time.process_time() - began) / seeds
        print(f"{name}: {len(topics)} topics, {len(systems)} systems, share {way}, {each:.0f} s a study", flush=True)
        for mark, row, error in zip(MARKS, measured.mean(axis=0), measured.std(axis=0) / seeds**0.5, strict=True):
            print(
                f"  {mark:5.2f}  tau {row[0]:.3f} ({error[0]:.3f})  se {row[1]:.5f}  covered {row[2]:.3f}", flush=True
            )
    random, targeted = (curve[:, :, 0] for curve in curves)
    drawn = [
        needed(*(curve[rng.integers(seeds, size=seeds)] for curve in (random, targeted))) for _resample in range(500)
    ]
    spread = np.diff(np.quantile(drawn, [0.16, 0.84], axis=0), axis=0)[0] / 2
    cells = zip(AT, needed(random, targeted), spread, strict=True)
    print("  needed, same tau: " + ", ".join(f"{at:g}: {ratio:.2f} ({error:.2f})" for at, ratio, error in cells))
    sure = needed(*(1 / curve[:, :, 1] for curve in curves))
    print("  needed, same standard errors: " + ", ".join(f"{at:g}: {x:.2f}" for at, x in zip(AT, sure, strict=True)))


class Replayed:
    """What a real crowd said of one topic's arguments, and the order that all of it makes."""

    def __init__(self, topic: Evidence) -> None:
        self.n, self.alike = len(topic.sentences), similarity(topic.sentences)
        judged = topic.judgments
        self.of: dict[tuple[int, int], list[float]] = defaultdict(list)
        for a, b, outcome in zip(judged.a.tolist(), judged.b.tolist(), judged.outcome.tolist(), strict=True):
            self.of[min(a, b), max(a, b)].append(outcome if a < b else 1 - outcome)
        self.missing = {(i, j) for j in range(self.n) for i in range(j) if (i, j) not in self.of}
        self.order = self.fit(judged).utilities

    def fit(self, judged: Judgments) -> preference_matrix.Estimate:
        return preference_matrix.estimate(judged, self.n, self.alike, Settings())

    def taus(self, chosen: bool, seed: int) -> list[float]:
        """After each of the `ITEM_MARKS`."""
        rng, judged, fit = np.random.default_rng(seed), NONE, None
        taken, reached = set(self.missing), []
        for mark in ITEM_MARKS:
            while (count := min(BATCH, round(mark * self.n) - len(judged))) > 0:
                seed_of_batch = int(rng.integers(1 << 32))
                if chosen and fit is not None:
                    queue = asking.informative_pairs(fit.utilities, fit.covariance, count, seed_of_batch, taken)
                    pairs = queue.pairs
                else:
                    pairs = sampling.random_pairs(self.n, count, seed_of_batch, taken)
                answers = np.array([rng.choice(self.of[i, j]) for i, j in pairs.tolist()])
                ones, nobody = np.ones(len(pairs)), np.zeros(len(pairs), dtype=np.int64)
                judged = Judgments.joined([judged, Judgments(*pairs.T, answers, ones, nobody)])
                taken |= set(map(tuple, pairs.tolist()))
                fit = self.fit(judged) if chosen or len(judged) == round(mark * self.n) else None
            assert fit is not None
            reached.append(float(kendalltau(fit.utilities, self.order).statistic))
        return reached


def of_items(seeds: int, first: int, most: int) -> None:
    bundle = replay.read()
    records = bundle.topics[:: max(1, len(bundle.topics) // most) if most else 1]
    topics = [Replayed(evidence(record, bundle.preferences)) for record in records]
    curves = []
    for chosen in (False, True):
        taus = [[topic.taus(chosen, first + seed) for topic in topics] for seed in range(seeds)]
        curves.append(np.array(taus).mean(axis=1))
        print(f"UKPConvArg1: {len(topics)} topics, {'telling most' if chosen else 'random'}", flush=True)
        for mark, tau, error in zip(ITEM_MARKS, curves[-1].mean(axis=0), curves[-1].std(axis=0), strict=True):
            print(f"  {mark:5.2f}  tau {tau:.3f} ({error / seeds**0.5:.3f})", flush=True)
    shares = needed(*curves, at=ITEMS_AT, marks=ITEM_MARKS)
    of_seeds = [needed(*(curve[[seed]] for curve in curves), at=ITEMS_AT, marks=ITEM_MARKS) for seed in range(seeds)]
    cells = zip(ITEMS_AT, shares, np.median(of_seeds, axis=0), strict=True)
    print("  needed, same tau (median over seeds): " + ", ".join(f"{at:g}: {x:.2f} ({y:.2f})" for at, x, y in cells))


def times() -> None:
    rng = np.random.default_rng(0)
    for n in (300, 1000):
        telling = asking.Telling(rng.normal(size=(20, n)), tuple(map(str, range(20))))
        began = time.perf_counter()
        telling.likelihood  # noqa: B018
        once = time.perf_counter() - began
        spent = []
        for seed in range(20):
            began = time.perf_counter()
            asking.telling_pairs(telling, 64, 0.2, seed)
            spent.append(time.perf_counter() - began)
        print(f"{n} sentences: {1000 * np.median(spent):.0f} ms, and {1000 * once:.0f} once for a topic's texts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=["summeval_op", "squality"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--topics", type=int, default=0, help="at most so many, evenly chosen; 0: all")
    parser.add_argument("--share", type=float, default=0.2, help="of random pairs")
    parser.add_argument("--later", action="store_true")
    parser.add_argument("--items", action="store_true")
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.time:
        return times()
    if options.items:
        return of_items(options.seeds, options.first, options.topics)
    for name in options.sets:
        of_systems(name, options.seeds, options.first, options.topics, options.share, options.later)
    return None


if __name__ == "__main__":
    main()
