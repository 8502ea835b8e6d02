"""The description of the API, for programs and for people."""

from __future__ import annotations

from functools import cache
from threading import Lock

from django.http import HttpRequest, HttpResponse
from django.utils.translation import override
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import AllowAny

#: The generator is not made for two threads: asked by both at once, it fails for one of them.
_MAKING = Lock()


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI 3 description, in JSON."""
    with _MAKING:
        described = _schema()
    return HttpResponse(described, content_type="application/json")


@cache
def _schema() -> bytes:
    """Made once a process: it takes a second and never changes."""
    with override("en"):  # whoever asks first
        generated = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    rendered: bytes = OpenApiJsonRenderer().render(generated)
    return rendered


class Docs(SpectacularSwaggerSplitView):
    """Every call of the API, to be read and tried: Swagger UI, with its script in an answer of its own (`?script`)."""

    url_name = "api_schema"
    template_name = "api/docs.html"
    authentication_classes = (SessionAuthentication,)
    permission_classes = (AllowAny,)
    throttle_classes = ()
