"""What metrics say of summaries. Written by evaluation.worker.records. All of it can be computed again."""

from __future__ import annotations

from django.db import models

from annotate.models.corpus import Summary, Topic


class ComputedScore(models.Model):
    """What a metric that runs here says of one summary; higher is better. None where it has nothing to say of it."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="computed_scores")
    metric = models.CharField(max_length=200)
    score = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "metric"], name="computed_score_once_a_summary")]

    def __str__(self) -> str:
        return f"{self.metric} {self.score}"


class TopicMetrics(models.Model):
    """Which metrics the summaries of a topic were scored with.

    `version`: the topic's texts and evaluation that the scores rest on (`Topic.objects.unscored`); `digest`: of what
    metrics read of them; `signatures`: by the metric's name, what someone else needs to know to get the same numbers;
    `absent`: by name, what the topic lacks for it (`evaluation.metrics.registry.Need`).
    """

    topic = models.OneToOneField(Topic, on_delete=models.CASCADE, related_name="metrics")
    version = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=64, default="")
    signatures = models.JSONField(default=dict)
    absent = models.JSONField(default=dict)
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.topic} at {self.version}"
