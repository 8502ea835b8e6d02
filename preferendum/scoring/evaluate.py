"""The second journey: judgments become utilities, utilities become scores, scores become a ranking of systems.

Nothing here is drawn by lot: the same evidence and settings give the same result to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from preferendum.annotators.reliability import weighed
from preferendum.evidence import UNDETERMINED_PRIOR, Evidence, Judgments, Settings
from preferendum.fit import preference_matrix, zermelo
from preferendum.fit.chances import Chances
from preferendum.fit.similarity import Similarity
from preferendum.fit.similarity import similarity as build_similarity
from preferendum.fit.uncertainty import Covariance
from preferendum.formats.settings import ScoreChoice
from preferendum.results import CurvePoint, Part, SourceWords, Standing
from preferendum.results.statistics import Z95, Mean
from preferendum.scoring.importance import SharedWords, cleared_values, share_words, source_words
from preferendum.scoring.importance import score as score_words
from preferendum.scoring.published import Matched, match
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.scores import Scores
from preferendum.statistics import finite

Vector = NDArray[np.float64]


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
            f"topic {self.topic_id}: the judgments determine no finite utilities, because nothing else was preferred "
            f"to {self.shown}; ask for more judgments, or use a small prior such as 0.1"
        )


#: What of a topic's scores rests on its texts alone.
Texts = SharedWords | Matched


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """The score of one system's summary of the topic, and its uncertainty.

    `score` is None where a summary shares no word with its sources: it has no importance. `se` and the 95% interval are
    None where they are unknown. `coverage`: next to importance; `by_length`: the importance that longer sentences
    alone would give it; `parts`: its sentences, as published.
    """

    system: str
    score: float | None
    se: float | None
    low: float | None
    high: float | None
    coverage: float | None
    by_length: float | None
    parts: tuple[Part, ...]
    human: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TopicResult:
    """A topic's utilities and scores with what they rest on.

    `judgments`: how many; with none all utilities are equal, and the scores mean nothing. `settings`: those that
    it was fitted with, the prior among them. Arrays run over the topic's sentences: `strengths` sum to 1, `utilities`
    are their logarithms, centred on 0; `se`, `low`, `high` are the utilities' standard errors and 95% intervals (None
    without judgments); `values` is what a sentence gives to a summary: its strength as published, otherwise its chance
    of being preferred, cleared of its length; `wins` the weight of the judgments it won, `judged` the number of those
    it took part in. `kernel`: the parameters of the kernel prior (variance, share of the similarity) where there is
    one. `comparison`: of the standing, as at one look. `words`: the words that the scores are sums of; None as
    published. `estimate`: None without judgments.
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
    standing: Standing
    comparison: Comparison
    words: SourceWords | None
    estimate: preference_matrix.Estimate | None

    @property
    def errors(self) -> Covariance | None:
        """How sure differences of two utilities are; None without judgments."""
        return None if self.estimate is None else self.estimate.covariance


def evaluate(
    evidence: Evidence,
    settings: Settings | None = None,
    *,
    similarity: Similarity | None = None,
    texts: Texts | None = None,
    start: Vector | None = None,
    beside: TopicResult | None = None,
) -> TopicResult:
    """Utilities and scores of one topic.

    Nothing that is given by name changes the result; it only saves time.

    Parameters
    ----------
    evidence
        The topic's sentences, judgments and summaries.
    settings
        How judgments become scores; the usual ones for None.
    similarity
        Of the topic's sentences, if it is at hand.
    texts
        What `prepare` makes of the topic's texts, if that is at hand.
    start : (n,)
        Utilities to start from, such as those of the last fit.
    beside
        The result of the same evidence under settings with the same weights of annotators and the same similarity.

    Raises
    ------
    UndeterminedTopic
        The judgments determine no finite utilities, and there is no prior.
    newton.NotConverged
        The equations could not be solved.
    """
    settings = settings or Settings()
    evidence = weighed(evidence, settings)
    compared = similarity or build_similarity(evidence.sentences, settings.similarity)
    texts = texts or prepare(evidence, compared, settings)
    n = len(evidence.sentences)
    judged = np.bincount(np.concatenate([evidence.judgments.a, evidence.judgments.b]), minlength=n).astype(np.int64)
    recommended = None if beside is None else beside.estimate
    estimated = estimate(evidence, evidence.judgments, compared, settings, start, recommended)
    if estimated is not None and estimated.prior is not None:
        settings = replace(settings, prior=estimated.prior)
    utilities = np.zeros(n) if estimated is None else estimated.utilities
    strengths = np.full(n, 1 / max(n, 1)) if estimated is None else estimated.strengths
    se = None if estimated is None else estimated.covariance.errors()
    chances = None if isinstance(texts, Matched) else _chances(texts, estimated)
    values, words = _details(texts, chances, strengths)
    standing = score(texts, estimated, settings, chances).standing_by(evidence.annotators)
    comparison = Comparison([standing])
    return TopicResult(
        topic_id=evidence.topic_id,
        settings=settings,
        judgments=len(evidence.judgments),
        sentence_ids=evidence.sentence_ids,
        sentences=evidence.sentences,
        strengths=strengths,
        utilities=utilities,
        se=se,
        low=None if se is None else utilities - Z95 * se,
        high=None if se is None else utilities + Z95 * se,
        values=values,
        wins=np.zeros(n) if estimated is None else estimated.wins,
        judged=judged,
        residual=0.0 if estimated is None else estimated.fit.residual,
        iterations=0 if estimated is None else estimated.fit.iterations,
        kernel=None if estimated is None else estimated.kernel,
        summaries=_summaries(evidence, texts, comparison, strengths, settings),
        standing=standing,
        comparison=comparison,
        words=words,
        estimate=estimated,
    )


def prepare(evidence: Evidence, compared: Similarity, settings: Settings) -> Texts:
    """What the scores that `settings` name need of a topic's texts, whatever its judgments."""
    if settings.score == "published":
        return match(evidence, compared, settings.redundancy)
    return share_words(evidence)


def score(
    texts: Texts, estimated: preference_matrix.Estimate | None, settings: Settings, chances: Chances | None = None
) -> Scores:
    """The scores that `settings` name; without judgments all sentences count equally. `chances` only save time."""
    if isinstance(texts, Matched):
        return texts.score(estimated)
    assert settings.score != "published", "texts are prepared for the score that is asked for"
    judgments = 0 if estimated is None else estimated.judgments
    return score_words(texts, chances or _chances(texts, estimated), judgments).of(settings.score)


def values(texts: Texts, estimated: preference_matrix.Estimate | None, settings: Settings) -> Vector:
    """(s,): the scores alone, without how sure they are."""
    return texts.values(estimated) if isinstance(texts, Matched) else score(texts, estimated, settings).score


def bounds_of(kind: ScoreChoice) -> tuple[float, float]:
    """The bounds of scores of the kind, and of the intervals that are shown."""
    return (-np.inf if kind in ("importance", "combined") else 0.0), np.inf


def curve(
    evidence: Evidence,
    settings: Settings | None = None,
    *,
    similarity: Similarity | None = None,
    texts: Texts | None = None,
    points: int = 10,
) -> tuple[CurvePoint, ...]:
    """The systems' scores after each tenth of the judgments, in their order.

    Numbers of judgments without a finite maximum of the utilities are left out.

    Parameters
    ----------
    evidence
        The topic's sentences, judgments and summaries.
    settings
        How judgments become scores; the usual ones for None.
    similarity
        Of the topic's sentences, if it is at hand.
    texts
        What `prepare` makes of the topic's texts, if that is at hand.
    points
        Into how many parts the judgments are cut: 10 for tenths.
    """
    settings = settings or Settings()
    evidence = weighed(evidence, settings)
    compared = similarity or build_similarity(evidence.sentences, settings.similarity)
    texts = texts or prepare(evidence, compared, settings)
    m = len(evidence.judgments)
    sizes = sorted({-(-m * k // points) for k in range(1, points + 1)} - {0})
    path = []
    for size in sizes:
        try:
            estimated = estimate(evidence, evidence.judgments.some(slice(size)), compared, settings)
        except UndeterminedTopic:
            continue
        if estimated is not None:
            standing = score(texts, estimated, settings).standing
            path.append(CurvePoint(size, dict(zip(standing.systems, standing.scores, strict=True))))
    return tuple(path)


def estimate(
    evidence: Evidence,
    judgments: Judgments,
    compared: Similarity,
    settings: Settings,
    start: Vector | None = None,
    beside: preference_matrix.Estimate | None = None,
) -> preference_matrix.Estimate | None:
    """The topic's utilities from (some of) its judgments, as they are weighed.

    Parameters
    ----------
    evidence
        The topic's sentences.
    judgments
        The judgments to estimate from.
    compared
        The similarity of the sentences.
    settings
        How judgments become utilities.
    start : (n,)
        Utilities to start from. They only save time.
    beside
        An estimate from the same judgments and similarity. It only saves time.

    Returns
    -------
    Estimate or None
        None without judgments: then there is nothing to estimate from, with a prior or without.

    Raises
    ------
    UndeterminedTopic
        There is no finite maximum. As published, such a topic is fitted with `UNDETERMINED_PRIOR` instead.
    """
    if len(judgments) == 0:
        return None
    arguments = judgments, len(evidence.sentences), compared
    try:
        return preference_matrix.estimate(*arguments, settings, start, beside)
    except zermelo.Undetermined as reason:
        if settings.score == "published":
            return preference_matrix.estimate(*arguments, replace(settings, prior=UNDETERMINED_PRIOR), start, beside)
        names = tuple(evidence.sentence_ids[i] for i in reason.unbeaten)
        raise UndeterminedTopic(evidence.topic_id, names, reason.unbeaten, reason.groups) from reason


def _chances(texts: SharedWords, estimated: preference_matrix.Estimate | None) -> Chances:
    if estimated is None:
        return Chances.without_judgments(texts.counts.shape[0])
    return estimated.chances_by(texts.telling.likelihood_for)


def _details(texts: Texts, chances: Chances | None, strengths: Vector) -> tuple[Vector, SourceWords | None]:
    """What a sentence gives to a summary, and the words that it gives it through."""
    if isinstance(texts, Matched) or chances is None:
        return strengths, None
    values = cleared_values(texts, chances)
    return values, source_words(texts, values)


def _summaries(
    evidence: Evidence, texts: Texts, comparison: Comparison, strengths: Vector, settings: Settings
) -> tuple[SummaryResult, ...]:
    """The results of summaries with the intervals that the topic's board has, so that these, too, hold for other
    annotators.
    """
    count = len(evidence.summaries)
    parts = texts.terms(strengths) if isinstance(texts, Matched) else ((),) * count
    coverage = by_length = [None] * count
    if not isinstance(texts, Matched):
        coverage, by_length = texts.coverage.tolist(), texts.by_length.tolist()
    ranked = {mean.system: mean for mean in comparison.means(*bounds_of(settings.score))}
    unranked = Mean("", np.nan, None, None, None, 0)
    return tuple(
        SummaryResult(
            system=summary.system,
            score=finite(own.score),
            se=own.se,
            low=own.low,
            high=own.high,
            coverage=covered,
            by_length=of_length,
            parts=of_summary,
            human=summary.human,
        )
        for covered, of_length, of_summary, summary in zip(coverage, by_length, parts, evidence.summaries, strict=True)
        for own in [ranked.get(summary.system, unranked)]
    )
