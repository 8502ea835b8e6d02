"""How metrics agree with human scores, in a real Chromium: it moves while people judge, and fits a phone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate.models import Study
from evaluation import tasks
from preferendum.show.analyses import of_study, of_topic
from tests import kept
from tests.annotate import making, scored
from tests.annotate.reading import address
from tests.annotate.test_analyses import analysed_study
from tests.annotate.test_assessor_pages import assessed_study
from tests.annotate.test_document_set_pages import compared_study
from tests.annotate.test_metric_pages import graded_study
from tests.browser.conftest import fits, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]
AGREEMENT = "metric-agreement"


@pytest.fixture
def study(web: Web) -> Study:
    return graded_study()


def test_the_row_of_preferences_moves_while_people_judge(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("study", args=[study.pk]))
    page.get_by_role("link", name="human scores to compare with").click()
    table = page.get_by_role("region", name="Agreement with human overall")
    row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Preferences: importance"))
    other = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="ROUGE-2"))
    before, stays = row.inner_text(), other.get_by_role("cell").first.inner_text()
    axe(page)
    scored.judge(
        study, *((f"T{number}", "d2:2", left, "a") for number in range(3) for left in ("d1:0", "d1:1", "d1:2"))
    )
    assert tasks.catch_up(study.pk) == {}
    tasks.TASKS["compare_metrics"](study.pk)
    expect(row).not_to_have_text(before, timeout=5000)
    expect(other.get_by_role("cell").first).to_have_text(stays)
    axe(page)


def test_every_analysis_fits_a_phone_and_can_be_used_by_everybody(page: Page, web: Web, axe: Axe) -> None:
    made = analysed_study()
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, making.owner(made), reverse("leaderboard", args=[made.pk]))
    for analysis in [own for own in (*of_study(), *of_topic()) if own.page]:
        page.goto(address(made if analysis.of == "study" else scored.topic(made, "T1"), analysis.name))
        assert fits(page), analysis.name
        for region in page.get_by_role("region").all():
            box = region.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 390
        axe(page)
    assert page.problems == []


def test_another_dimension_is_chosen_without_scripts(plain_page: Page, study: Study) -> None:
    for name, said in ((AGREEMENT, "fluency_2:"), ("convergence", "fluency_2 by number of judgments")):
        sign_in(plain_page, making.owner(study), address(study, name))
        plain_page.get_by_label("Scored by people for").select_option("fluency_2")
        plain_page.get_by_role("button", name="Show").click()
        expect(plain_page.get_by_role("heading", name=f"Agreement with human {said}").first).to_be_visible()
        assert fits(plain_page)


def test_topics_that_differ_are_seen_on_a_phone_without_scripts(plain_page: Page) -> None:
    compared, page = compared_study(), plain_page
    sign_in(page, making.owner(compared), reverse("analysis", args=[compared.pk, AGREEMENT]))
    page.get_by_text("Method research").click()
    page.get_by_role("link", name="Document sets").click()
    page.get_by_role("link", name=re.compile(r"^T0:")).click()
    expect(page.get_by_role("heading", name="T0 differs from")).to_be_visible()
    assert page.locator("svg .differs").count() > 0
    for region in page.get_by_role("region").all():
        box = region.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390


def test_the_pictures_of_document_sets_can_be_used_by_everybody(page: Page, web: Web, axe: Axe) -> None:
    compared = compared_study()
    sign_in(page, making.owner(compared), reverse("analysis", args=[compared.pk, "document-sets"]))
    page.get_by_label("Summaries of").select_option("all")
    page.get_by_role("button", name="Show").click()
    page.get_by_label("Figures of the scores by").select_option("ROUGE-2, one reference less")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("img", name="Systems’ means by the metric and by people")).to_be_visible()
    page.get_by_role("link", name=re.compile(r"^T0:")).click()
    expect(page.get_by_role("heading", name="T0 differs from")).to_be_visible()  # axe must not meet the page before
    axe(page)


def test_curves_are_seen_to_be_worked_out_and_fit_a_phone(page: Page, study: Study, axe: Axe) -> None:
    kept.heads("convergence").update(version=0)
    kept.rows("convergence").delete()
    kept.heads("samples").all().delete()
    sign_in(page, making.owner(study), reverse("analysis", args=[study.pk, "convergence"]))
    expect(page.get_by_role("heading", name="Being worked out")).to_be_visible()
    axe(page)
    scored.converge(study)
    figure = page.get_by_role("img", name="Agreement with people against the number of judgments")
    expect(figure).to_be_visible(timeout=8000)
    assert page.problems == []


def test_assessors_are_looked_up_from_metrics(page: Page, web: Web, axe: Axe) -> None:
    assessed = assessed_study()
    sign_in(page, making.owner(assessed), reverse("analysis", args=[assessed.pk, AGREEMENT]))
    page.get_by_text("Method research").click()
    page.get_by_role("link", name="Raters of summaries").click()
    without = page.get_by_role("region", name="The ranking of systems without the worst assessors")
    expect(without.get_by_role("row").filter(has_text="Agreement").nth(1)).to_contain_text("Cleo")
    page.get_by_label("Metrics beside the scores for").select_option("style")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="Metrics without the worst assessors: style")).to_be_visible()
    axe(page)
    assert page.problems == []
