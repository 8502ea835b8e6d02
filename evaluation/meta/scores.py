"""What people and metrics say of the same summaries, side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.evidence import Evidence
from evaluation.metrics import registry
from evaluation.metrics.registry import Metric

Matrix = NDArray[np.float64]


class NoHumanScores(ValueError):
    """No summary was scored by people in that dimension; `dimensions` are those that there are."""

    def __init__(self, dimension: str, dimensions: Sequence[str]) -> None:
        self.dimension = dimension
        self.dimensions = tuple(dimensions)
        there = f"the dimensions are: {', '.join(dimensions)}" if dimensions else "there are no human scores at all"
        super().__init__(f"no summary has a human score for {dimension!r}; {there}")


@dataclass(frozen=True, slots=True)
class Scores:
    """Matrices of one row a system and one column a topic, nan where there is no score.

    `metrics`: by the metric's name; `signatures` likewise.
    """

    systems: tuple[str, ...]
    topics: tuple[str, ...]
    human: Matrix
    metrics: Mapping[str, Matrix]
    signatures: Mapping[str, str]


def judged_topics(topics: Sequence[Evidence], dimension: str, without: Collection[str] = ()) -> list[Evidence]:
    """The topics where people scored a summary in that dimension, less the systems that are left out.

    Raises `NoHumanScores` if there is none.
    """
    kept = [
        replace(topic, summaries=tuple(one for one in topic.summaries if one.system not in without)) for topic in topics
    ]
    judged = [topic for topic in kept if any(dimension in summary.human for summary in topic.summaries)]
    if not judged:
        raise NoHumanScores(
            dimension, sorted({name for topic in kept for summary in topic.summaries for name in summary.human})
        )
    return judged


def collect(topics: Iterable[Evidence], dimension: str, metrics: Sequence[Metric]) -> Scores:
    """Score every summary of every topic with every metric.

    Raises what a metric raises for a topic that it cannot score; `registry.check` says beforehand what is missing.
    """
    by_people: dict[tuple[str, str], float] = {}
    by_metric: dict[str, dict[tuple[str, str], float]] = {metric.name: {} for metric in metrics}
    systems: dict[str, None] = {}
    names: list[str] = []
    for topic in topics:
        registry.check(metrics, [topic])
        names.append(topic.topic_id)
        cells = [(summary.system, topic.topic_id) for summary in topic.summaries]
        systems |= dict.fromkeys(summary.system for summary in topic.summaries)
        by_people |= {
            cell: summary.human[dimension]
            for cell, summary in zip(cells, topic.summaries, strict=True)
            if dimension in summary.human
        }
        for metric in metrics:
            by_metric[metric.name].update(zip(cells, metric.score(topic).tolist(), strict=True))

    def matrix(cells: Mapping[tuple[str, str], float]) -> Matrix:
        return np.array([[cells.get((system, topic), np.nan) for topic in names] for system in systems])

    return Scores(
        tuple(systems),
        tuple(names),
        matrix(by_people),
        {name: matrix(cells) for name, cells in by_metric.items()},
        {metric.name: metric.signature for metric in metrics},
    )
