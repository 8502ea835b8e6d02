"""Metrics' scores of summaries. Written by evaluation.records. All of them can be computed again."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Summary, Topic


class ComputedScore(models.Model):
    """The score of one summary by a metric that runs here; higher is better. None if the metric gives it none."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="computed_scores")
    metric = models.CharField(max_length=200)
    score = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "metric"], name="computed_score_once_a_summary")]

    def __str__(self) -> str:
        return f"{self.metric} {self.score}"


class TopicMetrics(models.Model):
    """The metrics that scored the summaries of a topic.

    `version`: of the topic's texts and evaluation that the scores rest on (`Topic.objects.unscored`); `digest`: of what
    metrics read of them; `signatures`: by metric name, what others need to know to reproduce the numbers; `absent`: by
    name, what the topic lacks for the metric (`preferendum.metrics.registry.Need`).
    """

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="metrics")
    version = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=64, default="")
    signatures = models.JSONField(default=dict)
    absent = models.JSONField(default=dict)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.topic} at {self.version}"
