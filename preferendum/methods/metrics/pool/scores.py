"""How far a summary's words are from those of a few systems' summaries and its own, without references.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013, section 6: the consensus of standard summarizers, which takes no other systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings
from preferendum.methods.metrics.divergence.scores import jensen_shannon
from preferendum.metrics.registry import MissingEvidence, Need, Options, UnknownMetric
from preferendum.summarizers import SUMMARIZERS, TOPIC_WORDS, WORDS, standard_summaries
from preferendum.vocabulary.background import StudyBackground, study_background
from preferendum.vocabulary.words import WORDS as WHICH_WORDS
from preferendum.vocabulary.words import aligned, words


@dataclass(frozen=True, slots=True)
class PoolDivergence:
    """The negative Jensen-Shannon divergence of a summary from the pool, itself included.

    `systems`: whose summaries the pool is; None for the standard summarizers'. `background`: what tells these topic
    words, if the study has enough topics.
    """

    name: str
    systems: tuple[str, ...] | None = None
    background: StudyBackground | None = None

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS}) if self.systems is None else frozenset()

    @property
    def signature(self) -> str:
        standard = [name for name in SUMMARIZERS if name != TOPIC_WORDS or self.background is not None]
        pool = ", ".join(standard if self.systems is None else self.systems)
        limit = f", {WORDS} words, seed 0" if self.systems is None else ""
        return f"-JS(pool and summary, summary), natural logarithm, unsmoothed; pool: {pool}{limit}; {WHICH_WORDS}"

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        if self.systems is not None:
            systems = {summary.system for topic in topics for summary in topic.summaries}
            if missing := [name for name in self.systems if name not in systems]:
                raise UnknownMetric(f"{self.name}: there is no system called {missing[0]!r} among those compared")
            return self
        try:
            return replace(self, background=study_background(topics))
        except MissingEvidence:
            return replace(self, background=None)

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """Not a number where the pool has no summary of the topic."""
        own = [words(summary.sentences, topic.language) for summary in topic.summaries]
        is_pooled = [self.systems is not None and summary.system in self.systems for summary in topic.summaries]
        pool = [text for text, pooled in zip(own, is_pooled, strict=True) if pooled]
        if self.systems is None:
            background = self.background.without(topic.sentences) if self.background else None
            pool = [words(text, topic.language) for text in standard_summaries(topic, background).values()]
        if not pool or not own:
            return np.full(len(own), np.nan)
        pooled, *rest = aligned([sum(pool, start=Counter[str]()), *own])
        summaries = np.array(rest)
        return -jensen_shannon(pooled + np.where(np.array(is_pooled)[:, None], 0.0, summaries), summaries)


def make(asked: str, options: Options, _: Settings | None) -> PoolDivergence:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    systems = tuple(dict.fromkeys(filter(None, options.get("systems", "").split("+"))))
    return PoolDivergence(asked, systems or None)
