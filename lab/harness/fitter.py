"""The model once more, as its formulas stand in docs/model.md: without smoothing, with a prior; importance.

Shares nothing with the product's mathematics; slow and plain on purpose.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

Two = tuple[int, int]


def utilities(n: int, wins: list[tuple[int, int, float]], prior: float) -> np.ndarray:
    """Log strengths of n sentences, centred, from (winner, loser, weight), by Zermelo's iteration (1929).

    `prior`: pseudo-wins and as many pseudo-losses of each sentence against a phantom of strength 1.
    """
    W = np.zeros((n, n))
    for winner, loser, weight in wins:
        W[winner, loser] += weight
    met, won = W + W.T, W.sum(axis=1) + prior
    v = np.ones(n)
    for _ in range(100_000):
        before = v
        v = won / ((met / (v[:, None] + v[None, :])).sum(axis=1) + 2 * prior / (1 + v))
        if np.abs(np.log(v / before)).max() < 1e-13:
            break
    theta: np.ndarray = np.log(v) - np.log(v).mean()
    return theta


def importance(texts: list[str], summary: list[str], values: list[float]) -> float:
    """Of a summary, by the values of the topic's sentences `texts`.

    What the laboratory writes has no stop word but "of", and no two words with one stem.
    """
    of_sentences = [_words(text) for text in texts]
    count = Counter(word for words in of_sentences for word in words)
    weight = {
        word: n * (np.log((1 + len(of_sentences)) / (1 + sum(word in words for words in of_sentences))) + 1)
        for word, n in count.items()
    }
    value = {
        word: sum(words.count(word) * own for words, own in zip(of_sentences, values, strict=True)) / count[word]
        for word in count
    }
    total = sum(weight.values())
    mean = sum(weight[word] * value[word] for word in count) / total
    shared = {word for text in summary for word in _words(text) if word in count}
    return float(sum(weight[word] * (value[word] - mean) for word in shared) / total)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word != "of"]
