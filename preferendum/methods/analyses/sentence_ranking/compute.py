"""How well utilities order one topic's sentences, for its page: the command's report, against what the topic has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from preferendum.evidence import Evidence, Settings
from preferendum.methods.analyses.sentence_ranking.report import sentence_report, values_from
from preferendum.results import SentenceRankings, SentenceReport
from preferendum.scoring.simulations import Source
from preferendum.work import MOST_SENTENCES, AtWork

#: Simulated from each source, as the command line does.
SIMULATED = 1000


def compute(study: AtWork) -> Iterator[None]:
    """Keep the reports of the topic."""
    (topic,) = study.topics
    loaded = study.evidence(topic)
    if loaded is not None:
        study.keep_of_topic(topic, SentenceRankings(study.seed, tuple(topic_sentences(*loaded, study.seed))))
    yield


def topic_sentences(topic: Evidence, settings: Settings, seed: int) -> Iterator[SentenceReport]:
    """Against the Pyramid, the references, or both; nothing without either, without sentences or with too many."""
    if 0 < len(topic.sentences) <= MOST_SENTENCES:
        # Each smoothing has its turn; a prior is for those that have none of their own.
        plain = replace(settings, smooth="none")
        for source in get_args(Source):
            if values := values_from([topic], source, plain):
                yield sentence_report([topic], source, values, plain, simulated=SIMULATED, seed=seed)
