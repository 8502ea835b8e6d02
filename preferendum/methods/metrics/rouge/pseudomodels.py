"""Fewer references than there are, and good summaries by systems in addition.

A. Louis & A. Nenkova, "Automatically assessing machine summary content without a gold standard", Computational
Linguistics 39(2), 2013, section 5: where references are few, the systems that do best by them become references, too.
Each reference and each such pseudomodel is left out in turn, so that no author is compared with their own text.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence
from preferendum.methods.metrics.shared.by_references import first_references
from preferendum.metrics.registry import Metric, MissingEvidence, Need

Scope = Literal["global", "local"]


def with_pseudomodels(topic: Evidence, systems: Collection[str]) -> Evidence:
    """The topic with these systems' summaries among the references, and known to be these references themselves."""
    named = {system: f"pseudomodel:{system}" for system in sorted(systems)}
    texts = {summary.system: summary.sentences for summary in topic.summaries}
    names = topic.reference_names or ("",) * len(topic.references)
    added = [system for system in named if system in texts]
    return replace(
        topic,
        references=(*topic.references, *(texts[system] for system in added)),
        reference_names=(*names, *(named[system] for system in added)),
        summaries=tuple(
            replace(summary, reference=named.get(summary.system, summary.reference)) for summary in topic.summaries
        ),
    )


@dataclass(frozen=True, slots=True)
class Pseudomodels:
    """A metric with so many machines' summaries among the references: the best by the metric itself.

    `by_references`: what chooses them; `by_pool`: what scores by all but one of the pool in turn. `scope`: the best of
    each topic (local), or of all topics (global), which are `systems` once prepared.
    """

    name: str
    by_references: Metric
    by_pool: Metric
    number: int
    scope: Scope
    references: int | None = None
    systems: tuple[str, ...] | None = None

    @property
    def needs(self) -> frozenset[Need]:
        return self.by_references.needs

    @property
    def signature(self) -> str:
        chosen = "each topic" if self.scope == "local" else "all topics, by their mean"
        named = f" ({', '.join(self.systems)})" if self.systems else ""
        kept = "all references" if self.references is None else f"the first {self.references} references by name"
        return (
            f"{self.by_pool.signature}, by {kept} and the summaries of the {self.number} best machines of {chosen}"
            f"{named}, ties by name"
        )

    def prepared(self, topics: Sequence[Evidence]) -> Self:
        if self.scope == "local":
            return self
        totals: dict[str, float] = {}
        for topic in topics:
            if topic.references:
                for system, score in self._of_machines(first_references(topic, self.references)).items():
                    totals[system] = totals.get(system, 0.0) + score  # a summary that is missing adds nothing
        return replace(self, systems=_best(totals, self.number))

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """Raises `MissingEvidence` for the best of all topics if these were not seen before."""
        topic = first_references(topic, self.references)
        systems = _best(self._of_machines(topic), self.number) if self.scope == "local" else self.systems
        if systems is None:
            raise MissingEvidence(f"{self.name} is to be prepared with all topics first")
        return self.by_pool.score(with_pseudomodels(topic, systems))

    def _of_machines(self, topic: Evidence) -> dict[str, float]:
        scores = self.by_references.score(topic).tolist()
        return {
            summary.system: score
            for summary, score in zip(topic.summaries, scores, strict=True)
            if not summary.person and math.isfinite(score)
        }


def _best(scores: Mapping[str, float], number: int) -> tuple[str, ...]:
    """The best names by rounded score, so that the order of additions decides nothing; equal ones by name."""
    return tuple(heapq.nsmallest(number, scores, key=lambda system: (-round(scores[system], 9), system)))
