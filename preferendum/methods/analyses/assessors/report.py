"""What inconsistent assessors change: of the ranking of systems, and of metrics' correlations with people.

K. Owczarzak, P. Rankel, H. Dang & J. Conroy, "Assessing the effect of inconsistent assessors on summarization
evaluation", ACL 2012, sections 3 and 4, tables 2 to 5: the worst one or two assessors' scores left out, which are
whole topics where one assessor scores a topic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from preferendum.evidence import Evidence, SummaryText
from preferendum.formats.readers.ratings import means
from preferendum.methods.analyses.assessors.auto_pyramid import auto_pyramid, manual_less_automatic
from preferendum.methods.analyses.assessors.consistency import Ratings, agreement, consistency, equal_texts, worst
from preferendum.methods.meta.agreement import COEFFICIENTS, whole_data
from preferendum.methods.meta.correlation import without_dust
from preferendum.methods.meta.resampling import Matrix, Vector
from preferendum.results import (
    AssessedDimension,
    AssessorFigure,
    AssessorRanking,
    AssessorsReport,
    Figure,
    MetricBeside,
    WithoutWorst,
)
from preferendum.results.assessors import Basis
from preferendum.results.metrics import Peers
from preferendum.statistics import finite, fisher_interval, mean
from preferendum.work.ratings import Assessed, Rating
from preferendum.work.scores import Scores

#: The name of the Pyramids next to the dimensions of the human scores.
PYRAMID = "pyramid"
#: The numbers of worst assessors that are left out, for tables 2 to 4.
LEFT_OUT = (0, 1, 2)
DRAWS = 1000


def assessed(topics: Iterable[Evidence]) -> Assessed:
    """The ratings, texts and Pyramids of topics with all they have."""
    topics = tuple(topics)
    ratings = (
        Rating(dimension, assessor, summary.system, topic.topic_id, score)
        for topic in topics
        for summary in topic.summaries
        for assessor, scores in summary.ratings.items()
        for dimension, score in scores.items()
    )
    return Assessed(
        tuple(ratings),
        {(own.system, topic.topic_id): " ".join(own.sentences) for topic in topics for own in topic.summaries},
        {topic.topic_id: topic.pyramid for topic in topics if topic.pyramid is not None},
    )


def without_assessors(topics: Iterable[Evidence], names: Collection[str]) -> list[Evidence]:
    """The topics without the scores of these assessors: for training without the worst (table 5).

    Human scores are means of the others' ratings; a summary without any has none. Scores without an assessor stay.
    """
    return [
        replace(topic, summaries=tuple(_without_ratings(summary, names) for summary in topic.summaries))
        for topic in topics
    ]


def _without_ratings(summary: SummaryText, names: Collection[str]) -> SummaryText:
    rated = {dimension for name in names for dimension in summary.ratings.get(name, ())}
    kept = {name: scores for name, scores in summary.ratings.items() if name not in names}
    human = {dimension: score for dimension, score in summary.human.items() if dimension not in rated}
    others = {dimension: score for dimension, score in means(kept).items() if dimension in rated}
    return replace(summary, human=human | others, ratings=kept)


def assessors_report(
    scores: Scores, assessed: Assessed, peers: Peers, *, draws: int = DRAWS, seed: int = 0, with_models: bool = False
) -> AssessorsReport:
    """Assessors of the systems and topics of `scores`, in every dimension and of the Pyramids.

    `draws`: of pairs, for intervals; `with_models`: whether automatic Pyramid scores take in models' contributors.
    """
    study = _Study(scores, assessed, draws, seed)
    dimensions = [study.dimension(name, human) for name, human in scores.human.items()]
    return AssessorsReport(peers, with_models, (*dimensions, *study.pyramids(with_models)))


@dataclass(frozen=True, slots=True)
class _Study:
    scores: Scores
    assessed: Assessed
    draws: int
    seed: int

    def dimension(self, name: str, human: Matrix) -> AssessedDimension:
        given = (rating for rating in self.assessed.ratings if rating.dimension == name)
        return self._assessed(name, human, self._ratings(given))

    def pyramids(self, with_models: bool) -> Iterator[AssessedDimension]:
        """One, if any summary was annotated: each topic's modified Pyramid scores, by its annotator."""
        of_topics = {topic: own for topic, own in self.assessed.pyramids.items() if topic in self.scores.topics}
        scored = [(topic, own.assessor, auto_pyramid(own, with_models=with_models)) for topic, own in of_topics.items()]
        given = [
            Rating(PYRAMID, assessor, system, topic, score.manual)
            for topic, assessor, scores in scored
            for system, score in scores.items()
        ]
        everything = self._ratings(given)
        if len(everything):
            ratings = self._ratings(rating for rating in given if rating.assessor)
            figures = manual_less_automatic((assessor, scores) for _topic, assessor, scores in scored)
            yield self._assessed(PYRAMID, everything.means(self._shape), ratings, figures, by_pyramid=True)

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.scores.systems), len(self.scores.topics)

    def _ratings(self, given: Iterable[Rating]) -> Ratings:
        return Ratings.of(given, self.scores.systems, self.scores.topics)

    def _assessed(
        self,
        name: str,
        human: Matrix,
        ratings: Ratings,
        auto: tuple[AssessorFigure, ...] = (),
        *,
        by_pyramid: bool = False,
    ) -> AssessedDimension:
        texts = equal_texts(self.assessed.texts, self.scores.systems, self.scores.topics)
        figures: dict[Basis, tuple[AssessorFigure, ...]] = {
            "consistency": consistency(ratings, texts, self.draws, self.seed),
            "agreement": agreement(ratings, self._shape, self.draws, self.seed),
            "auto_pyramid": auto,
        }
        rated = np.isfinite(ratings.means(self._shape))
        return AssessedDimension(
            name,
            by_pyramid,
            len(ratings.names),
            len(ratings),
            int((np.isfinite(human) & ~rated).sum()),
            tuple(
                AssessorRanking(basis, own, tuple(without_worst(own, human, ratings, self.scores.metrics)))
                for basis, own in figures.items()
                if own
            ),
        )


def without_worst(
    figures: tuple[AssessorFigure, ...], human: Matrix, ratings: Ratings, metrics: Mapping[str, Matrix]
) -> Iterator[WithoutWorst]:
    """The scores of all, without the worst assessor, without the two worst; as long as one of those ranked is left.

    `human`, `metrics` (systems, topics): scores of unknown assessors stay.
    """
    before = _scores(human, ratings, ratings)
    for k in LEFT_OUT:
        left_out = worst(figures, k)
        if left_out is not None:
            kept = ratings.without(left_out)
            yield _without(left_out, before, _scores(human, ratings, kept), kept, metrics)


def _scores(human: Matrix, ratings: Ratings, kept: Ratings) -> Matrix:
    """The means of the kept ratings, and the human scores of summaries without ratings."""
    is_rated = np.isfinite(ratings.means(human.shape))
    return np.where(is_rated, kept.means(human.shape), human)


def _without(
    left_out: tuple[str, ...], before: Matrix, after: Matrix, kept: Ratings, metrics: Mapping[str, Matrix]
) -> WithoutWorst:
    means = _means(before), _means(after)
    both = np.isfinite(means[0]) & np.isfinite(means[1])
    values = {kind: _correlation(kind, *(own[both] for own in means)) for kind in ("pearson", "spearman")}
    return WithoutWorst(
        left_out,
        topics=int(np.isfinite(after).any(axis=0).sum()),
        ratings=len(kept),
        pearson=finite(values["pearson"]),
        spearman=finite(values["spearman"]),
        metrics=tuple(
            MetricBeside(name, _of_systems(after, metric), _of_assessors(kept, metric))
            for name, metric in metrics.items()
        ),
    )


def _means(scores: Matrix) -> Vector:
    """(systems,): over topics; nan without any."""
    present = np.isfinite(scores)
    totals, counts = np.where(present, scores, 0.0).sum(axis=1), present.sum(axis=1)
    return without_dust(np.divide(totals, counts, out=np.full(len(scores), np.nan), where=counts > 0))


def _of_systems(human: Matrix, metric: Matrix) -> Figure:
    """Pearson's r of the means of systems, over the summaries that people and the metric scored (table 3)."""
    x, y = whole_data(human, metric, "system")[0]
    r = _correlation("pearson", x, y)
    return Figure(finite(r), len(x), *fisher_interval(r, len(x)))


def _of_assessors(ratings: Ratings, metric: Matrix) -> Figure:
    """Pearson's r of the summaries that an assessor scored, all topics together; the mean over assessors (table 4).

    Its interval is the normal one of so many assessors, within -1 and 1.
    """
    scores = metric[ratings.system, ratings.topic]
    present = np.isfinite(scores)
    of_each = [
        _correlation("pearson", ratings.score[own], scores[own])
        for own in (present & (ratings.assessor == k) for k in range(len(ratings.names)))
    ]
    figure = mean(np.array([r for r in of_each if np.isfinite(r)]))
    if figure.low is None or figure.high is None:
        return figure
    return replace(figure, low=max(figure.low, -1.0), high=min(figure.high, 1.0))


def _correlation(kind: str, x: Vector, y: Vector) -> float:
    """None (nan) of two points or fewer, for which it is 1 or -1 whatever they are."""
    whole = np.ones((1, len(x)))
    return float(COEFFICIENTS[kind](without_dust(x)[None], without_dust(y)[None], whole)[0]) if len(x) > 2 else np.nan
