"""What a metric is trained on, topic by topic, and how well it then does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from preferendum.results.metrics import DimensionAgreement
from preferendum.results.preference_training import PreferenceTraining


@dataclass(frozen=True, slots=True)
class TopicExamples:
    """What one topic teaches: of each summary its features and its human scores, None where there is none.

    `digest`: of the texts that make the topic what it is; `texts`: of all that was read of it. `columns`: the names of
    features; `dimensions`: those of human scores; `machines`: of each summary, whether no person wrote it.
    """

    topic: str
    digest: str
    texts: str
    systems: tuple[str, ...]
    machines: tuple[bool, ...]
    columns: tuple[str, ...]
    features: tuple[tuple[float | None, ...], ...]
    dimensions: tuple[str, ...]
    human: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """How a trained metric agrees with people: its rows are `LEFT_OUT`, each topic scored by what was learnt without
    it, `IN_SAMPLE`, and metrics to compare with; None for one that learnt from references: `pairs` says how well it
    detects worse versions of them. `chosen`: in how many of `parts`, each without some topics, a feature was chosen."""

    agreement: DimensionAgreement | None
    parts: int
    chosen: Mapping[str, int]
    pairs: PreferenceTraining | None = None


LEFT_OUT, IN_SAMPLE = "left-out", "in-sample"
