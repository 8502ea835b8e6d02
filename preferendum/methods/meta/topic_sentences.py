"""How well utilities order one topic's sentences, for its page: the command's report, against what the topic has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import get_args

from preferendum.evidence import Evidence, Settings
from preferendum.methods.meta.sentence_ranking import sentence_report, values_from
from preferendum.results import SentenceReport
from preferendum.scoring.simulations import Source

#: Simulated from each source, as the command line does.
SIMULATED = 1000
#: More are left to the command line: each smoothing of each source takes seconds then.
MOST_SENTENCES = 1000


def topic_sentences(topic: Evidence, settings: Settings, seed: int) -> Iterator[SentenceReport]:
    """Against the Pyramid, the references, or both; nothing without either, without sentences or with too many."""
    if 0 < len(topic.sentences) <= MOST_SENTENCES:
        # Each smoothing has its turn; a prior is for those that have none of their own.
        plain = replace(settings, smooth="none")
        for source in get_args(Source):
            if values := values_from([topic], source, plain):
                yield sentence_report([topic], source, values, plain, simulated=SIMULATED, seed=seed)
