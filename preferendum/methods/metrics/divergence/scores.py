"""How far a summary's words are from the words of its sources, without any reference.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013, as their program SIMetrix computes it. All logarithms are natural. A divergence is better the
smaller it is, so a metric gives its negative.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from preferendum.evidence import Evidence, Settings
from preferendum.metrics.registry import Need, Options
from preferendum.vocabulary.words import WORDS, aligned, words, words_of_documents

GAMMA = 0.005
"""What Lidstone smoothing adds to each count."""
BINS_PER_WORD = 1.5
"""Bins of the smoothed distributions for each distinct word of the input."""
Vector = NDArray[np.float64]


def jensen_shannon(p: Vector, q: Vector) -> Vector:
    """The Jensen-Shannon divergence of counts (..., v) over the same words: 0 where their proportions agree, ln 2 where
    they share no word.

    A text without words shares none with any other, and has no divergence from its like.
    """
    p_total, q_total = p.sum(axis=-1), q.sum(axis=-1)
    with np.errstate(invalid="ignore"):
        divergence = _jensen_shannon(p / p_total[..., None], q / q_total[..., None])
    without = np.where(p_total == q_total, 0.0, np.log(2))
    return np.where((p_total > 0) & (q_total > 0), divergence, without)


def smoothed(counts: Vector, bins: float, gamma: float = GAMMA) -> Vector:
    """(c + gamma) / (N + gamma * bins) for each word of (..., v): Lidstone's estimate of its probability."""
    probabilities: Vector = (counts + gamma) / (counts.sum(axis=-1, keepdims=True) + gamma * bins)
    return probabilities


def _jensen_shannon(p: Vector, q: Vector) -> Vector:
    middle = (p + q) / 2
    return (_kullback_leibler(p, middle) + _kullback_leibler(q, middle)) / 2


def _kullback_leibler(p: Vector, q: Vector) -> Vector:
    summed: Vector = rel_entr(p, q).sum(axis=-1)
    return summed


@dataclass(frozen=True, slots=True)
class _Kind:
    """A divergence of counts or of smoothed probabilities. `written`: its name in signatures."""

    written: str
    between: Callable[[Vector, Vector], Vector]
    smooth: bool = False
    consensus: bool = False


_KINDS = {
    "js": _Kind("JS(documents, summary)", jensen_shannon),
    "js-smoothed": _Kind("JS(documents, summary)", _jensen_shannon, smooth=True),
    "js-consensus": _Kind("JS(all machines' summaries, summary)", jensen_shannon, consensus=True),
    "kl": _Kind("KL(documents || summary)", _kullback_leibler, smooth=True),
    "kl-summary": _Kind("KL(summary || documents)", lambda p, q: _kullback_leibler(q, p), smooth=True),
}


@dataclass(frozen=True, slots=True)
class Divergence:
    """The negative divergence of a summary from the documents pooled, or from all systems' summaries pooled.

    People's summaries are in no pool."""

    name: str

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset() if self._kind.consensus else frozenset({Need.DOCUMENTS})

    @property
    def signature(self) -> str:
        smoothing = f"Lidstone {GAMMA} over {BINS_PER_WORD} x input vocabulary" if self._kind.smooth else "unsmoothed"
        return f"-{self._kind.written}, natural logarithm, {smoothing}; {WORDS}"

    def score(self, topic: Evidence) -> Vector:
        summaries = [words(summary.sentences, topic.language) for summary in topic.summaries]
        if self._kind.consensus:
            machines = [own for own, summary in zip(summaries, topic.summaries, strict=True) if not summary.person]
            source = sum(machines, start=Counter[str]())
        else:
            source = words_of_documents(topic.sentences, topic.language)
        if not source:
            return np.full(len(summaries), np.nan)
        counts = aligned([source, *summaries])
        p, q = counts[:1], counts[1:]
        if self._kind.smooth:
            # A word that neither text has is no word of theirs, though another summary brought it into the table.
            theirs = (p > 0) | (q > 0)
            bins = BINS_PER_WORD * len(source)
            p, q = (np.where(theirs, smoothed(rows, bins), 0.0) for rows in (p, q))
        return -self._kind.between(p, q)

    @property
    def _kind(self) -> _Kind:
        return _KINDS[self.name]


def make(asked: str, options: Options, settings: Settings | None) -> Divergence:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    return Divergence(asked)
