"""Headers on every answer, and the probes of load balancers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import SuspiciousOperation
from django.db import OperationalError, connection
from django.http import Http404, HttpResponseBase
from django.test import Client

from annotate.server import limits
from annotate.server.middleware import OF_FILES
from tests.annotate import making
from tests.annotate.everything import World, undone

STATIC = Path(__file__).resolve().parents[2] / "static"
FIXED = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=(), interest-cohort=()",
}
STRICT = {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"}
ABSENT = ("Server", "X-Powered-By", "Access-Control-Allow-Origin")


def lacking(response: HttpResponseBase) -> list[str]:
    """What the answer should carry and does not, or carries and should not."""
    found = [name for name, value in FIXED.items() if response.headers.get(name) != value]
    found += [name for name in ABSENT if name in response.headers]
    policy = response.headers.get("Content-Security-Policy", "")
    is_file = response.headers.get("Content-Disposition", "").startswith("attachment")
    if is_file and policy != OF_FILES:
        found.append(f"a file's policy: {policy}")
    if not is_file and (not set(policy.split("; ")) >= STRICT or "unsafe" in policy or "*" in policy):
        found.append(f"a page's policy: {policy}")
    if not response.headers.get("Cache-Control", "").startswith(("no-store", "max-age=")):
        found.append(f"Cache-Control: {response.headers.get('Cache-Control')}")
    if response.headers.get("Content-Type", "").startswith("text/") and "charset=utf-8" not in response["Content-Type"]:
        found.append(response["Content-Type"])
    for cookie in response.cookies.values():
        kept_close = cookie["httponly"] and cookie["samesite"] == "Lax" and cookie["path"] == "/"
        if cookie["max-age"] != 0 and not kept_close:
            found.append(f"cookie {cookie.key}")
    return found


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_a_probe_is_answered_whatever_name_it_calls_us(client: Client, path: str) -> None:
    answer = client.get(path, headers={"host": "10.1.2.3:8000"})
    assert (answer.status_code, answer.content) == (200, b"ok")
    assert lacking(answer) == []


@pytest.mark.django_db(transaction=True)
def test_nobody_is_sent_to_a_website_whose_database_can_only_be_read(client: Client) -> None:
    mode = "PRAGMA query_only = {}" if connection.vendor == "sqlite" else "SET default_transaction_read_only = {}"
    with connection.cursor() as cursor:
        cursor.execute(mode.format("on"))
    try:
        assert client.get("/health/ready").status_code == 503
        assert client.get("/health/live").status_code == 200
    finally:
        with connection.cursor() as cursor:
            cursor.execute(mode.format("off"))
    assert client.get("/health/ready").status_code == 200


@pytest.mark.django_db
def test_whoever_comes_by_tls_is_told_to_stay_there_and_only_they(settings) -> None:
    settings.SECURE_HSTS_SECONDS = 60
    settings.SECURE_SSL_REDIRECT = True
    client = Client()

    def told(path: str, secure: bool, host: str = "127.0.0.1") -> tuple[int, str | None]:
        answer = client.get(path, secure=secure, headers={"host": host})
        return answer.status_code, answer.headers.get("Strict-Transport-Security")

    assert told("/about/", secure=True) == (200, "max-age=60")
    assert told("/about/", secure=True, host="evil.test") == (400, "max-age=60")
    assert told("/about/", secure=False) == (301, None)
    assert told("/about/", secure=False, host="evil.test") == (400, None)
    for probe in ("/health/live", "/health/ready"):
        assert told(probe, secure=True, host="10.1.2.3") == (200, "max-age=60")
        assert told(probe, secure=False, host="10.1.2.3") == (200, None)


def falling(error: Exception) -> Callable[..., HttpResponseBase]:
    def view(*_: Any, **__: Any) -> HttpResponseBase:
        raise error

    return view


def fallen(monkeypatch: pytest.MonkeyPatch, error: Exception, path: str = "/about/") -> HttpResponseBase:
    """What is answered where a view raises."""
    client = Client(raise_request_exception=False)
    with monkeypatch.context() as patched:
        patched.setattr("django.urls.resolvers.URLResolver.resolve", falling(error))
        return client.get(path)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "status"),
    [(SuspiciousOperation(), 400), (Http404(), 404), (RuntimeError(), 500), (OperationalError("locked"), 503)],
    ids=["400", "404", "500", "503"],
)
@pytest.mark.parametrize("path", ["/about/", "/api/v1/studies/"])
def test_what_fell_carries_the_headers_too(monkeypatch, path, error, status):
    response = fallen(monkeypatch, error, path)
    assert response.status_code == status
    assert lacking(response) == []


@pytest.mark.django_db
def test_what_is_refused_before_a_view_sees_it_carries_the_headers_too(settings, monkeypatch):
    client = Client(enforce_csrf_checks=True)
    answers = {
        "400 another host": client.get("/about/", headers={"host": "evil.test"}),
        "301 no slash": client.get("/about"),
        "302 to the door": client.get("/studies/"),
        "403 forged": client.post("/sign-in/", {"username": "x", "password": "x"}),
        "405 page": Client().put("/about/"),
        "404 page": client.get("/no/such/page/"),
        "404 API": client.get("/api/v1/no/such/"),
        "401 API": client.get("/api/v1/studies/"),
    }
    for _ in range(limits.GUESSES.times + 1):
        answers["429 guessed"] = client.get("/join/no-such-invitation/")
    person = making.person()
    for _ in range(limits.WRONG_PASSWORDS_OF_NAME.times + 1):
        answers["429 locked"] = Client().post("/sign-in/", {"username": person.username, "password": "wrong"})
    settings.SECURE_SSL_REDIRECT = True
    answers["301 to TLS"] = Client().get("/about/")
    monkeypatch.setattr("annotate.server.middleware._database_takes_writes", lambda: False)
    answers["503 probe"] = Client().get("/health/ready")
    wrong = {name: response.status_code for name, response in answers.items() if f"{response.status_code}" != name[:3]}
    assert wrong == {}
    assert {name: found for name, response in answers.items() if (found := lacking(response))} == {}


@pytest.mark.django_db
def test_what_is_refused_by_the_session_carries_the_headers_too(client: Client) -> None:
    def refuse(*_: Any) -> None:
        raise OperationalError("the database is away")

    client = Client(raise_request_exception=False)
    client.cookies["session"] = "f" * 32
    with connection.execute_wrapper(refuse):
        response = client.get("/studies/")
    assert response.status_code == 503
    assert lacking(response) == []


@pytest.mark.django_db
def test_a_body_that_is_too_large_is_refused_with_the_headers(world: World, settings) -> None:
    settings.UPLOAD_LIMIT = 10
    owner = world.clients["owner"]
    path = world.path("api_uploads") + "?filename=x"
    response = owner.post(path, b"x" * 100, content_type="application/octet-stream")
    assert response.status_code == 413
    assert lacking(response) == []
    assert lacking(owner.put(world.path("api_studies"))) == []


def test_static_files_carry_the_headers_and_may_be_read_by_no_other_website(settings, db):
    settings.STATIC_ROOT = STATIC
    client = Client()
    name = next(path.relative_to(STATIC) for path in sorted(STATIC.rglob("*.css")))
    found = client.get(f"/static/{name}")
    assert (found.status_code, found["Content-Type"]) == (200, 'text/css; charset="utf-8"')
    again = client.get(f"/static/{name}", headers={"if-modified-since": found["Last-Modified"]})
    assert again.status_code == 304
    assert b"".join(found.streaming_content)
    for response in (found, again, client.get("/static/none.css")):
        assert [one for one in lacking(response) if not one.startswith("text/css")] == []


@pytest.mark.django_db
def test_every_answer_of_the_api_carries_the_headers(world):
    wrong = {}
    for name in ("api_studies", "api_study", "api_topics", "api_export_file", "api_judgments", "api_schema"):
        for caller in ("nobody", "stranger", "owner"):
            for method in ("GET", "DELETE", "PATCH"):
                with undone():
                    response = world.call(caller, method, name)
                    if response.streaming:
                        assert b"".join(response.streaming_content)
                if found := lacking(response):
                    wrong[method, name, caller, response.status_code] = found
    assert wrong == {}


@pytest.mark.django_db
def test_whoever_signs_out_leaves_nothing_behind() -> None:
    client = Client()
    client.force_login(making.person())
    assert "Clear-Site-Data" not in client.get("/about/").headers
    response = client.post("/sign-out/")
    assert response["Clear-Site-Data"] == '"cache", "storage"'
    assert response.cookies["session"]["max-age"] == 0


def test_a_policy_that_is_missing_would_be_seen(monkeypatch, db):
    """The check of these tests is no sham."""
    monkeypatch.setattr("annotate.server.middleware.HEADERS", {})
    found = lacking(Client().get("/about/"))
    assert found == ["Cross-Origin-Resource-Policy", "Cross-Origin-Embedder-Policy", "Permissions-Policy"]
