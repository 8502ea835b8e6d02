"""Pages for what went wrong: what happened, whose turn it is, and a way on."""

from __future__ import annotations

import sys
from typing import Any

from django.db import InterfaceError, OperationalError, ProgrammingError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotate.server import logs
from annotate.server.limits import TooOften

#: After how long to try again what the database could not take.
RETRY_SECONDS = 5
#: PostgreSQL's code for `insufficient_privilege`.
NO_PRIVILEGE = "42501"
#: What may be sent again by a button: of an answer that was stored after all, the first one stands.
SENT_AGAIN = {"pair", "skip", "undo"}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 400, _("This request is not valid"), _("Go back and try again."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 403, _("You may not do this"), _("Ask the owner of the study for this permission."))


def too_often(request: HttpRequest, often: TooOften) -> HttpResponse:
    """Somebody did too often what nobody needs to do often; when to come back."""
    response = _page(request, 429, _("Please wait a little"), str(often))
    response["Retry-After"] = str(often.seconds)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(
        request,
        403,
        _("This page is out of date"),
        _("You signed in or out after you opened it, or cookies are off. Go back, reload the page and try again."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, _("There is nothing here"), _("The link is wrong or old, or you may not see this."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Something broke; where it is that the database is away, locked or full, it passes, and that is what is said."""
    if _is_away(sys.exc_info()[1]):
        response = _answer_without_database(
            request,
            503,
            "unavailable",
            _("Nothing can be saved right now"),
            _("The database does not answer, and nothing was stored. Send it again in a few seconds."),
        )
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    title, text = _("Something went wrong on the server"), _("The error was logged. Try again in a minute.")
    return _answer_without_database(request, 500, "broken", title, text)


def _is_away(error: BaseException | None) -> bool:
    """Whether it is the database that fails, and not what it was asked."""
    # What PostgreSQL says of its own files where the disk has turned read-only.
    is_locked_out = isinstance(error, ProgrammingError) and getattr(error.__cause__, "sqlstate", "") == NO_PRIVILEGE
    return is_locked_out or isinstance(error, OperationalError | InterfaceError)


def _answer_without_database(request: HttpRequest, status: int, code: str, title: str, text: str) -> HttpResponse:
    """As JSON below the API's address, else a page that asks neither who reads it nor anything else of the database."""
    if request.path_info.startswith("/api/"):
        error = {"code": code, "message": f"{title}. {text}", "fields": {}}
        return JsonResponse({"error": error}, status=status)
    again = _sent(request) if status == 503 else None
    context = {"title": title, "text": text, "request_id": logs.request_id(), "again": again}
    return HttpResponse(render_to_string("error.html", context), status=status)


def _sent(request: HttpRequest) -> dict[str, Any] | None:
    """The address and the fields of an answer, so that nobody loses it whose browser runs no script of ours."""
    match = request.resolver_match
    if request.method != "POST" or match is None or match.view_name not in SENT_AGAIN:
        return None
    return {"address": request.get_full_path(), "fields": list(request.POST.items())}


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    context: dict[str, Any] = {"title": title, "text": text, "status": status}
    return render(request, "error.html", context, status=status)
