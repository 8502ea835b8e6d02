"""The description of the API, for programs and for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import override
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

#: The groups of calls in the order in which a program meets them.
GROUPS = (
    "studies", "uploads", "texts", "judging", "results", "annotators", "members", "data", "exports", "webhooks",
    "account",
)  # fmt: skip
#: The generator is not made for two threads: asked by both at once, it fails for one of them.
_MAKING = Lock()


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI 3 description, in JSON."""
    return HttpResponse(_described(), content_type="application/json")


@dataclass(frozen=True, slots=True)
class Call:
    """A call in one line."""

    method: str
    path: str
    does: str


def calls() -> list[tuple[str, list[Call]]]:
    """Every call by its group, studies first."""
    groups: dict[str, list[Call]] = {name: [] for name in GROUPS}
    for path, methods in json.loads(_described())["paths"].items():
        for method, call in methods.items():
            does = call["description"].strip().partition("\n")[0]
            groups[call["tags"][0]].append(Call(method.upper(), path, does))
    return list(groups.items())


def _described() -> bytes:
    with _MAKING:
        return _schema()


@cache
def _schema() -> bytes:
    """Made once a process: it takes a second and never changes."""
    with override("en"):  # whoever asks first
        generated = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    rendered: bytes = OpenApiJsonRenderer().render(generated)
    return rendered


class Docs(SpectacularSwaggerSplitView):
    """Every call of the API: in one line each, and to be tried in Swagger UI, with its script in an answer of its own
    (`?script`)."""

    url_name = "api_schema"
    template_name = "api/docs.html"
    authentication_classes = (SessionAuthentication,)
    permission_classes = (AllowAny,)
    throttle_classes = ()

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Add the list to what Swagger UI needs."""
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response.data["groups"] = calls()
        return response
