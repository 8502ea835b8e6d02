"""An answer that met a database that was away is not lost by whoever's browser runs no script."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, ProgrammingError, connection
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from psycopg.errors import InsufficientPrivilege

from annotate import invitations, judging
from annotate.models import Assignment, Judgment
from tests.annotate import making
from tests.annotate.judging_study import ready_study

pytestmark = pytest.mark.django_db

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')


@pytest.fixture
def browser() -> Client:
    """Somebody's, with every check of a real one and without script."""
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


@pytest.fixture
def first(browser: Client) -> Assignment:
    """The first pair that they are shown."""
    study = ready_study(sentences=12)
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    page = browser.get(link)
    begun = browser.post(link, {"csrfmiddlewaretoken": page.context["csrf_token"]})
    return Assignment.objects.get(key=begun.url.split("/")[2])


LOCKED = OperationalError("database is locked")
READ_ONLY = ProgrammingError("could not extend file: Read-only file system")
READ_ONLY.__cause__ = InsufficientPrivilege("could not extend file: Read-only file system")


@contextmanager
def away(error: Exception = LOCKED) -> Iterator[None]:
    def fail(*_: object) -> None:
        raise error

    with connection.execute_wrapper(fail):
        yield


def form(page: HttpResponse, button: str) -> tuple[str, dict[str, str]]:
    """Where the form with this button goes, and what it sends."""
    found = [one for one in re.findall(r"<form.*?</form>", page.content.decode(), re.DOTALL) if button in one]
    (text,) = found
    (action,) = re.findall(r'action="([^"]*)"', text)
    return html.unescape(action), {name: html.unescape(value) for name, value in HIDDEN.findall(text)}


def judge(browser: Client, pair: Assignment) -> HttpResponse:
    action, fields = form(browser.get(reverse("pair", args=[pair.key])), 'value="left"')
    return browser.post(action, fields | {"answer": "left"})


def send_again(browser: Client, page: HttpResponse) -> HttpResponse:
    assert page.status_code == 503
    return browser.post(*form(page, "Send again"))


@pytest.mark.parametrize("error", [LOCKED, READ_ONLY])
def test_the_page_that_says_so_sends_the_answer_again(browser: Client, first: Assignment, error: Exception) -> None:
    action, fields = form(browser.get(reverse("pair", args=[first.key])), 'value="left"')
    with away(error):
        page = browser.post(action, fields | {"answer": "right"})
        page = send_again(browser, page)
    assert not Judgment.objects.exists()
    led_on = send_again(browser, page)
    assert led_on.status_code == 302
    assert led_on.url != reverse("pair", args=[first.key])
    stored = Judgment.objects.get()
    assert (stored.assignment, stored.answer, stored.revision) == (first, "right", 1)


def test_an_answer_that_was_stored_all_the_same_is_stored_once(
    browser: Client, first: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object, **__: object) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr(judging, "draw", gone)
        patched.setattr(judging.answers, "draw_with_answer", gone)
        page = judge(browser, first)
    assert Judgment.objects.count() == 1
    assert send_again(browser, page).status_code == 302
    assert Judgment.objects.count() == 1


def test_a_skip_and_an_undo_are_sent_again_too(browser: Client, first: Assignment) -> None:
    following = judge(browser, first).url
    page = browser.get(following)
    action, fields = form(page, "Undo")
    with away():
        broken = browser.post(action, fields)
    assert send_again(browser, broken).url == reverse("pair", args=[first.key])
    action, fields = form(browser.get(reverse("pair", args=[first.key])), 'value="unclear"')
    with away():
        broken = browser.post(action, fields | {"reason": "unclear"})
    send_again(browser, broken)
    first.refresh_from_db()
    assert (first.state, first.skip_reason) == (Assignment.State.SKIPPED, "unclear")


def test_no_page_repeats_what_else_was_sent(browser: Client) -> None:
    page = browser.get(reverse("sign_in"))
    sent = {"csrfmiddlewaretoken": page.context["csrf_token"], "username": "ada", "password": "CANARY"}
    with away():
        page = browser.post(reverse("sign_in"), sent)
    assert page.status_code == 503
    assert "CANARY" not in page.content.decode()
    assert "Send again" not in page.content.decode()


def test_what_is_repeated_is_text(browser: Client, first: Assignment) -> None:
    action, fields = form(browser.get(reverse("pair", args=[first.key])), 'value="left"')
    with away():
        page = browser.post(action, fields | {"answer": '"><script>1</script>'})
    assert "<script>1" not in page.content.decode()
    assert form(page, "Send again")[1]["answer"] == '"><script>1</script>'
