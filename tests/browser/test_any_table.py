"""A newcomer's table, with columns of other names, from the file to an invitation: at most 9 clicks and 20 seconds."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from annotate.models import Study, Summary
from tests.annotate import making
from tests.browser.conftest import fits, sign_in
from tests.browser.test_researcher import Axe
from tests.conftest import Web
from tests.formats.test_columns import Zipped, csv, xlsx

ROWS: list[tuple[str, ...]] = [
    (f"{doc:03}", who, f"{who} says of text {doc} that it rained.") for doc in range(1, 4) for who in ("large", "small")
]


@pytest.fixture
def researcher(web: Web) -> User:
    return making.person("rosa", is_superuser=True)


@pytest.fixture
def zipped(tmp_path: Path) -> Zipped:
    import zipfile

    def make(files: object) -> Path:
        with zipfile.ZipFile(tmp_path / "mine.xlsx", "w") as file:
            for name, content in dict(files).items():  # type: ignore[call-overload]
                file.writestr(name, content)
        return tmp_path / "mine.xlsx"

    return make


class Clicks:
    """Clicks of a visitor, counted; a field to fill is one."""

    def __init__(self, page: Page) -> None:
        self.page, self.count, self.began = page, 0, time.monotonic()

    def on(self, role: str, name: str) -> None:
        self.page.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]  # a role
        self.count += 1

    def fill(self, label: str, text: str) -> None:
        self.page.get_by_label(label).fill(text)
        self.count += 1


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("form", ["mine.xlsx", "mine.csv"])
@pytest.mark.parametrize("header", ["doc,model,output", "thing,who,said"])
def test_from_a_table_to_an_invitation(
    page: Page, researcher: User, zipped: Zipped, tmp_path: Path, form: str, header: str, axe: Axe
) -> None:
    path = tmp_path / form
    if form.endswith(".csv"):
        path.write_text(csv(header, ROWS, ";"))
    else:
        zipped(xlsx([tuple(header.split(",")), *ROWS]))
    sign_in(page, researcher)
    clicks = Clicks(page)
    clicks.on("link", "New study")
    clicks.fill("Title", "Mine")
    page.get_by_label("Drop a file here, or choose one").set_input_files(path)
    clicks.count += 1
    clicks.on("button", "Create the study")
    if header.startswith("thing"):
        expect(page.locator("#asked")).to_be_visible()
        axe(page)
        assert page.locator("#columns-form select").count() == 3
        clicks.on("button", "Read it like this")
    expect(page.get_by_text("This is what the file contains. Nothing has been added to the study yet.")).to_be_visible()
    clicks.on("button", "Add to the study")
    clicks.on("link", "Invite annotators")
    clicks.on("button", "Create the link")
    expect(page.get_by_label(re.compile("Link for"))).to_be_visible()

    took = time.monotonic() - clicks.began
    print(f"{form}, {header}: {clicks.count} clicks, {took:.1f} s")
    assert clicks.count <= 9
    assert took < 20
    assert Summary.objects.count() == len(ROWS)


@pytest.mark.usefixtures("worker")
def test_the_page_of_columns_fits_a_phone(page: Page, researcher: User, axe: Axe) -> None:
    upload = making.receive(study := making.study(researcher), csv("thing,who,said", ROWS).encode(), "mine.csv")
    sign_in(page, researcher, f"/studies/{study.pk}/uploads/{upload.key}/")
    expect(page.locator("#asked")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    axe(page)
    assert fits(page)
    page.screenshot(path="/tmp/tables-phone.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.screenshot(path="/tmp/tables-wide.png", full_page=True)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path="/tmp/tables-dark.png", full_page=True)


def test_a_file_that_nobody_reads_is_refused_before_it_is_sent(page: Page, researcher: User) -> None:
    sign_in(page, researcher, "/studies/new/")
    page.get_by_label("Title").fill("Mine")
    page.get_by_label("Drop a file here, or choose one").set_input_files(
        {"name": "words.docx", "mimeType": "application/octet-stream", "buffer": b"PK\x03\x04"}
    )
    page.get_by_role("button", name="Create the study").click()
    expect(page.locator("#upload-progress [role=status]")).to_contain_text("Nothing can be read from such a file")
    assert not Study.objects.exists()
