"""The caller, and their tokens."""

from __future__ import annotations

from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from annotate import access
from annotate.api.serializers.strict import Shown, Strict
from annotate.models import Token


class TokenSerializer(Shown[Token]):
    """A token, without its secret."""

    class Meta:
        model = Token
        fields = ["id", "name", "study", "read_only", "created_at", "expires_at", "last_used_at"]


class NewTokenSerializer(Strict[Any]):
    """A new token; `study` restricts it to one study, and after `expires_at` it is refused."""

    name = serializers.CharField(max_length=100)
    study = serializers.IntegerField(required=False, allow_null=True, max_value=2**63 - 1)
    read_only = serializers.BooleanField(default=False)  # type: ignore[assignment]  # DRF has an attribute of this name
    expires_at = serializers.DateTimeField(required=False, allow_null=True)


class ShownTokenSerializer(TokenSerializer):
    """A new token with its secret, which is shown only once."""

    secret = serializers.CharField(read_only=True)

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "secret"]


class MeSerializer(serializers.Serializer[Any]):
    """Your account, and what your token may do (null in a browser)."""

    username = serializers.CharField()
    may_create_studies = serializers.SerializerMethodField()
    token = serializers.SerializerMethodField()

    def get_may_create_studies(self, user: User) -> bool:
        return access.may_create_studies(user)

    @extend_schema_field(TokenSerializer(allow_null=True))
    def get_token(self, user: User) -> Any:
        token = cast(Request, self.context["request"]).auth
        return TokenSerializer(token).data if isinstance(token, Token) else None
