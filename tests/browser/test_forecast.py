"""How many judgments: asked for in a real Chromium, simulated by a real worker, drawn for wide and narrow windows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from tests.annotate import making, scored
from tests.browser.conftest import sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]


@pytest.mark.usefixtures("web", "worker")
def test_a_researcher_learns_how_many_judgments_a_study_needs(page: Page, axe: Axe, web: Web) -> None:
    study = scored.scored_study()
    sign_in(page, making.owner(study), reverse("study", args=[study.pk]))
    page.get_by_role("link", name="How many judgments?").click()
    page.get_by_label("Difference of two systems").fill("5")
    page.get_by_label("Pay an hour").fill("12")
    page.get_by_label("Currency").fill("EUR")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_text("In typical studies,")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("columnheader", name="Cost (EUR)")).to_be_visible()
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect(page.get_by_role("img", name="How far the interval of a difference reaches")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        axe(page)
    assert page.problems == []
