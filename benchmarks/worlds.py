"""Made-up topics whose truth is known: sentences with real overlap of words, utilities, and judges who follow them.

Three truths: `words` (what a sentence is worth is the worth of its words), `clusters` (near-duplicates are worth the
same, as in news from many sources), `independent` (similar words say nothing about worth).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Judgments, SummaryText
from preferendum.fit.similarity import Similarity, similarity

Vector = NDArray[np.float64]
TRUTHS = ("words", "clusters", "independent")
ENDINGS = ["", "", "", "s", "ed", "ing", "ation", "ly", "ement", "ness", "ies", "er"]


@dataclass(frozen=True)
class World:
    texts: tuple[str, ...]
    similarity: Similarity
    utilities: Vector

    @property
    def n(self) -> int:
        return len(self.utilities)

    def judgments(self, m: int, rng: np.random.Generator) -> Judgments:
        """m pairs drawn at random, judged as Bradley and Terry's model says."""
        a = rng.integers(self.n, size=m)
        return self.answers(a, (a + rng.integers(1, self.n, size=m)) % self.n, rng)

    def answers(self, a: NDArray[np.int64], b: NDArray[np.int64], rng: np.random.Generator) -> Judgments:
        """These pairs (m,), (m,), judged as the model says."""
        m = len(a)
        won = rng.random(m) < 1 / (1 + np.exp(self.utilities[b] - self.utilities[a]))
        return Judgments(a, b, won.astype(float), np.ones(m), np.zeros(m, np.int64))

    def summaries(self, systems: int, rng: np.random.Generator) -> tuple[SummaryText, ...]:
        """Four sentences each, with words of their own, of systems that choose from badly to well."""
        every = " ".join(self.texts).split()
        standard = (self.utilities - self.utilities.mean()) / (self.utilities.std() or 1.0)
        made = []
        for k, skill in enumerate(np.linspace(-0.6, 1.2, systems)):
            chance = np.exp(skill * standard)
            chosen = rng.choice(self.n, size=min(4, self.n), replace=False, p=chance / chance.sum())
            kept = [word for j in chosen for word in self.texts[j].split() if rng.random() < 0.7]
            made.append(SummaryText(f"s{k:02}", (" ".join([*kept, *rng.choice(every, size=6)]),)))
        return tuple(made)


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
    sentences = tuple(" ".join(f"w{word}" for word in text) for text in texts)
    return World(sentences, similarity(sentences), values)


def made_up(topics: int, systems: int, references: int, seed: int = 0) -> list[Evidence]:
    """A whole evaluation: news of 10 documents, references about some of their themes, better and worse systems."""
    rng = np.random.default_rng(seed)
    letters, vowels = list("bcdfglmnprstv"), list("aeiou")
    roots = ["".join(rng.choice(letters) + rng.choice(vowels) for _ in range(k % 3 + 1)) for k in range(8000)]
    words = np.array([root + str(rng.choice(ENDINGS)) for root in roots])
    often = 1 / np.arange(1, len(words) + 1)
    often /= often.sum()
    quality = rng.normal(size=systems)
    none = Judgments(*(np.empty(0, dtype=kind) for kind in (np.int64, np.int64, float, float, np.int64)))
    made = []
    for number in range(topics):
        themes = [rng.choice(words, 12) for _ in range(8)]  # what the references write about more than others

        def sentence(theme: int, themes: list[np.ndarray] = themes) -> str:
            drawn = rng.choice(words, 20, p=often)
            return " ".join(np.where(rng.random(20) < 0.4, rng.choice(themes[theme], 20), drawn)) + "."

        sentences = tuple(sentence(int(theme)) for theme in rng.integers(0, 8, 200))
        summaries = []
        for system in range(systems):
            good = quality[system] + rng.normal()
            chosen = [int(rng.integers(0, 3) if rng.normal() < good else rng.integers(3, 8)) for _ in range(5)]
            human = float(np.clip(round(3 + good), 1, 5))
            text = tuple(sentence(theme) for theme in chosen)
            summaries.append(SummaryText(f"S{system:02}", text, {"overall": human}))
        written = tuple(tuple(sentence(int(rng.integers(0, 3))) for _ in range(5)) for _ in range(references))
        names = tuple(f"d{i // 20}:{i % 20}" for i in range(200))
        made.append(Evidence(f"T{number:02}", names, sentences, none, tuple(summaries), written))
    return made
