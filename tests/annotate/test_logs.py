"""What is said when something goes wrong, to the log and to whoever waits: enough to find it, nothing of anybody's."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from celery.worker.request import Request
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest
from django.test import Client, RequestFactory

from annotate.server import gunicorn, logs
from evaluation import app


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """What the installation's own log says, as JSON, from level INFO on."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.Json("%(levelname)s %(name)s %(message)s"))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


def lines(said: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.getvalue().splitlines()]


@pytest.fixture
def browser() -> Client:
    return Client(raise_request_exception=False)


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("nobody foresaw this")


@pytest.mark.django_db
def test_a_page_that_broke_names_the_request_that_the_log_names(
    browser: Client, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotate.views.account.render", broken)
    response = browser.get("/about/")
    assert response.status_code == 500
    name = response[logs.HEADER]
    assert name in response.content.decode()
    found = [line for line in lines(said) if line["name"] == "django.request"]
    assert [line["request"] for line in found] == [name]
    assert "nobody foresaw this" in found[0]["exc_info"]


@pytest.mark.django_db
def test_every_line_about_a_request_carries_its_id_and_its_route(browser: Client, said: io.StringIO) -> None:
    names = [browser.get(path)[logs.HEADER] for path in ("/about/", "/no/such/page/", "/join/Secret-Invitation/")]
    assert len(set(names)) == 3
    asked = [line for line in lines(said) if line["name"] == "annotate.server.logs"]
    assert [line["request"] for line in asked] == names
    assert [line["message"] for line in asked] == ["GET /about/", "GET (no such address)", "GET /join/<str:token>/"]
    assert [line["status"] for line in asked] == [200, 404, 404]
    assert {line["request"] for line in lines(said)} == set(names)


@pytest.mark.django_db
def test_gunicorn_works_out_no_line_about_a_request() -> None:
    said = gunicorn.Logger.__new__(gunicorn.Logger)  # made as usual it would set up all logging anew
    said.access(None, None, None, None)  # it would look into what it was given


def test_no_log_holds_a_token_a_platforms_id_or_a_text(browser: Client, said: io.StringIO) -> None:
    browser.get("/join/CANARY-invitation/?PROLIFIC_PID=CANARY-person")
    browser.get("/crowd/CANARY-link/?PROLIFIC_PID=CANARY-person&SESSION_ID=CANARY")
    browser.get("/CANARY/")
    browser.get("/api/v1/studies/", headers={"Authorization": "Bearer CANARY-token"})
    browser.post("/sign-in/", {"username": "CANARY", "password": "CANARY-password"})
    assert lines(said)
    assert "CANARY" not in said.getvalue()


@pytest.mark.django_db
def test_no_log_quotes_a_row_that_the_database_would_not_take(said: io.StringIO) -> None:
    rows = "duplicate key\nDETAIL:  Key (text)=(CANARY\nand\n\nmore CANARY) already exists."
    try:
        try:
            raise OperationalError(rows)
        except OperationalError as error:
            raise RuntimeError("what we made of it") from error
    except RuntimeError:
        logging.getLogger("annotate").exception("it failed")
    assert "CANARY" not in said.getvalue()
    assert "duplicate key" in said.getvalue()
    assert "what we made of it" in said.getvalue()


@pytest.mark.parametrize("behind", [True, False])
def test_an_id_of_a_request_is_believed_from_a_proxy_only(settings: Any, behind: bool) -> None:
    settings.BEHIND_PROXY = behind
    given = RequestFactory().get("/", headers={logs.HEADER: "from-the-proxy-1"})
    forged = RequestFactory().get("/", headers={logs.HEADER: "x" * 65})

    def named(request: HttpRequest) -> str:
        from django.http import HttpResponse

        return logs.request_ids(lambda _: HttpResponse())(request)[logs.HEADER]

    assert (named(given) == "from-the-proxy-1") is behind
    assert named(forged) != "x" * 65


def test_a_line_stays_a_line_whatever_was_sent() -> None:
    record = logging.makeLogRecord({"name": "annotate", "msg": "a\nforged line\r", "levelname": "INFO"})
    assert logs.Plain("%(message)s").format(record) == "a\\nforged line\\r"


def test_what_a_worker_says_names_its_task(said: io.StringIO) -> None:
    app.name_the_task(task_id="topic:12 5f2a", args=("refit_topic", 12))
    logging.getLogger("evaluation").warning("inside")
    app.forget_the_task()
    logging.getLogger("evaluation").warning("outside")
    inside, outside = lines(said)
    assert (inside["task"], inside["work"]) == ("5f2a", "refit_topic 12")
    assert "task" not in outside


@pytest.mark.parametrize(("limit", "number"), [(app.QUICK_SOFT, 0), (app.SOFT_LIMIT, 1)])
def test_a_worker_warns_of_work_that_took_too_long_and_not_of_work_that_was_not_quick(
    said: io.StringIO, limit: float, number: int
) -> None:
    Request.on_timeout(SimpleNamespace(name="work", id="topic:12 5f2a"), True, limit)
    assert len(lines(said)) == number


# The database is away


@pytest.mark.django_db
@pytest.mark.parametrize("failure", [OperationalError("database is locked"), InterfaceError("connection is closed")])
@pytest.mark.parametrize("path", ["/", "/sign-in/", "/studies/", "/api/v1/me/"])
def test_without_a_database_everybody_is_told_to_come_back(browser: Client, path: str, failure: Exception) -> None:
    from tests.annotate import making

    browser.force_login(making.person())

    def away(*_: object) -> None:
        raise failure

    with connection.execute_wrapper(away):
        response = browser.get(path)
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert response[logs.HEADER]
    assert "default-src 'none'" in response["Content-Security-Policy"]
    if path.startswith("/api/"):
        assert response.json()["error"]["code"] == "unavailable"
    else:
        assert "Send it again in a few seconds" in response.content.decode()


@pytest.mark.django_db
def test_what_is_refused_or_finds_no_database_is_a_line_without_a_traceback(
    browser: Client, said: io.StringIO, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["judge.example.org"]
    here = {"host": "judge.example.org"}
    from tests.annotate import making

    browser.force_login(making.person())

    def away(*_: object) -> None:
        raise OperationalError("connection refused\n\tIs the server running?")

    with connection.execute_wrapper(away):
        for path in ("/", "/studies/", "/api/v1/me/"):
            assert browser.get(path, headers=here).status_code == 503
    assert browser.get("/", headers={"host": "forged.example.org"}).status_code == 400
    broken = {"content_type": "multipart/form-data; boundary=", "data": b"x"}
    assert browser.post("/sign-in/", headers=here, **broken).status_code == 400
    assert browser.post("/studies/new/", headers=here).status_code == 403
    found = [line for line in lines(said) if line["levelname"] != "INFO"]
    assert len(found) == 6, found
    assert not any("exc_info" in line or "Traceback" in line["message"] for line in found)
    assert [line["message"].endswith("(connection refused)") for line in found[:3]] == [True] * 3


def test_a_heartbeat_without_a_database_is_a_line_and_one_that_is_broken_a_traceback(said: io.StringIO) -> None:
    for failure in (OperationalError("the database is away"), ValueError("nobody foresaw this")):
        try:
            raise failure
        except Exception:
            logging.getLogger("evaluation.heartbeat").exception("this heartbeat failed")
    away, fault = lines(said)
    assert away["message"] == "this heartbeat failed (the database is away)"
    assert "exc_info" not in away
    assert "nobody foresaw this" in fault["exc_info"]
