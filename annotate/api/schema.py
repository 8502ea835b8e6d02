"""What OpenAPI says in addition to the views."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import Direction, OpenApiParameter

from annotate.api.serializers.errors import ErrorSerializer
from annotate.api.views.base import KEY

ERRORS = {
    "400": "What was sent will not do; `fields` says why.",
    "401": "Nobody is signed in, or the token opens nothing.",
    "403": "You may see this and not do it.",
    "404": "There is nothing here, or you may not see it.",
    "409": "As things stand this cannot be done.",
}
REQUEST_KEY = OpenApiParameter(
    KEY,
    location=OpenApiParameter.HEADER,
    description="A new UUID: if this is sent again with it within a day, nothing is done twice.",
)


class BearerToken(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    target_class = "annotate.api.access.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token from your account's page."}


class Schema(AutoSchema):
    """Every operation may answer with an error, always in one form."""

    def get_override_parameters(self) -> list[Any]:
        return [REQUEST_KEY] if self.method == "POST" and getattr(self.view, "takes_key", False) else []

    def _get_response_bodies(self, direction: Direction = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        for status, description in ERRORS.items():
            if status not in bodies:
                body: dict[str, Any] = self._get_response_for_code(ErrorSerializer, status)  # type: ignore[no-untyped-call]
                bodies[status] = body | {"description": description}
        return bodies
