"""Annotate a summary by the annotations of the others: does an assessor find an SCU wherever its words occur?

K. Owczarzak, P. Rankel, H. Dang & J. Conroy, "Assessing the effect of inconsistent assessors on summarization
evaluation", ACL 2012, section 2: manual less automatic Pyramid scores (mP - aP, figure 1). Below 0 the assessor
overlooked SCUs that were annotated elsewhere, or annotated SCUs elsewhere that are not repeated here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from preferendum.formats.pyramid import Annotation, Contributor, Peer
from preferendum.methods.analyses.assessors.consistency import ranked
from preferendum.methods.metrics.pyramid.scores import modified
from preferendum.results import AssessorFigure
from preferendum.statistics import mean

#: The words of a contributor's parts, folded.
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AutoPyramid:
    """A summary's modified Pyramid scores: `manual` as annotated, `automatic` by the SCUs found `matched`."""

    manual: float
    automatic: float
    matched: frozenset[str]

    @property
    def difference(self) -> float:
        return self.manual - self.automatic


def auto_pyramid(annotation: Annotation, *, with_models: bool = False) -> dict[str, AutoPyramid]:
    """Match every annotated summary with the contributors of all others, `with_models` of the models, too; by system.

    A contributor matches a summary that contains all of its parts word by word, ignoring white space and case.
    """
    models = {scu.uid: scu.models for scu in annotation.pyramid.scus}
    sources = _sources(annotation, with_models)
    scores = {}
    for system, peer in annotation.peers.items():
        text = _folded(peer.text)
        matched = frozenset(
            uid
            for (uid, words), by in sources.items()
            if uid in models and by != {system} and all(part in text for part in words)
        )
        manual = modified([uid for uid in peer.matched if uid in models], models)
        scores[system] = AutoPyramid(manual, modified(matched, models), matched)
    return scores


def manual_less_automatic(scored: Iterable[tuple[str, Mapping[str, AutoPyramid]]]) -> tuple[AssessorFigure, ...]:
    """Compute each assessor's mP - aP: the mean over the topics' means over summaries, the highest first (figure 1).

    `scored`: who annotated a topic, and its summaries' scores. Topics without either are passed over.
    """
    by_assessor: dict[str, list[float]] = {}
    for assessor, scores in scored:
        if assessor and scores:
            mean_difference = float(np.mean([score.difference for score in scores.values()]))
            by_assessor.setdefault(assessor, []).append(mean_difference)
    return ranked(AssessorFigure(name, mean(np.array(own))) for name, own in by_assessor.items())


def _sources(annotation: Annotation, with_models: bool) -> Mapping[tuple[str, Words], set[str | None]]:
    """The summaries where SCUs and words were annotated, by both; None: in a model."""
    sources: dict[tuple[str, Words], set[str | None]] = {}
    contributors = chain.from_iterable(_contributors(system, peer) for system, peer in annotation.peers.items())
    of_models = ((None, scu.uid, own) for scu in annotation.pyramid.scus for own in scu.contributors)
    for by, uid, contributor in chain(contributors, of_models if with_models else ()):
        words = tuple(filter(None, (_folded(part.label) for part in contributor.parts)))
        if words:
            sources.setdefault((uid, words), set()).add(by)
    return sources


def _contributors(system: str, peer: Peer) -> Iterable[tuple[str, str, Contributor]]:
    return ((system, uid, contributor) for uid, contributors in peer.matched.items() for contributor in contributors)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
