"""Do intervals and verdicts of win rates hold for other annotators, whatever their tastes, and at the ends?

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.tastes [--of tastes ends chain] [--studies 100] [--only WORD]

tastes: 12 systems, 20 topics, 20 answers a topic, as in `benchmarks.direct`, but for how annotators differ (standard
deviation `taste` of a system's utility, in all topics): *normal*, for each system; *heavy*, Student's t with 3 degrees
of freedom; *camps*, two of them, of opposite tastes; *direction*, annotators differ along one line; *none*. *Shares*:
the k-th annotator answers 1 / k times as often as the first. *Two a topic*: two annotators answer about each topic,
drawn anew. The rule was chosen on *normal* worlds alone. Counted is what `benchmarks.direct` counts.

ends, chain: one answer a topic and pair of systems, by nobody in particular. *Ends*: of two systems the first wins
every count in turn, so coverage of its interval is exact, of binomial counts. *Chain*: of each two systems the earlier
one is preferred so often.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from benchmarks.direct import NODES, WEIGHTS, World, mean_and_error, print_worlds
from preferendum.fit.kernel import expected
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.win_rate import ENDS, Answers, win_rates

RATES = (0.5, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Tasted(World):
    """`kind` of tastes; `shares`: of the answers, unequal or not; `together`: annotators of a topic, 0 for all."""

    kind: str = "normal"
    shares: bool = False
    together: int = 0

    def _tastes(self, rng: np.random.Generator, alpha: np.ndarray) -> np.ndarray:
        shape = (self.annotators, self.systems)
        if self.kind == "heavy":
            return np.asarray(self.taste * rng.standard_t(3, shape) / np.sqrt(3))
        if self.kind in ("camps", "direction"):
            line = self._line(alpha)
            own = rng.choice((-1, 1), self.annotators) if self.kind == "camps" else rng.standard_normal(self.annotators)
            return np.outer(own, line)
        return super()._tastes(rng, alpha)

    def _line(self, alpha: np.ndarray) -> np.ndarray:
        """(s,): what annotators differ by, the same whenever a study with these systems is made."""
        return np.asarray(self.taste * np.random.default_rng(int(1e6 * abs(alpha[0]))).standard_normal(len(alpha)))

    def _who(self, rng: np.random.Generator, topic: np.ndarray) -> np.ndarray:
        if self.together:
            panels = np.array([rng.permutation(self.annotators)[: self.together] for _ in range(self.topics)])
            return panels[topic, rng.integers(self.together, size=len(topic))]
        if self.shares:
            often = 1 / np.arange(1, self.annotators + 1)
            return rng.choice(self.annotators, len(topic), p=often / often.sum())
        return super()._who(rng, topic)

    def _truth(self, alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if self.kind in ("normal", "none"):
            return super()._truth(alpha, rng)
        s = len(alpha)
        rates = np.zeros((s, s))
        if self.kind == "heavy":
            tastes = self.taste * rng.standard_t(3, (2, 20_000)) / np.sqrt(3)
            gaps = tastes[0] - tastes[1] + np.sqrt(2) * self.deviation * rng.standard_normal(20_000)
            for care in self.care:
                for i, own in enumerate(alpha):
                    rates[i] += expit(care * (own - alpha[:, None] + gaps)).mean(axis=1) / len(self.care)
        else:
            nodes, weights = ((-1, 1), (0.5, 0.5)) if self.kind == "camps" else (NODES, WEIGHTS / WEIGHTS.sum())
            for care, (node, weight) in product(self.care, zip(nodes, weights, strict=True)):
                own = (alpha + node * self._line(alpha)) * care
                spread = np.full(s, 2 * (care * self.deviation) ** 2)
                rates += weight / len(self.care) * np.array([expected(x - own, spread)[0] for x in own])
        return np.asarray((rates.sum(axis=1) - rates.diagonal()) / (s - 1))


def of_tastes(options: argparse.Namespace) -> None:
    worlds = {
        f"{kind}, {taste:g}": (kind, taste) for kind, taste in (("none", 0.0), ("normal", 0.5), ("normal", 1.0))
    } | {f"{kind}, {taste:g}": (kind, taste) for kind in ("heavy", "camps", "direction") for taste in (0.5, 1.0)}
    made: dict[str, World] = {}
    for (name, (kind, taste)), annotators in product(worlds.items(), (2, 5, 10, 20)):
        plain = {"care": (1.0,)} if kind == "none" else {}
        made[f"{name}: {annotators}"] = Tasted(12, 20, 20, annotators, taste=taste, kind=kind, **plain)
    for kind, annotators in product(("none", "normal", "direction"), (5, 20)):
        taste = 0.0 if kind == "none" else 1.0
        made[f"{kind}, shares: {annotators}"] = Tasted(12, 20, 20, annotators, taste=taste, kind=kind, shares=True)
    for kind in ("none", "normal", "direction"):
        taste = 0.0 if kind == "none" else 1.0
        made[f"{kind}, two a topic: 20"] = Tasted(12, 20, 20, 20, taste=taste, kind=kind, together=2)
    print_worlds({name: world for name, world in made.items() if options.only in name}, options.studies)


def of_ends(_options: argparse.Namespace) -> None:
    rates = np.linspace(0.5, 0.95, 10)
    print(f"| topics | {' | '.join(f'{rate:.2f}' for rate in rates)} |\n|{'---|' * (1 + len(rates))}")
    for topics in range(10, 41):
        counts = np.arange(topics + 1)
        low, high = np.array([interval_of(topics, wins) for wins in counts]).T
        held = [binom.pmf(counts, topics, rate)[(low <= rate) & (rate <= high)].sum() for rate in rates]
        print(f"| {topics} | {' | '.join(f'{own:.3f}' for own in held)} |", flush=True)


def of_chain(options: argparse.Namespace) -> None:
    print(f"| systems | topics | figure | {' | '.join(f'{rate:g}' for rate in RATES)} |\n|{'---|' * (3 + len(RATES))}")
    for systems, topics in product((3, 5), (10, 20, 40)):
        figures = [
            mean_and_error(np.array([chain(systems, topics, rate, k) for k in range(options.studies)]))
            for rate in RATES
        ]
        for k, figure in enumerate(("win rates", "differences", "family-wise error")):
            cells = [f"{mean[k]:.3f} ({error[k]:.3f})" for mean, error in figures]
            print(f"| {systems} | {topics} | {figure} | {' | '.join(cells)} |", flush=True)


def interval_of(topics: int, wins: int) -> tuple[float, float]:
    """Of the first of two systems, which won in so many topics."""
    standing = win_rates(_answers(2, topics, np.arange(topics) < wins)).standing
    first = Comparison([standing]).means(*ENDS)[0]
    return first.low or 0.0, first.high or 0.0


def chain(systems: int, topics: int, rate: float, seed: int) -> tuple[float, float, float]:
    """How many of the intervals of win rates and of differences hold the truth; whether Holm's tests err."""
    pairs = systems * (systems - 1) // 2
    rng = np.random.default_rng((seed, systems, topics, int(100 * rate)))
    standing = win_rates(_answers(systems, topics, rng.random(topics * pairs) < rate)).standing
    place = np.arange(systems)
    truth = (place * (1 - rate) + place[::-1] * rate) / (systems - 1)
    own = dict(zip([f"S{k}" for k in place], truth.tolist(), strict=True))
    comparison = Comparison([standing])
    means = [mean.low <= own[mean.system] <= mean.high for mean in comparison.means(*ENDS)]
    leads = [(pair, own[pair.better] - own[pair.worse]) for pair in comparison.differences()]
    return (
        float(np.mean(means)),
        float(np.mean([max(pair.low, -1) <= lead <= min(pair.high, 1) for pair, lead in leads])),
        float(any(pair.significant and lead <= 1e-9 for pair, lead in leads)),
    )


def _answers(systems: int, topics: int, won: np.ndarray) -> Answers:
    """About every two systems in every topic, the earlier one first, by nobody in particular."""
    first, second = np.tile(np.array([*combinations(range(systems), 2)]), (topics, 1)).T
    m = len(first)
    names = tuple(f"S{k}" for k in range(systems)), tuple(f"T{k}" for k in range(topics))
    topic = np.repeat(np.arange(topics), m // topics)
    return Answers(*names, topic, first, second, won.astype(float), np.ones(m), np.full(m, -1))


PARTS = {"tastes": of_tastes, "ends": of_ends, "chain": of_chain}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--of", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--only", default="", help="worlds with this in their name")
    options = parser.parse_args()
    for part in options.of:
        print(f"\n## {part}\n", flush=True)
        PARTS[part](options)


if __name__ == "__main__":
    main()
