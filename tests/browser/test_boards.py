"""What boards say, in a real Chromium: which score, what failed, and how a score comes about."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Locator, Page, expect

from annotate import studies
from annotate.models import Score, Study
from evaluation import tasks
from tests.annotate import making, scored
from tests.browser.conftest import sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]


@pytest.fixture
def study(web: Web) -> Study:
    return scored.scored_study()


def numbers(line: Locator) -> list[float]:
    """The full numbers behind what a line of the page shows."""
    return [float(number.get_attribute("value") or "nan") for number in line.locator("data").all()]


def test_a_study_that_is_scored_as_published_shows_that_board(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    board = page.locator("table.board")
    expect(board.get_by_role("columnheader", name="Importance")).to_be_visible()
    expect(board.get_by_role("columnheader", name="Coverage")).to_be_visible()
    expect(page.get_by_text("Not ranked, because its summaries share no word with their sources: off.")).to_be_visible()
    axe(page)
    expect(page.get_by_role("navigation", name="Score")).to_have_count(0)
    studies.change_settings(study, making.owner(study), score="published")
    tasks.catch_up(study.pk)
    page.goto(reverse("leaderboard", args=[study.pk]))
    expect(board.get_by_role("columnheader", name="Score as published")).to_be_visible()
    expect(board.get_by_role("columnheader", name="Coverage")).to_have_count(0)
    expect(board.get_by_role("rowheader", name="off")).to_be_visible()
    page.get_by_text("How to read this").click()
    expect(page.get_by_text("fitted with prior 0.1")).to_be_visible()
    axe(page)


def test_settings_that_one_topic_cannot_be_fitted_with_mix_nothing(page: Page, study: Study, axe: Axe) -> None:
    circle = (("snow", "s1:2", "s1:1", "a"), ("snow", "s1:1", "s1:0", "a"))
    scored.judge(study, *circle, kind="simulated", pseudonym="another simulation")
    assert tasks.catch_up(study.pk) == {}  # now the wins in snow go round in a circle, and rain's do not
    owner = making.owner(study)
    sign_in(page, owner, reverse("leaderboard", args=[study.pk]))
    before = page.locator("table.board").inner_text()
    studies.change_settings(study, owner, smooth="none", prior=0.0)
    tasks.catch_up(study.pk)

    page.goto(reverse("leaderboard", args=[study.pk]))
    notices = page.locator("#board-notices")
    expect(notices).to_contain_text("1 topic could not be scored")
    expect(notices).to_contain_text("the judgments do not determine the strengths")
    expect(notices).to_contain_text("These are the scores of earlier settings")
    expect(notices).not_to_contain_text("newer judgments are being added")
    expect(notices).to_contain_text("a small prior such as 0.1, which programs can set, always does")
    assert page.locator("table.board").inner_text() == before
    expect(page.locator("#board-settings")).to_contain_text("smoothing: kernel prior")
    axe(page)
    page.goto(reverse("study", args=[study.pk]))
    expect(page.get_by_text("the judgments do not determine the strengths")).to_be_visible()

    told = page.request.get(f"/api/v1/studies/{study.pk}/leaderboard/").json()
    assert [failure["topic"] for failure in told["failures"]] == ["rain"]
    assert "do not determine the strengths" in told["failures"][0]["problem"]
    assert told["is_outdated"]
    assert told["settings"]["smooth"] == "kernel"
    table = page.request.get(reverse("leaderboard_tex", args=[study.pk])).text()
    assert "% These are the scores of earlier settings." in table
    assert "% Could not be scored: rain: " in table.replace("Rain in Ohio", "rain")

    studies.change_settings(study, owner, smooth="kernel")
    tasks.catch_up(study.pk)
    page.goto(reverse("leaderboard", args=[study.pk]))
    expect(notices).not_to_contain_text("could not be scored")
    expect(notices).not_to_contain_text("earlier settings")
    assert page.locator("table.board").inner_text() == before


def test_importance_is_followed_by_hand_to_the_last_digit(page: Page, study: Study, axe: Axe) -> None:
    score = Score.objects.get(summary__system__name="lead & co_", summary__topic__name="rain", scored_by="recommended")
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    page.get_by_role("link", name="lead & co_").click()
    expect(page.get_by_role("heading", name="Topic by topic")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="Rain in Ohio").click()
    said = page.locator(".passage").get_by_role("link", name="Ohio", exact=True)
    expect(page.get_by_text("Sum =")).to_be_hidden()
    axe(page)
    said.click()
    expect(page.locator(".why-word:target")).to_be_visible()
    page.get_by_text("Every word as a table").click()
    expect(page.get_by_text("Sum =")).to_be_visible()
    axe(page)
    whole, mean = (
        numbers(page.locator(f"p:has({place})"))[k] for k, place in enumerate(("#source-total", "#source-mean"))
    )
    added = []
    for line in page.locator("tr.term").all():
        occurrences, idf, value, contribution = numbers(line)
        assert occurrences * idf * (value - mean) / whole == pytest.approx(contribution, rel=1e-12, abs=1e-17)
        added.append(contribution)
    assert math.fsum(added) == pytest.approx(numbers(page.locator("p.total"))[0], abs=1e-15)
    assert math.fsum(added) == pytest.approx(score.score, abs=1e-12)
    shown = page.locator("dl.facts dd").first.inner_text()
    assert round(100 * math.fsum(added), len(shown.partition(".")[2])) == float(shown)

    word = page.locator("tr.term").filter(has=page.get_by_role("rowheader", name="ohio"))
    assert said.get_attribute("title") == f"{100 * numbers(word)[-1]:+.3f} points"
    value = numbers(word)[2]
    given = []
    for link in word.locator("a").all():
        sentence = page.context.new_page()
        sentence.goto(link.get_attribute("href") or "")
        given.append(numbers(sentence.locator("dl.facts"))[0])
        sentence.close()
    assert sum(given) / len(given) == pytest.approx(value, rel=1e-12)


def test_the_score_as_published_is_followed_by_hand_to_the_last_digit(page: Page, study: Study) -> None:
    score = Score.objects.get(summary__system__name="=hat", summary__topic__name="rain", scored_by="published")
    address = reverse("summary", args=[study.pk, score.summary_id])
    sign_in(page, making.owner(study), f"{address}?scored_by=published")
    added = []
    for line in page.locator("p.product").all():
        *factors, contribution = numbers(line)
        assert math.prod(factors) == pytest.approx(contribution, rel=1e-12)
        added.append(contribution)
    assert len(added) == 2
    assert math.fsum(added) == pytest.approx(numbers(page.locator("p.total"))[0], abs=1e-15)
    assert math.fsum(added) == pytest.approx(score.score, abs=1e-12)


def test_a_phone_shows_score_and_interval_without_scrolling_sideways(page: Page, study: Study) -> None:
    topic = scored.topic(study)
    page.set_viewport_size({"width": 390, "height": 844})
    sign_in(page, making.owner(study))
    for address in (
        reverse("leaderboard", args=[study.pk]),
        reverse("topic_leaderboard", args=[study.pk, topic.pk]),
    ):
        page.goto(address)
        region = page.get_by_role("region", name="Leaderboard")
        assert region.evaluate("one => one.scrollWidth <= one.clientWidth"), address
        row = page.locator("table.board tbody tr").first
        assert re.search(r"\[-?\d+\.\d+, -?\d+\.\d+\]", row.inner_text())
        for shown in ("td.score", "td.interval", "td.drawn svg"):
            expect(row.locator(shown)).to_be_in_viewport()


def test_an_empty_board_names_what_is_missing(page: Page, web: Web, axe: Axe) -> None:
    study = making.study()
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    expect(page.get_by_role("link", name="Upload topics")).to_be_visible()
    axe(page)


def test_what_machines_say_is_seen_beside_the_board_and_fits_a_phone(page: Page, axe: Axe) -> None:
    study = scored.scored_study(counted_kinds="people")
    scored.judge(study, *scored.JUDGED[:4], kind="machine", pseudonym="model")
    assert tasks.catch_up(study.pk) == {}
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    page.get_by_role("link", name="Compare with the machines’ judgments").click()
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("status")).to_contain_text("computed as soon as")
    axe(page)
    tasks.answer_what_if(study.whatifquestions.get().pk)
    expect(page.get_by_role("region", name="Both leaderboards")).to_contain_text("4 judgments on 1 topic")
    axe(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.problems == []


def test_pairs_of_systems_are_counted_on_a_page_that_fits_a_phone(page: Page, axe: Axe) -> None:
    study = scored.scored_study()
    making.store(study, b"topic,system,dimension,score\nrain,off,pyramid,2\n", "scores.csv")
    scored.score_with_metrics(study)
    sign_in(page, making.owner(study), reverse("analysis", args=[study.pk, "metric-agreement"]))
    page.get_by_text("Method research").click()
    page.get_by_role("link", name="Pairs of systems").click()
    expect(page.get_by_role("region", name="Pairs of systems that differ")).to_contain_text("People: pyramid")
    axe(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.problems == []


def test_the_way_from_the_board_to_the_answers_that_made_a_difference(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, making.owner(study), reverse("leaderboard", args=[study.pk]))
    page.get_by_role("link", name="Compare", exact=True).click()
    page.get_by_label("This system").select_option(label="lead & co_")
    page.get_by_label("with this one").select_option(label="=hat")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("The mean scores of lead & co_ and =hat differ by")).to_be_visible()
    axe(page)
    page.set_viewport_size({"width": 390, "height": 800})
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    axe(page)
    page.get_by_role("link", name="Rain in Ohio").click()
    expect(page.get_by_role("heading", name="Answers that made the difference")).to_be_visible()
    expect(page.get_by_text("preferred by 1 of 1").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    axe(page)
    page.goto(reverse("analysis", args=[study.pk, "scores-by-topic"]))
    expect(page.get_by_role("table")).to_contain_text("lead & co_")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    axe(page)
