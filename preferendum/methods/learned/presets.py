"""The two ways in which PrefScore can be trained: as its paper says, and as the program that its authors released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from preferendum.evidence import Evidence
from preferendum.methods.metrics.trained.mutations import Text, chain, worse_versions

Name = Literal["paper", "released"]


@dataclass(frozen=True, slots=True)
class Preset:
    """How a scorer reads and learns.

    `negatives`: worse versions of each reference; `in_chains`: each worse than the one before, with all pairs of them;
    else each is made of the reference, and forms a pair with that alone. `epochs` or `steps`: how long it learns.
    `by_pooler`: the score is read off BERT's pooler, not off its first token. `by_turns`: document and summary give
    their tokens in turn until there are enough; else the longer one is cut, as the tokenizer does. `characters`: of a
    document or a summary that are read.
    """

    name: Name
    negatives: int
    in_chains: bool
    batch: int
    epochs: int | None
    steps: int | None
    by_pooler: bool
    by_turns: bool
    characters: int | None
    learning_rate: float = 1e-5
    tokens: int = 512


PAPER = Preset("paper", 5, True, 12, 1, None, by_pooler=False, by_turns=True, characters=None)
"""Sections 2 and 3.4."""
RELEASED = Preset("released", 3, False, 7, None, 16_000, by_pooler=True, by_turns=False, characters=4_000)
PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in (PAPER, RELEASED)}


class Preferred(NamedTuple):
    """A pair to learn from."""

    document: str
    better: str
    worse: str


def preferred(topics: Sequence[Evidence], preset: Preset, seed: int) -> list[Preferred]:
    """Pairs of versions of each reference, with each of its documents; without pairs of equal texts."""
    rng = np.random.default_rng(seed)
    rows = [
        (topic, tuple(line for line in reference if line.split()))
        for topic in topics
        if topic.sentences
        for reference in topic.references
    ]
    rows = [(topic, text) for topic, text in rows if text]
    texts = [text for _, text in rows]
    return [
        Preferred(document, better, worse)
        for k, (topic, _) in enumerate(rows)
        for better, worse in _pairs(texts, k, preset, rng)
        for document in documents(topic)
    ]


def documents(topic: Evidence) -> list[str]:
    """The text of each document, by the names that sentences bear."""
    texts: dict[str, list[str]] = {}
    for name, sentence in zip(topic.sentence_ids, topic.sentences, strict=True):
        texts.setdefault(name.rpartition(":")[0], []).append(sentence)
    return [joined(sentences) for sentences in texts.values()]


def joined(sentences: Sequence[str]) -> str:
    return " ".join(" ".join(sentences).split())


def _pairs(texts: Sequence[Text], k: int, preset: Preset, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    if preset.in_chains:
        pairs = list(combinations(chain(texts, k, rng, preset.negatives), 2))
    else:
        pairs = [(texts[k], worse) for worse in worse_versions(texts, k, rng, preset.negatives)]
    return ((joined(better), joined(worse)) for better, worse in pairs if better != worse)


def cut_by_turns(document: Sequence[int], summary: Sequence[int], limit: int) -> tuple[Sequence[int], Sequence[int]]:
    """So many tokens of the two, one of each in turn, the document first, until one has no more."""
    of_summary = min(len(summary), max(limit // 2, limit - len(document)))
    return document[: limit - of_summary], summary[:of_summary]
