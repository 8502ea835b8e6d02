"""Win rates of systems that nobody judged, predicted from the texts of judged summaries (docs/model.md, Later systems).

Three features of a summary, each less its mean over the judged summaries of the topic, and then the mean over topics:

    shared      the words that other systems' judged summaries of the topic share with it: the mean over its words of
                the share of them that have the word
    preferred   the same, each of them weighted with exp(theta)
    coverage    the share of the words of the source, by occurrences, that it has

A system's alpha is predicted by linear regression on one or two of them, those that predict the judged systems best
when each is left out in turn. How far that misses them says how sure a prediction is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from evaluation.evidence import Evidence
from evaluation.fit.kernel import expected
from evaluation.scoring.content import content
from evaluation.scoring.win_rate import WinRates
from formats.results.statistics import LEVEL

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

FEATURES = ("shared", "preferred", "coverage")
#: Fewer judged systems than this predict nothing.
FEWEST_JUDGED = 4


@dataclass(frozen=True, slots=True)
class Predicted:
    """A system that nobody judged, with its predicted win rate against the judged ones; `low`, `high`: 95%."""

    system: str
    win_rate: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Prediction:
    """`systems`: those that nobody judged; `features`: what they are predicted from; `error`: how far that misses
    judged systems that are left out, in alpha; `summaries`: by topic, then by system, the predicted theta."""

    systems: tuple[Predicted, ...]
    features: tuple[str, ...]
    error: float
    summaries: dict[str, dict[str, float]]


def predict(rates: WinRates, topics: Sequence[Evidence]) -> Prediction | None:
    """Predict the systems that have summaries and no answers; None where too few others are judged.

    `topics`: with the texts of all summaries; those without a judged system's summary say nothing.
    """
    alpha = dict(zip(rates.standing.systems, rates.effects.alpha.tolist(), strict=True))
    tables = {topic.topic_id: table for topic, table in zip(topics, _tables(rates, topics, alpha), strict=True)}
    systems = sorted({system for table in tables.values() for system in table})
    means = np.array([np.mean([own[system] for own in tables.values() if system in own], axis=0) for system in systems])
    judged = np.array([system in alpha for system in systems], dtype=np.bool_)
    if judged.sum() < FEWEST_JUDGED or judged.all():
        return None
    utilities = np.array([alpha[system] for system in np.array(systems)[judged]])
    chosen = min(_choices(), key=lambda some: _left_out(means[judged][:, some], utilities)[0])
    error, slopes = _left_out(means[judged][:, chosen], utilities)
    predicted = {
        topic: {
            system: float(np.r_[1.0, x[list(chosen)]] @ slopes) for system, x in table.items() if system not in alpha
        }
        for topic, table in tables.items()
    }
    freedom = int(judged.sum()) - len(chosen) - 1
    later = tuple(
        _predicted(system, float(np.r_[1.0, x[list(chosen)]] @ slopes), error, freedom, rates)
        for system, x in zip(systems, means, strict=True)
        if system not in alpha
    )
    return Prediction(later, tuple(FEATURES[k] for k in chosen), error, predicted)


def _choices() -> Iterator[tuple[int, ...]]:
    for number in (1, 2):
        yield from combinations(range(len(FEATURES)), number)


def _left_out(x: Matrix, y: Vector) -> tuple[float, Vector]:
    """The root mean square error where each row is left out in turn, and the slopes from all (intercept first)."""
    design = np.column_stack([np.ones(len(x)), x])
    inverse = np.linalg.pinv(design.T @ design)
    slopes = inverse @ design.T @ y
    leverage = np.minimum(np.einsum("ij,jk,ik->i", design, inverse, design), 0.99)
    return float(np.sqrt(np.mean(np.square((y - design @ slopes) / (1 - leverage))))), slopes


def _predicted(system: str, alpha: float, error: float, freedom: int, rates: WinRates) -> Predicted:
    """The interval's ends are the win rates at the ends of that of alpha."""
    others = rates.effects.alpha
    margin = float(stdtrit(max(freedom, 1), 1 - LEVEL / 2)) * error
    at = np.array([alpha, alpha - margin, alpha + margin])
    gaps = (at[:, None] - others).ravel()
    chance, slope = expected(gaps, np.full(len(gaps), 2 * rates.effects.variances.item))
    win_rate, low, high = chance.reshape(3, -1).mean(axis=1).tolist()
    return Predicted(system, win_rate, error * float(slope.reshape(3, -1)[0].mean()), low, high)


def _tables(rates: WinRates, topics: Sequence[Evidence], alpha: dict[str, float]) -> Iterator[dict[str, Vector]]:
    """Of each topic: the features (3,) of its summaries."""
    theta = _utilities(rates)
    for topic in topics:
        words = {own.system: _words(own.sentences, topic.language) for own in topic.summaries}
        judged = [system for system in words if system in alpha]
        utility = np.array([theta.get((topic.topic_id, system), alpha[system]) for system in judged])
        source = [word for sentence in topic.sentences for word in content(sentence, topic.language)]
        table = {system: _features(system, words, judged, np.exp(utility), source) for system in words}
        mean = np.mean([table[system] for system in judged], axis=0) if judged else np.zeros(len(FEATURES))
        yield {system: own - mean for system, own in table.items()} if len(judged) > 1 else {}


def _words(sentences: Sequence[str], language: str) -> frozenset[str]:
    return frozenset(word for sentence in sentences for word in content(sentence, language))


def _features(
    system: str, words: dict[str, frozenset[str]], judged: Sequence[str], weight: Vector, source: Sequence[str]
) -> Vector:
    own = words[system]
    others = [(words[other], w) for other, w in zip(judged, weight.tolist(), strict=True) if other != system]
    total = sum(w for _, w in others) or 1.0
    shared = np.mean([len(own & other) for other, _ in others]) / max(len(own), 1) if others else 0.0
    preferred = sum(w * len(own & other) for other, w in others) / total / max(len(own), 1)
    covered = sum(word in own for word in source) / max(len(source), 1)
    return np.array([shared, preferred, covered])


def _utilities(rates: WinRates) -> dict[tuple[str, str], float]:
    """theta, by topic and system."""
    items, names = rates.effects.items, rates.standing.systems
    return {
        (rates.answers.topics[topic], names[system]): theta
        for topic, system, theta in zip(
            items.topic.tolist(), items.system.tolist(), rates.effects.theta.tolist(), strict=True
        )
    }
