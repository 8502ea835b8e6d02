"""Made-up topics whose truth is known: sentences with real overlap of words, utilities, and judges who follow them.

Three truths: `words` (what a sentence is worth is the worth of its words), `clusters` (near-duplicates are worth the
same, as in news from many sources), `independent` (similar words say nothing about worth).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.evidence import Judgments
from evaluation.similarity import similarity

Vector = NDArray[np.float64]
TRUTHS = ("words", "clusters", "independent")


@dataclass(frozen=True)
class World:
    similarity: NDArray[np.float64]
    utilities: Vector

    @property
    def n(self) -> int:
        return len(self.utilities)

    def judgments(self, m: int, rng: np.random.Generator) -> Judgments:
        """m pairs drawn at random, judged as Bradley and Terry's model says."""
        a = rng.integers(self.n, size=m)
        b = (a + rng.integers(1, self.n, size=m)) % self.n
        won = rng.random(m) < 1 / (1 + np.exp(self.utilities[b] - self.utilities[a]))
        return Judgments(a, b, won.astype(float), np.ones(m), np.zeros(m, np.int64))


def world(truth: str, n: int, spread: float, rng: np.random.Generator) -> World:
    """A topic of n sentences, utilities with standard deviation `spread`."""
    words = 500 + 20 * int(np.sqrt(n))
    frequency = 1 / np.arange(1, words + 1)
    frequency /= frequency.sum()
    groups = max(n // (4 if truth == "clusters" else 10), 1)
    group = rng.integers(groups, size=n)
    theme = [rng.choice(words, size=14, p=frequency) for _ in range(groups)]
    texts = []
    for i in range(n):
        if truth == "clusters":
            kept = theme[group[i]][rng.random(14) < 0.8]
            drawn = np.concatenate([kept, rng.choice(words, size=rng.integers(2, 8), p=frequency)])
        else:
            drawn = np.concatenate(
                [rng.choice(theme[group[i]], size=4), rng.choice(words, size=rng.integers(6, 26), p=frequency)]
            )
        texts.append(drawn)
    utilities = {
        "words": lambda: np.array([rng_words[text].sum() / np.sqrt(len(text)) for text in texts]),
        "clusters": lambda: rng.normal(size=groups)[group] + 0.3 * rng.normal(size=n),
        "independent": lambda: rng.normal(size=n),
    }
    rng_words = rng.normal(size=words) * (np.arange(words) > 30)
    values = utilities[truth]()
    values = (values - values.mean()) * (spread / values.std())
    compared = similarity([" ".join(f"w{word}" for word in text) for text in texts])
    return World(np.array(compared.matrix), values)
