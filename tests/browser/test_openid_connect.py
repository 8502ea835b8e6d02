"""A researcher signs in with a real provider, in a real Chromium, and makes a study."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page, expect

from lab.services import free_port, wait_until
from tests.annotate.provider import Provider, running_provider
from tests.conftest import Processes, answers, stop


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with running_provider() as provider:
        provider.knows("ada", preferred_username="ada@uni.example", groups=["research"])
        yield provider


@pytest.fixture(scope="module")
def there(processes: Processes, provider: Provider) -> Iterator[str]:
    """The website, set to the provider by its environment."""
    url = f"http://127.0.0.1:{free_port()}"
    process = processes.start(
        "web-with-provider",
        *("gunicorn", "-c", "python:annotate.server.gunicorn", "annotate.wsgi"),
        PREFERENDUM_ORIGIN=url,
        PREFERENDUM_BIND=url.removeprefix("http://"),
        PREFERENDUM_OIDC_ISSUER=provider.url,
        PREFERENDUM_OIDC_CLIENT="preferendum",
        PREFERENDUM_OIDC_SECRET="secret",
        PREFERENDUM_OIDC_NAME="Example University",
        PREFERENDUM_OIDC_CREATORS="groups=research",
    )
    wait_until(lambda: answers(f"{url}/sign-in/"), "the website runs")
    yield url
    stop(process)


def come_by_provider(page: Page) -> None:
    page.get_by_role("button", name="Sign in with Example University").click()
    page.get_by_placeholder("sub").fill("ada")
    page.get_by_role("button", name="Authorize").click()


def test_a_researcher_signs_in_with_the_provider_and_makes_a_study(
    browser: Browser, there: str, transactional_db: None, is_good: Callable[[Page], None]
) -> None:
    context = browser.new_context(base_url=there)
    context.route(lambda url: not url.startswith("http://127.0.0.1"), lambda route: route.fulfill(body=""))  # its style
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    began = time.monotonic()
    page.goto("/sign-in/?next=/studies/new/")
    is_good(page)
    come_by_provider(page)
    expect(page.get_by_label("User name")).to_have_value("ada")
    is_good(page)
    page.get_by_role("button", name="Create the account").click()
    page.get_by_label("Title").fill("News")
    page.locator("main form button.primary").click()
    expect(page.get_by_role("heading", name="News")).to_be_visible()
    page.goto("/account/")
    expect(page.get_by_text("You sign in with Example University.")).to_be_visible()
    is_good(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("navigation", name="Site").get_by_role("link", name="Sign in")).to_be_visible()

    page.goto("/sign-in/")
    page.get_by_role("button", name="Sign in with Example University").click()
    page.get_by_role("button", name="ada").click()
    expect(page.get_by_role("link", name="ada", exact=True)).to_be_visible()
    assert User.objects.get().username == "ada"
    assert problems == []
    print(f"signed up, a study made, signed out and in again in {time.monotonic() - began:.1f} seconds")
    context.close()


def test_it_works_without_a_script(browser: Browser, there: str, transactional_db: None) -> None:
    context = browser.new_context(base_url=there, java_script_enabled=False)
    page = context.new_page()
    page.goto("/sign-in/")
    come_by_provider(page)
    page.get_by_role("button", name="Create the account").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    context.close()


def test_somebody_with_a_password_joins_their_account(
    browser: Browser, there: str, transactional_db: None, is_good: Callable[[Page], None], settings: Any
) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # which the web server knows
    User.objects.create_user("grace", password="four unrelated words here")
    context = browser.new_context(base_url=there)
    context.route(lambda url: not url.startswith("http://127.0.0.1"), lambda route: route.fulfill(body=""))
    page = context.new_page()
    page.goto("/sign-in/?next=/judging/")
    come_by_provider(page)
    page.get_by_role("link", name="You have an account here already?").click()
    page.get_by_label("User name").fill("grace")
    page.get_by_label("Password").fill("four unrelated words here")
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("strong")).to_have_text("grace")
    is_good(page)
    page.get_by_role("button", name="Let it open my account").click()
    expect(page.get_by_role("status")).to_have_text("Example University opens this account now.")
    assert page.url == f"{there}/judging/"
    page.goto("/account/")
    is_good(page)
    page.get_by_role("button", name="Do not let it open my account").click()
    expect(page.get_by_text("The provider no longer opens this account.")).to_be_visible()
    context.close()
