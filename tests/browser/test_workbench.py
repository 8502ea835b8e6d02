"""The sentence workbench, by keys alone and on a phone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate import imports, studies
from annotate.models import Item, Judgment
from preferendum import formats
from tests.annotate import judging_study, making
from tests.browser.conftest import sign_in

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "Rivers rise in Ohio\nIt rained. Rivers rose. Roads closed for days."


def test_sentences_are_joined_split_and_left_out_by_keys_alone(page: Page, axe: Callable[[Page], None]) -> None:
    owner = User.objects.create_user("rosa")
    study = studies.make_study(owner, title="Rain", question="Which matters more?")
    (topic,) = imports.store(study, formats.Bundle(topics=(formats.Topic("T", (formats.Text("d1", TEXT),)),)))
    address = reverse("workbench", args=[study.pk, topic.pk, topic.documents.get().pk])

    def stored() -> list[tuple[str, str]]:
        return list(Item.objects.order_by("position").values_list("text", "not_judged"))

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)

    page.set_viewport_size({"width": 390, "height": 800})
    sign_in(page, owner, address)
    expect(page.locator("#s-0")).to_contain_text("is a heading")
    axe(page)
    page.locator("#s-0").focus()
    press("x")
    expect(page.locator("#s-0")).not_to_contain_text("not to be judged")
    press("x")
    expect(page.locator("#s-0")).to_contain_text("left out by a researcher")
    press("ArrowDown", "j")
    expect(page.locator("#s-1")).to_contain_text("It rained. Rivers rose.")
    expect(page.locator("#s-1")).to_be_focused()
    press("s")
    expect(page.locator("#s-1 [name=split]").first).to_be_focused()
    axe(page)
    press("ArrowRight", "Enter")
    expect(page.locator("#s-2")).to_contain_text("Rivers rose.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert stored() == [
        ("Rivers rise in Ohio", "by-hand"),
        ("It rained.", ""),
        ("Rivers rose.", ""),
        ("Roads closed for days.", ""),
    ]

    page.get_by_label("Keys").uncheck()
    page.locator("#s-1").focus()
    press("x")
    page.reload()
    expect(page.get_by_label("Keys")).not_to_be_checked()
    assert stored()[1] == ("It rained.", "")
    page.locator("#mark-1").click()
    expect(page.locator("#s-1")).to_contain_text("left out by a researcher")


def test_what_people_judged_is_joined_after_a_question(page: Page, axe: Callable[[Page], None]) -> None:
    study = judging_study.ready_study(sentences=4)
    judging_study.judged(judging_study.joined(study))
    (topic,) = study.topics.all()
    page.set_viewport_size({"width": 390, "height": 800})
    sign_in(page, making.owner(study), reverse("workbench", args=[study.pk, topic.pk, topic.documents.get().pk]))
    left = Judgment.objects.get().assignment.left.index
    row = page.locator(f"#s-{min(left, 2)}")
    row.focus()
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="Join anyway")).to_be_focused()
    expect(row).to_contain_text("1 judgment is about sentences that would change.")
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Join anyway")).to_have_count(0)
    row.focus()
    page.keyboard.press("j")
    expect(page.get_by_role("button", name="Join anyway")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("ol.bench > li")).to_have_count(3)
    assert not Judgment.objects.counted().exists()
    page.goto(f"{reverse('study_data', args=[study.pk])}?show=removed")
    page.get_by_role("button", name="Restore d1").click()
    expect(page.get_by_text("is back as it was")).to_be_visible()
    assert Judgment.objects.counted().count() == 1
