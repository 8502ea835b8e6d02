"""The pages of health and of judges in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotate import crowd, judging
from annotate.models import ItemSetProgress, WorkerPulse
from evaluation import tasks
from preferendum.formats.questionnaire import Question
from tests.annotate import making, scored
from tests.annotate.judging_study import joined, judged, ready_study
from tests.browser.conftest import sign_in

Axe = Callable[[Page], None]


def fits_a_phone(page: Page) -> bool:
    page.set_viewport_size({"width": 390, "height": 800})
    return bool(page.evaluate("document.documentElement.scrollWidth <= 390"))


def test_health_moves_by_itself_and_reads_well(page: Page, axe: Axe) -> None:
    study = ready_study(topics=3)
    WorkerPulse.objects.create(name="machine:4711", at=timezone.now() + timedelta(hours=1), program_version="1")
    for topic in study.topics.all():
        ItemSetProgress.objects.create(item_set_id=topic.pk, fitted_version=topic.sentence_set.tally.data_version)
    sign_in(page, making.owner(study))
    page.goto(reverse("health"))
    expect(page.get_by_role("status")).to_contain_text("nothing has failed")
    axe(page)
    judged(joined(study))
    expect(page.get_by_role("heading", name="Waiting")).to_be_visible()
    ItemSetProgress.objects.filter(item_set__topic__name="T0").update(
        problem="It took longer than a minute and was stopped."
    )
    with transaction.atomic():
        judging.raise_version(study.topics.filter(name="T0").values_list("pk", flat=True))
    expect(page.get_by_role("heading", name="What failed")).to_be_visible()
    axe(page)
    WorkerPulse.objects.all().delete()
    expect(page.get_by_role("status")).to_contain_text("No worker is running")
    axe(page)
    assert fits_a_phone(page)
    assert page.problems == []


def test_the_page_of_judges_reads_well(page: Page, axe: Axe) -> None:
    study = ready_study(sentences=20)
    annotator = joined(study)
    for _ in range(12):
        judged(annotator)
    judging.join(study, kind="simulated", pseudonym="references")
    sign_in(page, making.owner(study))
    page.goto(reverse("study_annotators", args=[study.pk]))
    expect(page.get_by_role("row", name=annotator.pseudonym)).to_contain_text("[76, 100]")
    axe(page)
    assert fits_a_phone(page)
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto(reverse("log", args=[study.pk]))
    expect(page.get_by_role("link", name="Log", exact=True)).to_be_in_viewport()
    assert page.problems == []


def test_the_pages_about_people_read_well_and_lead_by_keyboard_to_an_exclusion(page: Page, axe: Axe) -> None:
    study = scored.scored_study(judgments_per_pair=3, smooth="none")
    for name, answers in (("ann", "aab"), ("bob", "abb")):
        for number, winner in enumerate(answers):
            _topic, left, right, _winner = scored.JUDGED[number]
            scored.judge(study, ("rain", left, right, winner), pseudonym=name)
    crowd.set_questionnaire(study, making.owner(study), [Question("Skill?", "scale", ("none", "some"))], "after")
    for number in range(6):
        scored.judge(study, ("rain", "d1:0", "d2:2", "a"), pseudonym=f"skilled-{number}")
        scored.said(study, f"skilled-{number}", {"Skill?": 1 + number % 2})
    assert tasks.catch_up(study.pk) == {}
    tasks.report_annotators(study.pk)
    scored.in_turns("compare_groups", study)
    for topic in study.topics.all():
        tasks.examine_topic(topic.pk)
    tasks.examine_study(study.pk)
    tasks.find_smallest_set(study.pk)
    sign_in(page, making.owner(study))
    for name in ("disputed", "log", "leaderboard", "study_annotators"):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(reverse(name, args=[study.pk]))
        axe(page)
        assert fits_a_phone(page), name
    assert page.get_by_role("region").evaluate("one => one.scrollWidth <= one.clientWidth"), "an annotator is a card"
    axe(page)
    of_annotators = ("agreement-of-annotators", "influence", "smallest-set")
    for name in (*of_annotators, "groups-of-annotators", "misfits", "coverage"):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(reverse("analysis", args=[study.pk, name]))
        axe(page)
        assert fits_a_phone(page), name
    page.goto(reverse("study_annotators", args=[study.pk]))
    page.get_by_role("link", name="bob").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Exclude: see what would change").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("computed as soon as")
    axe(page)
    tasks.answer_what_if(study.whatifquestions.get().pk)
    expect(page.get_by_role("heading", name="Leaderboard")).to_be_visible()
    axe(page)
    page.get_by_label("Reason").fill("Answers like a coin.")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 annotator is excluded.")).to_be_visible()
    axe(page)
    assert page.problems == []
