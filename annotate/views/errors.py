"""Pages for what went wrong: what happened, whose turn it is, and a way on."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 400, _("That request cannot be understood"), _("Go back and try again."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 403, _("You may not do this"), _("Ask the owner of the study for the right to."))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return _page(
        request,
        403,
        _("This page is out of date"),
        _("You signed in or out since it was opened, or cookies are off. Go back, reload it and try again."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _page(request, 404, _("There is nothing here"), _("The link is wrong or old, or you may not see this."))


def server_error(request: HttpRequest) -> HttpResponse:
    return _page(request, 500, _("Something broke on our side"), _("It was noted. Try again in a minute."))


def _page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    context: dict[str, Any] = {"title": title, "text": text, "status": status}
    return render(request, "error.html", context, status=status)
