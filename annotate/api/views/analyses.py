"""Analyses of a study or topic: all questions with their verdicts, and one with its tables."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import abilities
from annotate.api.serializers.analyses import AnalysisSerializer, QuestionSerializer
from annotate.api.views.base import View
from annotate.models import Study, Topic
from annotate.reports import analyses
from preferendum.show.analyses import Analysis, of_study, of_topic

CHOICES = [OpenApiParameter(name, description="One of the answer’s `choices`.") for name in analyses.CHOICES]


def _named(several: Iterable[Analysis]) -> list[OpenApiParameter]:
    return [OpenApiParameter("analysis", location="path", enum=[analysis.name for analysis in several]), *CHOICES]


class _View(View):
    def questions(self, of: Study | Topic) -> Response:
        study = of.study if isinstance(of, Topic) else of
        opened = list(analyses.all_opened(of, abilities(self.user, study)))
        return Response(QuestionSerializer(opened, many=True).data)

    def answer(self, of: Study | Topic, name: str) -> Response:
        """Raises `Http404` for an unknown analysis or choice."""
        analysis = analyses.analyses_of(of).get(name)
        if analysis is None:
            raise Http404
        study = self.study(of.study_id if isinstance(of, Topic) else of.pk, analysis.ability)
        asked = self.request.query_params.dict()
        opened = analyses.opened(of, analysis, asked, abilities(self.user, study))
        if any(asked.get(choice.name, choice.chosen) != choice.chosen for choice in opened.choices):
            raise Http404
        return self.show(AnalysisSerializer, opened)


@extend_schema(tags=["results"])
class Analyses(_View):
    @extend_schema(operation_id="list_results", responses=QuestionSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """Every question that you may see, with the verdict so far."""
        return self.questions(self.study(study_id))


@extend_schema(tags=["results"])
class TopicAnalyses(_View):
    @extend_schema(operation_id="list_topic_results", responses=QuestionSerializer(many=True))
    def get(self, request: Request, study_id: int, topic_id: int) -> Response:
        """Every question about the topic, with the verdict so far."""
        return self.questions(get_object_or_404(Topic, pk=topic_id, study=self.study(study_id)))


@extend_schema(tags=["results"])
class OneAnalysis(_View):
    @extend_schema(operation_id="read_result", parameters=_named(of_study()), responses=AnalysisSerializer)
    def get(self, request: Request, study_id: int, analysis: str) -> Response:
        """One analysis with its verdict and its tables; 404 for an unknown choice."""
        return self.answer(self.study(study_id), analysis)


@extend_schema(tags=["results"])
class OneTopicAnalysis(_View):
    @extend_schema(operation_id="read_topic_result", parameters=_named(of_topic()), responses=AnalysisSerializer)
    def get(self, request: Request, study_id: int, topic_id: int, analysis: str) -> Response:
        """One analysis of the topic with its verdict and its tables; 404 for an unknown choice."""
        return self.answer(get_object_or_404(Topic, pk=topic_id, study=self.study(study_id)), analysis)
