"""Metrics' scores of summaries."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.api.serializers.strict import Shown
from annotate.models import MetricScore


class MetricScoreSerializer(Shown[MetricScore]):
    """A metric's score of a summary; names of metrics computed elsewhere begin with `given:`."""

    topic = serializers.CharField(source="summary.topic.name", read_only=True)
    system = serializers.CharField(source="summary.system.name", read_only=True)

    class Meta:
        model = MetricScore
        fields = ["summary", "topic", "system", "metric", "score"]


class MetricCountSerializer(serializers.Serializer[Any]):
    """How many scores a metric has now."""

    metric = serializers.CharField()
    scores = serializers.IntegerField()
