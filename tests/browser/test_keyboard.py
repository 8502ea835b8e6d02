"""A researcher without a mouse: from signing in to an invitation by Tab, Enter, Space and typing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from playwright.sync_api import Locator, Page, expect
from pytest_django import Settings

from annotate.models import Invitation, Study
from tests.annotate import making
from tests.conftest import Web

PASSWORD = "four unrelated words here"
#: More stops than any page has before what somebody wants there.
STOPS = 120
#: Whether the focus can be seen: it has an outline, a size, and a place in the window that no bar covers.
IS_SEEN = """() => {
  const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
  const above = document.elementFromPoint(box.left + 2, Math.min(box.top + box.height / 2, innerHeight - 1));
  if (!at.closest(".sticky") && above?.closest(".sticky")) return false;
  return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 && box.width > 1 && box.height > 1
    && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
}"""


@pytest.fixture
def ada(web: Web, settings: Settings) -> User:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]  # which the web server knows
    user = User.objects.create_user("ada", password=PASSWORD)
    user.user_permissions.add(Permission.objects.get(codename="add_study"))
    return user


def tab_to(page: Page, target: Locator) -> None:
    """Go on from stop to stop; each has to show that the focus is there."""
    expect(target).to_be_visible()
    for _stop in range(STOPS):
        page.keyboard.press("Tab")
        at = page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        assert at.startswith("<body") or page.evaluate(IS_SEEN), (page.url, at)
        if target.evaluate("target => target === document.activeElement"):
            return
    pytest.fail(f"Tab does not come to {target} on {page.url}")


def press(page: Page, name: str, key: str = "Enter") -> None:
    """A button that leads to another page: what is pressed before that is there is pressed on the old one."""
    tab_to(page, page.get_by_role("button", name=name).first)
    with page.expect_navigation():
        page.keyboard.press(key)


def follow(page: Page, name: str) -> None:
    tab_to(page, page.get_by_role("link", name=name).first)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def write(page: Page, label: str, text: str) -> None:
    tab_to(page, page.get_by_label(label, exact=True).first)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


@pytest.mark.usefixtures("worker")
def test_from_sign_in_to_an_invitation_by_keyboard_alone(page: Page, ada: User, tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_bytes(making.lines(making.TOPIC))

    # From the start on: a listener that is set just before the key may come after it.
    page.on("filechooser", lambda chooser: chooser.set_files(file))

    page.goto("/")
    follow(page, "Sign in")
    write(page, "User name", "ada")
    write(page, "Password", PASSWORD)
    press(page, "Sign in")

    follow(page, "New study")
    write(page, "Title", "Floods")
    press(page, "Create the study", "Space")
    tab_to(page, page.get_by_label("Drop a file here, or choose one"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Drop a file here, or choose one")).to_have_value(re.compile("topics.jsonl"))
    press(page, "Upload")
    expect(page.get_by_text("Nothing has been added to the study yet.")).to_be_visible()
    press(page, "Add to the study")
    expect(page.get_by_text("Everything below is now part of the study.")).to_be_visible()

    follow(page, "Go to the study")
    follow(page, "Settings")
    tab_to(page, page.locator("summary", has_text="Expert settings"))
    page.keyboard.press("Enter")
    write(page, "Share of repeats in percent", "10")
    press(page, "Save")
    expect(page.get_by_text("The settings were saved.")).to_be_visible()
    follow(page, "People")
    follow(page, "Recruitment")
    tab_to(page, page.get_by_label("Consent", exact=False).first)
    page.keyboard.type("I take part.")
    press(page, "Save")

    follow(page, "Invitations")
    write(page, "Label optional", "class of May")
    press(page, "Create the link", "Space")
    tab_to(page, page.get_by_role("button", name="Copy").first)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Copied")).to_be_focused()

    study = Study.objects.get()
    assert (study.title, study.repeat_share, study.recruitment.consent) == ("Floods", 0.1, "I take part.")
    assert Invitation.objects.get().label == "class of May"
    assert page.problems == []
