"""Metrics that are trained for a study."""

from __future__ import annotations

from typing import Any, get_args

from rest_framework import serializers

from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Strict
from annotate.models import TrainedMetric
from annotate.training import METHODS
from formats.results import TrainingReport
from formats.results.metrics import Peers


class TrainedMetricSerializer(serializers.ModelSerializer[TrainedMetric]):
    """A trained metric. `state`: waiting (`done` of `steps` are taken; ask again), ready, failed (`problem` gives the
    reason). `model` is the file that the command line takes as `trained:FILE`, `report` says how well it does. `used`:
    the study's summaries are scored with it, as `metric`. `source`: the title of the study that it learnt from;
    `first`: of that on which features were fitted first, if there is one; both say which assessors were left out.
    """

    source = serializers.CharField(source="source_title", read_only=True)  # type: ignore[assignment]  # a field
    first = serializers.CharField(source="first_title", read_only=True)
    metric = serializers.CharField(read_only=True)
    model = serializers.DictField(read_only=True)
    report = serializer_of(TrainingReport)(source="report_record", allow_null=True, read_only=True)

    class Meta:
        model = TrainedMetric
        fields = [
            *("key", "name", "metric", "state", "problem", "done", "steps", "method", "target", "peers", "source"),
            "first",
            *("used", "created_at", "model", "report"),
        ]
        read_only_fields = fields


class TrainSerializer(Strict[Any]):
    """What a metric shall learn: the human scores of `source`, a study that you may see (this one if not given), in the
    dimension `target`, from summaries by machines or by all peers; `bradley-terry` learns from references, without
    `target`. `first`: another study with human scores of that name, on which features are fitted first, so that the
    topics of `source` choose among them. Without it every other topic is for choosing. `without_assessors`: names of
    those whose ratings teach nothing."""

    name = serializers.CharField(max_length=60)
    method = serializers.ChoiceField(choices=METHODS)
    target = serializers.CharField(max_length=200, default="", allow_blank=True)
    peers = serializers.ChoiceField(choices=get_args(Peers), default="machines")
    source = serializers.IntegerField(required=False, min_value=1, max_value=10**17)  # type: ignore[assignment]  # a field
    first = serializers.IntegerField(required=False, min_value=1, max_value=10**17)
    without_assessors = serializers.ListField(child=serializers.CharField(max_length=200), max_length=100, default=list)


class UseSerializer(Strict[Any]):
    """Whether the study's summaries are scored with the metric."""

    used = serializers.BooleanField()
