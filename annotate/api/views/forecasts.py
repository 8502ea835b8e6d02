"""How many judgments a study needs, and its progress."""

from __future__ import annotations

import uuid

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import forecasts
from annotate.api.serializers.forecasts import AskForecastSerializer, CourseSerializer, StudyForecastSerializer
from annotate.api.views.base import View
from annotate.models import Forecast
from annotate.reports.forecast import course


@extend_schema(tags=["studies"])
class Forecasts(View):
    post_ability = "edit"

    @extend_schema(operation_id="list_forecasts", responses=StudyForecastSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The forecasts of a study, newest first."""
        rows = Forecast.objects.filter(study=self.study(study_id)).defer("parts").order_by("-pk")
        return self.page(StudyForecastSerializer, rows)

    @extend_schema(operation_id="ask_forecast", request=AskForecastSerializer, responses={202: StudyForecastSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Have the worker simulate the study, to say how many judgments it needs. This cancels a waiting forecast."""
        study = self.study(study_id, self.post_ability)
        return self.show(
            StudyForecastSerializer, forecasts.ask(study, self.user, **self.sent(AskForecastSerializer)), 202
        )


@extend_schema(tags=["studies"])
class OneForecast(View):
    @extend_schema(operation_id="read_forecast", responses=StudyForecastSerializer)
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """The state of a forecast, and its result."""
        return self.show(StudyForecastSerializer, get_object_or_404(Forecast, study=self.study(study_id), key=key))


@extend_schema(tags=["studies"])
class StudyCourse(View):
    @extend_schema(operation_id="read_course", responses=CourseSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """How many judgments are in, at which pace they arrive, and when they will be complete."""
        return self.show(CourseSerializer, course(self.study(study_id)))
