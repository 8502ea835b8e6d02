"""Passkeys in a real Chromium with an authenticator: as a second factor, and without a password."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotate.models import AuditEntry
from lab.services import free_port, wait_until
from tests.browser.test_accounts import PASSWORD, enter
from tests.conftest import Processes, answers, stop


@pytest.fixture(scope="module")
def at_localhost(processes: Processes) -> Iterator[str]:
    """The website where browsers know passkeys without TLS."""
    port = free_port()
    url = f"http://localhost:{port}"
    process = processes.start(
        "web-at-localhost",
        *("gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"),
        PREFERENDUM_ORIGIN=url,
        PREFERENDUM_BIND=f"127.0.0.1:{port}",
    )
    wait_until(lambda: answers(f"{url}/sign-in/"), "the website runs")
    yield url
    stop(process)


@pytest.fixture
def context(browser: Browser, at_localhost: str) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=at_localhost)
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def ada(transactional_db: None, settings) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
    return User.objects.create_user("ada", password=PASSWORD)


def with_authenticator(page: Page) -> Page:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    kind = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    options = kind | {"isUserVerified": True, "automaticPresenceSimulation": True}
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return page


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign out")).not_to_be_visible()


def test_a_passkey_is_a_second_factor_and_signs_in_without_a_password(
    page: Page, ada: User, is_good: Callable[[Page], None]
) -> None:
    with_authenticator(page)
    page.goto("/sign-in/?next=/account/")
    is_good(page)
    enter(page, "Sign in", username="ada", password=PASSWORD)
    page.get_by_role("link", name="Set it up").click()
    is_good(page)
    page.get_by_role("link", name="Add").click()
    is_good(page)
    enter(page, "Confirm", password=PASSWORD)
    is_good(page)
    page.get_by_label("Without a password").check()
    page.locator("[name=name]").fill("Laptop")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Keep these recovery codes")).to_be_visible()
    is_good(page)
    page.get_by_role("link", name="Done").click()
    is_good(page)
    page.get_by_role("link", name="Manage").click()
    expect(page.get_by_text("Laptop", exact=True).first).to_be_visible()
    is_good(page)
    sign_out(page)

    page.goto("/sign-in/?next=/account/")
    enter(page, "Sign in", username="ada", password=PASSWORD)
    is_good(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    sign_out(page)

    page.goto("/sign-in/?next=/account/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    signed_in = AuditEntry.objects.filter(actor=ada, action="sign in").order_by("pk")
    assert [entry.detail["by"] for entry in signed_in] == ["password", "password and passkey", "passkey"]

    page.get_by_role("link", name="Change it").click()
    page.get_by_role("link", name="Manage").click()
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("button", name="Remove")).to_be_visible()
    is_good(page)
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("There are none.")).to_be_visible()
    assert page.problems == []
    changes = AuditEntry.objects.filter(actor=ada, action__regex="(add|remove) second factor").order_by("pk")
    assert [(entry.action.split()[0], entry.detail["type"]) for entry in changes] == [
        (action, kind) for action in ("add", "remove") for kind in ("webauthn", "recovery_codes")
    ]


def test_the_passkey_of_a_closed_account_opens_nothing(page: Page, ada: User) -> None:
    with_authenticator(page)
    page.goto("/sign-in/?next=/account/second-factor/passkeys/new/")
    enter(page, "Sign in", username="ada", password=PASSWORD)
    enter(page, "Confirm", password=PASSWORD)
    page.get_by_label("Without a password").check()
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Keep these recovery codes")).to_be_visible()
    sign_out(page)
    User.objects.update(is_active=False)
    page.goto("/sign-in/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_timeout(500)
    expect(page).to_have_url(re.compile("/sign-in/$"))
    assert not AuditEntry.objects.filter(action="sign in", detail={"by": "passkey"})
