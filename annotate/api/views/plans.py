"""The plan of a study: written, frozen, and what was done otherwise."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import plans
from annotate.api.serializers.plans import (
    DeviationSerializer,
    NewDeviationSerializer,
    PlanSerializer,
    PlanTextSerializer,
)
from annotate.api.views.base import View


@extend_schema(tags=["studies"])
class StudyPlan(View):
    @extend_schema(operation_id="read_plan", responses=PlanSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """What is planned, and how the study differs from it once the plan is frozen."""
        return self.show(PlanSerializer, plans.plan_of(self.study(study_id)))

    @extend_schema(operation_id="write_plan", request=PlanTextSerializer, responses=PlanSerializer)
    def put(self, request: Request, study_id: int) -> Response:
        """Write the plan down; it can be changed until it is frozen."""
        study = self.study(study_id, "edit")
        return self.show(PlanSerializer, plans.save(study, self.user, **self.sent(PlanTextSerializer)))


@extend_schema(tags=["studies"])
class Freezing(View):
    @extend_schema(operation_id="freeze_plan", request=None, responses=PlanSerializer)
    def post(self, request: Request, study_id: int) -> Response:
        """Freeze the plan for good."""
        return self.show(PlanSerializer, plans.freeze(self.study(study_id, "edit"), self.user))


@extend_schema(tags=["studies"])
class Deviations(View):
    @extend_schema(operation_id="note_deviation", request=NewDeviationSerializer, responses={201: DeviationSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Note what was done otherwise than planned."""
        study = self.study(study_id, "edit")
        return self.show(DeviationSerializer, plans.deviate(study, self.user, **self.sent(NewDeviationSerializer)), 201)
