"""The second factor of an account: no way to a session goes round it, and no code works twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pyotp
import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotate import invitations, second_factor
from annotate.models import AuditEntry, SecondFactor
from annotate.refusal import Refusal
from annotate.server import email, limits
from tests.annotate.test_account_sessions import is_in
from tests.annotate.test_judging_together import at_once
from tests.annotate.test_page_hostile import HOSTILE
from tests.conftest import ROOT

pytestmark = pytest.mark.django_db
PASSWORD = "four unrelated words here"
SECRET = pyotp.random_base32()
APP = pyotp.TOTP(SECRET)


@pytest.fixture
def clock() -> Iterator[time_machine.Coordinates]:
    with time_machine.travel("2026-11-21 12:00:10Z", tick=False) as clock:
        yield clock


@pytest.fixture
def ada(clock: Any) -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


@pytest.fixture
def recovery(ada: User, clock: Any) -> list[str]:
    """Her recovery codes; the next code of her app is a new one."""
    codes = second_factor.switch_on(ada, SECRET, APP.now())
    clock.shift(30)
    return codes


def asked(password: str = PASSWORD) -> Client:
    """A browser whose password was right, so that it is asked for the code."""
    client = Client()
    found = client.post("/sign-in/", {"username": "ada", "password": password, "next": "/judging/"})
    assert (found.status_code, found["Location"]) == (302, "/sign-in/code/")
    assert not is_in(client)
    return client


def give(client: Client, code: str) -> Any:
    return client.post("/sign-in/code/", {"code": code})


def page_of(client: Client) -> str:
    return str(client.get("/account/second-factor/").content.decode())


def change(client: Client, code: str, **more: str) -> Any:
    return client.post("/account/second-factor/", {"password": PASSWORD, "code": code, **more})


def test_it_is_set_up_with_an_app_and_its_recovery_codes_are_shown_once(ada: User, client: Client) -> None:
    client.force_login(ada)
    secret = re.search(r"<code>([A-Z2-7]{32})</code>", page_of(client))
    assert secret
    assert secret[1] in page_of(client), "the same until it is set up"
    assert "wrong" in change(client, "000000").content.decode()
    assert not second_factor.is_on(ada)
    shown = change(client, f" {pyotp.TOTP(secret[1]).now()} ").content.decode()
    codes = re.findall(r"<code>((?:[a-z2-7]{6}-){3}[a-z2-7]{6})</code>", shown)
    assert len(set(codes)) == 10
    assert "10 recovery codes are left" in page_of(client)
    assert secret[1] not in page_of(client)
    kept = str(SecondFactor.objects.values().get()["recovery"])
    assert not any(code in page_of(client) or code in kept or code.replace("-", "") in kept for code in codes)
    assert AuditEntry.objects.filter(actor=ada, action="switch on second factor").count() == 1


def test_a_password_alone_signs_nobody_in(recovery: list[str], ada: User) -> None:
    client = asked()
    assert give(client, APP.now())["Location"] == "/judging/"
    assert is_in(client)
    assert AuditEntry.objects.get(actor=ada, action="sign in").detail == {"by": "password and code"}


def test_a_code_is_taken_once_and_of_the_neighbouring_half_minutes_only(recovery: list[str], clock: Any) -> None:
    code, client = APP.now(), asked()
    give(client, code)
    assert "used already" in give(asked(), code).content.decode()
    clock.shift(90)
    for steps, right in ((-60, False), (60, False), (-30, True), (30, True)):
        client = asked()
        give(client, APP.at(timezone.now() + timedelta(seconds=steps)))
        assert is_in(client) == right, steps


def test_a_recovery_code_is_good_once_however_it_is_typed(recovery: list[str], ada: User) -> None:
    for typed, right in (
        (recovery[0], True),
        (recovery[0], False),
        (f" {recovery[1].upper().replace('-', ' ')}", True),
    ):
        client = asked()
        give(client, typed)
        assert is_in(client) == right
    assert [entry.detail for entry in AuditEntry.objects.filter(action="use recovery code")] == [
        {"left": 9},
        {"left": 8},
    ]


def test_a_sign_in_link_asks_for_the_code_too(recovery: list[str], ada: User, client: Client) -> None:
    assert client.post(invitations.sign_in_path(ada, "/about/"))["Location"] == "/sign-in/code/"
    assert not is_in(client)
    assert give(client, APP.now())["Location"] == "/about/"
    assert AuditEntry.objects.get(actor=ada, action="sign in").detail == {"by": "link and code"}


def test_a_new_password_by_e_mail_does_not_go_round_it(recovery: list[str], client: Client, settings: Any) -> None:
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    client.post("/password/forgotten/", {"email": "ada@example.org"})
    email.wait()
    link = re.search(r"https?://[^/]+(/\S+)", str(mail.outbox[0].body))
    assert link
    form, new = client.get(link[1])["Location"], "quite other words than before"
    assert client.post(form, {"new_password1": new, "new_password2": new})["Location"] == "/sign-in/"
    assert not is_in(client)
    give(client := asked(new), APP.now())
    assert is_in(client)


def test_only_one_place_begins_sessions() -> None:
    """Whatever else did would go round the code."""
    calls = [
        path.name for path in (ROOT / "annotate").rglob("*.py") if re.search(r"\blogin\(request", path.read_text())
    ]
    assert calls == ["second_factor.py"]


def test_whoever_gave_no_password_is_led_to_it(recovery: list[str], client: Client) -> None:
    assert client.get("/sign-in/code/")["Location"] == give(client, APP.now())["Location"] == "/sign-in/"
    assert not is_in(client)


@pytest.mark.parametrize("change", ["time", "password", "locked"])
def test_a_password_that_is_right_no_longer_waits_for_no_code(
    recovery: list[str], ada: User, clock: Any, change: str
) -> None:
    client = asked()
    if change == "time":
        clock.shift(601)
    elif change == "password":
        ada.set_password("quite other words than before")
        ada.save()
    else:
        User.objects.update(is_active=False)
    assert give(client, APP.now())["Location"] == "/sign-in/"
    assert not is_in(client)


def test_five_wrong_codes_close_the_account_wherever_they_come_from(recovery: list[str], clock: Any) -> None:
    for number in range(5):
        client = asked()
        assert client.post("/sign-in/code/", {"code": "1"}, REMOTE_ADDR=f"192.0.2.{number}").status_code == 200
    closed = give(client, APP.now())
    assert (closed.status_code, closed["Retry-After"]) == (429, "900")
    assert not is_in(client)
    clock.shift(901)
    give(client := asked(), APP.now())
    assert is_in(client)


def closed_by_somebody(password: str = PASSWORD) -> None:
    """Somebody who knows the password sends wrong codes, until no code of the app is taken."""
    for _time in range(5):
        assert give(asked(password), "123456").status_code == 200
    assert give(asked(password), APP.now()).status_code == 429


def test_a_recovery_code_lets_the_owner_in_while_wrong_codes_close_the_account(recovery: list[str], ada: User) -> None:
    closed_by_somebody()
    client = asked()
    refused = give(client, APP.now())
    assert "recovery code" in refused.content.decode()
    assert give(client, recovery[0].replace("a", "b")[::-1]).status_code == 429, "a wrong one is like any other"
    assert not is_in(client)
    assert give(client, recovery[0].upper())["Location"] == "/judging/"
    assert is_in(client)
    assert not second_factor.take(ada, recovery[0])


def test_a_recovery_code_switches_it_off_while_wrong_codes_close_the_account(
    recovery: list[str], ada: User, client: Client
) -> None:
    client.force_login(ada)
    closed_by_somebody()
    assert change(client, APP.now()).status_code == 429
    assert client.post("/account/second-factor/", {"password": "x", "code": recovery[0]}).status_code == 429
    assert second_factor.is_on(ada)
    assert change(client, recovery[0])["Location"] == "/account/"
    assert not second_factor.is_on(ada)


def test_a_new_password_by_e_mail_opens_an_account_that_wrong_codes_closed(
    recovery: list[str], client: Client, settings: Any
) -> None:
    """To its owner, who still needs a code; whoever sent the wrong ones knows no password any more."""
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    waiting = asked()
    closed_by_somebody()
    client.post("/password/forgotten/", {"email": "ada@example.org"})
    email.wait()
    link = re.search(r"https?://[^/]+(/\S+)", str(mail.outbox[0].body))
    assert link
    form, new = client.get(link[1])["Location"], "quite other words than before"
    assert client.post(form, {"new_password1": new, "new_password2": new})["Location"] == "/sign-in/"
    assert give(waiting, APP.now())["Location"] == "/sign-in/"
    assert not is_in(waiting)
    give(client := asked(new), APP.now())
    assert is_in(client)


def test_no_code_makes_us_fall(recovery: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "WRONG_CODES", limits.Limit("code", 1_000, 900))
    client = asked()
    for hostile in HOSTILE:
        assert give(client, hostile.encode("utf-8", "surrogatepass").decode("utf-8", "replace")).status_code == 200
    assert not is_in(client)


def test_wrong_passwords_and_codes_are_counted_where_it_is_switched_off(
    recovery: list[str], ada: User, client: Client
) -> None:
    client.force_login(ada)
    for _time in range(4):
        assert change(client, "1").status_code == 200
    assert client.post("/account/second-factor/", {"password": "x", "code": APP.now()}).status_code == 200
    assert change(client, APP.now()).status_code == 429
    assert second_factor.is_on(ada)


def test_it_is_switched_off_with_password_and_code(recovery: list[str], ada: User, client: Client) -> None:
    client.force_login(ada)
    assert change(client, APP.now())["Location"] == "/account/"
    assert not second_factor.is_on(ada)
    assert Client().post("/sign-in/", {"username": "ada", "password": PASSWORD})["Location"] == "/"


def test_recovery_codes_are_new_where_it_is_switched_on_again(recovery: list[str], ada: User) -> None:
    second_factor.switch_off(ada, recovery[0])
    codes = second_factor.switch_on(ada, SECRET, APP.now())
    assert not second_factor.take(ada, recovery[1])
    assert second_factor.take(ada, codes[1])


def test_an_account_without_a_password_has_none(client: Client) -> None:
    client.force_login(User.objects.create_user("demo"))
    assert client.get("/account/second-factor/").status_code == 404
    assert b"Second factor" not in client.get("/account/").content


def test_an_operator_removes_it_as_the_documentation_says(recovery: list[str], ada: User) -> None:
    command = re.search(r'manage\.py shell -c "([^"]+)"', (ROOT / "docs/operators.md").read_text())
    assert command
    call_command(
        "shell",
        "--no-imports",
        command="from django.contrib.auth.models import User; " + command[1].replace("NAME", "ada"),
    )
    assert not second_factor.is_on(ada)
    with pytest.raises(Refusal):
        second_factor.switch_off(ada, APP.now())


@pytest.mark.django_db(transaction=True)
def test_two_requests_at_once_do_not_both_use_a_code(recovery: list[str], ada: User) -> None:
    taken = at_once(*[partial(second_factor.take, ada, recovery[0])] * 4)
    assert sorted(taken) == [False] * 3 + [True]
