"""The second journey: judgments become utilities, utilities become scores, scores become a ranking of systems.

Nothing here is drawn by lot: the same evidence and settings give the same result to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from evaluation import preference, scoring, zermelo
from evaluation.evidence import Evidence, Judgments, Settings
from evaluation.ranking import Standing
from evaluation.similarity import Similarity
from evaluation.similarity import similarity as build_similarity
from evaluation.uncertainty import Covariance

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

AS_PUBLISHED = Settings(smooth="paper", prior=0.0, redundancy=True, value="strength", normalize="length", match="any")
"""The paper's settings. Without a prior there may be no finite maximum; `evaluate` then says so."""

Z95 = float(ndtri(0.975))


class UndeterminedTopic(zermelo.Undetermined):
    """Without a prior, the judgments of this topic leave the utilities without a finite maximum (Ford 1957).

    `sentences`: the names of those that nothing outside of their group was ever preferred to.
    """

    def __init__(self, topic_id: str, sentences: tuple[str, ...], unbeaten: tuple[int, ...], groups: int) -> None:
        super().__init__(unbeaten, groups)
        self.topic_id = topic_id
        self.sentences = sentences

    @property
    def shown(self) -> str:
        """The first few of those sentences, for a message."""
        more = len(self.sentences) - 3
        return ", ".join(self.sentences[:3]) + (f" and {more} more" if more > 0 else "")

    def __str__(self) -> str:
        return (
            f"topic {self.topic_id}: the judgments determine no finite utilities, since nothing else was preferred "
            f"to {self.shown}; ask for more judgments, or use a small prior such as 0.1"
        )


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """What one system's summary of the topic earned, and how sure that is: None where there are no judgments.

    The interval is one of 95% by the delta method, cut off at 0, below which no score lies.
    """

    system: str
    score: float
    se: float | None
    low: float | None
    high: float | None
    parts: tuple[scoring.Part, ...]
    human: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TopicResult:
    """A topic's utilities and scores with what they rest on.

    `judgments`: how many; with none all utilities are equal, and scores stand that say nothing. Arrays run over the
    topic's sentences: `strengths` sum to 1, `utilities` are their logarithms, centred on 0; `se`, `low`, `high` are
    the utilities' standard errors and 95% intervals (None without judgments); `values` is what a sentence gives to a
    summary; `wins` the weight of the judgments it won, `judged` the number of those it took part in.
    `covariance` (s, s) is that of the summaries' scores, in the order of `summaries`. `kernel`: the parameters of the
    kernel prior (variance, share of the similarity) where there is one. `errors`: how sure differences of two
    utilities are (None without judgments).
    """

    topic_id: str
    settings: Settings
    judgments: int
    sentence_ids: tuple[str, ...]
    sentences: tuple[str, ...]
    strengths: Vector
    utilities: Vector
    se: Vector | None
    low: Vector | None
    high: Vector | None
    values: Vector
    wins: Vector
    judged: NDArray[np.int64]
    residual: float
    iterations: int
    kernel: tuple[float, float] | None
    summaries: tuple[SummaryResult, ...]
    covariance: Matrix
    errors: Covariance | None

    @property
    def standing(self) -> Standing:
        """What a ranking of the systems needs to know of this topic."""
        scores = np.array([summary.score for summary in self.summaries], dtype=np.float64)
        return Standing(tuple(summary.system for summary in self.summaries), scores, self.covariance, self.judgments)


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What each system's score was when only the first so many judgments were there."""

    judgments: int
    scores: Mapping[str, float]


def evaluate(
    evidence: Evidence,
    settings: Settings | None = None,
    *,
    similarity: Similarity | None = None,
    matched: scoring.Matched | None = None,
    start: Vector | None = None,
) -> TopicResult:
    """Utilities and scores of one topic.

    `similarity` of the topic's sentences, `matched`: its summaries beside them, if they are at hand; `start` (n,):
    utilities to start from, those of the last fit, say. None of them changes the result. Raises `UndeterminedTopic`
    and `zermelo.NotConverged`.
    """
    settings = settings or Settings()
    compared = similarity or build_similarity(evidence.sentences, settings.similarity)
    matched = matched or scoring.match(evidence, compared, settings)
    n = len(evidence.sentences)
    judged = np.bincount(np.concatenate([evidence.judgments.a, evidence.judgments.b]), minlength=n).astype(np.int64)
    estimate = _estimate(evidence, evidence.judgments, compared, settings, start)
    utilities = np.zeros(n) if estimate is None else estimate.utilities
    values = scoring.values(utilities, settings.value)
    scores = scoring.score(matched, values)
    if estimate is None:
        strengths, wins = np.full(n, 1 / max(n, 1)), np.zeros(n)
        se = low = high = None
        covariance = np.zeros((len(scores), len(scores)))
        errors: list[float | None] = [None] * len(scores)
    else:
        strengths, wins = estimate.strengths, estimate.wins
        se = estimate.covariance.errors()
        low, high = utilities - Z95 * se, utilities + Z95 * se
        slopes = scoring.gradients(matched.weights, utilities, settings.value)
        covariance = estimate.covariance.of(slopes)
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist()
    return TopicResult(
        topic_id=evidence.topic_id,
        settings=settings,
        judgments=len(evidence.judgments),
        sentence_ids=evidence.sentence_ids,
        sentences=evidence.sentences,
        strengths=strengths,
        utilities=utilities,
        se=se,
        low=low,
        high=high,
        values=values,
        wins=wins,
        judged=judged,
        residual=0.0 if estimate is None else estimate.fit.residual,
        iterations=0 if estimate is None else estimate.fit.iterations,
        kernel=None if estimate is None else estimate.kernel,
        summaries=tuple(
            SummaryResult(
                system=score.system,
                score=score.score,
                se=error,
                low=None if error is None else max(0.0, score.score - Z95 * error),
                high=None if error is None else score.score + Z95 * error,
                parts=score.parts,
                human=summary.human,
            )
            for score, error, summary in zip(scores, errors, evidence.summaries, strict=True)
        ),
        covariance=covariance,
        errors=None if estimate is None else estimate.covariance,
    )


def curve(
    evidence: Evidence,
    settings: Settings | None = None,
    *,
    similarity: Similarity | None = None,
    matched: scoring.Matched | None = None,
    points: int = 10,
) -> tuple[CurvePoint, ...]:
    """How the scores came to be: the systems' scores after each tenth (`points`) of the judgments, in their order.

    Numbers of judgments that leave the utilities without a finite maximum are passed over.
    """
    settings = settings or Settings()
    compared = similarity or build_similarity(evidence.sentences, settings.similarity)
    matched = matched or scoring.match(evidence, compared, settings)
    m = len(evidence.judgments)
    sizes = sorted({-(-m * k // points) for k in range(1, points + 1)} - {0})
    path = []
    for size in sizes:
        try:
            estimate = _estimate(evidence, _first(evidence.judgments, size), compared, settings, None)
        except UndeterminedTopic:
            continue
        if estimate is not None:
            scores = scoring.score(matched, scoring.values(estimate.utilities, settings.value))
            path.append(CurvePoint(size, {score.system: score.score for score in scores}))
    return tuple(path)


def _estimate(
    evidence: Evidence, judgments: Judgments, compared: Similarity, settings: Settings, start: Vector | None
) -> preference.Estimate | None:
    """None without judgments: then there is nothing to estimate from, with a prior or without."""
    if len(judgments) == 0:
        return None
    try:
        return preference.estimate(judgments, len(evidence.sentences), compared.matrix, settings, start)
    except zermelo.Undetermined as reason:
        names = tuple(evidence.sentence_ids[i] for i in reason.unbeaten)
        raise UndeterminedTopic(evidence.topic_id, names, reason.unbeaten, reason.groups) from reason


def _first(judgments: Judgments, size: int) -> Judgments:
    return Judgments(
        judgments.a[:size],
        judgments.b[:size],
        judgments.outcome[:size],
        judgments.weight[:size],
        judgments.annotator[:size],
    )
