"""The scores that preferences give, as metrics among the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.annotators.reliability import weighed
from evaluation.evaluate import estimate, prepare, score
from evaluation.evidence import Evidence, Settings
from evaluation.fit.similarity import similarity
from evaluation.metrics.registry import Family, Need, Options, UnknownMetric, register
from formats.settings import PUBLISHED, SCORING, as_word, counting

#: `none` says too little outside of the command line, where it follows --smooth.
_WORDS = {"none": "unsmoothed"}
_NUMBERS = {setting.name: setting for setting in SCORING if setting.type is float}
_CHANGES: dict[str, Mapping[str, Any]] = {
    **{_WORDS.get(choice, choice): {setting.name: choice} for setting in SCORING for choice in setting.choices},
    **{setting.option: {setting.name: True} for setting in SCORING if setting.type is bool},
    **{f"no-{setting.option}": {setting.name: False} for setting in SCORING if setting.type is bool},
    "published": PUBLISHED,
    "no-redundancy": {"redundancy": False},
}


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
        """A summary without importance adds nothing, as text of average value does: 0.

        Raises `UndeterminedTopic` where the judgments determine no finite utilities and there is no prior.
        """
        topic = weighed(topic, self.settings)
        similar = similarity(topic.sentences, self.settings.similarity)
        estimated = estimate(topic, topic.judgments, similar, self.settings)
        return np.nan_to_num(score(prepare(topic, similar, self.settings), estimated, self.settings).score)


def _make(asked: str, options: Options, settings: Settings) -> Preferences:
    for option, value in options.items():
        try:
            change = {option: _NUMBERS[option].number(value)} if option in _NUMBERS else _CHANGES[option]
        except ValueError as reason:
            raise UnknownMetric(f"{asked}: {reason}") from None
        settings = replace(settings, **change)
    return Preferences(asked, settings)


register(
    Family(
        ("preferences",),
        "scores from preferences between sentences of the documents",
        dict.fromkeys(_CHANGES, "the setting of that name") | dict.fromkeys(_NUMBERS, "=0.1: the number of that name"),
        _make,
    )
)
