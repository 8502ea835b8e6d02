"""The pages of accounts in a real Chromium: signing in, a forgotten password, a new one, an address to confirm."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from playwright.sync_api import Page, expect

from annotate import accounts
from tests.browser.conftest import fits, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]
PASSWORD, NEW = "four unrelated words here", "quite other words than before"


@pytest.fixture
def ada(web: Web) -> User:
    return User.objects.create_user("ada", "ada@example.org", PASSWORD)


@pytest.fixture
def is_good(axe: Axe) -> Callable[[Page], None]:
    """Fail unless the page is accessible in light and dark, and fits a phone."""

    def check(page: Page) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        axe(page)
        assert fits(page), page.url
        page.set_viewport_size({"width": 1440, "height": 900})
        axe(page)

    return check


def enter(page: Page, button: str, **fields: str) -> None:
    for name, text in fields.items():
        page.locator(f"[name={name}]").fill(text)
    page.get_by_role("button", name=button).click()


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
