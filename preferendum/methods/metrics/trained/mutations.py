"""Summaries made worse on purpose, so that preferences between them are known without annotators.

PrefScore (the paper of `preferendum.methods.metrics.trained.prefscore`), section 2.2. Where it leaves details open they
are as in the program that its authors released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

Text = tuple[str, ...]
Method = Literal["delete a sentence", "replace a sentence", "delete words", "reverse words", "swap sentences"]

PAPER: tuple[Method, ...] = ("delete a sentence", "replace a sentence", "delete words")
RELEASED: tuple[Method, ...] = (*PAPER, "reverse words", "swap sentences")
NEGATIVES = 5
"""Worse versions of each summary, as in the paper."""


def chain(
    summaries: Sequence[Text], k: int, rng: np.random.Generator, negatives: int = NEGATIVES, first_steps: bool = False
) -> list[Text]:
    """Summary k and what becomes of it step by step, the best first: one sentence after the other is mutated.

    Of all steps until no sentence is as it was, so many are drawn, or the first ones taken. A sentence that replaces
    another is from one of the other summaries; where there is none, none is replaced.
    """
    draft = _Draft.of(summaries[k])
    methods = [method for method in PAPER if method != "replace a sentence" or len(summaries) > 1]
    steps: list[Text] = []
    while not all(draft.is_mutated):
        draft.mutate(methods[rng.integers(len(methods))], summaries, k, rng)
        steps.append(tuple(draft.sentences))
    if first_steps:
        return [summaries[k], *steps[:negatives]]
    kept = np.sort(rng.choice(len(steps), min(negatives, len(steps)), replace=False))
    return [summaries[k], *(steps[step] for step in kept)]


def worse_versions(summaries: Sequence[Text], k: int, rng: np.random.Generator, negatives: int) -> list[Text]:
    """Worse versions of summary k; each applies one method, again and again as long as a coin shows heads."""
    methods = [method for method in RELEASED if method != "replace a sentence" or len(summaries) > 1]
    return [_worse(summaries, k, methods[rng.integers(len(methods))], rng) for _ in range(negatives)]


def _worse(summaries: Sequence[Text], k: int, method: Method, rng: np.random.Generator) -> Text:
    draft = _Draft.of(summaries[k])
    heads = True
    while heads and not all(draft.is_mutated):
        draft.mutate(method, summaries, k, rng)
        heads = bool(rng.integers(2))
    return tuple(draft.sentences)


@dataclass(slots=True)
class _Draft:
    """`is_mutated`: which sentences are not as they were, so that each is mutated once."""

    sentences: list[str]
    is_mutated: list[bool]

    @classmethod
    def of(cls, summary: Text) -> _Draft:
        return cls(list(summary), [not sentence.split() for sentence in summary])

    def mutate(self, method: Method, summaries: Sequence[Text], k: int, rng: np.random.Generator) -> None:
        """Mutate, by the method, one of the sentences that are as they were; at least one is."""
        place = int(rng.choice([i for i, is_mutated in enumerate(self.is_mutated) if not is_mutated]))
        match method:
            case "delete a sentence":
                self._put(place, "")
            case "replace a sentence":
                self._put(place, _sentence_of_another(summaries, k, rng))
            case "delete words":
                self._put(place, _without_words(self.sentences[place], rng))
            case "reverse words":
                self._put(place, _with_words_reversed(self.sentences[place], rng))
            case "swap sentences":
                self._swap(place, int(rng.integers(len(self.sentences))))

    def _put(self, place: int, sentence: str) -> None:
        if sentence:
            self.sentences[place], self.is_mutated[place] = sentence, True
        else:
            del self.sentences[place], self.is_mutated[place]

    def _swap(self, place: int, other: int) -> None:
        lines, flags = self.sentences, self.is_mutated
        lines[place], lines[other] = lines[other], lines[place]
        flags[place], flags[other] = flags[other], flags[place]


def _sentence_of_another(summaries: Sequence[Text], k: int, rng: np.random.Generator) -> str:
    other = summaries[(k + 1 + int(rng.integers(len(summaries) - 1))) % len(summaries)]
    return other[int(rng.integers(len(other)))]


def _without_words(sentence: str, rng: np.random.Generator) -> str:
    words = sentence.split()
    dropped = rng.choice(len(words), max(1, int(rng.uniform() * len(words))), replace=False)
    return " ".join(word for place, word in enumerate(words) if place not in set(dropped.tolist()))


def _with_words_reversed(sentence: str, rng: np.random.Generator) -> str:
    words = sentence.split()
    start, end = np.sort(rng.integers(len(words), size=2))
    return " ".join([*words[:start], *words[start : end + 1][::-1], *words[end + 1 :]])
