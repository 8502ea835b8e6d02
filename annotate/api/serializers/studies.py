"""Studies, their members, and invitation links."""

from __future__ import annotations

from typing import Any, cast

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from annotate import invitations
from annotate.api.serializers.records import serializer_of
from annotate.api.serializers.strict import Shown, Strict
from annotate.models import Invitation, Membership, Study
from preferendum.formats.settings import NAMES
from preferendum.results.statement import RestsOn


class StudySerializer(Shown[Study]):
    """A study with its settings. `role` is yours in it; `rests_on`: how many judgments count, by kind of annotators."""

    role = serializers.SerializerMethodField()
    topics = serializers.IntegerField(source="topic_count", read_only=True)
    rests_on = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = ["id", *NAMES, "state", "created_at", "role", "topics", "rests_on"]

    @extend_schema_field(serializers.ChoiceField(choices=Membership.Role.choices, allow_null=True))
    def get_role(self, study: Study) -> str | None:
        user = cast(Request, self.context["request"]).user
        return next((member.role for member in study.memberships.all() if member.user_id == user.pk), None)

    @extend_schema_field(serializer_of(RestsOn))
    def get_rests_on(self, study: Study) -> dict[str, Any]:
        return serializer_of(RestsOn)(self.context["rests_on"][study.pk]).data


class NewStudySerializer(Strict[Study], serializers.ModelSerializer[Study]):
    """The settings of a new study; only the title is required."""

    class Meta:
        model = Study
        fields = [*NAMES]


class StudyChangesSerializer(Strict[Study], serializers.ModelSerializer[Study]):
    """Settings to change, and the state: only open studies give out pairs."""

    class Meta:
        model = Study
        fields = [*NAMES, "state"]


class StudyCopySerializer(Strict[Any]):
    """The copy's title. `with_topics`: its topics arrive as an upload, which you confirm."""

    title = serializers.CharField(max_length=200)
    with_topics = serializers.BooleanField(default=False)


class StudyDeletionSerializer(Strict[Any]):
    """The title, to confirm the deletion."""

    title = serializers.CharField(max_length=200)


class MemberSerializer(Shown[Membership]):
    """A member of a study."""

    username = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = Membership
        fields = ["user", "username", "role", "created_at"]


class MemberRoleSerializer(Strict[Any]):
    role = serializers.ChoiceField(choices=Membership.Role.choices)


class InvitationSerializer(Shown[Invitation]):
    """An invitation link; `link` is the full address."""

    link = serializers.SerializerMethodField()

    class Meta:
        model = Invitation
        fields = ["id", "role", "label", "expires_at", "max_uses", "uses", "revoked_at", "created_at", "link"]

    @extend_schema_field(serializers.URLField())
    def get_link(self, invitation: Invitation) -> str:
        return f"{settings.ORIGIN}{invitations.invitation_path(invitation)}"


class NewInvitationSerializer(Strict[Invitation], serializers.ModelSerializer[Invitation]):
    class Meta:
        model = Invitation
        fields = ["role", "label", "expires_at", "max_uses"]
