"""The pages of accounts in a real Chromium: signing in, passwords, an address to confirm, a second factor, sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyotp
import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Browser, Page, expect

from annotate import accounts
from tests.browser.conftest import sign_in
from tests.conftest import Web

PASSWORD, NEW = "four unrelated words here", "quite other words than before"


@pytest.fixture
def ada(web: Web, settings: Any) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # the one that the website knows
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


def enter(page: Page, button: str, **fields: str) -> None:
    for name, text in fields.items():
        page.locator(f"[name={name}]").fill(text)
    page.get_by_role("button", name=button, exact=True).click()


def test_a_forgotten_password_is_replaced_and_every_page_on_the_way_is_good(
    page: Page, ada: User, is_good: Callable[[Page], None]
) -> None:
    page.goto("/sign-in/")
    is_good(page)
    enter(page, "Sign in", username="ada", password="guessed")
    expect(page.locator(".errorlist")).to_be_visible()
    is_good(page)
    page.get_by_role("link", name="Forgotten your password?").click()
    is_good(page)
    enter(page, "Send the link", email="nobody@example.org")
    expect(page.get_by_role("heading", name="Look into your mailbox")).to_be_visible()
    is_good(page)

    keys = [urlsafe_base64_encode(force_bytes(ada.pk)), default_token_generator.make_token(ada)]
    link = reverse("new_password", args=keys)
    page.goto(link)
    is_good(page)
    enter(page, "Change the password", new_password1=NEW, new_password2="something else")
    expect(page.locator(".errorlist")).to_be_visible()
    is_good(page)
    enter(page, "Change the password", new_password1=NEW, new_password2=NEW)
    expect(page.get_by_text("Your password was changed.")).to_be_visible()
    is_good(page)
    enter(page, "Sign in", username="ada", password=NEW)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    page.goto(link)
    expect(page.get_by_text("This link was used already")).to_be_visible()
    is_good(page)
    assert page.problems == []


def test_an_address_is_set_and_confirmed_on_good_pages(page: Page, ada: User, is_good: Callable[[Page], None]) -> None:
    sign_in(page, ada, "/account/email/")
    is_good(page)
    enter(page, "Save", email="new@example.org", password="guessed")
    expect(page.get_by_text("This is not your password.")).to_be_visible()
    is_good(page)
    page.goto(reverse("email_confirm", args=[accounts.email_token(ada, "new@example.org")]))
    is_good(page)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("The address is confirmed.")).to_be_visible()
    is_good(page)
    ada.refresh_from_db()
    assert ada.email == "new@example.org"
    assert page.problems == []


def test_a_second_factor_is_set_up_and_used_on_good_pages_without_a_script(
    page: Page, browser: Browser, web: Web, ada: User, is_good: Callable[[Page], None]
) -> None:
    sign_in(page, ada, "/account/")
    page.get_by_role("link", name="Set it up").click()
    is_good(page)
    page.get_by_role("link", name="Set up").click()
    enter(page, "Confirm", password="guessed")
    expect(page.locator(".errorlist")).to_be_visible()
    is_good(page)
    enter(page, "Confirm", password=PASSWORD)
    is_good(page)
    app = pyotp.TOTP(page.locator("main code").inner_text())
    enter(page, "Set up", code="000000")
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    is_good(page)
    app = pyotp.TOTP(page.locator("main code").inner_text())
    enter(page, "Set up", code=app.now())
    expect(page.get_by_text("Keep these recovery codes")).to_be_visible()
    is_good(page)
    recovery = page.locator("main li code").all_inner_texts()

    elsewhere = browser.new_context(base_url=web.url, java_script_enabled=False).new_page()
    elsewhere.goto("/sign-in/")
    enter(elsewhere, "Sign in", username="ADA", password=PASSWORD)
    enter(elsewhere, "Sign in", code=recovery[0])
    expect(elsewhere.get_by_role("button", name="Sign out")).to_be_visible()

    page.goto("/account/second-factor/codes/")
    expect(page.get_by_text("9 recovery codes are left")).to_be_visible()
    is_good(page)
    page.goto("/account/")
    is_good(page)
    page.get_by_role("button", name="End this session").click()
    expect(page.get_by_text("The session was ended.")).to_be_visible()
    elsewhere.goto("/account/")
    expect(elsewhere.get_by_role("heading", name="Sign in")).to_be_visible()
    elsewhere.context.close()

    page.goto("/account/second-factor/")
    is_good(page)
    page.context.clear_cookies()
    page.goto("/sign-in/?next=/account/second-factor/")
    enter(page, "Sign in", username="ada", password=PASSWORD)
    enter(page, "Sign in", code=recovery[1])
    page.get_by_role("link", name="Switch off").click()
    is_good(page)
    enter(page, "Confirm", code=recovery[2])
    is_good(page)
    page.get_by_role("button", name="Switch off").click()
    page.get_by_role("link", name="Set up").wait_for()
    page.get_by_role("button", name="Sign out").click()
    assert page.problems == []


def test_the_page_that_asks_for_a_code_is_good(page: Page, ada: User, is_good: Callable[[Page], None]) -> None:
    TOTP.activate(ada, pyotp.random_base32())
    page.goto("/sign-in/")
    enter(page, "Sign in", username="ada", password=PASSWORD)
    is_good(page)
    enter(page, "Sign in", code="000000")
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    is_good(page)
    assert page.problems == []
