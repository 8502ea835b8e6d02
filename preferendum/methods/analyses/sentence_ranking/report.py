"""Do utilities order the sentences themselves as their values do? Table 4 of Zopf (2018).

Equation 1 on sentences: of the pairs of a topic's source sentences that differ in value, the share that the utilities
order alike, a tie counting one half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from preferendum.annotators.reliability import weighed
from preferendum.evidence import Evidence, Settings
from preferendum.fit.similarity import similarity
from preferendum.formats.settings import SmoothChoice
from preferendum.methods.meta.agreement import Vector
from preferendum.methods.meta.correlation import agreement_counts, without_dust
from preferendum.results import SentenceAgreement, SentenceRanking, SentenceReport
from preferendum.results.metrics import Judged, Values
from preferendum.scoring.evaluate import UndeterminedTopic, estimate
from preferendum.scoring.simulations import SHORT, Simulation, Source, has_source, sentence_values, with_simulated

SMOOTHINGS: tuple[SmoothChoice, ...] = get_args(SmoothChoice)


def sentence_report(
    topics: Sequence[Evidence],
    against: Values,
    values: Mapping[str, Vector],
    settings: Settings,
    *,
    simulated: int,
    seed: int = 0,
    smoothings: Sequence[SmoothChoice] = SMOOTHINGS,
    watched: Callable[[Sequence[Evidence]], Iterable[Evidence]] = iter,
) -> SentenceReport:
    """The topics that have `values` (n,), ranked by people's judgments and by so many simulated ones from each source.

    A ranking is left out where no topic has what it rests on. `watched` shows progress.
    """
    own = [topic for topic in topics if topic.topic_id in values]
    judged: dict[Judged, list[Evidence]] = {
        "man": [topic for topic in own if len(topic.judgments)],
        **{SHORT[source]: _simulated(own, Simulation(source, simulated, seed), settings) for source in SHORT},
    }
    return SentenceReport(
        against,
        tuple(
            sentence_ranking(name, list(watched(some)), values, settings, smooth)
            for name, some in judged.items()
            for smooth in smoothings
            if some
        ),
    )


def having(topics: Sequence[Evidence], source: Source) -> list[Evidence]:
    """The topics that judgments can be simulated from that source of."""
    return [topic for topic in topics if has_source(topic, source)]


def values_from(topics: Sequence[Evidence], source: Source, settings: Settings) -> dict[str, Vector]:
    """(n,): what the source says that each sentence is worth, for each topic that has it."""
    return {
        topic.topic_id: sentence_values(topic, similarity(topic.sentences, settings.similarity), source)
        for topic in having(topics, source)
    }


def _simulated(topics: Sequence[Evidence], simulation: Simulation, settings: Settings) -> list[Evidence]:
    """The topics with simulated judgments in the place of people's."""
    return [
        with_simulated(
            replace(topic, judgments=topic.judgments.some(slice(0)), kinds=()),
            [simulation],
            similarity(topic.sentences, settings.similarity),
        )
        for topic in having(topics, simulation.source)
    ]


def sentence_ranking(
    judged: Judged, topics: Sequence[Evidence], values: Mapping[str, Vector], settings: Settings, smooth: SmoothChoice
) -> SentenceRanking:
    """Rank the sentences of topics by their judgments; `values` (n,): of each topic's sentences, nan where unknown."""
    counts = [_counts(topic, values[topic.topic_id], replace(settings, smooth=smooth)) for topic in topics]
    shares = [alike / ordered if ordered and np.isfinite(alike) else None for alike, ordered in counts]
    defined = [(share, *count) for share, count in zip(shares, counts, strict=True) if share is not None]
    return SentenceRanking(
        judged,
        smooth,
        float(np.mean([share for share, *_ in defined])) if defined else None,
        sum(alike for _, alike, _ in defined) / sum(ordered for *_, ordered in defined) if defined else None,
        tuple(
            SentenceAgreement(topic.topic_id, len(topic.judgments), int(ordered), share)
            for topic, (_, ordered), share in zip(topics, counts, shares, strict=True)
        ),
    )


def _counts(topic: Evidence, values: Vector, settings: Settings) -> tuple[float, float]:
    """How many pairs are ordered alike (nan where the judgments determine no utilities), and how many differ."""
    has_value = np.isfinite(values)[None]
    of_value = without_dust(np.where(has_value, values[None], 0.0))
    alike, ordered = agreement_counts(of_value, _utilities(topic, settings)[None], has_value.astype(np.float64))
    return float(alike[0]), float(ordered[0])


def _utilities(topic: Evidence, settings: Settings) -> Vector:
    """(n,): without judgments all are equal; nan where they have no finite maximum."""
    n = len(topic.sentences)
    judgments = weighed(topic, settings).judgments
    try:
        estimated = estimate(topic, judgments, similarity(topic.sentences, settings.similarity), settings)
    except UndeterminedTopic:
        return np.full(n, np.nan)
    return without_dust(np.zeros(n) if estimated is None else estimated.utilities)
