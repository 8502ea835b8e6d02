"""Do intervals and verdicts hold for other annotators of the kind, where annotators differ in taste?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.archive.tastes [--annotators 2 5 20] [--topics 20 50] [--taste 0 1]
        [--judgments 200] [--studies 100] [--spread 1] [--together 0]

Real sentences and summaries (SummEval-OP, its topics drawn again where a study has more of them), utilities that are
normal with standard deviation `--spread`, and annotators each with a taste of their own: a weight, normal with standard
deviation `--taste`, on a sentence's place in its document, the same in all topics. Answers are by Bradley and Terry's
chances; each is by an annotator drawn at random of all, or of `--together` that share the topic. The truth is what
infinitely many answers by infinitely many such annotators would give. Figures as in `benchmarks.archive.coverage`, with
the errors of before (`within`: those of independent answers) beside those of now.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from scipy.special import expit

from benchmarks.archive.coverage import FIGURES, less
from benchmarks.corpora import DATA, read
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit import preference_matrix
from preferendum.fit.similarity import similarity
from preferendum.results import Standing
from preferendum.scoring.importance import score, share_words
from preferendum.scoring.ranking import Comparison

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


class Topic:
    """A real topic; `place` (n,): of each sentence in its document, standardized."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.n = len(evidence.sentences)
        self.similarity = similarity(evidence.sentences, Settings().similarity)
        self.shared = share_words(evidence)
        index = np.array([int(name.rpartition(":")[2]) for name in evidence.sentence_ids], dtype=float)
        self.place = (index - index.mean()) / (index.std() or 1.0)

    def judged(
        self, utilities: np.ndarray, tastes: np.ndarray, who: np.ndarray, rng: np.random.Generator
    ) -> tuple[Standing, np.ndarray]:
        """By annotators `who` (m,), and the truth (s,)."""
        m = len(who)
        a = rng.integers(self.n, size=m)
        b = (a + rng.integers(1, self.n, size=m)) % self.n
        gap = utilities[a] - utilities[b] + tastes[who] * (self.place[a] - self.place[b])
        won = (rng.random(m) < expit(gap)).astype(float)
        judgments = Judgments(a, b, won, np.ones(m), who)
        fit = preference_matrix.estimate(judgments, self.n, self.similarity, Settings())
        scores = score(self.shared, fit.chances_by(self.shared.telling.likelihood_for), m).of("importance")
        return scores.standing_by(range(len(tastes))), scores.score


def truth(topic: Topic, utilities: np.ndarray, taste: float) -> np.ndarray:
    """(s,): by infinitely many annotators."""
    chances = np.zeros(topic.n)
    for node, weight in zip(NODES * taste, WEIGHTS / WEIGHTS.sum(), strict=True):
        own = utilities + node * topic.place
        chances += weight * (expit(own[:, None] - own).sum(axis=1) - 0.5) / (topic.n - 1)
    return np.asarray(topic.shared.importance @ (chances - 0.5))


def study(
    topics: Sequence[Topic], number: int, annotators: int, taste: float, options: argparse.Namespace, seed: int
) -> dict[str, tuple[float, ...]]:
    rng = np.random.default_rng((number, annotators, int(10 * taste), seed))
    tastes = taste * rng.standard_normal(annotators)
    standings, truths = [], []
    for k in rng.permutation(np.resize(np.arange(len(topics)), number)):
        topic = topics[k]
        utilities = options.spread * rng.standard_normal(topic.n)
        some = rng.choice(annotators, min(options.together or annotators, annotators), replace=False)
        who = some[rng.integers(len(some), size=options.judgments)]
        standings.append(topic.judged(utilities, tastes, who, rng)[0])
        truths.append(truth(topic, utilities, taste))
    return {
        "within": figures([replace(own, shares=None) for own in standings], truths),
        "now": figures(standings, truths),
    }


def figures(standings: Sequence[Standing], truths: Sequence[np.ndarray]) -> tuple[float, ...]:
    """Coverage, family-wise error, wrong way round, power of one study."""
    by_system = dict(zip(standings[0].systems, np.mean(truths, axis=0).tolist(), strict=True))
    equal = Comparison([less(standing, own) for standing, own in zip(standings, truths, strict=True)]).differences()
    called = [pair for pair in Comparison(standings).differences() if pair.significant]
    return (
        float(np.mean([pair.low is not None and pair.low <= 0 for pair in equal])),
        float(any(pair.significant for pair in equal)),
        float(any(by_system[pair.better] < by_system[pair.worse] for pair in called)),
        len(called) / len(equal),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--annotators", type=int, nargs="+", default=[2, 5, 20])
    parser.add_argument("--topics", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--taste", type=float, nargs="+", default=[0.0, 1.0])
    parser.add_argument("--judgments", type=int, default=200)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--spread", type=float, default=1.0)
    parser.add_argument("--together", type=int, default=0, help="annotators of a topic; 0: all")
    options = parser.parse_args()
    topics = [Topic(topic) for topic in read(DATA / "summeval_op" / "topics.jsonl", ())]
    print(f"| taste | annotators | topics | errors | studies | {' | '.join(FIGURES)} |\n|{'---|' * (5 + len(FIGURES))}")
    for taste, annotators, number in product(options.taste, options.annotators, options.topics):
        made = [study(topics, number, annotators, taste, options, seed) for seed in range(options.studies)]
        for errors in made[0]:
            table = np.array([own[errors] for own in made])
            spread = table.std(axis=0, ddof=1) / np.sqrt(len(table))
            cells = [f"{mean:.3f} ({error:.3f})" for mean, error in zip(table.mean(axis=0), spread, strict=True)]
            print(f"| {taste:g} | {annotators} | {number} | {errors} | {len(made)} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
