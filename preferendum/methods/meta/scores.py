"""What people and metrics say of the same summaries, side by side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, SummaryText
from preferendum.methods.metrics.preferences.scores import Preferences
from preferendum.metrics import registry
from preferendum.metrics.registry import Metric
from preferendum.results import Standing
from preferendum.results.metrics import Peers
from preferendum.scoring.between_annotators import without_each
from preferendum.work.scores import Scores

Matrix = NDArray[np.float64]


class NoHumanScores(ValueError):
    """No summary was scored by people in that dimension; `dimensions` are those that there are."""

    def __init__(self, dimension: str, dimensions: Sequence[str]) -> None:
        self.dimension = dimension
        self.dimensions = tuple(dimensions)
        hint = f"the dimensions are: {', '.join(dimensions)}" if dimensions else "there are no human scores at all"
        super().__init__(f"no summary has a human score for {dimension!r}; {hint}")


def dimensions_of(topics: Iterable[Evidence]) -> list[str]:
    """The dimensions in which people scored any summary, by name."""
    return sorted({name for topic in topics for summary in topic.summaries for name in summary.human})


def judged_topics(
    topics: Sequence[Evidence], dimensions: Sequence[str], without: Collection[str] = (), peers: Peers = "all"
) -> list[Evidence]:
    """The topics where people scored a summary in any of the dimensions, less the systems that are left out.

    Raises `NoHumanScores` for a dimension that no topic has.
    """
    kept = among_peers(topics, without, peers)
    there_are = dimensions_of(kept)
    for dimension in dimensions:
        if dimension not in there_are:
            raise NoHumanScores(dimension, there_are)
    return [topic for topic in kept if not set(dimensions).isdisjoint(dimensions_of([topic]))]


def among_peers(topics: Sequence[Evidence], without: Collection[str] = (), peers: Peers = "all") -> list[Evidence]:
    """The topics less the systems that are left out; `peers`: whether people's summaries stay among the machines'."""

    def stays(summary: SummaryText) -> bool:
        return summary.system not in without and (peers == "all" or not summary.person)

    return [replace(topic, summaries=tuple(filter(stays, topic.summaries))) for topic in topics]


def collect(topics: Iterable[Evidence], dimensions: Sequence[str], metrics: Sequence[Metric]) -> Scores:
    """Score every summary of every topic with every metric.

    Raises what a metric raises for a topic that it cannot score; `registry.check` says beforehand what is missing.
    """
    by_people: dict[str, dict[tuple[str, str], float]] = {dimension: {} for dimension in dimensions}
    by_metric: dict[str, dict[tuple[str, str], float]] = {metric.name: {} for metric in metrics}
    machines: dict[str, bool] = {}
    names: list[str] = []
    counts: list[tuple[int, int]] = []
    standings: dict[str, dict[str, Standing]] = {}
    for topic in topics:
        registry.check(metrics, [topic])
        names.append(topic.topic_id)
        counts.append((len(topic.judgments), len(topic.sentences)))
        cells = [(summary.system, topic.topic_id) for summary in topic.summaries]
        for cell, summary in zip(cells, topic.summaries, strict=True):
            machines[summary.system] = machines.get(summary.system, True) and not summary.person
            for dimension in summary.human.keys() & by_people:
                by_people[dimension][cell] = summary.human[dimension]
        for metric in metrics:
            if isinstance(metric, Preferences) and metric.settings.score == "importance":
                own = metric.scores(topic)
                standings.setdefault(metric.name, {})[topic.topic_id] = own.standing_by(topic.annotators)
                scored = own.score
            else:
                scored = metric.score(topic)
            by_metric[metric.name].update(zip(cells, scored.tolist(), strict=True))

    systems = sorted(machines)  # whatever the order of a file: seeded intervals are the same

    def matrices(tables: Mapping[str, Mapping[tuple[str, str], float]]) -> dict[str, Matrix]:
        return {
            name: np.array([[cells.get((system, topic), np.nan) for topic in names] for system in systems])
            for name, cells in tables.items()
        }

    signatures = {metric.name: metric.signature for metric in metrics}
    moved = {name: without_each(own, systems, names) for name, own in standings.items()}
    return Scores(
        tuple(systems),
        tuple(names),
        matrices(by_people),
        matrices(by_metric),
        signatures,
        tuple(machines[system] for system in systems),
        tuple(counts),
        {name: own for name, own in moved.items() if own is not None},
    )
