"""Scores of summaries by metrics, and those computed elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django.core.files import File
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import imports
from annotate.api.parsers import TableParser
from annotate.api.serializers.metrics import (
    MetricCountSerializer,
    MetricScoreSerializer,
)
from annotate.api.views.base import View
from annotate.models import MetricScore, Topic
from preferendum import formats


@extend_schema(tags=["results"])
class GivenMetrics(View):
    parser_classes = [TableParser]

    @extend_schema(operation_id="list_given_metrics", responses=MetricScoreSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The scores of metrics that were computed elsewhere, by topic, system and metric."""
        topics = Topic.objects.filter(study=self.study(study_id))
        rows = (
            MetricScore.objects.given()
            .filter(summary__topic__in=topics)
            .select_related("summary__topic", "summary__system")
        )
        return self.page(
            MetricScoreSerializer, rows.order_by("summary__topic__position", "summary__system__name", "metric")
        )

    @extend_schema(
        operation_id="put_given_metrics",
        request={"text/csv": OpenApiTypes.BINARY},
        responses=MetricCountSerializer(many=True),
    )
    def put(self, request: Request, study_id: int) -> Response:
        """Replace the study's scores of each metric in a CSV file (columns topic,system,metric,score; at most 2 MB).
        Other metrics stay. If any row is wrong, nothing is changed.
        """
        study = self.study(study_id, "edit")
        file = cast(Mapping[str, Any], request.data).get("file")
        if not isinstance(file, File):
            raise ValidationError({"file": [_("Send a file.")]})
        try:
            with file:
                counts = imports.put_metric_scores(study, self.user, file, _("the body"))
        except formats.Refused as refused:
            raise ValidationError(
                {"file": [formats.message(complaint) for complaint in refused.complaints]}
            ) from refused
        return Response([{"metric": metric, "scores": scores} for metric, scores in counts.items()])
