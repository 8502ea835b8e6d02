"""The worker's results. Written by evaluation.records. All of them can be thrown away and computed again.

Columns of JSON hold records of `preferendum.results`; a property reads each of them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Self

from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from annotate.models.corpus import Item, ItemSet, Summary, System
from annotate.models.judging import Annotator
from annotate.models.study import Study
from preferendum.results import (
    AnnotatorFigures,
    CurvePoint,
    Difference,
    Differences,
    Ground,
    Part,
    ScoreCovariance,
    SourceWords,
    SystemResult,
    from_json,
)


class ScoredBy(models.TextChoices):
    """From answers about sentences each refit scores a topic twice: by its study's settings, and by equations 2-5 of
    the paper. Answers about summaries give win rates over all topics."""

    RECOMMENDED = "recommended", _("recommended")
    PUBLISHED = "published", _("as published")
    WIN_RATE = "win-rate", _("win rate")


class FitQuerySet(models.QuerySet["Fit"]):
    def newest(self, *scored_by: str) -> Self:
        """The fit of each item set whose utilities and scores are kept, by these ways of scoring or as recommended."""
        ways = scored_by or (ScoredBy.RECOMMENDED,)
        return self.filter(data_version=models.F("item_set__progress__fitted_version"), scored_by__in=ways)


class Compared(models.Model):
    """`differences`: between every two systems, once, by column; `ground`: the data for them."""

    differences = models.JSONField(default=dict)
    ground = models.JSONField(default=dict)

    class Meta:
        abstract = True

    @property
    def columns(self) -> Differences:
        return from_json(Differences, self.differences)

    @cached_property
    def system_differences(self) -> tuple[Difference, ...]:
        return self.columns.rows

    @property
    def own_ground(self) -> Ground:
        return from_json(Ground, self.ground)


class Fit(Compared):
    """One estimate for one item set with everything that it rests on. Utilities and scores are kept for the newest one.

    `curve`: the scores with fewer judgments, fewest first; the last point is this fit. `curve_owed`: the curve has
    gaps, which are filled once no topic waits for scores. `covariance`: of the scores; `words`: the source words that
    the scores sum over, none as published. All of them, the differences and their ground are kept for the newest fit.
    """

    scored_by = models.CharField(max_length=12, choices=ScoredBy.choices, default=ScoredBy.RECOMMENDED)
    item_set = models.ForeignKey(ItemSet, on_delete=models.CASCADE, related_name="fits")
    data_version = models.PositiveBigIntegerField()
    judgments = models.PositiveIntegerField()
    last_judgment_id = models.PositiveBigIntegerField(default=0)
    sentences = models.PositiveIntegerField()
    settings = models.JSONField()
    program_version = models.CharField(max_length=40)
    residual = models.FloatField()
    iterations = models.PositiveIntegerField()
    seconds = models.FloatField()
    curve = models.JSONField(default=list)
    curve_owed = models.BooleanField(default=False)
    covariance = models.JSONField(default=dict)
    words = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    objects = FitQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item_set", "data_version", "scored_by"], name="fit_once_a_version")
        ]
        indexes = [models.Index(fields=["item_set"], name="fit_curve_owed", condition=models.Q(curve_owed=True))]

    def __str__(self) -> str:
        return f"{self.item_set} at {self.data_version}"

    @property
    def curve_points(self) -> tuple[CurvePoint, ...]:
        return tuple(from_json(CurvePoint, point) for point in self.curve)

    @property
    def score_covariance(self) -> ScoreCovariance:
        return from_json(ScoreCovariance, self.covariance)

    @property
    def source_words(self) -> SourceWords | None:
        return from_json(SourceWords, self.words) if self.words else None


class Utility(models.Model):
    """One sentence's strength v, utility log v (centred on 0) with its interval, and the judgments they rest on.

    `value`: what the sentence adds to a summary: its strength as published, otherwise its chance of being preferred to
    another sentence of the topic, adjusted for its length.
    """

    scored_by = models.CharField(max_length=12, choices=ScoredBy.choices, default=ScoredBy.RECOMMENDED)
    fit = models.ForeignKey(Fit, on_delete=models.CASCADE, related_name="utilities")
    sentence = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="utilities")
    strength = models.FloatField()
    utility = models.FloatField()
    value = models.FloatField()
    se = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    wins = models.FloatField()
    judgments = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "utilities"
        constraints = [models.UniqueConstraint(fields=["sentence", "scored_by"], name="utility_once_a_sentence")]

    def __str__(self) -> str:
        return f"{self.utility:.3f}"


class Score(models.Model):
    """A fit's scores of one summary, with what is needed to compute them by hand.

    `score` is None for a summary without a word of its sources, which has no importance and no combined score.
    `coverage`: in addition to these two; `by_length`: the importance that longer sentences alone would give. `parts`:
    of a score as published; `nearest` of a part is the primary key of the source sentence.
    """

    scored_by = models.CharField(max_length=12, choices=ScoredBy.choices, default=ScoredBy.RECOMMENDED)
    fit = models.ForeignKey(Fit, on_delete=models.CASCADE, related_name="scores")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="scores")
    score = models.FloatField(null=True)
    coverage = models.FloatField(null=True)
    by_length = models.FloatField(null=True)
    se = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    parts = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "scored_by"], name="score_once_a_summary")]

    def __str__(self) -> str:
        return "–" if self.score is None else f"{self.score:.4f}"

    @property
    def terms(self) -> tuple[Part, ...]:
        return tuple(from_json(Part, part) for part in self.parts)


class Ranking(Compared):
    """A study's systems ranked over its topics; `version` is the sum of the topics' fitted versions.

    `settings`: those of all its topics' fits. `problem` says in plain words why the last attempt failed.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="rankings")
    scored_by = models.CharField(max_length=12, choices=ScoredBy.choices, default=ScoredBy.RECOMMENDED)
    version = models.PositiveBigIntegerField(default=0)
    topics = models.PositiveIntegerField(default=0)
    judgments = models.PositiveIntegerField(default=0)
    settings = models.JSONField(default=dict)
    problem = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "scored_by"], name="ranking_once_a_study")]

    def __str__(self) -> str:
        return f"{self.study} at {self.version}"

    @classmethod
    def is_by_summaries(cls, study: Study) -> bool:
        """Whether the study shows win rates first: answers about whole summaries, if there are any, say most."""
        own = cls.objects.filter(study=study, scored_by=ScoredBy.WIN_RATE, judgments__gt=0)
        return study.compares == "summaries" or (study.compares == "both" and own.exists())


class SystemScore(models.Model):
    """A system's mean score over topics with its interval and its possible ranks, where these are known."""

    ranking = models.ForeignKey(Ranking, on_delete=models.CASCADE, related_name="systems")
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="standings")
    score = models.FloatField()
    coverage = models.FloatField(null=True)
    se = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    rank = models.PositiveIntegerField()
    rank_low = models.PositiveIntegerField(null=True)
    rank_high = models.PositiveIntegerField(null=True)
    topics = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ranking", "system"], name="system_once_a_ranking")]

    def __str__(self) -> str:
        return f"{self.rank}. {self.system}"

    @property
    def result(self) -> SystemResult:
        columns = {field.name: getattr(self, field.name) for field in fields(SystemResult)}
        return SystemResult(**columns | {"system": self.system.name})

    @property
    def lacking(self) -> int:
        """In how many topics others have scores (or, by win rate, answers) and it has none."""
        return self.ranking.topics - self.topics


class AnnotatorReport(models.Model):
    """Every figure about one annotator (docs/annotator-figures.md), as of `version`.

    `flags`: names of what an admin should look at; `weight`: the annotator's estimated reliability, if the study weighs
    annotators; `answered`: an `annotate.reports.annotators.Answered`, true while nothing in the study has changed.
    """

    annotator = models.OneToOneField(Annotator, on_delete=models.CASCADE, related_name="report")
    version = models.PositiveBigIntegerField()
    figures = models.JSONField(default=dict)
    flags = models.JSONField(default=list)
    weight = models.FloatField(null=True)
    answered = models.JSONField(null=True)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.annotator} at {self.version}"

    @property
    def record(self) -> AnnotatorFigures:
        return from_json(AnnotatorFigures, {"figures": self.figures, "flags": self.flags})
