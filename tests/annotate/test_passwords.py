"""Forgotten passwords: an address that was confirmed, a link that is good once, and nothing told to strangers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client

from annotate import accounts
from annotate.models import AuditEntry
from annotate.server import email
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db
PASSWORD = "four unrelated words here"
NEW = "quite other words than before"
LINK = re.compile(r"https?://[^/]+(/\S+)")


@pytest.fixture(autouse=True)
def set_up(settings: Any) -> Iterator[None]:
    settings.EMAIL_SERVER = "smtp://mail.example.org"
    yield
    email.wait()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


def asked(address: str = "ada@example.org", client: Client | None = None) -> list[str]:
    """The links in the e-mails that come when somebody has forgotten the password to this address."""
    mail.outbox.clear()
    response = (client or Client()).post("/password/forgotten/", {"email": address})
    assert (response.status_code, response["Location"]) == (302, "/password/forgotten/sent/")
    email.wait()
    return [LINK.search(str(message.body))[1] for message in mail.outbox]  # type: ignore[index]


def change(client: Client, link: str) -> Any:
    form = client.get(link)
    return (
        client.post(form["Location"], {"new_password1": NEW, "new_password2": NEW}) if form.status_code == 302 else form
    )


def test_a_link_changes_the_password_once_ends_all_sessions_and_is_in_the_log(ada: User, client: Client) -> None:
    elsewhere = signed_in(ada)
    (link,) = asked()
    assert mail.outbox[0].to == ["ada@example.org"]
    assert change(client, link)["Location"] == "/sign-in/"
    ada.refresh_from_db()
    assert ada.check_password(NEW)
    assert elsewhere.get("/account/").status_code == 302, "signed out"
    assert AuditEntry.objects.get(action="change password").detail == {"by": "email"}
    assert change(Client(), link).status_code == 404
    assert client.post("/sign-in/", {"username": "ada", "password": NEW}).status_code == 302


def test_the_link_leads_to_our_address_whatever_host_a_request_names(ada: User, settings: Any) -> None:
    settings.ORIGIN, settings.ALLOWED_HOSTS = "https://judge.example.org", ["*"]
    Client().post("/password/forgotten/", {"email": "ada@example.org"}, HTTP_HOST="evil.test")
    email.wait()
    assert "https://judge.example.org/password/new/" in str(mail.outbox[0].body)
    assert "evil" not in str(mail.outbox[0].body)


def test_a_link_is_good_for_an_hour(ada: User) -> None:
    with time_machine.travel("2026-05-01T10:00:00Z", tick=False) as clock:
        (link,) = asked()
        clock.shift(3_601)
        assert change(Client(), link).status_code == 404
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_a_link_opens_no_account_that_was_closed_since(ada: User) -> None:
    (link,) = asked()
    User.objects.update(is_active=False)
    assert change(Client(), link).status_code == 404
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


def test_nobody_learns_who_has_an_account(ada: User) -> None:
    User.objects.create_user("closed", "closed@example.org", PASSWORD, is_active=False)
    User.objects.create_user("demo", "demo@example.org")  # signs in by links alone
    for address in ("nobody@example.org", "closed@example.org", "demo@example.org"):
        assert asked(address) == []


def test_neither_a_visitor_nor_an_address_gets_e_mails_without_end(ada: User) -> None:
    assert [len(asked()) for _time in range(5)] == [1, 1, 1, 0, 0]
    answers = [Client().post("/password/forgotten/", {"email": f"{n}@example.org"}).status_code for n in range(7)]
    assert answers == [302] * 5 + [429] * 2


def test_an_address_counts_once_its_link_was_opened(ada: User) -> None:
    client = signed_in(ada)
    sent = client.post("/account/email/", {"email": "new@example.org", "password": PASSWORD})
    assert sent["Location"] == "/account/"
    email.wait()
    assert mail.outbox[0].to == ["new@example.org"]
    assert asked("new@example.org") == []
    mail.outbox.clear()
    client.post("/account/email/", {"email": "new@example.org", "password": PASSWORD})
    email.wait()
    link = LINK.search(str(mail.outbox[0].body))[1]  # type: ignore[index]
    assert b"new@example.org" in client.get(link).content
    ada.refresh_from_db()
    assert ada.email == "ada@example.org", "whoever looks at a link confirms nothing"
    assert client.post(link).status_code == 302
    ada.refresh_from_db()
    assert ada.email == "new@example.org"
    assert client.post(link).status_code == 404, "used already"
    assert "example.org" not in str(AuditEntry.objects.get(action="change e-mail address").detail)


def test_a_link_never_gives_an_address_to_another_account(ada: User) -> None:
    """Not to the one that has the number after a restore, nor to somebody else's who is signed in."""
    link = f"/account/email/{accounts.email_token(ada, 'ada@other.example')}/"
    eve = User.objects.create_user("eve", "ada@example.org", PASSWORD)
    assert Client().post(link)["Location"].startswith("/sign-in/?next=")
    assert signed_in(eve).post(link).status_code == 404
    number = ada.pk
    ada.delete()
    restored = User.objects.create_user("bob", "ada@example.org", PASSWORD, pk=number)
    assert signed_in(restored).post(link).status_code == 404
    assert set(User.objects.values_list("email", flat=True)) == {"ada@example.org"}


def test_an_address_is_set_with_the_password_alone(ada: User) -> None:
    client = signed_in(ada)
    for _time in range(5):
        refused = client.post("/account/email/", {"email": "eve@example.org", "password": "guessed"})
        assert "This is not your password." in refused.content.decode()
    for password in ("guessed", PASSWORD):
        assert client.post("/account/email/", {"email": "", "password": password}).status_code == 429
    email.wait()
    assert mail.outbox == []


def test_an_address_can_be_removed(ada: User) -> None:
    signed_in(ada).post("/account/email/", {"email": "", "password": PASSWORD})
    ada.refresh_from_db()
    assert ada.email == ""
    assert asked("ada@example.org") == []


def test_without_a_server_the_page_says_whom_to_ask(ada: User, settings: Any) -> None:
    assert b"/password/forgotten/" in Client().get("/sign-in/").content
    assert b"/account/email/" in signed_in(ada).get("/account/").content
    settings.EMAIL_SERVER = ""
    assert b"Ask the operator" in Client().get("/sign-in/").content
    assert b"/account/email/" not in signed_in(ada).get("/account/").content
    assert Client().get("/password/forgotten/").status_code == 404


def test_a_server_that_cannot_be_reached_is_the_logs_matter(ada: User, settings: Any, caplog: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    Client().post("/password/forgotten/", {"email": "ada@example.org"})
    email.wait()
    assert "could not be sent" in caplog.text


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("smtp://ada:p%40ss@mail.example.org", ("mail.example.org", 587, "ada", "p@ss", True, None)),
        ("smtps://mail.example.org:4650", ("mail.example.org", 4650, "", "", None, True)),
        ("smtp+plain://localhost", ("localhost", 25, "", "", None, None)),
    ],
)
def test_one_address_names_the_server(address: str, expected: tuple[object, ...]) -> None:
    read = email.read_server(address)
    names = ("HOST", "PORT", "HOST_USER", "HOST_PASSWORD", "USE_TLS", "USE_SSL")
    assert tuple(read.get(f"EMAIL_{name}") for name in names) == expected


@pytest.mark.parametrize("address", ["mail.example.org", "http://x", "smtp://", "smtp://x:port", "smtp://[x"])
def test_an_address_of_no_server_is_refused(address: str) -> None:
    from django.core.exceptions import ImproperlyConfigured

    with pytest.raises(ImproperlyConfigured, match="PREFERENDUM_EMAIL is smtp://"):
        email.read_server(address)
