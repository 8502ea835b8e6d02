"""People's judgments and simulated ones together, for a study's page: table 2 of Zopf (2018)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from preferendum.evidence import Evidence, Settings
from preferendum.fit.zermelo import Undetermined
from preferendum.methods.meta.resampling import Vector
from preferendum.methods.meta.scores import Scores
from preferendum.methods.meta.study_convergence import metrics_for
from preferendum.methods.metrics.preferences.scores import MixedPreferences, mixed
from preferendum.results.scores import MIXED
from preferendum.scoring.simulations import SHORT, Simulation, has_source

#: So many judgments a topic are simulated from each source, as in the paper.
SIMULATED, SEED = 200, 0


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


def unmixed(scores: Scores) -> Scores:
    """The scores without those that rest on simulated judgments in addition to people's."""
    return replace(scores, metrics={name: own for name, own in scores.metrics.items() if MIXED not in name})
