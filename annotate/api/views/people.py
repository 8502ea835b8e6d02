"""How people judge and agree, what the scores rest on, and what is done about it."""

from __future__ import annotations

import uuid
from typing import Any

from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import closer, judges, judging, previews
from annotate.api.serializers.judging import AnnotatorSerializer
from annotate.api.serializers.people import (
    ActSerializer,
    AgreementSerializer,
    ExaminationSerializer,
    ExclusionSerializer,
    JudgeSerializer,
    PeopleChosenSerializer,
    RemovalPreviewSerializer,
)
from annotate.api.views.base import View
from annotate.models import Act, AgreementReport, Annotator, Preview, Study


def _named(study: Study, pseudonyms: list[str]) -> list[Annotator]:
    """The annotators of these names. Raises `ValidationError` for a name that nobody has."""
    found = list(Annotator.objects.filter(study=study, pseudonym__in=pseudonyms).order_by("pk"))
    if missing := sorted(set(pseudonyms) - {one.pseudonym for one in found}):
        raise ValidationError({"annotators": [_("Nobody in the study is called %(name)s.") % {"name": missing[0]}]})
    return found


@extend_schema(tags=["people"])
class Judges(View):
    @extend_schema(operation_id="list_judges", responses=JudgeSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """How everybody judges, in the order of joining, with every figure's n and interval."""
        study = self.study(study_id, "people")
        found: Any = self.paginate_queryset(Annotator.objects.filter(study=study).order_by("pk")) or []
        lines: Any = judges.look_at(study, [one.pk for one in found])
        return self.get_paginated_response(JudgeSerializer(lines, many=True).data)


@extend_schema(tags=["people"])
class Agreement(View):
    @extend_schema(operation_id="read_agreement", responses=AgreementSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """How far people agree, with intervals; undefined figures are null and `why` says why."""
        study = self.study(study_id, "people")
        report = AgreementReport.objects.filter(study=study).first()
        return self.show(AgreementSerializer, report or AgreementReport(study=study))


@extend_schema(tags=["people"])
class Examination(View):
    @extend_schema(operation_id="read_examination", responses=ExaminationSerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """How well topics are covered, which sentences fit badly, whether one person moves the ranking."""
        study = self.study(study_id, "people")
        covered = [
            {"topic": one.topic.name, "sentences": one.sentences, "judged": one.judged, "pairs": one.pairs}
            | {"judgments": [sentences for _number, sentences in one.bars]}
            | {"parts": one.parts, "circuits": one.circuits}
            for one in closer.coverage(study)
        ]
        misfits = [
            {"sentence": f"{one.sentence.document.name}:{one.sentence.index}", "topic": one.sentence.topic.name}
            | {"z": one.z, "wins": one.wins, "expected": one.expected, "judgments": one.judgments}
            for one in closer.misfits(study)
        ]
        found = {"coverage": covered, "misfits": misfits, "robustness": closer.robustness(study)}
        return self.show(ExaminationSerializer, found)


@extend_schema(tags=["people"])
class Acts(View):
    @extend_schema(operation_id="list_acts", responses=ActSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """Every administrative act of the study, the first one first."""
        study = self.study(study_id, "people")
        return self.page(ActSerializer, Act.objects.filter(study=study).order_by("number"))


@extend_schema(tags=["people"])
class Previews(View):
    @extend_schema(
        operation_id="ask_for_preview", request=PeopleChosenSerializer, responses={202: RemovalPreviewSerializer}
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Ask what would change without these annotators, or with them again. Nothing is changed by asking."""
        study = self.study(study_id, "people")
        sent = self.sent(PeopleChosenSerializer)
        people = _named(study, sent["annotators"])
        asked = previews.request_preview(study, self.user, people, leave_out=sent["leave_out"])
        return self.show(RemovalPreviewSerializer, asked, 202)


@extend_schema(tags=["people"])
class OnePreview(View):
    @extend_schema(operation_id="read_preview", responses=RemovalPreviewSerializer)
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """What would change, as soon as the worker has found out: leaderboard and agreement before and after."""
        study = self.study(study_id, "people")
        return self.show(RemovalPreviewSerializer, get_object_or_404(Preview, study=study, key=key))


@extend_schema(tags=["people"])
class Exclusions(View):
    @extend_schema(
        operation_id="exclude_annotators", request=ExclusionSerializer, responses=AnnotatorSerializer(many=True)
    )
    def post(self, request: Request, study_id: int) -> Response:
        """Exclude annotators or take them back in, all or none, with a reason. No judgment is deleted by it."""
        study = self.study(study_id, "people")
        sent = self.sent(ExclusionSerializer)
        people = _named(study, sent["annotators"])
        do = judging.exclude if sent["leave_out"] else judging.readmit
        with transaction.atomic():
            for one in people:
                do(one, self.user, sent["reason"])
        return Response(AnnotatorSerializer(people, many=True).data)
