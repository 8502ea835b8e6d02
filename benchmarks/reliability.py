"""Do weights of people keep a ranking straight when some of them click at random or the wrong way round?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.reliability [worlds] [seed] [spread]

Kendall's tau with the true utilities, mean over made-up topics: 300 sentences (utilities with standard
deviation `spread`; 1.8 gives honest crowds a tau of .62), 1,000 judgments of random pairs, 20 people. Columns:
plain (everybody counts alike), crowd-bt (batch Crowd-BT, Chen et al. 2013: P = eta s(d) + (1 - eta) s(-d), eta_k by
EM), joint (preferendum.annotators.reliability's own utilities), weights (a plain fit with its weights), known (a plain
fit of honest people only); gain: weights - plain, with its standard error. The prior was chosen with seeds 500 to 515.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import kendalltau

from preferendum.annotators import reliability
from preferendum.evidence import Judgments
from preferendum.fit import zermelo
from preferendum.fit.preference_matrix import wins

Vector = NDArray[np.float64]
SENTENCES, JUDGMENTS, PEOPLE = 300, 1000, 20
CROWDS = ((0.0, 0.0), (0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.0, 0.1), (0.1, 0.1), (0.2, 0.1), (0.3, 0.1))


def crowd(
    random: float, adverse: float, rng: np.random.Generator, spread: float = 1.8
) -> tuple[Vector, Judgments, NDArray[np.bool_]]:
    """True utilities, what people said of them, and who is honest."""
    theta = rng.normal(0, spread, SENTENCES)
    a = rng.integers(SENTENCES, size=JUDGMENTS)
    b = (a + rng.integers(1, SENTENCES, size=JUDGMENTS)) % SENTENCES
    who = rng.integers(PEOPLE, size=JUDGMENTS)
    slope = np.ones(PEOPLE)
    slope[: round(random * PEOPLE)] = 0
    slope[PEOPLE - round(adverse * PEOPLE) :] = -1
    won = rng.random(JUDGMENTS) < expit(slope[who] * (theta[a] - theta[b]))
    return theta, Judgments(a, b, won.astype(float), np.ones(JUDGMENTS), who), slope == 1


def utilities(judgments: Judgments) -> Vector:
    """The website's fit, without smoothing: similarity says nothing in these topics."""
    return zermelo.fit(wins(judgments, SENTENCES), 1.0).utilities


def crowd_bt(judgments: Judgments, rounds: int = 30) -> Vector:
    """Batch Crowd-BT: alternate who is right how often (Beta(10, 1) prior) with utilities from softened answers."""
    eta, theta = np.full(PEOPLE, 0.9), np.zeros(SENTENCES)
    for _ in range(rounds):
        p = expit(theta[judgments.a] - theta[judgments.b])
        likely = np.where(judgments.outcome == 1, p, 1 - p)
        right = eta[judgments.annotator]
        right = right * likely / (right * likely + (1 - right) * (1 - likely))
        n = np.bincount(judgments.annotator, minlength=PEOPLE)
        eta = (np.bincount(judgments.annotator, right, PEOPLE) + 9) / (n + 9)
        soft = np.where(judgments.outcome == 1, right, 1 - right)
        softened = Judgments(judgments.a, judgments.b, soft, judgments.weight, judgments.annotator)
        theta = reliability.fit(softened, np.ones(JUDGMENTS, dtype=bool), np.ones(PEOPLE), 1.2, theta).theta
    return theta


def row(random: float, adverse: float, worlds: int, seed: int, spread: float = 1.8) -> NDArray[np.float64]:
    """(worlds, 5): tau by each way, world by world."""
    taus = []
    for world in range(seed, seed + worlds):
        theta, judgments, honest = crowd(random, adverse, np.random.default_rng(world), spread)
        joint = reliability.estimate([judgments], PEOPLE)
        only = replace(judgments, weight=judgments.weight * honest[judgments.annotator])
        estimates = (
            utilities(judgments),
            crowd_bt(judgments),
            joint.topics[0].theta,
            utilities(reliability.weigh(judgments)),
            utilities(only),
        )
        taus.append([tau(theta, estimate) for estimate in estimates])
    return np.array(taus)


def tau(theta: Vector, estimate: Vector) -> float:
    """Kendall's; sentences beyond the last one that was judged have no estimate and count as average."""
    padded = estimate[:SENTENCES].tolist() + [0.0] * (SENTENCES - len(estimate))
    return float(kendalltau(theta, padded).statistic)


def main() -> None:
    given = [*sys.argv[1:], *("20", "1", "1.8")[len(sys.argv) - 1 :]]
    worlds, seed, spread = int(given[0]), int(given[1]), float(given[2])
    names = ("plain", "crowd-bt", "joint", "weights", "known")
    print(f"{'random':>7}{'adverse':>8}" + "".join(f"{name:>9}" for name in names) + f"{'gain':>8}{'se':>6}")
    for random, adverse in CROWDS:
        taus = row(random, adverse, worlds, seed, spread)
        gain = taus[:, 3] - taus[:, 0]
        means = "".join(f"{value:9.3f}" for value in taus.mean(axis=0))
        print(
            f"{random:7.0%}{adverse:8.0%}{means}{gain.mean():+8.3f}{gain.std() / (worlds - 1) ** 0.5:6.3f}", flush=True
        )


if __name__ == "__main__":
    main()
