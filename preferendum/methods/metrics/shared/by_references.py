"""The references that score each summary of a topic: never its own text, and on request equally many for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from preferendum.evidence import Evidence, SummaryText
from preferendum.metrics.registry import MODELS, Options, UnknownMetric, whole_number

Score = Callable[[int, tuple[int, ...]], float]
"""What a summary scores by some of the references, both by their places in the topic."""


def number_of_references(asked: str, options: Options) -> int | None:
    """The number of references, None for all. Raises `UnknownMetric` for less than one."""
    number = whole_number(asked, options, MODELS)
    if number is not None and number < 1:
        raise UnknownMetric(f"{asked}: a number of models must be at least 1")
    return number


def first_references(topic: Evidence, number: int | None) -> Evidence:
    """The topic with so many references, the first by name; with all of them, if it has no more or for None."""
    if number is None:
        return topic
    names, references = topic.reference_names, topic.references
    kept = sorted(range(len(references)), key=names.__getitem__ if names else None)[:number]
    return replace(
        topic,
        references=tuple(references[k] for k in kept),
        reference_names=tuple(names[k] for k in kept) if names else (),
    )


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
