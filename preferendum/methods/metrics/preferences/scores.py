"""The scores that preferences give, as metrics among the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from preferendum.annotators.reliability import weighed
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.fit.preference_matrix import Estimate
from preferendum.fit.similarity import similarity
from preferendum.fit.zermelo import Undetermined
from preferendum.formats.settings import as_word, counting, idle_among
from preferendum.methods.metrics.preferences import CHANGES, NUMBERS
from preferendum.metrics.registry import Need, Options, UnknownMetric
from preferendum.scoring.evaluate import Texts, estimate, prepare, score, values
from preferendum.scoring.scores import Scores
from preferendum.scoring.simulations import SHORT, Simulation, with_simulated


@dataclass(frozen=True, slots=True)
class Preferences:
    """The metric: utilities from the topic's judgments, and from them a score for each summary."""

    name: str
    settings: Settings

    @property
    def needs(self) -> frozenset[Need]:
        return frozenset({Need.DOCUMENTS, Need.JUDGMENTS})

    @property
    def signature(self) -> str:
        counted = [f"{setting.option} {as_word(value)}" for setting, value in counting(asdict(self.settings))]
        if not self.settings.redundancy:
            counted.append("redundancy off")
        return f"preferences: {', '.join(counted)}"

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        """Not a number for a summary without a word of its sources: it has no importance.

        Raises `UndeterminedTopic` where the judgments determine no finite utilities and there is no prior.
        """
        return values(*self._fitted(topic), self.settings)

    def scores(self, topic: Evidence) -> Scores:
        """The scores with how sure they are, and what each annotator adds."""
        return score(*self._fitted(topic), self.settings)

    def _fitted(self, topic: Evidence) -> tuple[Texts, Estimate | None]:
        topic = weighed(topic, self.settings)
        similar = similarity(topic.sentences, self.settings.similarity)
        estimated = estimate(topic, topic.judgments, similar, self.settings)
        return prepare(topic, similar, self.settings), estimated

    def scorer(self, topic: Evidence) -> Callable[[Iterable[Judgments]], NDArray[np.float64]]:
        """What gives the scores (b, summaries) from each of b samples of the topic's judgments, in one call.

        What the kernel learns from the first sample of a call is kept for the others, which is many times faster. Not
        a number stands where a sample determines no finite utilities.
        """
        similar = similarity(topic.sentences, self.settings.similarity)
        texts = prepare(topic, similar, self.settings)

        def scores(samples: Iterable[Judgments]) -> NDArray[np.float64]:
            def first(judgments: Judgments) -> Estimate | None:
                return estimate(topic, judgments, similar, self.settings)

            again, rows = first, []
            for sample in samples:
                judgments = weighed(replace(topic, judgments=sample), self.settings).judgments
                try:
                    estimated = again(judgments)
                except Undetermined:
                    rows.append(np.full(len(topic.summaries), np.nan))
                    continue
                if estimated is not None and self.settings.smooth == "kernel":
                    again = estimated.again
                rows.append(values(texts, estimated, self.settings))
            return np.array(rows)

        return scores


@dataclass(frozen=True, slots=True)
class MixedPreferences:
    """The same from people's judgments (man) and simulated ones together, as in table 2 of Zopf (2018)."""

    metric: Preferences
    simulations: tuple[Simulation, ...]

    @property
    def name(self) -> str:
        return f"{self.metric.name} {'+'.join(['man', *(SHORT[added.source] for added in self.simulations)])}"

    @property
    def needs(self) -> frozenset[Need]:
        return self.metric.needs | {_NEEDS[added.source] for added in self.simulations}

    @property
    def signature(self) -> str:
        return "; ".join([self.metric.signature, *(f"with {added}" for added in self.simulations)])

    def score(self, topic: Evidence) -> NDArray[np.float64]:
        similar = similarity(topic.sentences, self.metric.settings.similarity)
        return self.metric.score(with_simulated(topic, self.simulations, similar))


_NEEDS = {"references": Need.REFERENCES, "pyramid": Need.PYRAMIDS}


def mixed(metric: Preferences, simulations: Sequence[Simulation]) -> list[MixedPreferences]:
    """The metric from people's judgments alone, and with each choice of simulated ones added."""
    chosen = chain.from_iterable(combinations(simulations, k) for k in range(len(simulations) + 1))
    return [MixedPreferences(metric, some) for some in chosen]


def make(asked: str, options: Options, settings: Settings | None) -> Preferences:
    """Make the metric of a name with its options. Raises `UnknownMetric`."""
    settings = settings or Settings()
    for option, value in options.items():
        try:
            change = {option: NUMBERS[option].number(value)} if option in NUMBERS else CHANGES[option]
        except ValueError as reason:
            raise UnknownMetric(f"{asked}: {reason}") from None
        settings = replace(settings, **change)
    for setting in idle_among(asdict(settings)):
        if setting.name in options:
            raise UnknownMetric(f"{asked}: {setting.option} says nothing here: {setting.about}")
    return Preferences(asked, settings)
