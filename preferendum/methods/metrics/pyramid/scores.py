"""Pyramid scores: how much of what people found important a summary says.

R. Passonneau, "Formal and functional assessment of the Pyramid method", Natural Language Engineering 16(2), 2010;
A. Nenkova & R. Passonneau, "Evaluating content selection in summarization: the Pyramid method", NAACL 2004.
With D the summed weights of the distinct SCUs that a summary expresses,

    original = D / best sum of n SCUs,   n = the contributors of the summary, repeated and non-matching ones included;
    modified = D / best sum of X SCUs,   X = the mean number of SCUs in a model summary.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, Settings, SummaryText
from preferendum.formats.pyramid import Annotation, Peer, Pyramid
from preferendum.metrics.registry import Need, Options

Rounding = Literal["half-up", "down", "up"]
_ROUNDED = {"half-up": lambda x: math.floor(x + 0.5), "down": math.floor, "up": math.ceil}


def original(matched: Collection[str], contributors: int, weights: Mapping[str, int]) -> float:
    """The share that the summary reaches of what as many contributors could reach at best; 0 for an empty one.

    `matched`: the distinct SCUs that it expresses; `contributors`: all its contributors, the n above.
    """
    return _share(matched, contributors, weights)


def modified(matched: Collection[str], models: Mapping[str, Collection[int]], rounding: Rounding = "half-up") -> float:
    """The share that the summary reaches of what an average model's number of SCUs could reach at best.

    `models`: for each SCU of the pyramid the models that express it.
    """
    weights = {uid: len(expressed_by) for uid, expressed_by in models.items()}
    return _share(matched, average_model_size(models, rounding), weights)


def average_model_size(models: Mapping[str, Collection[int]], rounding: Rounding = "half-up") -> int:
    """X: the mean number of distinct SCUs that a model expresses, rounded."""
    sizes = Counter(model for expressed_by in models.values() for model in set(expressed_by))
    return int(_ROUNDED[rounding](sum(sizes.values()) / len(sizes))) if sizes else 0


def _share(matched: Collection[str], size: int, weights: Mapping[str, int]) -> float:
    best = sum(sorted(weights.values(), reverse=True)[:size])
    return sum(weights[uid] for uid in set(matched)) / best if best else 0.0


@dataclass(frozen=True, slots=True)
class PyramidScore:
    """The metric: not a number for summaries without an annotation."""

    name: str
    kind: Literal["original", "modified"]
    rounding: Rounding = "half-up"
    jackknife: bool = False

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.PYRAMIDS})

    @property
    def signature(self) -> str:
        size = "n = contributors" if self.kind == "original" else f"X = mean SCUs per model, rounded {self.rounding}"
        return f"Pyramid {self.kind}: {size}" + " (jackknife)" * self.jackknife

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """A summary that is a model of the pyramid itself is scored by the pyramid that lacks it."""
        assert topic.pyramid is not None
        return np.array([self._one(summary, topic.pyramid) for summary in topic.summaries])

    def _one(self, summary: SummaryText, annotation: Annotation) -> float:
        pyramid, peer = annotation.pyramid, annotation.peers.get(summary.system)
        if summary.reference in pyramid.models:
            model = pyramid.models.index(summary.reference)
            return self._against(_said_by(model, pyramid), _lacking(model, pyramid))
        return math.nan if peer is None else self._peer(peer, pyramid)

    def _peer(self, peer: Peer, pyramid: Pyramid) -> float:
        models = {scu.uid: scu.models for scu in pyramid.scus}
        everyone = frozenset[int]().union(*models.values())
        if not self.jackknife or len(everyone) < 2:
            return self._against(peer, models)
        return fmean(self._against(peer, _lacking(left_out, pyramid)) for left_out in everyone)

    def _against(self, peer: Peer, models: Mapping[str, frozenset[int]]) -> float:
        matched = [uid for uid in peer.matched if uid in models]
        if self.kind == "modified":
            return modified(matched, models, self.rounding)
        contributors = sum(map(len, peer.matched.values())) + len(peer.unmatched)
        return original(matched, contributors, {uid: len(expressed_by) for uid, expressed_by in models.items()})


def _lacking(model: int, pyramid: Pyramid) -> dict[str, frozenset[int]]:
    """For each SCU the models that express it, without one of them; SCUs that no other expresses vanish."""
    others = {scu.uid: scu.models - {model} for scu in pyramid.scus}
    return {uid: expressed_by for uid, expressed_by in others.items() if expressed_by}


def _said_by(model: int, pyramid: Pyramid) -> Peer:
    """A model as if it were a peer: its contributors by SCU."""
    matched = {
        scu.uid: tuple(contributor for contributor in scu.contributors if contributor.model == model)
        for scu in pyramid.scus
    }
    return Peer(pyramid.text, {uid: own for uid, own in matched.items() if own})


def make(asked: str, options: Options, settings: Settings | None) -> PyramidScore:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    kind: Literal["original", "modified"] = "original" if "original" in asked.split(":")[0] else "modified"
    rounding: Rounding = "down" if "down" in options else "up" if "up" in options else "half-up"
    return PyramidScore(asked, kind, rounding, "jackknife" in options)
