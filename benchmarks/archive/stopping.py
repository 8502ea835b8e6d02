"""Does the stop rule hold at every look, and what does it save?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.stopping [--null 2000] [--studies 300] [--first-seed 5000]
        [--share .2]

Made-up studies (benchmarks/worlds.py): three topics of 30 sentences, systems that choose from badly to well, random
pairs. A study is looked at whenever 20 judgments a topic are in, up to 30 looks; each look fits all topics anew.

**Null**: answers by a coin, six systems; the share of studies that ever call two of them apart, by the stop rule and by
the test of a single look, made at every look. With a `--share` of random pairs below 1 the others are drawn because
they tell systems apart, 20 at a time.

**What it saves**: two systems drawn from twelve, answers as Bradley and Terry's model says. A fixed budget and one test
at its end has some power; the stop rule, planned for the smallest number of judgments that gives it the same power,
stops as soon as the two are apart. The ratio of the mean numbers of judgments, at equal power.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.worlds import World, world
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit import preference_matrix
from preferendum.results import Difference, Standing
from preferendum.results.statistics import Z95
from preferendum.scoring import asking, importance
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.stopping import StopRule

TOPICS, SENTENCES, STEP, LOOKS = 3, 30, 20, 30
BUDGET = TOPICS * STEP * LOOKS
NONE = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))


@dataclass(frozen=True)
class Texts:
    world: World
    shared: importance.SharedWords


@cache
def texts(number: int, systems: int, spread: float) -> list[Texts]:
    """The topics of a study; several studies share them."""
    rng = np.random.default_rng((number, systems))
    made = []
    for _topic in range(TOPICS):
        drawn = world("words", SENTENCES, spread, rng)
        names = tuple(f"d:{index}" for index in range(SENTENCES))
        evidence = Evidence("T", names, drawn.texts, NONE, drawn.summaries(systems, rng))
        made.append(Texts(drawn, importance.share_words(evidence)))
    return made


def standing(topic: Texts, judgments: Judgments, places: Sequence[int] | None = None) -> Standing:
    """What a topic's judgments say of (some of) the systems."""
    estimate = preference_matrix.estimate(judgments, SENTENCES, topic.world.similarity, Settings())
    chances = estimate.chances_by(topic.shared.telling.likelihood_for)
    scores = importance.score(topic.shared, chances, len(judgments)).of("importance")
    if places is not None:
        systems = tuple(scores.systems[place] for place in places)
        scores = replace(
            scores, systems=systems, score=scores.score[places], covariance=scores.covariance[np.ix_(places, places)]
        )
    return scores.standing


def looks(
    topics: Sequence[Texts], answers: Sequence[Judgments], places: Sequence[int] | None = None
) -> list[list[Standing]]:
    """The standings of all topics at every look."""
    return [
        [standing(topic, own.some(slice(STEP * look)), places) for topic, own in zip(topics, answers, strict=True)]
        for look in range(1, LOOKS + 1)
    ]


def differences(standings: Sequence[Standing], rule: StopRule | None) -> tuple[Difference, ...]:
    return Comparison(standings, stop_rule=rule).differences()


def coins(topic: Texts, share: float, rng: np.random.Generator) -> Judgments:
    m = STEP * LOOKS
    if share < 1:
        seeds = rng.integers(1 << 32, size=LOOKS).tolist()
        queues = [asking.telling_pairs(topic.shared.telling, STEP, share, seed) for seed in seeds]
        a, b = np.concatenate([queue.pairs for queue in queues]).T
        design = np.concatenate([queue.design for queue in queues])
    else:
        a = rng.integers(SENTENCES, size=m)
        b = (a + rng.integers(1, SENTENCES, size=m)) % SENTENCES
        design = np.ones(m)
    return Judgments(a, b, rng.integers(0, 2, m).astype(float), np.ones(m), np.zeros(m, np.int64), design)


def null(studies: int, first_seed: int, share: float) -> None:
    rules = {"stop rule": StopRule(BUDGET), "one test, made at every look": None}
    wrong = dict.fromkeys(rules, 0)
    for seed in range(first_seed, first_seed + studies):
        rng = np.random.default_rng(seed)
        topics = texts(seed % 40, 6, 1.5)
        seen = looks(topics, [coins(topic, share, rng) for topic in topics])
        for name, rule in rules.items():
            wrong[name] += any(d.significant for standings in seen for d in differences(standings, rule))
    print(f"| rule | of {studies} studies of a coin, ever apart |\n|---|---|")
    for name, number in wrong.items():
        print(f"| {name} | {number / studies:.4f} ({np.sqrt(number) / studies:.4f}) |")


def saved(studies: int, first_seed: int) -> None:
    """z of the one difference at every look, and then all rules on the same studies."""
    z = np.empty((studies, LOOKS))
    for row, seed in enumerate(range(first_seed, first_seed + studies)):
        rng = np.random.default_rng(seed)
        topics = texts(seed % 40, 12, 2.0)
        answers = [topic.world.judgments(STEP * LOOKS, rng) for topic in topics]
        places = rng.choice(12, size=2, replace=False).tolist()
        for column, standings in enumerate(looks(topics, answers, places)):
            (difference,) = differences(standings, None)
            margin = ((difference.high or 0) - (difference.low or 0)) / 2 / Z95
            z[row, column] = difference.difference / margin
    columns = ("fixed budget", "power", "stop rule plans", "its power", "judgments spent", "of the budget")
    print()
    print(f"| {' | '.join(columns)} |")
    print(f"|{'---|' * len(columns)}")
    for look in (6, 10, 15, 20, 25):
        power = float(np.mean(z[:, look - 1] > Z95))
        planned = next((last for last in range(look, LOOKS + 1) if _stops(z, last)[0] >= power), None)
        if planned is None:
            print(f"| {look * TOPICS * STEP} | {power:.3f} | more than {BUDGET} | | | |")
            continue
        reached, spent = _stops(z, planned)
        print(
            f"| {look * TOPICS * STEP} | {power:.3f} | {planned * TOPICS * STEP} | {reached:.3f} "
            f"| {spent * TOPICS * STEP:.0f} | {spent / look:.2f} |"
        )


def _stops(z: NDArray[np.float64], planned: int) -> tuple[float, float]:
    """The share of studies that end with a verdict, and the mean look at which a study stops."""
    rule = StopRule(planned)
    bounds = np.array([rule.quantile(look) for look in range(1, planned + 1)])
    is_apart = z[:, :planned] > bounds
    ends = np.where(is_apart.any(axis=1), is_apart.argmax(axis=1) + 1, planned)
    return float(is_apart.any(axis=1).mean()), float(ends.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--null", type=int, default=2000)
    parser.add_argument("--studies", type=int, default=300)
    parser.add_argument("--first-seed", type=int, default=5000)
    parser.add_argument("--share", type=float, default=1.0)
    options = parser.parse_args()
    began = time.perf_counter()
    if options.null:
        null(options.null, options.first_seed, options.share)
    if options.studies:
        saved(options.studies, options.first_seed)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
