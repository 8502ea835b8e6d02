"""Every error in one form: {"error": {"code", "message", "fields"}}."""

from __future__ import annotations

import math
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.common import no_append_slash
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from annotate import judging
from annotate.refusal import Refusal
from annotate.server.limits import TooOften

#: A refusal is a conflict with the present state, unless its code says that it is about the request.
STATUS_OF_REFUSALS = {"invalid": 400, "empty": 400, "words_changed": 400, "too_large": 413, "used": 422, "no_room": 507}


def answer(exception: Exception, context: dict[str, Any]) -> Response | None:
    """The answer to an exception; None if the caller is not at fault: then `views.errors` answers, as on pages."""
    if isinstance(exception, Refusal):
        status = STATUS_OF_REFUSALS.get(exception.code, 409)
        return _response(status, exception.code, exception.message, exception.fields)
    if isinstance(exception, judging.OutOfTurn):
        message = _("This is not the next revision of this pair. Draw the pair again to get it.")
        return _response(409, "out_of_turn", message)
    if isinstance(exception, judging.TooSoon):
        message = _("A person's answers must be at least a second apart. Send this one again in a moment.")
        response = _response(429, "too_soon", message)
        response["Retry-After"] = "1"
        return response
    if isinstance(exception, TooOften):
        response = _response(429, "throttled", str(exception))
        response["Retry-After"] = str(exception.seconds)
        return response
    if isinstance(exception, Http404):
        exception = exceptions.NotFound(_("There is nothing here, or you may not see it."))
    elif isinstance(exception, PermissionDenied):
        exception = exceptions.PermissionDenied(_("You may not do this."))
    if not isinstance(exception, exceptions.APIException):
        return None
    set_rollback()
    fields: dict[str, list[str]] = {}
    if isinstance(exception, exceptions.ValidationError):
        code, message = "invalid", _("Some values are not valid.")
        _flatten(exception.detail, "", fields)
    else:
        code, message = str(exception.get_codes()), str(exception.detail)
    response = _response(exception.status_code, code, message, fields)
    if (wait := getattr(exception, "wait", None)) is not None:
        response["Retry-After"] = str(math.ceil(wait))
    if header := getattr(exception, "auth_header", None):
        response["WWW-Authenticate"] = header
    return response


@no_append_slash
def not_found(request: HttpRequest, path: str = "") -> JsonResponse:
    """An unknown address below the API's."""
    message = _("There is nothing here. The schema lists all addresses.")
    if path and not path.endswith("/"):
        message = _("There is nothing here. Addresses of this API end with a slash.")
    return JsonResponse({"error": {"code": "not_found", "message": message, "fields": {}}}, status=404)


def _response(status: int, code: str, message: str, fields: dict[str, list[str]] | None = None) -> Response:
    return Response({"error": {"code": code, "message": message, "fields": fields or {}}}, status=status)


def _flatten(detail: Any, path: str, fields: dict[str, list[str]]) -> None:
    """Nested complaints as lists by dotted path."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            _flatten(inner, f"{path}.{name}" if path else str(name), fields)
    elif isinstance(detail, list):
        for number, inner in enumerate(detail):
            if isinstance(inner, dict | list):
                _flatten(inner, f"{path}[{number}]", fields)
            else:
                fields.setdefault(path, []).append(str(inner))
    else:
        fields.setdefault(path, []).append(str(detail))
