"""Scores by metrics that were computed elsewhere. Written by annotate.imports."""

from __future__ import annotations

from typing import Self

from django.db import models

from annotate.models.corpus import Summary

#: The prefix of metrics that were computed elsewhere.
GIVEN = "given:"


class MetricScoreQuerySet(models.QuerySet["MetricScore"]):
    def given(self) -> Self:
        """Scores that were computed elsewhere."""
        return self.filter(metric__startswith=GIVEN)


class MetricScore(models.Model):
    """A metric's score of one summary; None: it gives none. `version`: of the texts, if it was computed here."""

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="metric_scores")
    metric = models.CharField(max_length=200)
    score = models.FloatField(null=True)
    version = models.PositiveBigIntegerField(default=0)

    objects = MetricScoreQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["summary", "metric"], name="metric_score_once_a_summary")]

    def __str__(self) -> str:
        return f"{self.metric} {self.score}"
