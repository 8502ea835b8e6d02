"""The page to try the API on: Swagger UI from our own files, under the policy that every page of ours is under."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from annotate import accounts
from annotate.models import Study, Upload
from tests.annotate import making
from tests.browser.conftest import fits, sign_in
from tests.conftest import Web

#: What Swagger UI itself breaks: its colours, its own <main> in ours, fields without labels.
BROKEN_THERE = [
    *("color-contrast", "heading-order", "label", "scrollable-region-focusable"),
    *("landmark-main-is-top-level", "landmark-no-duplicate-main", "landmark-unique"),
]


def opened(page: Page, tag: str, name: str) -> Locator:
    """A call, ready to be tried, by keys alone."""
    call = page.locator(f"#operations-{tag}-{name}")
    call.locator(".opblock-summary-control").press("Enter")
    call.get_by_role("button", name="Try it out").press("Enter")
    return call


def answer(call: Locator) -> Locator:
    call.get_by_role("button", name="Execute").press("Enter")
    return call.locator(".live-responses-table > tbody > .response")


def test_calls_are_tried_as_whoever_is_signed_in_and_no_other_host_hears(
    page: Page, web: Web, axe: Callable[..., None]
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: page.problems.append(message.text) if message.type == "error" else None)  # type: ignore[attr-defined]
    page.set_viewport_size({"width": 390, "height": 844})
    study = making.study(title="Rain in Ohio")
    sign_in(page, making.owner(study))
    page.goto("/api/v1/docs/")
    described = json.loads(page.request.get("/api/v1/schema/").text())["paths"].values()
    expect(page.locator(".opblock")).to_have_count(sum(map(len, described)))
    expect(answer(opened(page, "studies", "list_studies"))).to_contain_text("Rain in Ohio")
    change = opened(page, "studies", "change_study")
    change.get_by_placeholder("study_id").fill(str(study.pk))
    change.locator("textarea").fill('{"title": "Snow in Ohio"}')
    expect(answer(change)).to_contain_text("Snow in Ohio")
    assert Study.objects.get().title == "Snow in Ohio"
    assert fits(page)
    axe(page, but=BROKEN_THERE)
    assert {url for url in asked if not url.startswith((web.url, "data:", "blob:"))} == set()
    assert page.problems == []  # type: ignore[attr-defined]


def test_calls_are_tried_with_a_token(page: Page, tmp_path: Path) -> None:
    study = making.study()
    _token, secret = accounts.create_token(making.owner(study), "page")
    page.goto("/api/v1/docs/")
    account = opened(page, "account", "read_me")
    expect(answer(account)).to_contain_text("401")
    page.locator(".scheme-container").get_by_role("button", name="Authorize").click()
    page.get_by_label("auth-bearer-value").fill(secret)
    page.get_by_role("button", name="Apply credentials").last.click()
    page.locator(".close-modal").click()
    expect(answer(account)).to_contain_text(making.owner(study).username)
    (tmp_path / "topics.jsonl").write_bytes(making.lines(making.TOPIC))
    upload = opened(page, "uploads", "upload")
    upload.get_by_placeholder("study_id").fill(str(study.pk))
    upload.locator("input[type=file]").set_input_files(tmp_path / "topics.jsonl")
    expect(answer(upload)).to_contain_text("waiting")
    assert Upload.objects.get().filename == "topics.jsonl"
    assert page.problems == []  # type: ignore[attr-defined]
