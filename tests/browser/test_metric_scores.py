"""Metrics and human scores beside the study's own, in a real Chromium: found, filtered, followed, on any screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate import judging
from annotate.models import Assignment, Study, System
from tests.annotate import making, scored
from tests.annotate.test_latex import typeset
from tests.annotate.test_metric_pages import graded_study
from tests.browser.conftest import sign_in
from tests.conftest import Web
from tests.evaluation.test_metric_replay import SENTENCES, topic

Axe = Callable[[Page], None]


@pytest.fixture
def study(web: Web) -> Study:
    return graded_study()


@pytest.mark.usefixtures("worker")
def test_from_an_upload_to_a_table_for_a_paper(page: Page, web: Web, tmp_path: Path) -> None:
    """Topics with ratings, a summary and Pyramids come in, three people judge every pair, and the open page moves."""
    made = making.study(judgments_per_pair=3, person_cap=1.0)
    sign_in(page, making.owner(made), reverse("upload_new", args=[made.pk]))
    content = making.lines(*map(topic, ("one", "three", "four")))
    file = page.get_by_label("Drop a file here, or choose one")
    file.set_input_files({"name": "topics.jsonl", "mimeType": "application/jsonl", "buffer": content})
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Add to the study").click()
    expect(page.get_by_text("Everything below is now part of the study.")).to_be_visible()
    judge(made, list(reversed(SENTENCES)))
    page.goto(reverse("analysis", args=[made.pk, "metric-agreement"]))
    table = page.get_by_role("region", name="Agreement with human overall")
    row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Preferences: importance"))
    expect(row).to_be_visible(timeout=60_000)
    before = row.inner_text()
    for _ in range(2):
        judge(made, SENTENCES)
    expect(row).not_to_have_text(before, timeout=60_000, use_inner_text=True)
    expect(table.get_by_role("rowheader", name="Pyramid", exact=True)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_text("Download", exact=True).click()
        page.get_by_role("link", name="LaTeX").first.click()
    paper = download.value.path().read_text()
    assert "Preferences: importance" in paper
    typeset(paper, tmp_path)


def judge(made: Study, ordered: Sequence[str]) -> None:
    """Every pair, by somebody who prefers the sentences in this order."""
    annotator = judging.join(made)
    while isinstance(drawn := judging.draw(annotator), Assignment):
        is_left = ordered.index(drawn.left.text) < ordered.index(drawn.right.text)
        judging.record_judgment(drawn, 1, "left" if is_left else "right", 4.0)
    assert annotator.assignments.filter(state="judged").count() == 9


def test_scores_are_found_from_the_metrics_and_lead_to_summaries(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("analysis", args=[study.pk, "metric-agreement"]))
    menu = page.get_by_role("navigation", name="Pages of this tab")
    menu.get_by_text("Method research").click()
    menu.get_by_role("link", name="Scores", exact=True).click()
    table = page.get_by_role("region", name="Scores of summaries")
    expect(table.get_by_role("row")).to_have_count(2 + 9)
    axe(page)
    page.get_by_label("Topic").select_option("T1")
    page.get_by_role("button", name="Show").click()
    expect(table.get_by_role("row")).to_have_count(2 + 3)
    table.get_by_role("link", name="third").click()
    page.get_by_text("What metrics and people say of it").click()
    expect(page.get_by_role("heading", name="Metrics and human scores")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="All summaries of this topic").click()
    expect(page.get_by_role("link", name="Metrics", exact=True)).to_have_attribute("aria-current", "page")
    expect(page.get_by_text("Pyramid needs Pyramids.")).to_be_visible()
    axe(page)


def test_metrics_are_chosen_in_the_settings(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("study_settings", args=[study.pk]))
    page.get_by_text("Expert settings").click()
    page.get_by_text("More: metrics beside the scores").click()
    axe(page)
    page.get_by_label("With options").fill("bleu")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("There is no metric called “bleu”.").last).to_be_visible()
    page.get_by_label("With options").fill("")
    for box in page.locator("[name=metric_names][type=checkbox]").all():
        box.set_checked(box.get_attribute("value") in ("rouge-2", "kl"))
    page.get_by_role("button", name="Save").click()
    scored.score_with_metrics(study)
    page.goto(reverse("analysis", args=[study.pk, "scores-of-summaries"]))
    expect(page.get_by_role("columnheader", name="KL")).to_be_visible()
    expect(page.get_by_role("columnheader", name="ROUGE-1")).to_have_count(0)


def test_they_fit_a_phone_in_the_dark_and_work_without_scripts(plain_page: Page, study: Study) -> None:
    page = plain_page
    sign_in(page, making.owner(study), reverse("analysis", args=[study.pk, "scores-of-summaries"]))
    system = System.objects.get(study=study, name="third")
    page.get_by_label("System").select_option("third")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="third")).to_have_count(3)
    topic = scored.topic(study, "T1")
    summary = topic.summaries.get(system=system)
    for name, key in (("summary", summary.pk), ("system", system.pk)):
        page.goto(reverse(name, args=[study.pk, key]))
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
