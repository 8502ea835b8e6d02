"""Headers of every answer, and answers to probes and scrapers."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from functools import partial

from csp.utils import build_policy
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.middleware.security import SecurityMiddleware
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin

from annotate.database import durability
from annotate.database.transactions import is_lost, once_more
from annotate.models import Claim
from annotate.server import prometheus

HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), interest-cohort=()",
}
TEXT = "text/plain; charset=utf-8"
#: A downloaded file that a browser opens all the same may do nothing.
OF_FILES = "sandbox; default-src 'none'"
#: Seconds that a write may take if more visitors are to be sent here.
READY_WITHIN = 1.0
Answerer = Callable[[HttpRequest], HttpResponse]


def probes(get_response: Answerer) -> Answerer:
    """Answer `/health/live`, `/health/ready` and scrapers before hosts and TLS are checked: they come from inside."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path_info == "/health/live":
            return HttpResponse("ok", content_type=TEXT)
        if request.path_info == "/health/ready":
            ready = _database_takes_writes()
            return HttpResponse(_worker() if ready else "no database", content_type=TEXT, status=200 if ready else 503)
        if request.path_info == "/metrics" and request.method in ("GET", "HEAD") and _is_scraper(request):
            return figures()
        return get_response(request)

    return middleware


class SecondLook(MiddlewareMixin):
    """Call a view again that lost a race: now it finds what was deleted gone. The API's views do this themselves."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        match = request.resolver_match
        if match is None or hasattr(match.func, "cls") or not is_lost(error):
            return None
        view: Callable[[], HttpResponse] = partial(match.func, request, *match.args, **match.kwargs)
        return once_more(view)


def figures() -> HttpResponse:
    """The figures for Prometheus, or 503 if the tables cannot be read."""
    try:
        return HttpResponse(prometheus.page(), content_type=prometheus.CONTENT_TYPE)
    except DatabaseError:
        return HttpResponse("no database", content_type=TEXT, status=503)


def _is_scraper(request: HttpRequest) -> bool:
    shown = request.headers.get("Authorization", "").encode()
    return bool(settings.METRICS_TOKEN) and hmac.compare_digest(shown, f"Bearer {settings.METRICS_TOKEN}".encode())


def _database_takes_writes() -> bool:
    """Whether answers can be stored here; else the balancer sends visitors elsewhere."""
    try:
        return durability.try_a_write(READY_WITHIN) <= READY_WITHIN
    except DatabaseError:
        return False


def _worker() -> str:
    """Whether the worker is well, in words: whatever fails there, visitors can judge here."""
    failed = Claim.objects.of_failed_looks().count()
    return f"ok, but the worker fails at {failed} studies: see doctor" if failed else "ok"


def security_headers(get_response: Answerer) -> Answerer:
    """Add Django's headers, django-csp's policy and what both leave out; no cache stores a page unless it says so.

    Django's own middleware is further inside: it redirects to TLS, which probes skip, and does not see earlier answers.
    Downloaded files may do nothing if they are opened. Signing out clears this browser's cache and storage, unless they
    are those of other sites of the host, too; not its cookies: those of every website of the same domain would be
    cleared, and the session is gone anyway.
    """

    of_django = SecurityMiddleware(get_response)
    # Composed once: django-csp's middleware does it twice for every answer.
    headers = HEADERS | {"Content-Security-Policy": str(build_policy())}

    def middleware(request: HttpRequest) -> HttpResponse:
        response = of_django.process_response(request, get_response(request))
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        if response.headers.get("Content-Disposition", "").startswith("attachment"):
            response.headers["Content-Security-Policy"] = OF_FILES
        signs_out = request.method == "POST" and request.path == reverse("sign_out") and response.status_code == 302
        if signs_out and not settings.FORCE_SCRIPT_NAME:
            response.headers["Clear-Site-Data"] = '"cache", "storage"'
        return response

    return middleware
