"""People's judgments and simulated ones together, for a study's page: table 2 of Zopf (2018)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from preferendum.evidence import Evidence, Settings
from preferendum.fit.zermelo import Undetermined
from preferendum.methods.analyses.convergence.compute import metrics_for
from preferendum.methods.meta.resampling import Vector
from preferendum.methods.metrics.preferences.scores import MixedPreferences, mixed
from preferendum.results import TopicMixtures
from preferendum.scoring.simulations import SHORT, Simulation, has_source
from preferendum.statistics import finite
from preferendum.work import MOST_SENTENCES, AtWork

#: So many judgments a topic are simulated from each source, as in the paper.
SIMULATED, SEED = 200, 0


def compute(study: AtWork) -> Iterator[None]:
    """Keep the scores of each topic, then record that all have theirs, so that agreement is computed with them."""
    for topic in study.topics:
        if topic.has_values and topic.sentences <= MOST_SENTENCES and topic.kept is None:
            loaded = study.evidence(topic)
            if loaded is None:
                return
            study.keep_of_topic(topic, _of_topic(*loaded))
            yield
    study.publish({})


def _of_topic(topic: Evidence, settings: Settings) -> TopicMixtures:
    systems = [summary.system for summary in topic.summaries]
    scores, signatures = {}, {}
    for metric, column in mixtures(topic, settings):
        scores[metric.name] = dict(zip(systems, map(finite, column.tolist()), strict=True))
        signatures[metric.name] = metric.signature
    return TopicMixtures(scores, signatures)


def mixtures(topic: Evidence, settings: Settings) -> Iterator[tuple[MixedPreferences, Vector]]:
    """The study's own score and that of the paper, (summaries,) each, with every choice of what the topic has.

    Not a number where the judgments determine no utilities.
    """
    simulations = [Simulation(source, SIMULATED, SEED) for source in SHORT if has_source(topic, source)]
    for metric in metrics_for(settings):
        for mixture in mixed(metric, simulations):
            if mixture.simulations:
                try:
                    yield mixture, mixture.score(topic)
                except Undetermined:
                    yield mixture, np.full(len(topic.summaries), np.nan)
