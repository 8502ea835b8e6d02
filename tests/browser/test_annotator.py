"""The annotator's journey in a real Chromium, against the real web server."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from django.db.models import Value
from django.db.models.functions import Concat
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from annotate import crowd, invitations
from annotate.models import Annotator, AnsweredQuestionnaire, Assignment, Item, Judgment, ReportedPair, Study
from preferendum.formats.questionnaire import Question
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, ready_study
from tests.browser.conftest import QUIET, fits, read_in_english, settled, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]


@pytest.fixture
def study(web: Web) -> Study:
    return ready_study(
        sentences=30,
        title="Floods",
        guidelines="Judge what it tells.",
        ties_allowed=True,
        neither_allowed=True,
        pairs_per_annotator=11,
    )


@pytest.fixture
def link(study: Study) -> str:
    return invitations.invitation_path(invitations.invite(study, making.owner(study)))


def begin(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Begin").click()
    expect(page.locator("#answer")).to_be_visible()


def press(page: Page, key: str) -> None:
    """Press a key as somebody does who has read."""
    page.wait_for_timeout(QUIET)
    page.keyboard.press(key)


def at_pair(page: Page, number: int) -> None:
    expect(page.get_by_text(f"Pair {number} of")).to_be_visible()


def no_posts(page: Page) -> None:
    """As if the network were gone for whatever is sent."""
    page.route("**/judge/**", lambda route: route.abort() if route.request.method == "POST" else route.continue_())


def answers() -> list[str]:
    return list(Judgment.objects.order_by("pk").values_list("answer", flat=True))


def cards(page: Page) -> list[str]:
    return page.locator("#answer .sentence").all_inner_texts()


def test_a_pair_is_reported_by_keys_alone_on_a_phone(page, link, axe, study):
    page.set_viewport_size({"width": 390, "height": 800})
    begin(page, link)
    press(page, "s")
    page.keyboard.press("r")
    expect(page.get_by_label("Anything that the researchers should know")).to_be_focused()
    page.keyboard.type("1987 was 2 years later")  # letters and digits that are keys elsewhere
    assert fits(page)
    axe(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Not a sentence")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("Skipped. Thank you for the reason.")
    reported = ReportedPair.objects.get()
    assert (reported.reason, reported.note) == ("fragment", "1987 was 2 years later")
    sign_in(page, making.owner(study), reverse("reported_pairs", args=[study.pk]))
    expect(page.get_by_text("1987 was 2 years later")).to_be_visible()
    assert fits(page)
    axe(page)


def test_ten_pairs_by_keys_and_clicks_an_undo_a_skip_a_context_and_thanks(page, link, axe, study):
    page.goto(link)
    axe(page)
    begin(page, link)
    axe(page)
    for number, key in enumerate(["ArrowLeft", "2", "0", "9", "ArrowRight"], 1):
        at_pair(page, number)
        press(page, key)
    at_pair(page, 6)
    settled(page)
    assert answers() == ["left", "right", "tie", "neither", "right"]

    press(page, "u")
    expect(page.locator("#said")).to_contain_text("undone")
    at_pair(page, 5)
    axe(page)
    press(page, "ArrowLeft")
    at_pair(page, 6)
    settled(page)
    assert answers()[-2:] == ["undone", "left"]

    before = cards(page)
    press(page, "s")
    expect(page.get_by_role("button", name="Unclear")).to_be_focused()
    axe(page)
    page.get_by_role("button", name="Broken text").click()
    expect(page.locator("#said")).to_contain_text("Skipped")
    assert cards(page) != before
    assert Assignment.objects.get(state="skipped").skip_reason == "broken"

    press(page, "c")
    expect(page.locator("#drawer mark")).to_have_text(cards(page)[0])
    axe(page)
    page.keyboard.press("c")
    expect(page.locator("#drawer mark")).to_have_text(cards(page)[1])
    page.keyboard.press("Escape")
    press(page, "g")
    expect(page.locator("#drawer")).to_contain_text("Judge what it tells.")
    axe(page)
    page.keyboard.press("Escape")

    for number, side in ((6, "left"), (7, "right"), (8, "tie"), (9, "left"), (10, "right")):
        at_pair(page, number)
        page.wait_for_timeout(QUIET)
        page.locator(f"#answer [value={side}]").click()
    at_pair(page, 11)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("You have paused")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Continue", exact=True).click()
    at_pair(page, 11)
    press(page, "ArrowRight")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    axe(page)
    settled(page)
    assert page.problems == []
    assert Annotator.objects.get().judged == 11
    assert Judgment.objects.counted().count() == 11
    assert_books_balance(study)


def test_the_same_without_scripts(browser: Browser, web: Web, link, axe, study):
    context = browser.new_context(base_url=web.url, java_script_enabled=False)
    page = context.new_page()
    begin(page, link)
    for number, side in enumerate(["left", "right", "tie", "left"], 1):
        at_pair(page, number)
        page.locator(f"#answer [value={side}]").click()
    at_pair(page, 5)
    expect(page.locator("#said")).to_contain_text("Saved: the first sentence.")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#said")).to_contain_text("undone")
    at_pair(page, 4)
    page.locator("#answer [value=right]").click()
    at_pair(page, 5)
    page.locator("summary", has_text="Skip").click()
    page.get_by_role("button", name="Not my language").click()
    expect(page.locator("#said")).to_contain_text("Skipped")
    text = cards(page)[1]
    page.get_by_role("link", name="The second sentence in its document").click()
    expect(page.locator("mark")).to_have_text(text)
    page.get_by_role("link", name="Back to the pair").click()
    page.get_by_role("link", name="Guidelines").click()
    expect(page.get_by_text("Judge what it tells.")).to_be_visible()
    page.get_by_role("button", name="Back to the pair").click()
    for number in range(5, 12):
        at_pair(page, number)
        page.locator("#answer [value=left]").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert answers()[:6] == ["left", "right", "tie", "left", "undone", "right"]
    assert_books_balance(study)
    context.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_every_page_is_accessible_and_fits(page, link, axe, width):
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(link)
    axe(page)
    begin(page, link)
    first = page.url
    axe(page)
    annotator = Annotator.objects.get()
    page.locator("#answer [value=left]").click(delay=QUIET)
    # On a phone nothing is left or right of anything.
    expect(page.locator("#said")).to_have_text("Saved: the first sentence.")
    for path in (
        first,
        f"{first}context/left/",
        f"/progress/{annotator.key}/",
        f"/progress/{annotator.key}/guidelines/",
    ):
        page.goto(path)
        axe(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
    Study.objects.update(state="paused")
    page.goto(f"/progress/{annotator.key}/")
    axe(page)


def tops(page: Page) -> list[float]:
    """Where the question and both cards begin."""
    found = [page.locator(part) for part in ("#question", "#answer .card >> nth=0", "#answer .card >> nth=1")]
    return [box["y"] for part in found if (box := part.bounding_box())]


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("is_trial", [False, True])
def test_nothing_that_is_said_moves_the_question_or_the_cards(page, link, study, width, is_trial):
    Study.objects.update(reading_speed=1)
    page.clock.install()
    page.set_viewport_size({"width": width, "height": 844})
    if is_trial:
        sign_in(page, making.owner(study), reverse("try", args=[study.pk]))
        page.get_by_role("button", name="Begin the trial").click()
        expect(page.locator("#answer")).to_be_visible()
    else:
        begin(page, link)
    before = tops(page)
    assert len(before) == 3
    press(page, "1")
    expect(page.locator("#said")).to_contain_text("That was faster than people can read")
    assert tops(page) == before
    settled(page)
    press(page, "u")
    expect(page.locator("#said")).to_contain_text("undone")
    assert tops(page) == before
    page.clock.fast_forward(8_000)  # the remark is gone
    expect(page.locator("#said")).not_to_contain_text("faster")
    assert tops(page) == before
    no_posts(page)
    press(page, "1")
    expect(page.locator("#trouble")).to_be_visible()
    assert tops(page) == before
    page.unroute("**/judge/**")
    expect(page.locator("#trouble")).to_contain_text("arrived")
    settled(page)
    page.reload()
    assert tops(page) == before
    expect(page.locator("#said")).not_to_contain_text("faster")  # once a sitting


def test_a_tap_sooner_than_both_texts_can_be_seen_is_no_answer_and_the_cards_show_it(page, link):
    Item.objects.update(text=Concat(Value("The river rose by nine feet. " * 6), "text"))
    begin(page, link)
    press(page, "1")
    at_pair(page, 2)
    page.wait_for_timeout(500)
    page.locator("#answer [value=left]").click()
    expect(page.locator("#answer")).to_have_class("too-soon")
    page.keyboard.press("2")
    expect(page.locator("#answer")).not_to_have_class("too-soon")
    at_pair(page, 2)
    settled(page)
    assert answers() == ["left"]
    page.locator("#answer [value=right]").click()
    at_pair(page, 3)
    settled(page)
    assert answers() == ["left", "right"]


def test_a_double_click_judges_one_pair(page, link):
    begin(page, link)
    page.wait_for_timeout(QUIET)
    page.locator("#answer [value=left]").dblclick()
    at_pair(page, 2)
    page.wait_for_timeout(QUIET)
    at_pair(page, 2)
    settled(page)
    assert answers() == ["left"]


def test_a_held_key_judges_one_pair(page, link):
    begin(page, link)
    page.wait_for_timeout(QUIET)
    for _ in range(8):  # what a browser reports while a key is held down: the later ones are repeats
        page.keyboard.down("ArrowLeft")
    page.keyboard.up("ArrowLeft")
    at_pair(page, 2)
    settled(page)
    assert answers() == ["left"]


def test_keys_with_modifiers_and_keys_too_soon_are_no_answers(page, link):
    begin(page, link)
    page.evaluate(
        """() => {
            document.dispatchEvent(new Event("pair:appeared"));
            document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
        }"""
    )
    for key in ("Control+1", "Alt+2", "Meta+1"):
        press(page, key)
    page.wait_for_timeout(QUIET)
    at_pair(page, 1)
    settled(page)
    assert answers() == []


def test_shortcuts_can_be_switched_off(page, link):
    begin(page, link)
    press(page, "?")
    page.get_by_role("button", name="Turn single keys off").click()
    expect(page.locator("#task")).to_have_attribute("data-shortcuts", "off")
    press(page, "1")
    page.wait_for_timeout(QUIET)
    settled(page)
    assert answers() == []
    page.locator("#answer [value=left]").focus()
    page.keyboard.press("Enter")
    at_pair(page, 2)
    settled(page)
    assert answers() == ["left"]


def test_everything_is_reached_by_the_tab_key(page, link):
    begin(page, link)
    press(page, "1")
    at_pair(page, 2)
    expect(page.locator("#question")).to_be_focused()
    reached = []
    for _ in range(10):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.innerText.split('\\n')[0].trim()"))
    assert [word.split(" ")[0] for word in reached] == [
        *("Left", "in", "Right", "in", "Equally", "Neither", "Skip", "Undo", "Pause", "Help")
    ]


def test_back_reload_and_a_second_tab_double_nothing(page, context: BrowserContext, link, study):
    begin(page, link)
    first = page.url
    press(page, "1")
    at_pair(page, 2)
    second = page.url
    settled(page)
    page.reload()
    at_pair(page, 2)
    assert page.url == second

    page.go_back()
    expect(page.get_by_role("heading", name="You have judged this pair")).to_be_visible()
    assert page.url == first
    page.get_by_role("button", name="Continue", exact=True).click()
    at_pair(page, 2)
    assert page.url == second

    tab = context.new_page()
    tab.goto(second)
    press(page, "1")
    at_pair(page, 3)
    settled(page)
    press(tab, "2")
    expect(tab.locator("#said")).to_contain_text("That answer stands")
    at_pair(tab, 3)
    settled(page)
    assert answers() == ["left", "left"]
    assert_books_balance(study)


def test_an_answer_that_cannot_be_sent_is_kept_and_sent_again(page, link):
    begin(page, link)
    no_posts(page)
    press(page, "2")
    expect(page.locator("#trouble")).to_contain_text("Your answer is saved in this browser")
    assert answers() == []
    page.unroute("**/judge/**")
    expect(page.locator("#trouble")).to_contain_text("saved answer has arrived")
    at_pair(page, 2)
    assert answers() == ["right"]
    press(page, "1")
    expect(page.locator("#trouble")).to_be_hidden()


def test_an_answer_whose_receipt_was_lost_is_stored_once(page, link):
    begin(page, link)
    lost: list[int] = []

    def lose_the_first_receipt(route: Route) -> None:
        if route.request.method == "POST" and not route.request.url.endswith("/ahead/") and not lost:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    page.route("**/judge/**", lose_the_first_receipt)
    press(page, "1")
    at_pair(page, 2)
    settled(page)
    assert lost == [200]
    assert answers() == ["left"]


def test_an_answer_survives_closing_the_page(page, link):
    begin(page, link)
    no_posts(page)
    press(page, "2")
    expect(page.locator("#trouble")).to_be_visible()
    page.goto("about:blank")
    page.unroute("**/judge/**")
    page.goto(link)
    expect(page.locator("#trouble")).to_contain_text("saved answer has arrived")
    settled(page)
    assert answers() == ["right"]


def test_a_server_in_trouble_is_asked_again(page, link):
    begin(page, link)
    answered: list[int] = []

    def in_trouble(route: Route) -> None:
        answered.append(503)
        if len(answered) < 4:
            route.fulfill(status=503, body="busy")
        else:
            route.continue_()

    page.route("**/judge/**", in_trouble)
    press(page, "1")
    expect(page.locator("#trouble")).to_contain_text("Your answer is saved in this browser")
    at_pair(page, 2)
    settled(page)
    assert answers() == ["left"]


def test_signing_in_in_another_tab_loses_no_answer(page, context: BrowserContext, link):
    user = making.person()
    begin(page, link)
    tab = context.new_page()
    sign_in(tab, user)
    press(page, "1")
    at_pair(page, 2)
    settled(page)
    assert answers() == ["left"]


def test_the_time_that_a_page_was_read_is_measured(page, link):
    started = time.monotonic()
    begin(page, link)
    page.wait_for_timeout(800)
    page.keyboard.press("1")
    at_pair(page, 2)
    settled(page)
    seconds = Judgment.objects.get().seconds
    assert 0.8 <= seconds <= time.monotonic() - started
    assert round(seconds, 2) == seconds


def test_a_reason_is_given_by_keys_or_clicks_and_enter_is_no_answer(page, plain_page, link, axe, study):
    Study.objects.filter(pk=study.pk).update(reason_words="clearer, wrong facts", reason_note=True)
    begin(page, link)
    axe(page)
    press(page, "3")
    page.get_by_role("checkbox", name="wrong facts").click()
    page.keyboard.press("Enter")
    page.get_by_label("in your own words").fill("It says 2 years, not 1")
    page.keyboard.press("Enter")
    at_pair(page, 1)
    assert answers() == []
    page.get_by_role("checkbox", name="wrong facts").focus()
    press(page, "2")
    at_pair(page, 2)
    assert page.get_by_role("checkbox", checked=True).count() == 0
    settled(page)
    press(page, "1")
    settled(page)
    begin(plain_page, link)
    plain_page.get_by_role("checkbox", name="clearer").check()
    assert fits(plain_page)
    plain_page.keyboard.press("Enter")
    plain_page.get_by_label("in your own words").fill("No.")
    plain_page.keyboard.press("Enter")
    assert len(answers()) == 2
    plain_page.get_by_role("checkbox", name="clearer").check()
    plain_page.locator("#answer [value=left]").click()
    at_pair(plain_page, 2)
    stored = list(Judgment.objects.order_by("pk").values_list("answer", "why", "note"))
    assert stored[0] == ("right", "clearer,wrong facts", "It says 2 years, not 1")
    assert stored[1:] == [("left", "", ""), ("left", "clearer", "")]


def test_right_to_left_texts_keep_their_sides(page, link, study):
    Study.objects.filter(pk=study.pk).update(language="ar")
    read_in_english(page)
    begin(page, link)
    left = page.locator("#answer [value=left]").bounding_box()
    right = page.locator("#answer [value=right]").bounding_box()
    assert left["x"] < right["x"]
    assert page.locator("#answer .sentence").first.get_attribute("lang") == "ar"


def test_the_next_pair_is_there_before_the_server_has_heard_of_the_answer(page, link, study):
    begin(page, link)
    first = cards(page)
    page.wait_for_timeout(QUIET)
    expect(page.locator("#answer")).to_be_visible()
    page.wait_for_timeout(QUIET)  # the pair ahead is here
    no_posts(page)
    press(page, "1")
    at_pair(page, 2)
    assert cards(page) != first
    assert answers() == []
    second = page.url
    page.unroute("**/judge/**")
    settled(page)
    assert answers() == ["left"]
    assert page.url == second
    assert Assignment.objects.get(state="judged").key != Assignment.objects.filter(state="open").earliest("pk").key
    assert_books_balance(study)


def test_answers_faster_than_the_server_all_arrive_in_order(page, link, study):
    """Each waits for the one before it; none is lost, and each belongs to the pair that was on screen."""
    begin(page, link)

    def slowly(route: Route) -> None:
        time.sleep(0.4)
        route.continue_()

    page.route("**/judge/**", slowly)
    chosen = []
    for number, side in enumerate(["left", "right", "right", "left"], 1):
        at_pair(page, number)
        page.wait_for_timeout(QUIET)
        chosen.append((page.url.rstrip("/").rsplit("/", 1)[1], side))
        page.locator(f"#answer [value={side}]").click()
    at_pair(page, 5)
    settled(page)
    stored = Judgment.objects.order_by("pk").values_list("assignment__key", "answer")
    assert [(str(key), answer) for key, answer in stored] == chosen
    assert_books_balance(study)


def test_an_undo_right_after_an_answer_waits_for_it(page, link):
    begin(page, link)
    page.wait_for_timeout(QUIET)
    page.route("**/judge/*/", lambda route: (time.sleep(0.5), route.continue_()))
    press(page, "1")
    at_pair(page, 2)
    press(page, "u")
    expect(page.locator("#said")).to_contain_text("undone")
    at_pair(page, 1)
    assert answers() == ["left", "undone"]


@pytest.mark.parametrize("width", [1280, 390])
def test_an_arabic_reader_is_asked_and_judges_from_right_to_left_with_left_on_the_left(
    page: Page, plain_page: Page, axe: Axe, study: Study, link: str, width: int
) -> None:
    Study.objects.update(language="ar")
    question = Question("ما لغتك الأم؟", "one", ("العربية", "لغة أخرى"), required=True)
    crowd.set_questionnaire(study, making.owner(study), [question], "before")
    for reader in (page, plain_page):  # with JavaScript, and without
        reader.set_viewport_size({"width": width, "height": 844})
        reader.goto(link)
        expect(reader.locator("html")).to_have_attribute("dir", "rtl")
        reader.get_by_role("button", name="ابدأ").click()
        reader.get_by_label("العربية").check()
        assert fits(reader)
        if reader is page:
            axe(page)
        reader.locator("main form button.primary").click()
        cards = reader.locator("#answer button.card")
        expect(cards).to_have_count(2)
        first, second = (card.bounding_box() for card in cards.all())
        assert first
        assert second
        assert first["y"] < second["y"] if width == 390 else first["x"] < second["x"]
        assert cards.first.get_attribute("value") == "left"
        assert fits(reader)
        if reader is page:
            axe(page)
        reader.wait_for_timeout(QUIET)
        cards.first.click()
        expect(reader.get_by_text("حُفظ: الجملة الأولى.")).to_be_visible()
    assert AnsweredQuestionnaire.objects.count() == Judgment.objects.count() == 2
