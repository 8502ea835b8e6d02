"""Journeys of paid strangers in a real Chromium: practice, a lost network, another browser, right-to-left texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from annotate import invitations
from annotate.models import Annotator, Assignment, Item, Judgment, Participation, Study, Topic
from tests.annotate.judging_study import assert_books_balance, prepare_pairs, ready_study
from tests.annotate.making import owner
from tests.annotate.test_crowd import CONSENT, P1, crowd_study
from tests.browser.conftest import QUIET, read_in_english, settled, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]
ARABIC = "غادر ثمانية آلاف شخص منازلهم يوم الاثنين بعد أن فاض النهر رقم"


@pytest.fixture
def study(web: Web) -> Study:
    study = crowd_study(sentences=20, pairs_per_annotator=6, training=True, training_threshold=0.5)
    prepare_pairs(study, "training", 2)
    return study


def link(study: Study, person: str = P1) -> str:
    return f"{invitations.crowd_path(study.recruitment)}?PROLIFIC_PID={person}&STUDY_ID=a&SESSION_ID=b"


def held() -> Assignment:
    return Assignment.objects.filter(state="open").earliest("pk")


def practise(page: Page, number: int, right: bool, axe: Axe | None = None) -> None:
    """Judge a practice pair by key, hear what is right, and go on by keys alone."""
    expect(page.get_by_text(f"Practice pair {number} of 2")).to_be_visible()
    side = held().expected
    page.wait_for_timeout(QUIET)
    page.keyboard.press({"left": "1", "right": "2"}[side] if right else {"left": "2", "right": "1"}[side])
    expect(page.get_by_role("heading", name="Correct" if right else "The other one")).to_be_focused()
    expect(page.get_by_text("Because of")).to_be_visible()
    if axe:
        axe(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Continue")).to_be_focused()
    page.keyboard.press("Enter")


def at_pair(page: Page, number: int) -> None:
    expect(page.get_by_text(f"Pair {number} of 6")).to_be_visible()
    page.wait_for_timeout(QUIET)


def test_arrive_agree_practise_judge_lose_the_network_for_ten_seconds_go_on_and_leave_with_the_code(
    page: Page, context: BrowserContext, study: Study, axe: Axe
) -> None:
    page.goto(link(study))
    page.get_by_text("Before you begin").click()
    expect(page.get_by_text("You start with 2 practice pairs")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text(CONSENT)).to_be_visible()
    axe(page)
    page.get_by_role("button", name="I agree, begin").click()
    practise(page, 1, right=False, axe=axe)
    practise(page, 2, right=True)
    for number in (1, 2):
        at_pair(page, number)
        page.keyboard.press("ArrowLeft")
    at_pair(page, 3)
    page.wait_for_timeout(1_000)  # the pair ahead is here

    context.set_offline(True)
    page.keyboard.press("ArrowRight")
    at_pair(page, 4)
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#trouble")).to_contain_text("Your answer is saved in this browser")
    page.wait_for_timeout(10_000)
    assert Judgment.objects.exclude(assignment__reason="training").count() == 2
    context.set_offline(False)
    expect(page.locator("#trouble")).to_contain_text("has arrived", timeout=20_000)

    for number in (5, 6):
        at_pair(page, number)
        page.keyboard.press("1")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    expect(page.get_by_label("Your code")).to_have_value("DONE1")
    answers = Judgment.objects.exclude(assignment__reason="training").order_by("pk")
    assert list(answers.values_list("answer", flat=True)) == ["left", "left", "right", "left", "left", "left"]
    assert len(set(answers.values_list("assignment", flat=True))) == 6
    assert Participation.objects.get().outcome == "done"
    assert page.problems == []  # type: ignore[attr-defined]
    assert_books_balance(study)


def test_whoever_fails_practice_is_thanked_gets_the_code_for_it_and_stays_out_elsewhere(
    page: Page, browser: Browser, web: Web, study: Study, axe: Axe
) -> None:
    Study.objects.update(training_threshold=1.0)
    page.goto(link(study))
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree, begin").click()
    practise(page, 1, right=True)
    practise(page, 2, right=False)
    expect(page.get_by_role("heading", name="Your part ends here")).to_be_visible()
    expect(page.get_by_label("Your code")).to_have_value("OUT1")
    axe(page)
    other = browser.new_context(base_url=web.url)
    second = other.new_page()
    second.goto(link(study))
    second.get_by_role("button", name="Begin").click()
    second.get_by_role("button", name="I agree, begin").click()
    expect(second.get_by_label("Your code")).to_have_value("OUT1")
    other.close()
    assert (Annotator.objects.count(), Participation.objects.get().outcome) == (1, "screened_out")


def test_practice_goes_on_in_another_browser_where_it_stopped(
    page: Page, browser: Browser, web: Web, study: Study
) -> None:
    page.goto(link(study))
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree, begin").click()
    practise(page, 1, right=True)
    other = browser.new_context(base_url=web.url)
    second = other.new_page()
    second.goto(link(study))
    second.get_by_role("button", name="Begin").click()
    second.get_by_role("button", name="I agree, begin").click()
    practise(second, 2, right=True)
    at_pair(second, 1)
    other.close()
    assert Annotator.objects.count() == 1


def test_an_answer_that_comes_too_fast_is_sent_again_by_itself_and_nobody_is_alarmed(page: Page, study: Study) -> None:
    Study.objects.update(training=False)
    page.goto(link(study))
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="I agree, begin").click()
    at_pair(page, 1)
    refused: list[str] = []

    def too_soon(route) -> None:  # type: ignore[no-untyped-def]
        if route.request.method == "POST" and not route.request.url.endswith("/ahead/") and not refused:
            refused.append(route.request.url)
            route.fulfill(status=429, headers={"Retry-After": "1"}, body="a moment")
        else:
            route.continue_()

    page.route("**/judge/**", too_soon)
    page.keyboard.press("1")
    at_pair(page, 2)
    settled(page)
    expect(page.locator("#trouble")).to_be_hidden()
    assert (len(refused), Judgment.objects.count()) == (1, 1)


@pytest.mark.parametrize("width", [390, 1440])
def test_a_study_that_is_read_from_right_to_left(page: Page, web: Web, axe: Axe, width: int) -> None:
    """Texts run from the right; left stays left, by key, by place and in what is stored."""
    study = ready_study(
        sentences=20,
        title="فيضان",
        question="أي الجملتين أهم؟",
        guidelines="اقرأ الجملتين.",
        language="ar",
        training=True,
        training_threshold=0.0,
    )
    for sentence in Item.objects.all():
        Item.objects.filter(pk=sentence.pk).update(text=f"{ARABIC} {sentence.position}.")
    Topic.objects.update(title="فيضان")
    prepare_pairs(study, "training", 1)
    page.set_viewport_size({"width": width, "height": 844})
    read_in_english(page)
    page.goto(invitations.invitation_path(invitations.invite(study, owner(study))))
    axe(page)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_text("Practice pair 1 of 1")).to_be_visible()
    for place in ("#question", "#answer .sentence"):
        shown = page.locator(place).first
        assert shown.get_attribute("lang") == "ar"
        assert shown.evaluate("node => getComputedStyle(node).direction") == "rtl"
    axe(page)
    page.wait_for_timeout(QUIET)
    page.keyboard.press("1")
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Pair 1 of 30")).to_be_visible()
    texts = page.locator("#answer .sentence").all_inner_texts()
    if width > 390:
        left, right = (page.locator(f"#answer [value={side}]").bounding_box() for side in ("left", "right"))
        assert left is not None
        assert right is not None
        assert left["x"] < right["x"]
    shown = held()
    assert texts == [shown.left.text, shown.right.text]
    axe(page)
    page.wait_for_timeout(QUIET)
    page.keyboard.press("c")
    expect(page.locator("#drawer mark")).to_have_text(shown.left.text)
    assert page.locator("#drawer .document").evaluate("node => getComputedStyle(node).direction") == "rtl"
    axe(page)
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    expect(page.locator("#drawer")).to_contain_text("اقرأ الجملتين.")
    axe(page)
    page.keyboard.press("Escape")
    page.wait_for_timeout(QUIET)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Pair 2 of 30")).to_be_visible()
    settled(page)
    assert Judgment.objects.get(assignment=shown).answer == "left"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"/progress/{shown.annotator.key}/")
    axe(page)


@pytest.mark.parametrize("nothing", ["screened_out", "skipped", "hour", "own", "no_work", "done"])
def test_every_end_of_the_work_is_said_kindly_and_is_accessible(page: Page, web: Web, axe: Axe, nothing: str) -> None:
    study = ready_study(judgments_per_hour=3)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(invitations.invitation_path(invitations.invite(study, owner(study))))
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#answer")).to_be_visible()
    page.goto(f"/progress/{Annotator.objects.get().key}/?nothing={nothing}")
    expect(page.locator("#question")).to_be_visible()
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [390, 1440])
def test_pairs_are_prepared_on_a_page_that_is_accessible_and_fits(page: Page, web: Web, axe: Axe, width: int) -> None:
    study = ready_study(topics=2)
    page.set_viewport_size({"width": width, "height": 900})
    sign_in(page, owner(study))
    page.goto(f"/studies/{study.pk}/settings/")
    page.locator("summary", has_text="Expert settings").click()
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.get_by_role("link", name="Edit practice and gold pairs").click()
    page.get_by_label("Topic", exact=True).select_option(label="Topic T1")
    page.get_by_role("button", name="Choose from this topic").click()
    offered = page.locator("#sentences option").evaluate_all("options => options.map(option => option.value)")
    page.get_by_label("The better one").fill(offered[1])
    page.get_by_label("The other one").fill(offered[4])
    page.get_by_label("Use").select_option("training")
    page.get_by_label("Explanation").fill("Because it tells what happened.")
    page.get_by_role("button", name="Add the pair", exact=True).click()
    expect(page.get_by_text("Because it tells what happened.")).to_be_visible()
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_member_who_opens_the_invitation_is_told_why_they_do_not_judge(page: Page, web: Web, axe: Axe) -> None:
    study = ready_study()
    sign_in(page, owner(study))
    response = page.goto(invitations.invitation_path(invitations.invite(study, owner(study))))
    assert response is not None
    assert response.status == 403
    expect(page.get_by_role("heading", name="This is your own study")).to_be_visible()
    axe(page)
