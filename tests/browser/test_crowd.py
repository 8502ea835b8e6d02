"""The journey of somebody whom a platform sends, in a real Chromium, against the real web server."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from annotate import invitations
from annotate.models import Annotator, Consent, Judgment, Participation, Study
from tests.annotate.judging_study import assert_books_balance
from tests.annotate.making import owner
from tests.annotate.test_crowd import CONSENT, P1, crowd_study
from tests.browser.conftest import QUIET, settled, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]
PROLIFIC = "https://app.prolific.com/submissions/complete?cc=DONE1"


@pytest.fixture
def study(web: Web) -> Study:
    return crowd_study(sentences=20, pairs_per_annotator=5)


def link(study: Study, person: str = P1) -> str:
    return f"{invitations.crowd_path(study.recruitment)}?PROLIFIC_PID={person}&STUDY_ID=a&SESSION_ID=b"


def at_pair(page: Page, number: int) -> None:
    expect(page.get_by_text(f"Pair {number} of 5")).to_be_visible()
    page.wait_for_timeout(QUIET)


def test_arrive_agree_judge_go_on_elsewhere_finish_and_go_back_with_the_code(
    page: Page, browser: Browser, web: Web, study: Study, axe: Axe
) -> None:
    page.goto(link(study))
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text(CONSENT)).to_be_visible()
    axe(page)
    page.get_by_role("button", name="I agree, begin").click()
    for number, key in ((1, "ArrowLeft"), (2, "ArrowRight")):
        at_pair(page, number)
        page.keyboard.press(key)
    at_pair(page, 3)
    settled(page)

    other = browser.new_context(base_url=web.url, permissions=["clipboard-read", "clipboard-write"])
    second = other.new_page()
    second.goto(link(study))
    second.get_by_role("button", name="Begin").click()
    second.get_by_role("button", name="I agree, begin").click()
    for number in (3, 4, 5):
        at_pair(second, number)
        second.keyboard.press("1")
    expect(second.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(second.get_by_label("Your code")).to_have_value("DONE1")
    axe(second)
    second.get_by_role("button", name="Copy").click()
    expect(second.get_by_role("button", name="Copied")).to_be_visible()
    assert second.evaluate("navigator.clipboard.readText()") == "DONE1"
    went: list[str] = []

    def leave(route: Route) -> None:
        went.append(route.request.url)
        route.fulfill(body="back at the platform")

    second.route("https://app.prolific.com/**", leave)
    second.get_by_role("link", name="Return to the platform").click()
    expect(second.get_by_text("back at the platform")).to_be_visible()
    assert went == [PROLIFIC]
    other.close()

    participation = Participation.objects.get()
    assert (participation.person, participation.outcome, participation.code) == (P1, "done", "DONE1")
    assert Annotator.objects.get().judged == Judgment.objects.count() == 5
    assert Consent.objects.get().text == CONSENT
    assert page.problems == []  # type: ignore[attr-defined]
    assert_books_balance(study)


def test_somebody_reads_what_is_stored_and_has_it_erased(page: Page, study: Study, axe: Axe) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(link(study))
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree, begin").click()
    at_pair(page, 1)
    page.locator("#answer [value=left]").click()
    at_pair(page, 2)
    page.get_by_role("link", name="My progress").click()
    axe(page)
    page.get_by_role("link", name="My data").click()
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    with page.expect_download() as download:
        page.get_by_role("link", name="Download everything").click()
    assert P1 in download.value.path().read_text()
    page.get_by_label("Erase them").check()
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("heading", name="You have withdrawn")).to_be_visible()
    axe(page)
    assert not Annotator.objects.exists()
    assert not Judgment.objects.exists()
    page.goto(link(study))
    expect(page.get_by_text("You have withdrawn from this study")).to_be_visible()
    axe(page)
    assert page.problems == []  # type: ignore[attr-defined]
    assert_books_balance(study)


def test_somebody_whose_part_was_ended_leaves_with_the_code_for_it(page: Page, study: Study, axe: Axe) -> None:
    page.goto(link(study))
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree, begin").click()
    at_pair(page, 1)
    annotator = Annotator.objects.get()
    Annotator.objects.update(excluded_at=annotator.joined_at)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Finish").click()
    expect(page.get_by_role("heading", name="Your part in this study has ended")).to_be_visible()
    expect(page.get_by_label("Your code")).to_have_value("OUT1")
    axe(page)


@pytest.mark.parametrize("width", [390, 1440])
def test_the_page_of_recruitment_is_accessible_and_fits(
    page: Page, study: Study, axe: Axe, web: Web, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    sign_in(page, owner(study))
    page.goto(f"/studies/{study.pk}/recruitment/")
    expect(page.get_by_label("Paste this as the address of your study")).to_be_visible()
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
