"""The score that preferences give (equations 4 and 5), as a metric among the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation import preference, scoring, zermelo
from evaluation.evaluate import UndeterminedTopic
from evaluation.evidence import Evidence, Settings
from evaluation.metrics.registry import Family, Need, Options, UnknownMetric, register
from evaluation.similarity import similarity

_CHANGES: dict[str, dict[str, Any]] = {
    "paper": {"smooth": "paper"},
    "sharpened": {"smooth": "sharpened"},
    "kernel": {"smooth": "kernel"},
    "unsmoothed": {"smooth": "none"},
    "strength": {"value": "strength"},
    "chance": {"value": "chance"},
    "length": {"normalize": "length"},
    "budget": {"normalize": "budget"},
    "pivot": {"normalize": "pivot"},
    "any": {"match": "any"},
    "similarity": {"match": "similarity"},
    "content": {"match": "content"},
    "redundancy": {"redundancy": True},
    "no-redundancy": {"redundancy": False},
}


@dataclass(frozen=True, slots=True)
class Preferences:
    """The metric: utilities from the topic's judgments, and from them a score for each summary."""

    name: str
    settings: Settings

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS, Need.JUDGMENTS})

    @property
    def signature(self) -> str:
        s = self.settings
        prior = "" if s.smooth == "kernel" else f", prior {s.prior:g}"
        budget = "" if s.budget is None else f" of {s.budget} characters"
        redundancy = "redundancy" if s.redundancy else "no redundancy"
        return (
            f"preferences: smoothing {s.smooth}{prior}, {s.similarity}, value {s.value}, "
            f"normalized by {s.normalize}{budget}, match {s.match}, {redundancy}"
        )

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """Raises `UndeterminedTopic` where the judgments determine no finite utilities and there is no prior."""
        similar = similarity(topic.sentences, self.settings.similarity)
        try:
            estimate = preference.estimate(topic.judgments, len(topic.sentences), similar.matrix, self.settings)
        except zermelo.Undetermined as reason:
            names = tuple(topic.sentence_ids[i] for i in reason.unbeaten)
            raise UndeterminedTopic(topic.topic_id, names, reason.unbeaten, reason.groups) from reason
        matched = scoring.match(topic, similar, self.settings)
        return matched.weights @ scoring.values(estimate.utilities, self.settings.value)


def _make(asked: str, options: Options, settings: Settings) -> Preferences:
    for option, value in options.items():
        if option == "prior":
            try:
                settings = replace(settings, prior=float(value))
            except ValueError:
                raise UnknownMetric(f"{asked}: prior must be a number, such as prior=0.1") from None
        else:
            settings = replace(settings, **_CHANGES[option])
    return Preferences(asked, settings)


register(
    Family(
        ("preferences",),
        "scores from preferences between sentences of the documents",
        dict.fromkeys(_CHANGES, "the setting of that name") | {"prior": "=0.1: the prior"},
        _make,
    )
)
