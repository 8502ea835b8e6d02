"""Who among a crowd's clickers is noticed, and how many honest people are suspected?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.crowds [honest people]

Crowds of 50 honest people (5% lapses; every second one has a slight liking for the left side, .3 logits) and 5
clickers of one kind judge 30 sentences (utilities with standard deviation 1.5), 40 pairs each. Everybody is looked at
after every judgment; flagged is whoever a detector ever spoke up about. What is not found stands at the bottom.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evaluation import people, reliability
from evaluation.evidence import Judgments

Vector = NDArray[np.float64]
Rng = np.random.Generator
SENTENCES, EACH, HONEST, CLICKERS = 30, 40, 50, 5
SHILLED = 3


def honest(d: Vector, rng: Rng) -> Vector:
    """Would the left one be preferred? 5% lapses."""
    read = rng.random(d.shape) < expit(d)
    lapsed = rng.random(d.shape) < 0.05
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


def crowd(kind: str, rng: Rng, pairs: int = EACH) -> tuple[Judgments, int]:
    """What a crowd answers, person after person; the clickers are those from `HONEST` on.

    A shill always prefers the sentences of one system, the first few, when one of them is shown.
    """
    theta = rng.normal(size=SENTENCES)
    theta *= 1.5 / theta.std()
    k = HONEST + CLICKERS
    a = rng.integers(SENTENCES, size=(k, pairs))
    b = (a + rng.integers(1, SENTENCES, size=(k, pairs))) % SENTENCES
    d = theta[a] - theta[b]
    liking = np.where(np.arange(k) % 2, 0.3, 0.0)[:, None]
    y = honest(d + liking, rng)
    for person in range(HONEST, k):
        mine, other = a[person] < SHILLED, b[person] < SHILLED
        y[person] = CLICKS[kind](d[person], mine & ~other, rng)
        if kind == "shill":
            y[person][other & ~mine] = 0.0
    who = np.repeat(np.arange(k), pairs)
    return Judgments(a.ravel(), b.ravel(), y.ravel(), np.ones(k * pairs), who), k


def flagged(judgments: Judgments, k: int) -> list[people.Suspicion]:
    """What is thought of everybody, by person."""
    found = reliability.estimate([judgments], k)
    rows = np.argsort(judgments.annotator, kind="stable").reshape(k, -1)
    mean, variance = found.typical * found.mean[0], found.typical**2 * found.variance[0]
    return [people.suspect(judgments.outcome[at], mean[at], variance[at]) for at in rows]


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    worlds = -(-wanted // (HONEST * len(CLICKS)))
    alarms = total = 0
    print(f"{'clickers':<14}{'flagged':>9}{'as such':>9}{'after':>7}{'honest flagged':>16}{'of':>7}")
    for number, kind in enumerate(CLICKS):
        seen: list[people.Suspicion] = []
        false = 0
        for world in range(worlds):
            thought = flagged(*crowd(kind, np.random.default_rng([number, world])))
            seen += thought[HONEST:]
            false += sum(one.since > 0 for one in thought[:HONEST])
        hits = [one for one in seen if one.since]
        names = {"random": "coin", "always left": "sided", "70% left": "sided"}
        named = sum(one.kind == names.get(kind, kind) for one in hits)
        after = f"{np.median([one.since for one in hits]):.0f}" if hits else "-"
        print(
            f"{kind:<14}{len(hits) / len(seen):9.1%}{named / len(seen):9.1%}{after:>7}{false:16d}{worlds * HONEST:7d}",
            flush=True,
        )
        alarms, total = alarms + false, total + worlds * HONEST
    print(f"false alarms: {alarms} of {total} honest people ({alarms / total:.2%})")


if __name__ == "__main__":
    main()
