"""How annotators judge and agree, what the scores rest on, and what is done about it."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import crowd, judging
from annotate.api.pages import PagesByKey
from annotate.api.serializers.annotators import (
    AnnotatorRowSerializer,
    AnnotatorsChosenSerializer,
    AuditEntrySerializer,
    DemographicsSerializer,
    ExclusionSerializer,
    ParticipantSerializer,
    RecruitmentSerializer,
    WhatIfQuestionSerializer,
)
from annotate.api.serializers.judging import AnnotatorSerializer
from annotate.api.views.base import TableView, View
from annotate.audit_log import note
from annotate.judging import what_if
from annotate.models import Annotator, AuditEntry, Study, WhatIfQuestion
from annotate.reports import annotators


def _named(study: Study, pseudonyms: list[str]) -> list[Annotator]:
    """The annotators with these pseudonyms. Raises `ValidationError` for one that does not exist."""
    annotators = list(Annotator.objects.arrived().filter(study=study, pseudonym__in=pseudonyms).order_by("pk"))
    if missing := sorted(set(pseudonyms) - {annotator.pseudonym for annotator in annotators}):
        raise ValidationError({"annotators": [_("The study has no annotator called %(name)s.") % {"name": missing[0]}]})
    return annotators


@extend_schema(tags=["annotators"])
class AnnotatorFigures(View):
    @extend_schema(operation_id="list_annotator_figures", responses=AnnotatorRowSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """How each annotator judges, in the order of joining, with n and interval of every figure."""
        study = self.study(study_id, "annotators")
        chosen: Any = self.paginate_queryset(Annotator.objects.arrived().filter(study=study).order_by("pk")) or []
        rows: Any = annotators.rows_of(study, [annotator.pk for annotator in chosen])
        return self.get_paginated_response(AnnotatorRowSerializer(rows, many=True).data)


@extend_schema(tags=["annotators"])
class OneRecruitment(View):
    @extend_schema(operation_id="read_recruitment", responses=RecruitmentSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """Where participants come from: the platform, the link to give to it, and the codes with which they leave."""
        study = self.study(study_id, "settings")
        return self.show(RecruitmentSerializer, crowd.recruitment_of(study))


@extend_schema(tags=["annotators"])
class Participants(View):
    @extend_schema(operation_id="list_participants", responses=ParticipantSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The platform's participants with outcome and code, in the order of arrival. The audit log notes each call."""
        study = self.study(study_id, "settings")
        named = study.participations.exclude(person="").exclude(annotator=None).order_by("pk")
        answer = self.page(ParticipantSerializer, named.select_related("annotator__report"))
        note(study, self.user, "download participants", people=len(answer.data["results"]))
        return answer


@extend_schema(tags=["annotators"])
class Demographics(TableView):
    @extend_schema(
        operation_id="put_demographics", request={"text/csv": OpenApiTypes.BINARY}, responses=DemographicsSerializer
    )
    def put(self, request: Request, study_id: int) -> Response:
        """Store Prolific's demographic data (CSV; at most 2 MB) as answers of the questionnaire.

        They replace earlier ones of the same participants. Of those who revoked their consent and those who are not in
        the study nothing is stored. If any row is wrong, nothing is changed.
        """
        study = self.study(study_id, "annotators")
        return Response(self.stored(partial(crowd.put_demographics, study, self.user)))


@extend_schema(tags=["annotators"])
class AuditLog(View):
    pagination_class = PagesByKey

    @extend_schema(operation_id="list_audit_log", responses=AuditEntrySerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The study's audit log, oldest entry first."""
        study = self.study(study_id, "annotators")
        return self.page(AuditEntrySerializer, AuditEntry.objects.filter(study=study).order_by("number"))


@extend_schema(tags=["annotators"])
class WhatIfs(View):
    post_ability = "annotators"

    @extend_schema(
        operation_id="ask_what_if", request=AnnotatorsChosenSerializer, responses={202: WhatIfQuestionSerializer}
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Ask what would change without these annotators, or with them again. This changes nothing."""
        study = self.study(study_id, self.post_ability)
        sent = self.sent(AnnotatorsChosenSerializer)
        question = what_if.ask(study, self.user, _named(study, sent["annotators"]), leave_out=sent["leave_out"])
        return self.show(WhatIfQuestionSerializer, question, 202)

    def to_keep(self, answer: Any) -> Any:
        return answer["key"]  # pseudonyms are never stored: annotators may erase them

    def to_answer(self, kept: Any) -> Any:
        return self.show(WhatIfQuestionSerializer, get_object_or_404(WhatIfQuestion, key=kept)).data


@extend_schema(tags=["annotators"])
class OneWhatIf(View):
    @extend_schema(operation_id="read_what_if", responses=WhatIfQuestionSerializer)
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """What would change, once the worker has computed it: leaderboard and agreement before and after."""
        study = self.study(study_id, "annotators")
        return self.show(WhatIfQuestionSerializer, get_object_or_404(WhatIfQuestion, study=study, key=key, kind=""))


@extend_schema(tags=["annotators"])
class Exclusions(View):
    post_ability = "annotators"

    @extend_schema(
        operation_id="exclude_annotators", request=ExclusionSerializer, responses=AnnotatorSerializer(many=True)
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Exclude annotators or include them again, all or none, with a reason. This deletes no judgments."""
        study = self.study(study_id, self.post_ability)
        sent = self.sent(ExclusionSerializer)
        chosen = _named(study, sent["annotators"])
        do = judging.exclude if sent["leave_out"] else judging.readmit
        with transaction.atomic():
            for annotator in chosen:
                do(annotator, self.user, sent["reason"])
        self.chosen = [annotator.pk for annotator in chosen]
        return Response(AnnotatorSerializer(chosen, many=True).data)

    def to_keep(self, answer: Any) -> Any:
        return self.chosen  # as above: not their pseudonyms

    def to_answer(self, kept: Any) -> Any:
        chosen = Annotator.objects.filter(study=self.kwargs["study_id"], pk__in=kept).order_by("pk")
        return AnnotatorSerializer(chosen, many=True).data
