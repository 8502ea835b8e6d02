"""The references that score each summary of a topic: never its own text, and on request equally many for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, SummaryText
from preferendum.methods.metrics.registry import JACKKNIFE, MODELS, Options, UnknownMetric, whole_number

OPTIONS = {
    JACKKNIFE: "the mean over the sets that lack one reference",
    MODELS: "=1: by so many references, the first by name",
}
"""Of every metric that is scored over references."""
Score = Callable[[int, tuple[int, ...]], float]
"""What a summary scores by some of the references, both by their places in the topic."""


def number_of_references(asked: str, options: Options) -> int | None:
    """The number of references, None for all. Raises `UnknownMetric` for less than one."""
    number = whole_number(asked, options, MODELS)
    if number is not None and number < 1:
        raise UnknownMetric(f"{asked}: a number of models must be at least 1")
    return number


def over_references(topic: Evidence, jackknife: bool, score: Score) -> NDArray[np.float64]:
    """(summaries,): a summary that is a reference itself is scored by the others, not a number where there are none.

    `jackknife`: any other summary has the mean over the sets that lack one reference.
    """
    sets = [_sets(topic, summary, jackknife) for summary in topic.summaries]
    return np.array([_mean(score, k, of_summary) for k, of_summary in enumerate(sets)], dtype=np.float64)


def _sets(topic: Evidence, summary: SummaryText, jackknife: bool) -> list[tuple[int, ...]]:
    everyone = tuple(range(len(topic.references)))
    without = [everyone[:k] + everyone[k + 1 :] for k in everyone]
    own = topic.own_reference(summary)
    if own is not None:
        return [without[own]]
    return without if jackknife and len(everyone) > 1 else [everyone]


def _mean(score: Score, summary: int, sets: Sequence[tuple[int, ...]]) -> float:
    return float(np.mean([score(summary, references) if references else np.nan for references in sets]))
