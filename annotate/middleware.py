"""What every answer carries, whoever wrote it, and the two answers that load balancers ask for."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse

HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), interest-cohort=()",
}
Answerer = Callable[[HttpRequest], HttpResponse]


def probes(get_response: Answerer) -> Answerer:
    """Answer `/health/live` and `/health/ready` before hosts and TLS are looked at: probes come from inside."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.path == "/health/live":
            return HttpResponse("ok", content_type="text/plain")
        if request.path == "/health/ready":
            ready = _database_answers()
            return HttpResponse(
                "ok" if ready else "no database", content_type="text/plain", status=200 if ready else 503
            )
        return get_response(request)

    return middleware


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
            return cursor.fetchone() is not None
    except DatabaseError:
        return False


def security_headers(get_response: Answerer) -> Answerer:
    """Add the headers that Django and django-csp leave out; pages are never kept by a cache unless they say so."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware
