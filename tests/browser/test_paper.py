"""Plots, the Download and methods in a real Chromium: for wide and narrow windows, and for axe."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.models import Study
from tests.annotate import making, scored
from tests.browser.conftest import sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]


@pytest.fixture
def study(web: Web) -> Study:
    return scored.scored_study()


def test_a_board_is_drawn_for_the_window_and_has_everything_for_a_paper(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    page.get_by_text("The ranking over time").first.click()
    plot = page.get_by_role("img", name="Ranks of the systems")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        expect(plot).to_have_count(1)
        place, room = plot.bounding_box(), page.locator("#board-course").bounding_box()
        assert place is not None
        assert room is not None
        assert place["x"] >= room["x"]
        assert place["width"] >= 0.95 * min(room["width"], 512 if width == 390 else 2000)
        for label in plot.locator("text").all():
            box = label.bounding_box()
            assert box is None or (box["x"] >= place["x"] and box["x"] + box["width"] <= place["x"] + place["width"])
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        axe(page)
    with page.expect_download() as download:
        page.get_by_text("Download", exact=True).click()
        page.get_by_role("link", name="Scores with their intervals: PDF as wide as a page").click()
    assert download.value.suggested_filename == "leaderboard-weather-recommended.pdf"


def test_methods_and_the_datasheet_are_read(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    page.get_by_role("link", name="Methods", exact=True).click()
    expect(page.get_by_text("We evaluated summaries by pairwise preferences").first).to_be_visible()
    page.locator("summary", has_text="BibTeX").click()
    expect(page.get_by_role("textbox", name="BibTeX")).to_contain_text("zopf-2018-estimating")
    page.locator("summary", has_text="Human Evaluation Datasheet").click()
    expect(page.get_by_role("heading", name="4.3 Responses")).to_be_visible()
    axe(page)
    page.set_viewport_size({"width": 390, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
