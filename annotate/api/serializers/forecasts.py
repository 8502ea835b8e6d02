"""How many judgments a study needs, and its progress."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Shown, Strict
from annotate.models import Forecast
from annotate.reports.forecast import Course
from preferendum.results import Forecast as Record


class StudyForecastSerializer(Shown[Forecast]):
    """A study's forecast. `state`: waiting (`done` of `steps` simulations are there; ask again), ready, failed
    (`problem` gives the reason). `forecast` has what `evaluate plan --format json` writes; null before it is ready.
    `careless`: as requested."""

    forecast = serializer_of(Record)(source="record", allow_null=True, read_only=True)

    class Meta:
        model = Forecast
        fields = ["key", "state", "problem", "done", "steps", "careless", "created_at", "forecast"]


class AskForecastSerializer(Strict[Any]):
    """`careless`: the share of answers that a coin might give; without it the usual one, or an estimate from the
    study's judgments."""

    careless = serializers.FloatField(required=False, min_value=0, max_value=1)


class CourseSerializer(serializers.Serializer[Course]):
    """Judgments `done` of those `wanted`; `seconds`: the mean of one, null if unknown; `a_day`: the pace of the last
    seven days, null without judgments; `ends_at`: when the study will be done at that pace."""

    done = serializers.IntegerField()
    wanted = serializers.IntegerField()
    seconds = serializers.FloatField(allow_null=True)
    a_day = serializers.FloatField(allow_null=True)
    ends_at = serializers.DateTimeField(allow_null=True)
