"""A real Chromium, and a check of accessibility that any test may run on the page before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from annotate import invitations
from tests.conftest import CHROMIUM, Web

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
#: ms; keys and clicks sooner after a pair has appeared, by the length of its texts, are not answers.
QUIET = 1050
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def settled(page: Page) -> None:
    """Wait until the server has confirmed every answer."""
    deadline = time.monotonic() + 40
    while page.evaluate("localStorage.getItem('preferendum-answers')") is not None:
        assert time.monotonic() < deadline, "an answer is still on its way"
        page.wait_for_timeout(20)


def fits(page: Page) -> bool:
    """Whether nothing sticks out of the page to the side."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def read_in_english(page: Page) -> None:
    """Choose English for the pages of annotators, whatever the language of their texts."""
    page.goto("/")
    page.context.add_cookies([{"name": "django_language", "value": "en", "url": page.url}])


def sign_in(page: Page, user: User, where: str = "/studies/") -> None:
    page.goto(invitations.sign_in_path(user, where))
    with page.expect_navigation():
        page.get_by_role("button", name=f"Sign in as {user.username}").click()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    expect.set_options(timeout=20_000)
    assert CHROMIUM, "no Chromium here (Debian: apt-get install chromium)"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
        )
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser, web: Web) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=web.url)
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page on the real web server; whatever goes wrong in its scripts or against its policy fails the test."""
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda message: problems.append(message.text) if "Content Security Policy" in message.text else None,
    )
    page.problems = problems  # type: ignore[attr-defined]
    return page


@pytest.fixture
def plain_page(browser: Browser, web: Web) -> Iterator[Page]:
    """A page in a browser without JavaScript, on a phone in the dark."""
    phone = {"width": 390, "height": 844}
    context = browser.new_context(base_url=web.url, java_script_enabled=False, viewport=phone, color_scheme="dark")  # type: ignore[arg-type]
    yield context.new_page()
    context.close()


@pytest.fixture
def axe() -> Callable[..., None]:
    """Fail with what axe finds on the page as it stands, in light and in dark, `but` for some of its rules."""

    def check(page: Page, but: Collection[str] = ()) -> None:
        for scheme in ("light", "dark"):
            # without motion: halfway through a transition no colour is what it will be
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            # a click waits only until the next page begins: it may not have a single element yet
            page.wait_for_load_state()
            # evaluate() is the debugger's, which the page's policy on scripts does not bind
            page.evaluate(AXE)
            found = page.evaluate(
                "rules => axe.run(document, {runOnly: rules})"
                ".then(r => r.violations.map(v => [v.id, v.help, v.nodes.map(n => n.html).slice(0, 3)]))",
                RULES,
            )
            found = [one for one in found if one[0] not in but]
            assert not found, (scheme, page.url, found)

    return check


@pytest.fixture
def is_good(axe: Callable[[Page], None]) -> Callable[[Page], None]:
    """Fail unless the page is accessible in light and dark, and fits a phone."""

    def check(page: Page) -> None:
        page.set_viewport_size({"width": 390, "height": 800})
        axe(page)
        assert fits(page), page.url
        page.set_viewport_size({"width": 1440, "height": 900})
        axe(page)

    return check
