"""The pages to try the API on, under the policy that every page of ours is under."""

from __future__ import annotations

from playwright.sync_api import Browser, Page, expect

from annotate import links
from tests.annotate import making
from tests.conftest import Web


def test_the_api_is_tried_from_its_pages_without_breaking_the_policy(page: Page) -> None:
    study = making.study(title="Rain in Ohio")
    page.goto(links.sign_in_path(making.owner(study).pk))
    page.goto("/api/v1/docs/")
    call = page.locator("#operations-studies-list_studies")
    call.get_by_role("button").first.click()
    call.get_by_role("button", name="Try it out").click()
    call.get_by_role("button", name="Execute").click()
    expect(call.locator(".live-responses-table")).to_contain_text("Rain in Ohio")
    change = page.locator("#operations-studies-change_study")
    change.get_by_role("button").first.click()
    change.get_by_role("button", name="Try it out").click()
    change.get_by_placeholder("study_id").fill(str(study.pk))
    change.locator("textarea").fill('{"title": "Snow in Ohio"}')
    change.get_by_role("button", name="Execute").click()
    expect(change.locator(".live-responses-table")).to_contain_text("Snow in Ohio")
    assert page.problems == []  # type: ignore[attr-defined]


def test_without_javascript_the_description_is_still_there(browser: Browser, web: Web) -> None:
    context = browser.new_context(base_url=web.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/api/v1/docs/")
    expect(page.locator("noscript")).to_be_visible()
    page.get_by_role("link", name="The description for programs").click()
    expect(page.locator("body")).to_contain_text('"openapi"')
    context.close()
