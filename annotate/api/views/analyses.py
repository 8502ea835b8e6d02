"""Analyses of a study: all questions with their verdicts, and one with its tables."""

from __future__ import annotations

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import abilities
from annotate.api.serializers.analyses import AnalysisSerializer, QuestionSerializer
from annotate.api.views.base import View
from annotate.reports import analyses
from formats.analyses import ANALYSES, BY_NAME

NAMES = OpenApiParameter("analysis", location="path", enum=[analysis.name for analysis in ANALYSES])
CHOICES = [OpenApiParameter(name, description="One of the answer’s `choices`.") for name in analyses.CHOICES]


@extend_schema(tags=["results"])
class Analyses(View):
    @extend_schema(operation_id="list_results", responses=QuestionSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """Every question that you may see, with the verdict so far."""
        study = self.study(study_id)
        opened = list(analyses.all_opened(study, abilities(self.user, study)))
        return Response(QuestionSerializer(opened, many=True).data)


@extend_schema(tags=["results"])
class OneAnalysis(View):
    @extend_schema(operation_id="read_result", parameters=[NAMES, *CHOICES], responses=AnalysisSerializer)
    def get(self, request: Request, study_id: int, analysis: str) -> Response:
        """One analysis with its verdict and its tables; 404 for a choice that there is not."""
        if analysis not in BY_NAME:
            raise Http404
        asked_for = BY_NAME[analysis]
        study = self.study(study_id, asked_for.ability)
        asked = request.query_params.dict()
        opened = analyses.opened(study, asked_for, asked)
        if any(asked.get(choice.name, choice.chosen) != choice.chosen for choice in opened.choices):
            raise Http404
        return self.show(AnalysisSerializer, opened)
