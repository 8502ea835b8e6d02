"""From a file of votes to a leaderboard in a real Chromium."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import Permission
from playwright.sync_api import Page, expect

from annotate.models import Study, Upload
from evaluation import tasks
from tests.annotate.making import lines, person
from tests.annotate.test_votes import votes
from tests.browser.conftest import fits, sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]


def work() -> None:
    """Do what waits, as the worker does."""
    for upload in Upload.waiting():
        tasks.process_upload(upload.pk)
    for study in Study.objects.all():
        tasks.catch_up(study.pk)


def test_a_file_of_votes_is_a_leaderboard_in_four_clicks(page: Page, web: Web, axe: Axe, tmp_path: Path) -> None:
    path = tmp_path / "arena.jsonl"
    path.write_bytes(lines(*votes(200)))
    ann = person("ann")
    ann.user_permissions.add(Permission.objects.get(codename="add_study"))
    sign_in(page, ann, "/studies/new/")
    page.get_by_label("Title").fill("Arena")
    page.get_by_label("Drop a file here, or choose one").set_input_files(path)  # 1
    page.get_by_role("button", name="Create the study").click()  # 2
    expect(page.locator("#news")).to_be_visible()
    work()
    page.get_by_role("button", name="Add to the study").click()  # 3
    expect(page.get_by_text("being stored").first).to_be_visible()
    axe(page)
    work()
    page.get_by_role("link", name="Open the leaderboard").click()  # 4
    expect(page.get_by_text("dog leads").first).to_be_visible()
    expect(page.get_by_text("without saying on which topics").first).to_be_visible()
    axe(page)
    study = Study.objects.get()
    for place in ("", "topics/", "members/", "methods/", f"uploads/{Upload.objects.get().key}/", "results/forecast/"):
        page.goto(f"/studies/{study.pk}/{place}")
        page.set_viewport_size({"width": 390, "height": 844})
        assert fits(page), place
        axe(page)
        page.set_viewport_size({"width": 1440, "height": 900})
