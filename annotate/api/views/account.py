"""The caller, and their tokens."""

from __future__ import annotations

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access, accounts
from annotate.api.access import BySession
from annotate.api.serializers.account import MeSerializer, NewTokenSerializer, ShownTokenSerializer, TokenSerializer
from annotate.api.views.base import View
from annotate.models import Token


@extend_schema(tags=["account"])
class Me(View):
    @extend_schema(operation_id="read_me", responses=MeSerializer)
    def get(self, request: Request) -> Response:
        """Your account, and what your token may do."""
        return self.show(MeSerializer, self.user)


@extend_schema(tags=["account"])
class Tokens(View):
    permission_classes = [BySession]
    takes_key = False  # secrets are never stored

    @extend_schema(operation_id="list_tokens", responses=TokenSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Your tokens, newest first, without their secrets (which are not stored)."""
        return self.page(TokenSerializer, Token.objects.filter(user=self.user, revoked_at=None).order_by("-pk"))

    @extend_schema(operation_id="create_token", request=NewTokenSerializer, responses={201: ShownTokenSerializer})
    def post(self, request: Request) -> Response:
        """Create a token for a program. Its secret is only in this answer."""
        sent = self.sent(NewTokenSerializer)
        study = None
        if (wanted := sent.get("study")) is not None:
            study = access.visible_studies(self.user).filter(pk=wanted).first()
            if study is None:
                raise Http404
        token, secret = accounts.create_token(self.user, **sent | {"study": study})
        token.secret = secret  # type: ignore[attr-defined]  # for the serializer, not for the table
        return self.show(ShownTokenSerializer, token, 201)


@extend_schema(tags=["account"])
class OneToken(View):
    permission_classes = [BySession]

    @extend_schema(operation_id="revoke_token", responses={204: None})
    def delete(self, request: Request, token_id: int) -> Response:
        """Revoke the token."""
        accounts.revoke_token(get_object_or_404(Token, pk=token_id, user=self.user), self.user)
        return Response(status=204)
