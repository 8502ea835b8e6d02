"""How far a summary's words are from the words of its sources, without any reference.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013, as their program SIMetrix computes it. All logarithms are natural. A divergence is better the
smaller it is, so a metric gives its negative.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from evaluation.evidence import Evidence, Settings
from evaluation.metrics.registry import Family, Need, Options, register
from evaluation.text import SMART, stems, tokens

GAMMA = 0.005
"""What Lidstone smoothing adds to each count."""
BINS_PER_WORD = 1.5
"""Bins of the smoothed distributions for each distinct word of the input."""

Vector = NDArray[np.float64]
_ASCII_WORDS = re.compile("[A-Za-z0-9]+")


def jensen_shannon(p: Vector, q: Vector) -> float:
    """Of two vectors of counts over the same words: 0 where their proportions agree, ln 2 where they share no word.

    A text without words shares none with any other, and has no divergence from its like.
    """
    if not p.sum() or not q.sum():
        return 0.0 if p.sum() == q.sum() else float(np.log(2))
    return _jensen_shannon(p / p.sum(), q / q.sum())


def smoothed(counts: Vector, bins: float, gamma: float = GAMMA) -> Vector:
    """(c + gamma) / (N + gamma * bins) for each word: Lidstone's estimate of its probability."""
    probabilities: Vector = (counts + gamma) / (counts.sum() + gamma * bins)
    return probabilities


def _jensen_shannon(p: Vector, q: Vector) -> float:
    middle = (p + q) / 2
    return float(rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2


def words(sentences: Iterable[str], language: str) -> Counter[str]:
    """How often each stem occurs. English: ASCII letters and digits, lower case, without SMART stop words, Porter.

    Other languages: runs of word characters, stemmed where there is a stemmer; no stop words are removed.
    """
    text = "\n".join(sentences)
    if language.lower().startswith("en") or not language:
        kept = [word for word in map(str.lower, _ASCII_WORDS.findall(text)) if word not in SMART]
        return Counter(stems(kept, "en"))
    return Counter(stems(tokens(text), language))


@lru_cache(maxsize=2)
def _words_of_documents(sentences: tuple[str, ...], language: str) -> Counter[str]:
    return words(sentences, language)


def _aligned(one: Mapping[str, int], other: Mapping[str, int]) -> tuple[Vector, Vector]:
    """The counts of two texts over all words of both."""
    union = sorted(one.keys() | other.keys())
    return np.array([one.get(word, 0) for word in union], float), np.array(
        [other.get(word, 0) for word in union], float
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """A divergence: what it is between, of which counts or smoothed probabilities, and how it is written."""

    written: str
    between: Callable[[Vector, Vector], float]
    smooth: bool = False
    consensus: bool = False


_KINDS = {
    "js": _Kind("JS(documents, summary)", jensen_shannon),
    "js-smoothed": _Kind("JS(documents, summary)", _jensen_shannon, smooth=True),
    "js-consensus": _Kind("JS(all systems' summaries, summary)", jensen_shannon, consensus=True),
    "kl": _Kind("KL(documents || summary)", lambda p, q: float(rel_entr(p, q).sum()), smooth=True),
    "kl-summary": _Kind("KL(summary || documents)", lambda p, q: float(rel_entr(q, p).sum()), smooth=True),
}


@dataclass(frozen=True, slots=True)
class Divergence:
    """The negative divergence of a summary from the documents pooled, or from all systems' summaries pooled."""

    name: str

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset() if self._kind.consensus else frozenset({Need.DOCUMENTS})

    @property
    def signature(self) -> str:
        smoothing = f"Lidstone {GAMMA} over {BINS_PER_WORD} x input vocabulary" if self._kind.smooth else "unsmoothed"
        return (
            f"-{self._kind.written}, natural logarithm, {smoothing}; English: [A-Za-z0-9]+ without SMART stop words "
            "(596), Porter stems; other languages: runs of word characters, Snowball stems"
        )

    def score(self, topic: Evidence) -> Vector:
        summaries = [words(summary.sentences, topic.language) for summary in topic.summaries]
        if self._kind.consensus:
            source = sum(summaries, start=Counter[str]())
        else:
            source = _words_of_documents(topic.sentences, topic.language)
        if not source:
            return np.full(len(summaries), np.nan)
        return np.array([-self._divergence(source, summary) for summary in summaries])

    def _divergence(self, source: Counter[str], summary: Counter[str]) -> float:
        p, q = _aligned(source, summary)
        if self._kind.smooth:
            bins = BINS_PER_WORD * len(source)
            p, q = smoothed(p, bins), smoothed(q, bins)
        return self._kind.between(p, q)

    @property
    def _kind(self) -> _Kind:
        return _KINDS[self.name]


def _make(asked: str, options: Options, settings: Settings) -> Divergence:
    return Divergence(asked)


register(Family(tuple(_KINDS), "negative divergence of a summary's words from those of its sources", {}, _make))
