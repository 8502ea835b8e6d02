"""What metrics that were worked out elsewhere say of summaries. Written by annotate.imports."""

from __future__ import annotations

from typing import Self

from django.db import models

from annotate.models.corpus import Summary

#: Before the names of metrics that were worked out elsewhere.
GIVEN = "given:"


class MetricScoreQuerySet(models.QuerySet["MetricScore"]):
    def given(self) -> Self:
        """Those that were worked out elsewhere."""
        return self.filter(metric__startswith=GIVEN)


class MetricScore(models.Model):
    """What a metric says of one summary; None: nothing. `version`: of the texts that it was worked out from here."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="metric_scores")
    metric = models.CharField(max_length=200)
    score = models.FloatField(null=True)
    version = models.PositiveBigIntegerField(default=0)

    objects = MetricScoreQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "metric"], name="metric_score_once_a_summary")]

    def __str__(self) -> str:
        return f"{self.metric} {self.score}"
