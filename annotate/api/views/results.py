"""Leaderboards, and the judgments that they rest on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.pages import PagesByKey
from annotate.api.serializers.results import JudgmentSerializer, LeaderboardSerializer
from annotate.api.views.base import View
from annotate.models import Judgment, ScoredBy, Topic
from annotate.models.judging import texts_of
from annotate.reports import helped
from annotate.reports.leaderboard import Board

SCORED_BY = OpenApiParameter(
    "scored_by", enum=ScoredBy.values, description="Which scores; those that the study shows first, if you name none."
)


HELPED_BY = OpenApiParameter(
    "helped_by", description="The machine judge that helps people's answers about whole summaries; none, if not given."
)

OF_BOARDS = [SCORED_BY, HELPED_BY]


class BoardFilter(serializers.Serializer[None]):
    """Which way of scoring, and the judge that helps."""

    scored_by = serializers.ChoiceField(choices=ScoredBy.choices, default="")
    helped_by = serializers.CharField(default="", allow_blank=True)


@extend_schema(tags=["results"])
class Leaderboard(View):
    @extend_schema(operation_id="read_leaderboard", parameters=OF_BOARDS, responses=LeaderboardSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """The leaderboard of a study, over all its topics."""
        study = self.study(study_id)
        return self.show(LeaderboardSerializer, _board(self, partial(helped.of_study, study)))


@extend_schema(tags=["results"])
class TopicLeaderboard(View):
    @extend_schema(operation_id="read_topic_leaderboard", parameters=OF_BOARDS, responses=LeaderboardSerializer)
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """The leaderboard of a topic."""
        topic = get_object_or_404(Topic, pk=topic_id, study=self.study(study_id))
        return self.show(LeaderboardSerializer, _board(self, partial(helped.of_topic, topic)))


@extend_schema(tags=["results"])
class Judgments(View):
    pagination_class = PagesByKey

    @extend_schema(operation_id="list_judgments", responses=JudgmentSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """Every answer with all its revisions, in order of arrival, under pseudonyms."""
        study = self.study(study_id, "export")
        rows = (
            Judgment.objects.arrived()
            .filter(item_set__study=study, assignment__item_set__removal=None)
            .select_related(
                "item_set__topic",
                "assignment__annotator__study",
                "assignment__item_set__topic",
                *texts_of("assignment__pair__"),
            )
        )
        judgments = list(self.paginate_queryset(rows.order_by("pk")) or [])
        shown = {judgment.pk for judgment in judgments}
        counted = set(Judgment.objects.counted().filter(pk__in=shown).values_list("pk", flat=True))
        context = {**self.get_serializer_context(), "counted": counted}
        return self.get_paginated_response(JudgmentSerializer(judgments, many=True, context=context).data)


def _board(view: View, of: Callable[..., Board]) -> Board:
    asked = view.checked(BoardFilter, view.request.query_params.dict())
    try:
        return of(**asked)
    except helped.UnknownJudge as error:
        wanted = f"one of {', '.join(error.args)}" if error.args else "none, no machine helps here"
        unknown = f"{asked['helped_by']} helps no board by win rates; expected {wanted}"
        raise serializers.ValidationError({"helped_by": [unknown]}) from error
