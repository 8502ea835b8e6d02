"""Who among a crowd's clickers is noticed, and how many honest people are suspected?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.crowds [honest people] [seed]

Crowds of 50 honest people (5% lapses; every second one has a liking for the left side, .3 logits) and 5 clickers of
one kind judge 30 sentences (utilities with standard deviation 1.5), 40 pairs each. Everybody is looked at after every
judgment; flagged is whoever a detector ever spoke up about. What is not found stands at the bottom of the first table.

The second table has other worlds, a tenth of the people each. *most*: what no detector of random clickers could beat
that is wrong about 1 in 100 honest people and knows the true utilities (Neyman & Pearson 1933).

The detector was chosen with seed 1; figures that are reported anywhere are those of other seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from preferendum.annotators import detectors, reliability
from preferendum.evidence import Judgments

Vector = NDArray[np.float64]
Rng = np.random.Generator
HONEST, CLICKERS = 50, 5
LAPSES, LIKING, SHILLED = 0.05, 0.3, 3


@dataclass(frozen=True)
class World:
    """Which crowd judges what: `each` pairs a person, utilities with standard deviation `spread`."""

    sentences: int = 30
    each: int = 40
    spread: float = 1.5
    honest: int = HONEST
    clickers: int = CLICKERS

    def utilities(self, rng: Rng) -> Vector:
        theta = rng.normal(size=self.sentences)
        return np.asarray(theta * (self.spread / theta.std()))


OTHERS = {
    "as above": World(),
    "spread 1.0": World(spread=1.0),
    "spread 2.0": World(spread=2.0),
    "20 pairs each": World(each=20),
    "80 pairs each": World(each=80),
    "100 sentences": World(sentences=100),
    "300 sentences": World(sentences=300),
    "a crowd of 15": World(honest=13, clickers=2),
    "18% clickers": World(honest=45, clickers=10),
    "36% clickers": World(honest=35, clickers=20),
}


def honest(d: Vector, rng: Rng) -> Vector:
    """Would the left one be preferred?"""
    read = rng.random(d.shape) < expit(d)
    lapsed = rng.random(d.shape) < LAPSES
    return np.where(lapsed, rng.random(d.shape) < 0.5, read).astype(np.float64)


CLICKS: dict[str, Callable[[Vector, NDArray[np.bool_], Rng], NDArray[np.floating]]] = {
    "random": lambda d, favourite, rng: (rng.random(d.shape) < 0.5).astype(float),
    "always left": lambda d, favourite, rng: np.ones(d.shape),
    "70% left": lambda d, favourite, rng: (rng.random(d.shape) < 0.7).astype(float),
    "alternating": lambda d, favourite, rng: (np.arange(len(d)) % 2).astype(np.float64),
    "inverted": lambda d, favourite, rng: 1 - honest(d, rng),
    "careless 30%": lambda d, favourite, rng: np.where(
        rng.random(d.shape) < 0.3, rng.random(d.shape) < 0.5, honest(d, rng)
    ),
    "shill": lambda d, favourite, rng: np.where(favourite, d > -np.inf, honest(d, rng)).astype(float),
}


def crowd(kind: str, rng: Rng, world: World | None = None) -> tuple[Judgments, int]:
    """What a crowd answers, person after person, and how many people they are; the clickers are the last ones.

    A shill always prefers the sentences of one system, the first few, when one of them is shown.
    """
    world = World() if world is None else world
    theta = world.utilities(rng)
    k = world.honest + world.clickers
    a = rng.integers(world.sentences, size=(k, world.each))
    b = (a + rng.integers(1, world.sentences, size=(k, world.each))) % world.sentences
    d = theta[a] - theta[b]
    y = honest(d + np.where(np.arange(k) % 2, LIKING, 0.0)[:, None], rng)
    for person in range(world.honest, k):
        mine, other = a[person] < SHILLED, b[person] < SHILLED
        y[person] = CLICKS[kind](d[person], mine & ~other, rng)
        if kind == "shill":
            y[person][other & ~mine] = 0.0
    who = np.repeat(np.arange(k), world.each)
    return Judgments(a.ravel(), b.ravel(), y.ravel(), np.ones(k * world.each), who), k


def flagged(judgments: Judgments, k: int) -> list[detectors.Suspicion]:
    """What is thought of everybody, by person."""
    estimate = reliability.estimate([judgments], k)
    rows = np.argsort(judgments.annotator, kind="stable").reshape(k, -1)
    told = [(judgments.outcome[at], estimate.mean[0][at], estimate.variance[0][at]) for at in rows]
    usual = detectors.honesty(told)
    return [detectors.suspect(*record, usual) for record in told]


def most(world: World, rng: Rng, people: int = 20_000) -> float:
    """The share of random clickers that the likelihood ratio at the last answer finds, 1 in 100 honest ones with it."""
    theta = np.array([world.utilities(rng) for _ in range(people // 50)]).repeat(50, axis=0)
    a = rng.integers(world.sentences, size=(people, world.each))
    b = (a + rng.integers(1, world.sentences, size=a.shape)) % world.sentences
    d = np.take_along_axis(theta, a, 1) - np.take_along_axis(theta, b, 1)
    p = (1 - LAPSES) * expit(d) + LAPSES / 2

    def statistic(left: Vector) -> Vector:
        return np.asarray(-np.log(np.where(left == 1, p, 1 - p)).sum(axis=1))

    liking = np.where(np.arange(people) % 2, LIKING, 0.0)[:, None]
    enough = np.quantile(statistic(honest(d + liking, rng)), 0.99)
    return float(np.mean(statistic((rng.random(d.shape) < 0.5).astype(float)) > enough))


NAMES = {"random": "coin", "always left": "sided", "70% left": "sided"}


def first_table(people_wanted: int, seed: int) -> None:
    worlds = -(-people_wanted // (HONEST * len(CLICKS)))
    alarms = np.zeros(2, dtype=int)
    print(f"{'clickers':<14}{'flagged':>9}{'as such':>9}{'after':>7}{'honest flagged':>16}{'of':>7}")
    for number, kind in enumerate(CLICKS):
        seen: list[detectors.Suspicion] = []
        false = np.zeros(2, dtype=int)
        for draw in range(worlds):
            thought = flagged(*crowd(kind, np.random.default_rng([seed, number, draw])))
            seen += thought[HONEST:]
            false += [sum(suspicion.since > 0 for suspicion in thought[side:HONEST:2]) for side in (0, 1)]
        hits = [suspicion for suspicion in seen if suspicion.since]
        named = sum(suspicion.kind == NAMES.get(kind, kind) for suspicion in hits)
        after = f"{np.median([suspicion.since for suspicion in hits]):.0f}" if hits else "-"
        shares = f"{len(hits) / len(seen):9.1%}{named / len(seen):9.1%}"
        print(f"{kind:<14}{shares}{after:>7}{false.sum():16d}{worlds * HONEST:7d}", flush=True)
        alarms += false
    total = worlds * HONEST * len(CLICKS)
    print(f"false alarms: {alarms.sum()} of {total} honest people ({alarms.sum() / total:.2%});")
    print(f"of those who like the left side: {alarms[1] / (total / 2):.2%}")


def second_table(people_wanted: int, seed: int) -> None:
    print(f"\n{'world':<16}{'random':>8}{'most':>7}{'inverted':>10}{'honest flagged':>16}{'of':>7}")
    for number, (name, world) in enumerate(OTHERS.items()):
        worlds = -(-people_wanted // (20 * world.honest))
        caught, false = {}, 0
        for column, kind in enumerate(("random", "inverted")):
            hits = 0
            for draw in range(worlds):
                rng = np.random.default_rng([seed, 100 + number, column, draw])
                since = [suspicion.since > 0 for suspicion in flagged(*crowd(kind, rng, world))]
                hits += sum(since[world.honest :])
                false += sum(since[: world.honest])
            caught[kind] = hits / (worlds * world.clickers)
        highest = most(world, np.random.default_rng([seed, number]))
        shares = f"{caught['random']:8.1%}{highest:7.1%}{caught['inverted']:10.1%}"
        print(f"{name:<16}{shares}{false:16d}{2 * worlds * world.honest:7d}", flush=True)


def main() -> None:
    wanted, seed = (int(given) for given in (sys.argv[1:] + ["10000", "1"][len(sys.argv) - 1 :])[:2])
    first_table(wanted, seed)
    second_table(wanted, seed)


if __name__ == "__main__":
    main()
