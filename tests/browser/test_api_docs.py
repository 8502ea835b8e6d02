"""The page to try the API on, under the policy that every page of ours is under."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from annotate import accounts
from annotate.models import Study, Upload
from tests.annotate import making
from tests.browser.conftest import sign_in
from tests.conftest import Web


def test_calls_are_tried_as_whoever_is_signed_in(page: Page, axe: Callable[[Page], None]) -> None:
    study = making.study(title="Rain in Ohio")
    sign_in(page, making.owner(study))
    page.goto("/api/v1/docs/")
    call = page.locator("#list_studies")
    call.locator("summary").click()
    call.get_by_role("button", name="Send").click()
    expect(call.get_by_role("status")).to_have_text("200 OK")
    expect(call.locator("pre")).to_contain_text("Rain in Ohio")
    change = page.locator("#change_study")
    change.locator("summary").click()
    change.get_by_label("study_id").fill(str(study.pk))
    change.get_by_label("Body (JSON)").fill('{"title": "Snow in Ohio"}')
    change.get_by_role("button", name="Send").click()
    expect(change.locator("pre")).to_contain_text("Snow in Ohio")
    assert Study.objects.get().title == "Snow in Ohio"
    axe(page)
    assert page.problems == []  # type: ignore[attr-defined]


def test_calls_are_tried_with_a_token(page: Page, tmp_path: Path) -> None:
    study = making.study()
    _token, secret = accounts.create_token(making.owner(study), "page")
    page.goto("/api/v1/docs/")
    call = page.locator("#read_me")
    call.locator("summary").click()
    call.get_by_role("button", name="Send").click()
    expect(call.get_by_role("status")).to_contain_text("401")
    page.get_by_label("Token", exact=True).fill(secret)
    call.get_by_role("button", name="Send").click()
    expect(call.locator("pre")).to_contain_text(making.owner(study).username)
    (tmp_path / "topics.jsonl").write_bytes(making.lines(making.TOPIC))
    upload = page.locator("#upload")
    upload.locator("summary").click()
    upload.get_by_label("study_id").fill(str(study.pk))
    upload.get_by_label("File", exact=True).set_input_files(tmp_path / "topics.jsonl")
    upload.get_by_role("button", name="Send").click()
    expect(upload.locator("pre")).to_contain_text("waiting")
    assert Upload.objects.get().filename == "topics.jsonl"
    assert page.problems == []  # type: ignore[attr-defined]


def test_without_javascript_everything_can_be_read(browser: Browser, web: Web) -> None:
    context = browser.new_context(base_url=web.url, java_script_enabled=False)
    page = context.new_page()
    page.goto("/api/v1/docs/")
    expect(page.locator("noscript")).to_be_visible()
    page.locator("#draw_pair summary").click()
    expect(page.locator("#draw_pair")).to_contain_text("ties_allowed")
    expect(page.locator("#draw_pair form")).to_be_hidden()
    page.get_by_role("link", name="Machine-readable description").click()
    expect(page.locator("body")).to_contain_text('"openapi"')
    context.close()
