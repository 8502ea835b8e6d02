"""Studies, who belongs to them, and the links that let people in."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from annotate import links
from annotate.api.serializers.strict import Strict
from annotate.models import Invitation, Membership, Study
from annotate.studies import SETTINGS


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study with its settings; `role` is what you are in it."""

    role = serializers.SerializerMethodField()
    topics = serializers.IntegerField(source="topic_count", read_only=True)

    class Meta:
        model = Study
        fields = ["id", *SETTINGS, "state", "created_at", "role", "topics"]
        read_only_fields = fields

    @extend_schema_field(serializers.ChoiceField(choices=Membership.Role.choices, allow_null=True))
    def get_role(self, study: Study) -> str | None:
        user = cast(Request, self.context["request"]).user
        return next((one.role for one in study.memberships.all() if one.user_id == user.pk), None)


class NewStudySerializer(Strict[Study], serializers.ModelSerializer[Study]):
    """The settings of a new study; only the title is needed."""

    class Meta:
        model = Study
        fields = [*SETTINGS]


class StudyChangesSerializer(Strict[Study], serializers.ModelSerializer[Study]):
    """Settings to change, and the state: only open studies hand out pairs."""

    class Meta:
        model = Study
        fields = [*SETTINGS, "state"]


class StudyDeletionSerializer(Strict[Any]):
    """The title, typed once more, so that no study is deleted by a slip."""

    title = serializers.CharField(max_length=200)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = Membership
        fields = ["user", "username", "role", "created_at"]
        read_only_fields = fields


class MemberRoleSerializer(Strict[Any]):
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    """A link that lets people in; `link` is the whole address."""

    link = serializers.SerializerMethodField()

    class Meta:
        model = Invitation
        fields = ["id", "role", "label", "expires_at", "max_uses", "uses", "revoked_at", "created_at", "link"]
        read_only_fields = fields

    @extend_schema_field(serializers.URLField())
    def get_link(self, invitation: Invitation) -> str:
        return f"{settings.ORIGIN}{links.invitation_path(invitation)}"


class NewInvitationSerializer(Strict[Invitation], serializers.ModelSerializer[Invitation]):
    class Meta:
        model = Invitation
        fields = ["role", "label", "expires_at", "max_uses"]
