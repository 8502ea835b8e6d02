"""The plan of a study."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotate import plans
from annotate.api.serializers.strict import Strict
from annotate.models import Deviation, Plan
from annotate.models.plan import LONGEST
from annotate.reports.plan import deviations


class DeviationSerializer(serializers.ModelSerializer[Deviation]):
    """What a researcher says was done otherwise than planned, and when they said so."""

    class Meta:
        model = Deviation
        fields = ["text", "at"]
        read_only_fields = fields


class PlanSerializer(serializers.Serializer[Plan]):
    """What is planned. `frozen_at`: when it was frozen, null before; then `snapshot` has the settings and the names of
    topics and systems of that time, `digest` is the SHA-256 sum of all of it, `deviations` tells how the study differs
    from it as far as the study knows, and `noted` what you said."""

    hypotheses = serializers.CharField()
    judgments = serializers.IntegerField(allow_null=True)
    annotators = serializers.IntegerField(allow_null=True)
    exclusions = serializers.CharField()
    frozen_at = serializers.DateTimeField(allow_null=True)
    snapshot = serializers.DictField()
    digest = serializers.CharField()
    deviations = serializers.SerializerMethodField()
    noted = serializers.SerializerMethodField()

    def get_deviations(self, plan: Plan) -> list[str]:
        return deviations(plan)

    def get_noted(self, plan: Plan) -> list[dict[str, str]]:
        rows = plan.deviations.all() if plan.is_frozen else ()
        return [{"text": row.text, "at": plans.moment(row.at) or ""} for row in rows]


class PlanTextSerializer(Strict[Any]):
    """What is planned, until it is frozen: what you expect, how many judgments and annotators that count, and by which
    rules annotators are excluded."""

    hypotheses = serializers.CharField(max_length=LONGEST, allow_blank=True, default="")
    judgments = serializers.IntegerField(min_value=1, max_value=100_000_000, allow_null=True, default=None)
    annotators = serializers.IntegerField(min_value=1, max_value=100_000_000, allow_null=True, default=None)
    exclusions = serializers.CharField(max_length=LONGEST, allow_blank=True, default="")


class NewDeviationSerializer(Strict[Any]):
    """What was done otherwise than planned."""

    text = serializers.CharField(max_length=LONGEST)
