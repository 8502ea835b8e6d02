"""The data room in a real Chromium: a system is removed and restored, by keyboard, on any screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate import imports
from annotate.models import Study, System
from tests.annotate import making, scored
from tests.browser.conftest import sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]


@pytest.fixture
def study(web: Web) -> Study:
    return scored.scored_study()


def test_a_system_is_removed_and_restored(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("study", args=[study.pk]))
    page.get_by_role("link", name="Texts").click()
    lists = page.get_by_role("navigation", name="Pages of this tab")
    for name in ("Topics", "Human scores", "Systems"):
        lists.get_by_role("link", name=name).click()
        axe(page)
    page.get_by_role("link", name="Remove the system =hat").press("Enter")
    expect(page.get_by_role("heading", name="Remove “=hat”?")).to_be_visible()
    expect(page.get_by_text("2 summaries")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Remove").press("Enter")
    expect(page.get_by_text("was removed. You can restore it within a day.")).to_be_visible()
    axe(page)
    assert not System.objects.filter(study=study, name="=hat").exists()
    page.get_by_role("button", name="Restore =hat").press("Enter")
    expect(page.get_by_text("is back as it was")).to_be_visible()
    assert System.objects.filter(study=study, name="=hat").exists()


def test_replaced_documents_are_shown_with_what_becomes_of_judgments(page: Page, study: Study, axe: Axe) -> None:
    document = {"id": "d1", "sentences": ["Rain fell on the town.", "Nothing else happened."]}
    upload = making.receive(study, making.lines({"topic_id": "rain", "documents": [document]}), "corrected.jsonl")
    imports.process(upload)
    sign_in(page, making.owner(study), reverse("upload", args=[study.pk, upload.key]))
    expect(page.get_by_role("heading", name="What changes")).to_be_visible()
    expect(page.locator("#recuts")).to_contain_text("sentences that stay: 0, go: 6, come: 2")
    expect(page.locator("#recuts")).to_contain_text("judgments that stay: 0, become history: 4")
    axe(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_on_a_phone_no_list_moves_the_page_sideways(page: Page, study: Study) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    sign_in(page, making.owner(study), reverse("study_data", args=[study.pk]))
    for show in ("uploads", "topics", "systems", "scores", "removed"):
        page.goto(f"{reverse('study_data', args=[study.pk])}?show={show}")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
