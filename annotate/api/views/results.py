"""Systems in order, and the judgments that put them there."""

from __future__ import annotations

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import judging, leaderboards
from annotate.api.serializers.results import JudgmentSerializer, LeaderboardSerializer
from annotate.api.views.base import View
from annotate.models import Judgment, Topic


@extend_schema(tags=["results"])
class Leaderboard(View):
    @extend_schema(operation_id="read_leaderboard", responses=LeaderboardSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """The systems of a study in order, over all its topics."""
        return self.show(LeaderboardSerializer, leaderboards.of_study(self.study(study_id)))


@extend_schema(tags=["results"])
class TopicLeaderboard(View):
    @extend_schema(operation_id="read_topic_leaderboard", responses=LeaderboardSerializer)
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """The systems that summarized a topic, in order."""
        topic = get_object_or_404(Topic, pk=topic_id, study=self.study(study_id))
        return self.show(LeaderboardSerializer, leaderboards.of_topic(topic))


@extend_schema(tags=["results"])
class Judgments(View):
    @extend_schema(operation_id="list_judgments", responses=JudgmentSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """Every answer and every revision of it, in the order in which they came, under pseudonyms."""
        study = self.study(study_id, "export")
        rows = Judgment.objects.filter(topic__study=study).select_related(
            "topic", "assignment__annotator", "assignment__pair__first__document", "assignment__pair__second__document"
        )
        found = list(self.paginate_queryset(rows.order_by("pk")) or [])
        shown = {judgment.pk for judgment in found}
        counted = {
            pk
            for topic in {judgment.topic for judgment in found}
            for pk in judging.counted_judgments(topic).filter(pk__in=shown).values_list("pk", flat=True)
        }
        context = {**self.get_serializer_context(), "counted": counted}
        return self.get_paginated_response(JudgmentSerializer(found, many=True, context=context).data)
