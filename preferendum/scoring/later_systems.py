"""Win rates of systems without judgments, predicted from the texts of judged summaries (docs/model.md).

Three features of a summary, each less its mean over the judged summaries of its topic, and then the mean over topics:

    shared       sum over its distinct words of the share of the other judged summaries of the topic that have the word
    preferred    the same, each of these weighted with exp(theta)
    coverage     the share of the words of the sources, by occurrences, that it has

A system's alpha is predicted by linear regression on one of them: the one that best predicts judged systems that are
left out in turn, if more of it is better, or none. Its errors there give the uncertainty of a prediction. Within a
topic summaries are expected in the order of `preferred`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from preferendum.evidence import Evidence
from preferendum.fit.kernel import expected
from preferendum.results.statistics import LEVEL
from preferendum.scoring.content import content
from preferendum.scoring.win_rate import WinRates

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

FEATURES = ("shared", "preferred", "coverage")
PREFERRED = 1
#: A system that decides its own prediction by more than this has none without itself.
MOST_LEVERAGE = 0.95
#: Fewer judged systems than this predict nothing.
FEWEST_JUDGED = 4


@dataclass(frozen=True, slots=True)
class Predicted:
    """A system without judgments, with its predicted win rate against the judged ones; `low`, `high`: 95%."""

    system: str
    win_rate: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """`systems`: those without judgments; `feature`: what they are predicted from, None where nothing predicts;
    `error`: of the prediction of judged systems that are left out, in alpha; `summaries`: by topic, then by system,
    the more the better."""

    systems: tuple[Predicted, ...]
    feature: str | None
    error: float
    summaries: dict[str, dict[str, float]]


def predict(rates: WinRates, topics: Sequence[Evidence]) -> Prediction | None:
    """Predict the systems that have summaries and no answers; None where too few others are judged.

    `topics`: with the texts of all summaries; those with fewer than two judged systems are ignored.
    """
    alpha = dict(zip(rates.standing.systems, rates.effects.alpha.tolist(), strict=True))
    tables = {
        topic.topic_id: _table(topic, alpha, theta)
        for topic, theta in zip(topics, _utilities(rates, topics), strict=True)
    }
    systems = sorted({system for table in tables.values() for system in table})
    means = {system: np.mean([own[system] for own in tables.values() if system in own], axis=0) for system in systems}
    judged = [system for system in systems if system in alpha]
    if not FEWEST_JUDGED <= len(judged) < len(systems):
        return None
    line = _likeliest(np.array([means[system] for system in judged]), np.array([alpha[system] for system in judged]))
    later = [system for system in systems if system not in alpha]
    return Prediction(
        systems=tuple(_predicted(system, line.at(means[system]), line, rates) for system in later),
        feature=None if line.feature is None else FEATURES[line.feature],
        error=line.error,
        summaries={
            topic: {system: float(own[PREFERRED]) for system, own in table.items() if system not in alpha}
            for topic, table in tables.items()
        },
    )


@dataclass(frozen=True, slots=True)
class _Line:
    """A regression of alpha on a feature, or on none: intercept and slope; `error`: the root mean square of how far
    it misses systems that are left out; `freedom`: degrees, of that."""

    feature: int | None
    slopes: Vector
    error: float
    freedom: int

    @classmethod
    def of(cls, feature: int | None, x: Matrix, y: Vector) -> _Line:
        design = np.column_stack([np.ones(len(x)), x[:, [] if feature is None else [feature]]])
        inverse = np.linalg.pinv(design.T @ design)
        slopes = inverse @ design.T @ y
        leverage = np.minimum(np.einsum("ij,jk,ik->i", design, inverse, design), MOST_LEVERAGE)
        error = float(np.sqrt(np.mean(np.square((y - design @ slopes) / (1 - leverage)))))
        return cls(feature, slopes, error, len(x) - len(slopes))

    def at(self, x: Vector) -> float:
        return float(self.slopes[0] + (0.0 if self.feature is None else self.slopes[1] * x[self.feature]))


def _likeliest(x: Matrix, y: Vector) -> _Line:
    """The likeliest of the lines in which more of the feature is better, and the level one."""
    lines = [_Line.of(feature, x, y) for feature in (None, *range(len(FEATURES)))]
    return min((line for line in lines if (line.slopes[1:] > 0).all()), key=lambda line: line.error)


def _predicted(system: str, alpha: float, line: _Line, rates: WinRates) -> Predicted:
    """The ends of the interval are the win rates at the ends of that of alpha."""
    margin = float(stdtrit(line.freedom, 1 - LEVEL / 2)) * line.error
    at = np.array([alpha, alpha - margin, alpha + margin])
    gaps = (at[:, None] - rates.effects.alpha).ravel()
    chance, slope = expected(gaps, np.full(len(gaps), 2 * rates.effects.variances.item))
    win_rate, low, high = chance.reshape(3, -1).mean(axis=1).tolist()
    return Predicted(system, win_rate, line.error * float(slope.reshape(3, -1)[0].mean()), low, high)


def _table(topic: Evidence, alpha: Mapping[str, float], theta: Mapping[str, float]) -> dict[str, Vector]:
    """The features (3,) of the topic's summaries, less their means over judged ones."""
    words = {own.system: _words(own.sentences, topic.language) for own in topic.summaries}
    judged = [system for system in words if system in alpha]
    if len(judged) < 2:
        return {}
    source = Counter(word for sentence in topic.sentences for word in content(sentence, topic.language))
    weight = {system: float(np.exp(theta.get(system, alpha[system]))) for system in judged}
    having, weighted = Counter[str](), defaultdict[str, float](float)
    for system in judged:
        having.update(words[system])
        for word in words[system]:
            weighted[word] += weight[system]
    table = {}
    for system, own in words.items():
        mine, others = weight.get(system, 0.0), len(judged) - (system in weight)
        shared = sum(having[word] for word in own) - (len(own) if system in weight else 0)
        preferred = sum(weighted[word] for word in own) - mine * len(own)
        covered = sum(source[word] for word in own) / max(source.total(), 1)
        table[system] = np.array([shared / others, preferred / (sum(weight.values()) - mine), covered])
    mean = np.mean([table[system] for system in judged], axis=0)
    return {system: own - mean for system, own in table.items()}


def _words(sentences: Sequence[str], language: str) -> frozenset[str]:
    return frozenset(word for sentence in sentences for word in content(sentence, language))


def _utilities(rates: WinRates, topics: Sequence[Evidence]) -> list[dict[str, float]]:
    """theta of each topic's summaries that answers are about, by system."""
    items, systems, own = rates.effects.items, rates.standing.systems, defaultdict[str, dict[str, float]](dict)
    for topic, system, theta in zip(
        items.topic.tolist(), items.system.tolist(), rates.effects.theta.tolist(), strict=True
    ):
        own[rates.answers.topics[topic]][systems[system]] = theta
    return [own[topic.topic_id] for topic in topics]
