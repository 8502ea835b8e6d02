"""Do weights of people keep a ranking straight when some of them click at random or the wrong way round?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.reliability [worlds]

Kendall's tau with the true utilities, mean over made-up topics: 300 sentences (utilities with standard
deviation 2), 1,000 judgments, 20 people. Columns:
plain (everybody counts alike), crowd-bt (batch Crowd-BT, Chen et al. 2013: P = eta s(d) + (1 - eta) s(-d), eta_k by
EM), joint (evaluation.reliability's own utilities), weights (a plain fit with its weights), known (only honest people).
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import kendalltau

from evaluation import reliability, zermelo
from evaluation.evidence import Judgments
from evaluation.preference import wins

Vector = NDArray[np.float64]
SENTENCES, JUDGMENTS, PEOPLE, SPREAD = 300, 1000, 20, 2.0
CROWDS = ((0.0, 0.0), (0.1, 0.0), (0.2, 0.0), (0.3, 0.0), (0.0, 0.1), (0.1, 0.1), (0.2, 0.1), (0.3, 0.1))


def crowd(random: float, adverse: float, rng: np.random.Generator) -> tuple[Vector, Judgments, NDArray[np.bool_]]:
    """True utilities, what people said of them, and who is honest."""
    theta = rng.normal(0, SPREAD, SENTENCES)
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


def row(random: float, adverse: float, worlds: int) -> Vector:
    found = []
    for seed in range(worlds):
        theta, judgments, honest = crowd(random, adverse, np.random.default_rng(seed))
        joint = reliability.estimate([judgments], PEOPLE)
        only = Judgments(
            judgments.a,
            judgments.b,
            judgments.outcome,
            judgments.weight * honest[judgments.annotator],
            judgments.annotator,
        )
        estimates = (
            utilities(judgments),
            crowd_bt(judgments),
            joint.topics[0].theta,
            utilities(reliability.weigh(judgments)),
            utilities(only),
        )
        found.append(
            [
                kendalltau(theta, one[:SENTENCES].tolist() + [0.0] * (SENTENCES - len(one))).statistic
                for one in estimates
            ]
        )
    return np.asarray(np.mean(found, axis=0))


def main() -> None:
    worlds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"{'random':>7}{'adverse':>8}{'plain':>8}{'crowd-bt':>9}{'joint':>8}{'weights':>8}{'known':>8}")
    for random, adverse in CROWDS:
        values = row(random, adverse, worlds)
        print(f"{random:7.0%}{adverse:8.0%}" + "".join(f"{value:8.3f}" for value in values))


if __name__ == "__main__":
    main()
