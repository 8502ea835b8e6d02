"""Studies, their members, and invitation links."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access, invitations, members, studies
from annotate.api.access import visible_studies
from annotate.api.serializers.studies import (
    InvitationSerializer,
    MemberRoleSerializer,
    MemberSerializer,
    NewInvitationSerializer,
    NewStudySerializer,
    StudyChangesSerializer,
    StudyCopySerializer,
    StudyDeletionSerializer,
    StudySerializer,
)
from annotate.api.views.base import View
from annotate.models import Invitation, Membership, Study, Token
from annotate.reports import rests_on

Role = Membership.Role


def _with_counts(rows: QuerySet[Study]) -> QuerySet[Study]:
    return rows.annotate(topic_count=Count("topics", distinct=True)).prefetch_related("memberships")


def _show(view: View, study: Study, status: int = 200) -> Response:
    context = {**view.get_serializer_context(), "rests_on": rests_on.by_study([study])}
    shown = _with_counts(Study.objects.filter(pk=study.pk)).get()
    return Response(StudySerializer(shown, context=context).data, status=status)


def _still_seen(view: View, kept: Any) -> Any:
    """The stored answer about a study that the caller created. Raises an error if they may not create or see it now."""
    if not access.may_create_studies(view.user):
        raise PermissionDenied
    get_object_or_404(visible_studies(view.request), pk=kept["id"])
    return kept


def _refuse_narrow_token(view: View, request: Request) -> None:
    if isinstance(request.auth, Token) and request.auth.study_id is not None:
        view.permission_denied(request, _("This token is restricted to one study."))


@extend_schema(tags=["studies"])
class Studies(View):
    @extend_schema(operation_id="list_studies", responses=StudySerializer(many=True))
    def get(self, request: Request) -> Response:
        """The studies that you may see, newest first."""
        # By key: the join that finds the memberships must not be repeated in the count.
        visible = Study.objects.filter(pk__in=visible_studies(request).values("pk"))
        shown = list(self.paginate_queryset(_with_counts(visible).order_by("-pk")) or [])
        context = {**self.get_serializer_context(), "rests_on": rests_on.by_study(shown)}
        return self.get_paginated_response(StudySerializer(shown, many=True, context=context).data)

    @extend_schema(operation_id="create_study", request=NewStudySerializer, responses={201: StudySerializer})
    def post(self, request: Request) -> Response:
        """Create a study; you are its owner."""
        _refuse_narrow_token(self, request)
        study = studies.create_study(self.user, **self.sent(NewStudySerializer))
        return _show(self, study, 201)

    def to_answer(self, kept: Any) -> Any:
        return _still_seen(self, kept)


@extend_schema(tags=["studies"])
class OneStudy(View):
    @extend_schema(operation_id="read_study", responses=StudySerializer)
    def get(self, request: Request, study_id: int) -> Response:
        """A study with its settings."""
        study = self.study(study_id)
        return _show(self, study)

    @extend_schema(operation_id="change_study", request=StudyChangesSerializer, responses=StudySerializer)
    def patch(self, request: Request, study_id: int) -> Response:
        """Change settings, or open, pause or close the study. Scores are recomputed automatically."""
        study = self.study(study_id, "settings")
        changes = self.sent(StudyChangesSerializer, partial=True)
        state = changes.pop("state", None)
        with transaction.atomic():
            studies.change_settings(study, self.user, **changes)
            if state is not None:
                studies.set_state(study, self.user, state)
        return _show(self, study)

    @extend_schema(operation_id="delete_study", request=StudyDeletionSerializer, responses={204: None})
    def delete(self, request: Request, study_id: int) -> Response:
        """Delete the study permanently, with all its texts and judgments. Send its title to confirm."""
        study = self.study(study_id, "members")
        if self.sent(StudyDeletionSerializer)["title"] != study.title:
            raise ValidationError({"title": [_("This is not the title of the study.")]})
        studies.delete_study(study, self.user)
        return Response(status=204)


@extend_schema(tags=["studies"])
class StudyCopies(View):
    post_ability = "settings"

    @extend_schema(operation_id="copy_study", request=StudyCopySerializer, responses={201: StudySerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Create a study with the settings and the text of consent of this one, without its people; you own it."""
        study = self.study(study_id, self.post_ability)
        _refuse_narrow_token(self, request)
        copy = studies.copy_study(study, self.user, **self.sent(StudyCopySerializer))
        return _show(self, copy, 201)

    def to_answer(self, kept: Any) -> Any:
        return _still_seen(self, kept)


@extend_schema(tags=["members"])
class Members(View):
    @extend_schema(operation_id="list_members", responses=MemberSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The members of the study and their roles. New members join by invitation."""
        study = self.study(study_id)
        return self.page(MemberSerializer, study.memberships.select_related("user").order_by("pk"))


@extend_schema(tags=["members"])
class OneMember(View):
    @extend_schema(operation_id="change_member", request=MemberRoleSerializer, responses=MemberSerializer)
    def patch(self, request: Request, study_id: int, user_id: int) -> Response:
        """Change a member's role. A study always has an owner."""
        study = self.study(study_id, "members")
        member = get_object_or_404(study.memberships.select_related("user"), user=user_id)
        changed = members.set_role(study, self.user, member.user, self.sent(MemberRoleSerializer)["role"])
        return self.show(MemberSerializer, changed)

    @extend_schema(operation_id="remove_member", responses={204: None})
    def delete(self, request: Request, study_id: int, user_id: int) -> Response:
        """Remove a member, or leave the study yourself. Tokens for this study are revoked."""
        study = self.study(study_id, "see" if user_id == self.user.pk else "members")
        member = get_object_or_404(study.memberships.select_related("user"), user=user_id)
        members.remove_member(study, self.user, member.user)
        return Response(status=204)


@extend_schema(tags=["members"])
class Invitations(View):
    post_ability = "annotators"

    @extend_schema(operation_id="list_invitations", responses=InvitationSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The invitation links of the study. Only owners see links for roles other than annotator."""
        study = self.study(study_id, "annotators")
        invitations = study.invitations.order_by("-pk")
        if not access.may(self.user, study, "members"):
            invitations = invitations.filter(role=Role.ANNOTATOR)
        return self.page(InvitationSerializer, invitations)

    @extend_schema(operation_id="invite", request=NewInvitationSerializer, responses={201: InvitationSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Create an invitation link."""
        study = self.study(study_id, self.post_ability)
        invitation = invitations.invite(study, self.user, **self.sent(NewInvitationSerializer))
        return self.show(InvitationSerializer, invitation, 201)

    def to_keep(self, answer: Any) -> Any:
        return answer["id"]  # links are never stored

    def to_answer(self, kept: Any) -> Any:
        invitation = get_object_or_404(Invitation, pk=kept)
        invitations.check_may_give(self.user, invitation.study, invitation.role)
        return self.show(InvitationSerializer, invitation).data


@extend_schema(tags=["members"])
class OneInvitation(View):
    @extend_schema(operation_id="revoke_invitation", responses={204: None})
    def delete(self, request: Request, study_id: int, invitation_id: int) -> Response:
        """Revoke the link. People who have already joined stay."""
        study = self.study(study_id, "annotators")
        invitations.revoke(get_object_or_404(Invitation, pk=invitation_id, study=study), self.user)
        return Response(status=204)
