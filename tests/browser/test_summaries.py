"""Two whole summaries in a real Chromium: side by side, on a phone, without JavaScript, from right to left."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate import invitations
from annotate.models import Item, Judgment, Summary
from tests.annotate import making
from tests.annotate.test_summary_pages import record, study_of
from tests.browser.conftest import QUIET, fits, read_in_english, settled, sign_in
from tests.browser.test_annotator import begin, press

PHONE = {"width": 390, "height": 844}
LONG = " ".join(
    f"On day {day} the river rose by {day} inches, and nobody knew when it would fall." for day in range(90)
)


def link_to(*texts: str, **settings: Any) -> str:
    summaries = [{"system": f"zyx{number}", "text": text} for number, text in enumerate(texts)]
    study = study_of(*(record(f"M{n}", summaries=summaries) for n in range(3)), **settings)
    return invitations.invitation_path(invitations.invite(study, making.owner(study)))


def boxes(page: Page, selector: str) -> list[dict[str, float]]:
    return [dict(found.bounding_box() or {}) for found in page.locator(selector).all()]


def test_two_long_summaries_are_judged_by_keys_and_scroll_side_by_side(page, axe, web):
    begin(page, link_to(LONG, LONG + " The end."))
    first, second = boxes(page, ".whole .card")
    assert first["y"] == second["y"]
    assert first["height"] < page.viewport_size["height"]
    axe(page)
    page.get_by_role("region", name="Second summary").focus()
    page.keyboard.press("End")
    page.wait_for_timeout(500)  # it scrolls smoothly
    scrolled = page.locator(".whole .card").evaluate_all("cards => cards.map(card => card.scrollTop)")
    assert scrolled[0] == 0 < 500 < scrolled[1]
    for key in ("1", "ArrowRight"):
        press(page, key)
        settled(page)
    assert list(Judgment.objects.order_by("pk").values_list("answer", flat=True)) == ["left", "right"]
    expect(page.locator("#said")).to_contain_text("Saved: the second summary.")
    press(page, "u")
    expect(page.locator("#said")).to_contain_text("undone")
    press(page, "s")
    page.get_by_role("button", name="Unclear").click()
    expect(page.locator("#said")).to_contain_text("Skipped")
    assert not page.problems


def test_a_short_summary_stays_in_view_beside_a_long_one(page, web):
    begin(page, link_to(LONG, "The river rose."))
    heights = sorted(box["height"] for box in boxes(page, ".whole .card"))
    assert heights[1] > page.viewport_size["height"]  # the page scrolls, the card does not
    page.mouse.wheel(0, 600)
    page.wait_for_timeout(500)
    assert page.evaluate("window.scrollY") > 500
    short = min(boxes(page, ".whole .card"), key=lambda box: box["height"])
    assert 0 <= short["y"] < 100


def test_the_source_documents_open_by_a_key_beside_the_pair(page, axe, web):
    begin(page, link_to("The river rose.", "The river fell."))
    press(page, "c")
    expect(page.locator("#drawer").get_by_role("heading", name="Document 2 of 2")).to_be_visible()
    axe(page)
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()
    expect(page.locator("#answer")).to_be_visible()


def test_on_a_phone_summaries_stand_one_below_the_other_and_the_answers_stay_on_the_screen(page, axe, web):
    page.set_viewport_size(PHONE)
    begin(page, link_to(LONG, f"{LONG} {'x' * 300}", ties_allowed=True, neither_allowed=True))
    first, second = boxes(page, ".whole .card")
    assert second["y"] >= first["y"] + first["height"] > PHONE["height"]
    for scrolled in (0, 900, 900):
        page.mouse.wheel(0, scrolled)
        page.wait_for_timeout(100)
        answers = boxes(page, ".choices button")
        assert len(answers) == 4
        assert all(0 < box["y"] < box["y"] + box["height"] <= PHONE["height"] for box in answers)
    assert fits(page)
    axe(page)
    page.wait_for_timeout(QUIET)
    page.get_by_role("button", name="The second summary").click()
    settled(page)
    assert Judgment.objects.get().answer == "right"


def test_on_a_phone_the_question_stays_and_a_tap_leads_to_the_other_summary(page, plain_page, axe, web):
    page.set_viewport_size(PHONE)
    link = link_to(LONG, LONG + " The end.")
    begin(page, link)
    begin(plain_page, link)
    to_second, to_first = (page.get_by_role("link", name=f"{which} summary") for which in ("Second", "First"))
    for link_there, link_back, title in ((to_second, to_first, "second"), (to_first, to_second, "first")):
        expect(link_back).to_be_hidden()
        link_there.click()
        expect(link_back).to_be_visible()
        page.wait_for_timeout(700)  # it scrolls smoothly
        (asked,), (heading,) = boxes(page, "#question"), boxes(page, f"#{title}-summary")
        assert 0 <= asked["y"] < asked["y"] + asked["height"] <= heading["y"] < PHONE["height"] / 2
        assert all(box["y"] + box["height"] <= PHONE["height"] for box in boxes(page, ".choices button"))
        axe(page)
    plain_page.get_by_role("link", name="Second summary").click()
    (asked,), (heading,) = boxes(plain_page, "#question"), boxes(plain_page, "#second-summary")
    assert 0 <= asked["y"] < asked["y"] + asked["height"] <= heading["y"] < PHONE["height"] / 2
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(page.locator(".to-text").first).to_be_hidden()


def test_summaries_are_judged_without_javascript(plain_page, web):
    plain_page.goto(link_to(LONG, "The river rose."))
    plain_page.get_by_role("button", name="Begin").click()
    plain_page.get_by_role("link", name="source documents").click()
    expect(plain_page.get_by_text("Source 1 of")).to_be_visible()
    plain_page.get_by_role("link", name="Back to the pair").click()
    plain_page.get_by_role("button", name="The first summary").click()
    expect(plain_page.get_by_text("Saved: the first summary.")).to_be_visible()
    assert Judgment.objects.get().answer == "left"


def test_summaries_run_from_right_to_left_where_their_language_does(page, web):
    read_in_english(page)
    begin(page, link_to("فاض النهر يوم الاثنين.", "غادر ثمانية آلاف شخص منازلهم.", language="ar"))
    assert page.locator(".whole .sentence").evaluate_all("all => all.map(one => getComputedStyle(one).direction)") == [
        "rtl",
        "rtl",
    ]
    first, second = boxes(page, ".whole .card")
    assert first["x"] < second["x"]  # the keys point to them


CODE = (
    """Use this:

```python
def rose(day):
    if day > 3:
\treturn  "high"
```

- Rivers
    - the Elbe
      - its mouth
<b>not bold</b> <script>document.title = "run"</script>
"""
    + "x" * 300
    + "\n"
    + " " * 300
    + "end"
)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_code_and_nested_lists_are_shown_as_they_were_written(page, axe, web, width, scheme):
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    documents = [
        {"id": "d1", "text": "The river rose.\n    It fell.\n\tIt rose  again."},
        {"id": "d2", "text": "So it did."},
    ]
    summaries = [{"system": "zyx0", "text": CODE}, {"system": "zyx1", "text": "The river rose."}]
    study = study_of(*(record(f"M{n}", summaries=summaries, documents=documents) for n in range(2)))
    begin(page, invitations.invitation_path(invitations.invite(study, making.owner(study))))
    shown = page.locator(".whole .given", has_text="Use this").first
    assert shown.evaluate("text => text.textContent") == CODE
    assert shown.evaluate("text => { getSelection().selectAllChildren(text); return String(getSelection()) }") == CODE
    assert fits(page)
    assert page.title() != "run"
    axe(page)
    page.get_by_role("link", name="Source documents").or_(
        page.get_by_role("button", name="Source documents")
    ).first.click()
    expect(page.locator(".document.given").first).to_have_text(
        "The river rose.\n    It fell.\n\tIt rose  again.", use_inner_text=True
    )
    sign_in(page, making.owner(study))
    summary = Summary.objects.filter(system__name="zyx0", topic__study=study).first()
    page.goto(reverse("summary", args=[study.pk, summary.pk]))
    assert page.locator(".sentence.given").first.evaluate("text => text.innerText") == CODE
    assert fits(page)
    sentence = Item.objects.of_sources(study).filter(text__contains="again").first()
    page.goto(reverse("sentence", args=[study.pk, sentence.pk]))
    whole = page.locator("blockquote.passage").evaluate("text => text.innerText")
    assert whole == "The river rose.\n    It fell.\n\tIt rose  again."
    assert fits(page)
    assert not page.problems
