"""Among whose summaries a study compares metrics with people."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import compress

import numpy as np

from preferendum.metrics.registry import JACKKNIFE, without_one_reference
from preferendum.results.metrics import Peers
from preferendum.work.scores import Scores

#: Among whose summaries, and in which dimension.
Part = tuple[Peers, str]


def all_peers(scores: Scores) -> tuple[Peers, ...]:
    """Among whose summaries a study compares metrics with people."""
    return ("machines",) if all(scores.machines) else ("machines", "all")


def judged_among(scores: Scores) -> Iterator[tuple[Peers, Scores]]:
    """Among machines and, if there are people, among all: the topics where people scored a summary in any dimension."""
    for peers in all_peers(scores):
        own = among(scores, peers)
        if own.human:
            yield peers, own.judged(*own.human)


def among(scores: Scores, peers: Peers) -> Scores:
    """The scores of machines alone; or of all, by metrics that score machines by one reference less, as people are.

    Without dimensions in which none of them was scored by people.
    """
    jackknifed = {name for name in scores.metrics if name.endswith(f":{JACKKNIFE}")}
    if peers == "all":
        return with_metrics(scores, [name for name in scores.metrics if without_one_reference(name) == name])
    machines = np.array(scores.machines, dtype=np.bool_)
    own = replace(
        scores,
        systems=tuple(compress(scores.systems, machines)),
        human={name: own for name, matrix in scores.human.items() if np.isfinite(own := matrix[machines]).any()},
        metrics={name: matrix[machines] for name, matrix in scores.metrics.items()},
        machines=tuple(compress(scores.machines, machines)),
        without_each={name: moved[:, machines] for name, moved in scores.without_each.items()},
    )
    return with_metrics(own, [name for name in own.metrics if name not in jackknifed])


def with_metrics(scores: Scores, names: Collection[str]) -> Scores:
    """The scores by these metrics alone."""
    return replace(scores, metrics={name: scores.metrics[name] for name in names})
