"""What metrics say of summaries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.models import MetricScore
from formats.analyses.metric_scores import SummaryScores


class MetricScoreSerializer(serializers.ModelSerializer[MetricScore]):
    """What a metric says of a summary; `given:` comes before the names of metrics that were worked out elsewhere."""

    topic = serializers.CharField(source="summary.topic.name", read_only=True)
    system = serializers.CharField(source="summary.system.name", read_only=True)

    class Meta:
        model = MetricScore
        fields = ["summary", "topic", "system", "metric", "score"]
        read_only_fields = fields


class MetricCountSerializer(serializers.Serializer[Any]):
    """How many scores a metric has now."""

    metric = serializers.CharField()
    scores = serializers.IntegerField()


class SummaryScoresSerializer(serializers.Serializer[SummaryScores]):
    """What is said of one summary: by metric (null: it has nothing to say), by people in each dimension, and by single
    assessors in each (`ratings`, by assessor).
    """

    summary = serializers.IntegerField()
    topic = serializers.CharField()
    system = serializers.CharField()
    person = serializers.BooleanField()
    metrics = serializers.DictField(child=serializers.FloatField(allow_null=True))
    human = serializers.DictField(child=serializers.FloatField())
    ratings = serializers.DictField(child=serializers.DictField(child=serializers.FloatField()))
