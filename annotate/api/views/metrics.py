"""Scores of summaries by metrics, and those computed elsewhere."""

from __future__ import annotations

from functools import partial

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import imports
from annotate.api.serializers.metrics import MetricCountSerializer, MetricScoreSerializer
from annotate.api.views.base import TableView
from annotate.models import MetricScore, Topic


@extend_schema(tags=["results"])
class GivenMetrics(TableView):
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
        counts = self.stored(partial(imports.put_metric_scores, study, self.user))
        return Response([{"metric": metric, "scores": scores} for metric, scores in counts.items()])
