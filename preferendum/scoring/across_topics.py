"""Scores by a metric for which those of one topic rest on other topics, too, for a study's pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence
from preferendum.metrics.registry import Metric, MissingEvidence, Need, lacking, prepared

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class AcrossTopics:
    """`scores`: (summaries,) by topic; `signature`: empty if there are none; `absent`: what other topics lack."""

    signature: str
    scores: Mapping[str, Vector]
    absent: Mapping[str, str]


def across_topics(chosen: Metric, topics: Sequence[Evidence]) -> AcrossTopics:
    """Score the summaries of all topics that have what the metric needs."""
    absent: dict[str, str] = {topic.topic_id: need for topic in topics if (need := lacking(chosen, topic))}
    having = [topic for topic in topics if topic.topic_id not in absent]
    try:
        (ready,) = prepared([chosen], having)
        scores = {topic.topic_id: ready.score(topic) for topic in having}
    except MissingEvidence:
        return AcrossTopics("", {}, {topic.topic_id: Need.OTHER_TOPICS for topic in topics} | absent)
    return AcrossTopics(ready.signature if scores else "", scores, absent)
