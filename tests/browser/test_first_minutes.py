"""A stranger's first minutes in a real Chromium: the start page, five pairs to try, and trying one's own study."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, expect

from annotate import invitations
from annotate.models import Assignment, Judgment, Study
from preferendum.formats.settings import QUESTION
from tests.annotate.judging_study import ready_study
from tests.annotate.making import owner
from tests.browser.conftest import QUIET, fits, settled, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]
PHONE = {"width": 390, "height": 800}


@pytest.fixture
def study(web: Web) -> Study:
    return ready_study(sentences=12, title="Floods", guidelines="Judge **what** it tells.", pairs_per_annotator=3)


def test_a_stranger_judges_five_pairs_by_key_and_reads_what_they_say(page: Page, web: Web, axe: Axe) -> None:
    page.goto("/")
    axe(page)
    expect(page.locator("svg").first).to_contain_text("LexRank")
    page.locator("button.card").first.click()
    for number in range(2, 6):
        expect(page.get_by_text(f"Pair {number} of 5")).to_be_visible()
        page.wait_for_timeout(QUIET)
        if number == 2:
            axe(page)
            page.keyboard.press("c")
            expect(page.locator("#drawer mark")).to_be_visible()
            page.keyboard.press("Escape")
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="What your answers say")).to_be_focused()
    settled(page)
    axe(page)
    page.set_viewport_size(PHONE)
    assert fits(page)
    page.get_by_role("link", name="Back to the start page").first.click()
    expect(page.locator("button.card").first).to_be_visible()
    assert fits(page)
    assert page.problems == []
    assert not Judgment.objects.lasting().exists()


def test_five_pairs_without_scripts(browser: Browser, web: Web) -> None:
    context = browser.new_context(base_url=web.url, java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    page.goto("/")
    page.locator("button.card").first.click()
    page.get_by_role("link", name="The first sentence in its document").click()
    expect(page.locator("mark")).to_be_visible()
    page.get_by_role("link", name="Back to the pair").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Pair 1 of 5")).to_be_visible()
    for _number in range(4):
        page.locator("button.card").last.click()
    page.locator("summary", has_text="Skip").click()
    page.get_by_role("button", name="Unclear").click()
    expect(page.get_by_text("Pair 5 of 5")).to_be_visible()
    page.locator("button.card").last.click()
    expect(page.get_by_text("4 answers put the sentences in this order")).to_be_visible()
    context.close()


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_an_invitation_shows_question_example_and_button_without_scrolling(
    page: Page, web: Web, axe: Axe, size: tuple[int, int]
) -> None:
    study = ready_study(title="Floods", compares="both", question=QUESTION, guidelines="Judge what it tells.")
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(invitations.invitation_path(invitations.invite(study, owner(study))))
    for shown in (page.locator(".asked").last, page.locator(".example"), page.get_by_role("button", name="Begin")):
        expect(shown).to_be_in_viewport(ratio=1)
    assert fits(page)
    axe(page)
    page.locator("summary", has_text="Guidelines").click()
    expect(page.get_by_text("Judge what it tells.")).to_be_visible()


def test_a_form_that_is_wrong_leads_to_its_fields(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, owner(study), f"/studies/{study.pk}/settings/")
    page.locator("summary", has_text="Expert settings").click()
    page.get_by_label("Share of gold pairs").fill("90")
    page.get_by_label("Show annotators their progress").uncheck()
    page.get_by_label("Annotators weighted by reliability").check()
    expect(page.locator(".sticky")).to_contain_text("3 changes: all scores are recomputed")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Share of gold pairs")).to_be_focused()
    axe(page)
    page.get_by_label("Title").focus()
    page.get_by_role("link", name="Share of gold pairs").click()
    expect(page.get_by_label("Share of gold pairs")).to_be_focused()
    page.get_by_label("Share of gold pairs").fill("0.1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The settings were saved. All scores are recomputed.")).to_be_visible()
    assert page.problems == []


def test_a_researcher_tries_their_own_study_and_nothing_counts(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, owner(study), f"/studies/{study.pk}/")
    page.get_by_role("link", name="Try as annotator").first.click()
    expect(page.get_by_text("This is a trial.")).to_be_visible()
    page.locator("summary", has_text="Guidelines").click()
    expect(page.locator(".guidelines strong")).to_have_text("what")
    axe(page)
    page.get_by_role("button", name="Begin the trial").click()
    page.set_viewport_size(PHONE)
    for number, key in enumerate(["1", "2", "ArrowRight"], 1):
        expect(page.get_by_text(f"Pair {number} of 3")).to_be_visible()
        expect(page.get_by_text("Nothing you do here is counted, and all of it is erased after a day.")).to_be_visible()
        page.wait_for_timeout(QUIET)
        page.keyboard.press(key)
        if number == 2:
            expect(page.get_by_text("Pair 3 of 3")).to_be_visible()
            page.wait_for_timeout(QUIET)
            page.keyboard.press("u")
            expect(page.get_by_text("Pair 2 of 3")).to_be_visible()
            page.wait_for_timeout(QUIET)
            page.keyboard.press("g")
            expect(page.locator("#drawer h1")).to_have_text("Guidelines")
            page.keyboard.press("Escape")
            page.keyboard.press("1")
    expect(page.get_by_role("heading", name="The trial is over")).to_be_focused()
    axe(page)
    assert fits(page)
    page.get_by_role("link", name="Back to the study").first.click()
    expect(page.get_by_role("heading", name="Floods")).to_be_visible()
    assert page.problems == []
    assert not Assignment.objects.lasting().exists()


def test_guidelines_are_seen_as_annotators_see_them_while_they_are_written(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, owner(study), f"/studies/{study.pk}/settings/")
    page.get_by_text("As annotators see it").click()
    page.get_by_label("Guidelines optional").fill("## Look\n\n- at *both*\n\n[more](https://example.org)")
    expect(page.locator(".preview em")).to_have_text("both")
    axe(page)
    page.set_viewport_size(PHONE)
    assert fits(page)
    assert page.problems == []


def test_help_leads_to_the_documentation_which_can_be_read_on_a_phone(page: Page, study: Study, axe: Axe) -> None:
    sign_in(page, owner(study), f"/studies/{study.pk}/leaderboard/")
    page.get_by_role("link", name="Help for this page").click()
    expect(page.get_by_role("heading", name="5. Read the results")).to_be_in_viewport()
    axe(page)
    contents = page.get_by_role("navigation", name="On this page")
    contents.get_by_role("link", name="6. Export").click()
    expect(page.get_by_role("heading", name="6. Export")).to_be_in_viewport()
    page.set_viewport_size(PHONE)
    page.goto("/docs/")
    axe(page)
    addresses = page.locator("main a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    for address in addresses:
        page.goto(address)
        assert fits(page), address
    assert page.problems == []
