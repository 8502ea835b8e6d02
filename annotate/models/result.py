"""What the worker worked out. Written by evaluation.records. All of it can be thrown away and computed again."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Summary, System, Topic
from annotate.models.judging import Annotator
from annotate.models.preparation import Sentence
from annotate.models.study import Study


class Fit(models.Model):
    """One estimate for one topic with everything that it rests on. Utilities and scores are kept for the newest one.

    `curve`: what the scores were with the first so many judgments, a list of {"judgments": number, "scores": {system
    name: score}}, fewest judgments first; the last entry is this fit. `curve_owed`: it has gaps, which are filled once
    nobody waits for scores. `covariance`: of the scores, how sure they are together, {"systems": [names], "matrix":
    [[number]]}. Both are kept for the newest fit only.
    """

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="fits")
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
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "data_version"], name="fit_once_a_version")]
        indexes = [models.Index(fields=["topic"], name="fit_curve_owed", condition=models.Q(curve_owed=True))]

    def __str__(self) -> str:
        return f"{self.topic} at {self.data_version}"


class Utility(models.Model):
    """What one sentence is worth: strength v, utility log v (centred on 0) with its interval, and what it rests on."""

    fit = models.ForeignKey(Fit, on_delete=models.CASCADE, related_name="utilities")
    sentence = models.OneToOneField(Sentence, on_delete=models.CASCADE, related_name="utility")
    strength = models.FloatField()
    utility = models.FloatField()
    se = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    wins = models.FloatField()
    judgments = models.PositiveIntegerField()

    class Meta:
        verbose_name_plural = "utilities"

    def __str__(self) -> str:
        return f"{self.utility:.3f}"


class Score(models.Model):
    """What a fit gives one summary, and the parts it was put together from, so that it can be followed by hand.

    `parts`: a list of {"text", "nearest", "similarity", "value", "factor", "weight"}; `nearest` is the
    primary key of the source sentence, or null.
    """

    fit = models.ForeignKey(Fit, on_delete=models.CASCADE, related_name="scores")
    summary = models.OneToOneField(Summary, on_delete=models.CASCADE, related_name="score")
    score = models.FloatField()
    se = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    parts = models.JSONField(default=list)

    def __str__(self) -> str:
        return f"{self.score:.4f}"


class Ranking(models.Model):
    """A study's systems put in order over its topics; `version` is the sum of the topics' fitted versions.

    `differences`: every two systems once, a list of {"better", "worse": system names, "difference", "low", "high":
    of the mean score over the topics that both summarized, "p": two-sided, adjusted for how many pairs were looked at,
    "significant": bool}; the last four may be null where there are too few topics to say.
    `problem` says in plain words why the last try failed.
    """

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="ranking")
    version = models.PositiveBigIntegerField(default=0)
    topics = models.PositiveIntegerField(default=0)
    judgments = models.PositiveIntegerField(default=0)
    differences = models.JSONField(default=list)
    problem = models.TextField(blank=True)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.study} at {self.version}"


class SystemScore(models.Model):
    """A system's mean score over topics with its interval and the ranks that it may have."""

    ranking = models.ForeignKey(Ranking, on_delete=models.CASCADE, related_name="systems")
    system = models.OneToOneField(System, on_delete=models.CASCADE, related_name="standing")
    score = models.FloatField()
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    rank = models.PositiveIntegerField()
    rank_low = models.PositiveIntegerField()
    rank_high = models.PositiveIntegerField()
    topics = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.rank}. {self.system}"


class AnnotatorReport(models.Model):
    """Every figure about one annotator with its n and interval (docs/annotator-figures.md), as of `version`.

    `figures`: name -> {"value", "n", "low", "high", ...}; `flags`: names of what an admin should look at; `weight`: how
    reliable the annotator was estimated to be, where the study weighs people.
    """

    annotator = models.OneToOneField(Annotator, on_delete=models.CASCADE, related_name="report")
    version = models.PositiveBigIntegerField()
    figures = models.JSONField(default=dict)
    flags = models.JSONField(default=list)
    weight = models.FloatField(null=True)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.annotator} at {self.version}"


class AgreementReport(models.Model):
    """How far a study's annotators agree: figures for the study, for each topic and over time, as of `version`."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="agreement")
    version = models.PositiveBigIntegerField(default=0)
    figures = models.JSONField(default=dict)
    problem = models.TextField(blank=True)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.study} at {self.version}"


class WorkerPulse(models.Model):
    """A sign of life of one worker process, so that a page can say when none is there."""

    name = models.CharField(max_length=200, unique=True)
    at = models.DateTimeField()
    program_version = models.CharField(max_length=40)

    def __str__(self) -> str:
        return self.name


class Claim(models.Model):
    """What a worker is at right now ("topic:12"), so that no other does the same; void once `until` has passed.

    It saves work and nothing else depends on it: what is published is guarded by versions.
    """

    name = models.CharField(max_length=60, unique=True)
    token = models.UUIDField()
    since = models.DateTimeField()
    until = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
