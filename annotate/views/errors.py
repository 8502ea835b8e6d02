"""Error pages: what happened, who has to act, and how to continue."""

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

#: When to try again after the database failed.
RETRY_SECONDS = 5
#: PostgreSQL's code for `insufficient_privilege`.
NO_PRIVILEGE = "42501"
#: The API's codes of errors that Django answers.
CODES = {400: "invalid", 403: "permission_denied", 404: "not_found", 429: "throttled"}
#: Addresses of the API at which nothing can be changed.
ONLY_READ = {"api_nothing", "api_schema"}
#: Views whose requests a button may send again: if an answer was stored after all, the first one stands.
SENT_AGAIN = {"pair", "skip", "undo"}


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 400, _("This request is not valid"), _("Go back and try again."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 403, _("You may not do this"), _("Ask the owner of the study for this permission."))


def too_often(request: HttpRequest, often: TooOften) -> HttpResponse:
    """The visitor has reached a rate limit; when to come back."""
    response = _page(request, 429, _("Please wait a little"), str(often))
    response["Retry-After"] = str(often.seconds)
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form without its token. An address that changes nothing answers for itself: that there is nothing, or that it
    is only read."""
    match = request.resolver_match
    if match is not None and match.url_name in ONLY_READ:
        answer: HttpResponse = match.func(request, *match.args, **match.kwargs)
        return answer
    return _page(
        request,
        403,
        _("This page is out of date"),
        _("You signed in or out after you opened it, or cookies are off. Go back, reload the page and try again."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, _("There is nothing here"), _("The link is wrong or old, or you may not see this."))


def server_error(request: HttpRequest) -> HttpResponse:
    """An error of the server; says so if the database is only unavailable, locked or full, which passes."""
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
    """Whether the database itself failed, rather than a query."""
    # PostgreSQL's error about its own files when the disk has turned read-only.
    is_locked_out = isinstance(error, ProgrammingError) and getattr(error.__cause__, "sqlstate", "") == NO_PRIVILEGE
    return is_locked_out or isinstance(error, OperationalError | InterfaceError)


def _answer_without_database(request: HttpRequest, status: int, code: str, title: str, text: str) -> HttpResponse:
    """JSON below the API's address, else a page that needs neither the user nor anything else from the database."""
    if _is_of_api(request):
        return _json(status, code, title, text)
    again = _sent(request) if status == 503 else None
    context = {"title": title, "text": text, "request_id": logs.request_id(), "again": again}
    return HttpResponse(render_to_string("error.html", context), status=status)


def _is_of_api(request: HttpRequest) -> bool:
    return f"{request.path_info}/".startswith("/api/")


def _json(status: int, code: str, title: str, text: str) -> HttpResponse:
    return JsonResponse({"error": {"code": code, "message": f"{title}. {text}", "fields": {}}}, status=status)


def _sent(request: HttpRequest) -> dict[str, Any] | None:
    """The address and fields of an answer, so that browsers without our script can send it again."""
    match = request.resolver_match
    if request.method != "POST" or match is None or match.view_name not in SENT_AGAIN:
        return None
    return {"address": request.get_full_path(), "fields": list(request.POST.items())}


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    if _is_of_api(request):
        return _json(status, CODES[status], title, text)
    context: dict[str, Any] = {"title": title, "text": text, "status": status}
    return render(request, "error.html", context, status=status)
