"""The pages of health and of judges in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotate import judging, links
from annotate.models import Study, TopicProgress, WorkerPulse
from tests.annotate import making
from tests.annotate.judging_study import joined, judged, ready_study

Axe = Callable[[Page], None]


def sign_in(page: Page, study: Study) -> None:
    page.goto(links.sign_in_path(making.owner(study).pk))


def fits_a_phone(page: Page) -> bool:
    page.set_viewport_size({"width": 390, "height": 800})
    return bool(page.evaluate("document.documentElement.scrollWidth <= 390"))


def test_health_moves_by_itself_and_reads_well(page: Page, axe: Axe) -> None:
    study = ready_study(topics=3)
    WorkerPulse.objects.create(name="machine:4711", at=timezone.now() + timedelta(hours=1), program_version="1")
    for topic in study.topics.all():
        TopicProgress.objects.create(topic=topic, prepared_version=1, fitted_version=topic.tally.data_version)
    sign_in(page, study)
    page.goto(reverse("health"))
    expect(page.get_by_role("status")).to_contain_text("nothing has failed")
    axe(page)
    judged(joined(study))
    expect(page.get_by_role("heading", name="What waits")).to_be_visible()
    TopicProgress.objects.filter(topic__name="T0").update(problem="It took longer than a minute and was stopped.")
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
    sign_in(page, study)
    page.goto(reverse("judges", args=[study.pk]))
    expect(page.get_by_role("row", name=annotator.pseudonym)).to_contain_text("one-sided?")
    axe(page)
    assert fits_a_phone(page)
    assert page.problems == []
