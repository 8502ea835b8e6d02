"""Are standard errors what the planner says that they will be?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.planning [--studies 10] [--first-seed 7000] [--only made-up ...]
        [--share 1]

Predicted over realised standard errors, by judgments a sentence; realised: the mean over studies with judgments that
the planner never saw. Before: from texts alone, with what the planner takes to be usual. After 1: from the fits of one
judgment a sentence, of one more study. With a `--share` of random pairs the others tell systems apart.

**Systems**: the error of the difference of two systems over all topics of made-up studies (benchmarks/worlds.py; their
truth, the standard deviation of utilities, the share of careless answers), and of SummEval-OP and SQuALITY with
annotators who prefer what is more similar to the references, and are right 80% of the time.

**Sentences**: the error of an argument's utility in replays of UKPConvArg1's real judgments, one a pair, in random
order. What the planner takes to be usual was read off the first four topics (`preferendum.scoring.planning.TYPICAL`);
these are the others.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks import replay
from benchmarks.corpora import SETS, read
from benchmarks.worlds import TRUTHS, world
from preferendum.evidence import Evidence, Judgments, Settings, evidence
from preferendum.fit.similarity import DECIMALS
from preferendum.scoring import asking, planning, simulate
from preferendum.scoring.planning import Prepared

RATIOS = (1, 2, 4, 8)
STUDIES = ("made-up", "summeval_op", "squality", "arguments")
SETTINGS = Settings()
NOBODY = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
#: So many judgments of a topic, in random order.
Draw = Callable[[int, np.random.Generator], Judgments]
#: A topic, and how it is judged.
Judged = tuple[Prepared, Draw]


def measure(
    name: str, topics: Sequence[Judged], studies: int, first_seed: int, share: float = 1.0, *, of_systems: bool = True
) -> None:
    """A line for each way of predicting."""
    sizes = [[ratio * len(topic.evidence.sentences) for ratio in RATIOS] for topic, _draw in topics]
    realised = _mean_errors(
        [
            [
                _errors(topic, draw, own, np.random.default_rng((seed, k)), of_systems)
                for k, (topic, draw, own) in enumerate(zip(*zip(*topics, strict=True), sizes, strict=True))
            ]
            for seed in range(first_seed, first_seed + studies)
        ]
    )
    rng = np.random.default_rng((first_seed, 999))
    fits = [
        (fitted, judged, len(topic.evidence.sentences))
        for topic, draw in topics
        for judged in [draw(len(topic.evidence.sentences), rng)]
        if (fitted := topic.fit(judged, SETTINGS)) is not None
    ]
    ties = planning.TYPICAL_TIES if any(0.5 in judged.outcome for _fit, judged, _n in fits) else 0.0
    usual = replace(planning.TYPICAL, ties=ties)
    for how, assumed in (("before", usual), ("after 1", planning.learnt(fits))):
        assert assumed is not None
        assumed = replace(assumed, random_share=share)
        predicted = _mean_errors(
            [
                [
                    _predicted(topic, own, assumed, run, of_systems)
                    for (topic, _draw), own in zip(topics, sizes, strict=True)
                ]
                for run in range(planning.RUNS)
            ]
        )
        ratios = " | ".join(f"{p / r:.2f}" for p, r in zip(predicted, realised, strict=True))
        print(f"| {name} | {how} | {assumed.variance:.2f}, {assumed.share:.2f} | {ratios} |", flush=True)


def _errors(
    topic: Prepared, draw: Draw, sizes: Sequence[int], rng: np.random.Generator, of_systems: bool
) -> list[float]:
    judged = draw(sizes[-1], rng)
    both = [planning.errors_of(topic, judged.some(slice(size)), SETTINGS) for size in sizes]
    return [_one(variance, sentence, of_systems) for variance, sentence in both]


def _predicted(
    topic: Prepared, sizes: Sequence[int], assumed: planning.Assumed, run: int, of_systems: bool
) -> list[float]:
    errors = planning.simulate(topic, SETTINGS, sizes, assumed, 0, run)
    return [_one(*both, of_systems) for both in zip(errors.variance, errors.sentence, strict=True)]


def _one(variance: float | None, sentence: float | None, of_systems: bool) -> float:
    value = variance if of_systems else sentence
    return np.nan if value is None else value if of_systems else value**2


def _mean_errors(of_studies: Sequence[Sequence[Sequence[float]]]) -> list[float]:
    """From (studies, topics, sizes) of variances: the mean over studies of the root of their mean over topics."""
    mean: list[float] = np.sqrt(np.array(of_studies).mean(axis=1)).mean(axis=0).tolist()
    return mean


def made_up(truth: str, spread: float, careless: float, share: float) -> list[Judged]:
    rng = np.random.default_rng(0)
    topics = []
    for number in range(4):
        drawn = world(truth, 60, spread, rng)
        names = tuple(f"d:{index}" for index in range(60))
        topic = Evidence(f"T{number}", names, drawn.texts, NOBODY, drawn.summaries(8, rng))

        prepared = Prepared.of(topic, SETTINGS)

        def draw(
            m: int,
            rng: np.random.Generator,
            topic: Prepared = prepared,
            utilities: np.ndarray = drawn.utilities,
        ) -> Judgments:
            queue = planning.queue_of(topic, m, share, int(rng.integers(1 << 32)))
            first, second = queue.pairs.T
            chance = 1 / (1 + np.exp(utilities[second] - utilities[first]))
            return _answers(queue, np.where(rng.random(len(first)) < careless, 0.5, chance), rng)

        topics.append((prepared, draw))
    return topics


def graded(name: str, share: float) -> list[Judged]:
    """Up to six topics of SummEval-OP or SQuALITY."""
    topics = []
    chosen = SETS[name]
    for topic in read(chosen.path, chosen.without)[:6]:
        prepared = Prepared.of(topic, SETTINGS)
        references = [sentence for reference in topic.references for sentence in reference]
        value = np.round(simulate.value_by_references(prepared.similarity, references), DECIMALS)

        def draw(m: int, rng: np.random.Generator, topic: Prepared = prepared, value: np.ndarray = value) -> Judgments:
            queue = planning.queue_of(topic, m, share, int(rng.integers(1 << 32)))
            first, second = queue.pairs.T
            return _answers(queue, 0.5 + 0.3 * np.sign(value[first] - value[second]), rng)

        topics.append((prepared, draw))
    return topics


def arguments() -> list[Judged]:
    bundle = replay.read()
    topics = []
    for record in bundle.topics[4:]:
        topic = evidence(record, bundle.preferences)

        def draw(m: int, rng: np.random.Generator, judged: Judgments = topic.judgments) -> Judgments:
            order = rng.permutation(len(judged))
            pairs = np.minimum(judged.a, judged.b)[order] * 10_000 + np.maximum(judged.a, judged.b)[order]
            _, first = np.unique(pairs, return_index=True)  # one judgment a pair
            return Judgments(*(getattr(judged, column)[order[np.sort(first)[:m]]] for column in _COLUMNS))

        topics.append((Prepared.of(replace(topic, judgments=NOBODY), SETTINGS), draw))
    return topics


_COLUMNS = ("a", "b", "outcome", "weight", "annotator")


def _answers(queue: asking.Queue, chance: np.ndarray, rng: np.random.Generator) -> Judgments:
    won = (rng.random(len(chance)) < chance).astype(float)
    return Judgments(*queue.pairs.T, won, np.ones(len(won)), np.zeros(len(won), dtype=np.int64), queue.design)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=7000)
    parser.add_argument("--share", type=float, default=0.2, help="of random pairs")
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=STUDIES)
    options = parser.parse_args()
    measured = options.studies, options.first_seed, options.share
    began = time.perf_counter()
    print(f"| study | predicted | variance, share | {' | '.join(f'{ratio} a sentence' for ratio in RATIOS)} |")
    print("|---|---|---|" + "---|" * len(RATIOS))
    for truth in TRUTHS if "made-up" in options.only else ():
        for spread, careless in ((0.7, 0.1), (1.0, 0.1), (1.5, 0.1), (1.5, 0.3), (2.0, 0.0)):
            name = f"{truth}, {spread}, {careless:.0%} careless"
            measure(name, made_up(truth, spread, careless, options.share), *measured)
    for name in ("summeval_op", "squality"):
        if name in options.only:
            measure(name, graded(name, options.share), *measured)
    if "arguments" in options.only:
        measure("UKPConvArg1, arguments", arguments(), options.studies, options.first_seed, of_systems=False)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
