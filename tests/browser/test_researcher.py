"""The researcher's journey in a real Chromium, against the real web server and the real worker."""

from __future__ import annotations

import base64
import io
import time
import zipfile
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Permission, User
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotate import invitations, judging
from annotate.models import Assignment, Item, Judgment, Score, SourceDocument, Study, Upload
from tests.annotate import making, scored
from tests.browser.conftest import sign_in
from tests.conftest import Web

Axe = Callable[[Page], None]
DOCUMENTS = {
    "d1": "Heavy rain flooded three towns in Ohio. Schools were closed by Dr. Brown. It rained.",
    "d2": "Nobody was hurt by the rain. The governor visited the towns. He wore a hat.",
}


def bundle() -> bytes:
    """A zip as a researcher makes it: folders of plain texts, and what a Mac puts beside them."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for topic in ("T1", "T2"):
            for name, text in DOCUMENTS.items():
                archive.writestr(f"topics/{topic}/documents/{name}.txt", text)
            archive.writestr(f"topics/{topic}/references/A.txt", "Rain flooded towns and nobody was hurt.")
            archive.writestr(f"topics/{topic}/summaries/lead.txt", "Heavy rain flooded three towns in Ohio.")
            archive.writestr(f"topics/{topic}/summaries/hat.txt", "He wore a hat.")
        archive.writestr("__MACOSX/._x", "debris")
    return packed.getvalue()


@pytest.fixture
def researcher(web: Web) -> User:
    person = making.person("ada")
    person.user_permissions.add(Permission.objects.get(codename="add_study"))
    return person


@pytest.fixture
def study(web: Web) -> Study:
    return scored.scored_study()


def judge(study: Study, answers: int) -> None:
    """Judge as an annotator does, in the tables that the real processes share."""
    annotator = judging.join(study)
    for _ in range(answers):
        drawn = judging.draw(annotator)
        assert isinstance(drawn, Assignment), drawn
        judging.record_judgment(drawn, 1, "left", 4.0)


@pytest.mark.usefixtures("worker")
def test_from_a_bundle_to_first_scores(page: Page, researcher: User, axe: Axe) -> None:
    sign_in(page, researcher)
    expect(page.get_by_role("heading", name="From texts to a leaderboard")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="New study").click()
    axe(page)
    page.get_by_label("Title").fill("Floods")
    page.get_by_label("Drop a file here, or choose one").set_input_files(
        {"name": "floods.zip", "mimeType": "application/zip", "buffer": bundle()}
    )
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_text("This is what the file contains. Nothing has been added to the study yet.")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="Edit sentences d1").first.click()
    axe(page)
    page.get_by_role("button", name="Leave out (1)").click()
    expect(page.locator("#s-1")).to_contain_text("left out by a researcher")
    page.get_by_role("button", name="Take back (1)").click()
    expect(page.locator("#s-1")).not_to_contain_text("left out by a researcher")
    page.get_by_role("link", name="Back to the upload").click()
    facts = " ".join(page.locator(".facts").inner_text().split())
    assert facts == "Topics 2 Documents 4 Sentences 12 References 2 Systems 2 Summaries 4"
    expect(page.get_by_text("it contains no data")).to_be_visible()
    page.get_by_role("button", name="Add to the study").click()
    expect(page.get_by_text("Everything below is now part of the study.")).to_be_visible()
    axe(page)

    page.get_by_role("link", name="Go to the topics").click()
    axe(page)
    page.get_by_role("link", name="T1", exact=True).click()
    axe(page)
    page.get_by_role("link", name="Documents").click()
    axe(page)
    page.get_by_role("link", name="Edit sentences d1").first.click()
    axe(page)
    page.get_by_role("link", name="Edit as text").click()
    axe(page)
    lines = page.get_by_label("One sentence per line")
    lines.fill("Heavy rain flooded three towns in Iowa.\nSchools were closed by Dr. Brown.\nIt rained.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("continues with “Iowa.”, but the document has “Ohio.")).to_be_visible()
    axe(page)
    lines.fill("Heavy rain flooded three towns in Ohio. Schools were closed by Dr. Brown.\nIt rained.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("summary").first).to_contain_text("2 sentences · edited")
    axe(page)
    mended = SourceDocument.objects.get(topic__name="T1", name="d1")
    cut = list(Item.objects.filter(document=mended).order_by("index").values_list("text", flat=True))
    assert cut == ["Heavy rain flooded three towns in Ohio. Schools were closed by Dr. Brown.", "It rained."]

    study = Study.objects.get(title="Floods")
    page.goto(reverse("study", args=[study.pk]))
    page.get_by_role("link", name="Invite annotators").click()
    axe(page)
    page.get_by_label("Label").fill("class of May")
    page.get_by_role("button", name="Create the link").click()
    link = page.get_by_label("Link for class of May").input_value()
    assert "/join/" in link
    axe(page)
    page.get_by_role("link", name="QR code class of May").click()
    expect(page.get_by_role("img", name="QR code with the link for class of May")).to_be_visible()
    axe(page)

    page.goto(reverse("leaderboard", args=[study.pk]))
    axe(page)
    judge(study, 6)
    expect(page.locator("table.board")).to_contain_text("lead")
    expect(page.locator("#board-notices")).to_contain_text("1 person gave")
    axe(page)
    page.goto(reverse("study", args=[study.pk]))
    expect(page.get_by_text("1 person gave 6 judgments")).to_be_visible()
    judged = Score.objects.filter(summary__system__name="hat").values_list("summary__topic", flat=True)[0]
    page.goto(reverse("topic_leaderboard", args=[study.pk, judged]))
    page.get_by_role("link", name="hat").click()
    page.locator(".tint").first.click()
    expect(page.locator(".why-word:target")).to_contain_text("Annotators prefer sentences with")
    axe(page)
    page.get_by_role("link", name="Close").click()
    expect(page.locator(".why-word").first).to_be_hidden()
    page.get_by_text("Every word as a table").click()
    expect(page.get_by_text("Sum =")).to_be_visible()
    axe(page)


@pytest.mark.usefixtures("worker")
def test_an_open_leaderboard_moves_and_the_reader_keeps_their_place(page: Page, web: Web) -> None:
    study = scored.scored_study(**scored.AS_PUBLISHED)  # by which one good sentence carries a short summary to the top
    topic = scored.topic(study)
    sign_in(page, making.owner(study), reverse("topic_leaderboard", args=[study.pk, topic.pk]))
    page.set_viewport_size({"width": 390, "height": 500})
    page.evaluate("window.opened = 'before'")
    link = page.get_by_role("link", name="lead & co_")
    link.focus()
    page.locator("summary", has_text="The ranking over time").scroll_into_view_if_needed()
    place = page.locator("summary", has_text="The ranking over time").bounding_box()
    others = [sentence for sentence in ("d1:0", "d1:1", "d1:2", "d2:0", "d2:1") for _ in range(5)]
    scored.judge(study, *(("rain", "d2:2", other, "a") for other in others))
    expect(page.locator("#board-notices")).to_contain_text("Judgments: 29 by people")
    expect(page.locator("#board-said")).to_contain_text("The order has changed")
    expect(link).to_be_focused()
    now = page.locator("summary", has_text="The ranking over time").bounding_box()
    assert place
    assert now == pytest.approx(place, abs=1)  # browsers keep one's place in whole pixels
    assert page.evaluate("window.opened") == "before"


def test_an_open_page_leads_to_the_door_when_its_visitor_has_signed_out(page: Page, study: Study) -> None:
    address = reverse("leaderboard", args=[study.pk])
    sign_in(page, making.owner(study), address)
    expect(page.locator("table.board")).to_be_visible()
    page.context.clear_cookies()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert page.url.endswith(f"?next={address}")


def test_a_page_says_plainly_that_no_worker_is_there(page: Page, researcher: User, axe: Axe) -> None:
    study = making.study(researcher)
    sign_in(page, researcher, reverse("upload_new", args=[study.pk]))
    # Dropped rather than chosen.
    content = base64.b64encode(making.lines(making.TOPIC)).decode()
    carried = page.evaluate_handle(
        """content => {
            const carried = new DataTransfer();
            const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
            carried.items.add(new File([bytes], "dropped.jsonl"));
            return carried;
        }""",
        content,
    )
    page.dispatch_event(".dropzone", "dragover", {"dataTransfer": carried})
    page.dispatch_event(".dropzone", "drop", {"dataTransfer": carried})
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="dropped.jsonl")).to_be_visible()
    expect(page.get_by_text("No worker is running. The file is stored and will be read")).to_be_visible()
    axe(page)
    page.goto(reverse("study", args=[study.pk]))
    expect(page.get_by_role("heading", name="No worker is running")).to_be_visible()
    axe(page)


@pytest.mark.usefixtures("worker")
def test_a_refused_file_shows_every_reason(page: Page, researcher: User, axe: Axe) -> None:
    study = making.study(researcher)
    sign_in(page, researcher, reverse("upload_new", args=[study.pk]))
    wrong = making.lines({"topic_id": "T", "documents": 7}, {"topic_id": "", "documents": []})
    page.get_by_label("Drop a file here").set_input_files(
        {"name": "wrong.jsonl", "mimeType": "application/json", "buffer": wrong}
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", name="wrong.jsonl")).to_be_visible()
    expect(page.locator("table.complaints tbody tr").first).to_contain_text("documents")
    axe(page)
    page.get_by_role("button", name="Discard this file").click()
    expect(page.get_by_text("The file was discarded. The study has not changed.")).to_be_visible()


def test_a_file_that_the_form_refuses_is_said_beside_the_form(page: Page, researcher: User) -> None:
    study = making.study(researcher)
    sign_in(page, researcher, reverse("upload_new", args=[study.pk]))
    page.get_by_label("Drop a file here").set_input_files(
        {"name": "empty.jsonl", "mimeType": "application/json", "buffer": b""}
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#upload-progress [role=status]")).to_contain_text("empty")
    expect(page.get_by_role("button", name="Upload")).to_be_enabled()
    assert not Upload.objects.exists()


def test_every_page_is_accessible_and_fits_a_phone(page: Page, study: Study, axe: Axe) -> None:
    topic = scored.topic(study)
    document, sentence = topic.documents.first(), topic.sentence_set.items.first()
    summary = topic.summaries.first()
    invitation = invitations.invite(study, making.owner(study))
    annotator = study.annotators.first()
    assert annotator
    assert document
    assert sentence
    assert summary
    sign_in(page, making.owner(study))
    pages = [
        reverse("studies"),
        *(reverse(name, args=[study.pk]) for name in ("study", "study_topics", "leaderboard", "study_members")),
        *(reverse(name, args=[study.pk]) for name in ("study_settings", "study_export", "upload_new", "study_delete")),
        *(reverse(name, args=[study.pk]) for name in ("study_copy", "study_methods", "study_data")),
        *(reverse(name, args=[study.pk]) for name in ("study_questionnaire", "study_recruitment", "reported_pairs")),
        reverse("study_demographics", args=[study.pk]),
        reverse("invitation_qr", args=[study.pk, invitation.pk]),
        reverse("study_annotator", args=[study.pk, annotator.pk]),
        *(reverse(name, args=[study.pk, topic.pk]) for name in ("topic", "topic_documents", "topic_leaderboard")),
        reverse("document_mend", args=[study.pk, topic.pk, document.pk]),
        reverse("workbench", args=[study.pk, topic.pk, document.pk]) + "?split=0",
        reverse("sentence", args=[study.pk, sentence.pk]),
        reverse("summary", args=[study.pk, summary.pk]),
        reverse("summary", args=[study.pk, summary.pk]) + "?scored_by=published",
        reverse("leaderboard", args=[study.pk]) + "?scored_by=published",
        reverse("system", args=[study.pk, summary.system_id]),
    ]
    for address in pages:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(address)
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        axe(page)
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address


@pytest.mark.usefixtures("worker")
def test_everything_can_be_done_without_javascript(plain_page: Page, researcher: User) -> None:
    page = plain_page
    study = making.study(researcher)
    sign_in(page, researcher, reverse("upload_new", args=[study.pk]))
    page.get_by_label("Drop a file here").set_input_files(
        {"name": "floods.zip", "mimeType": "application/zip", "buffer": bundle()}
    )
    page.get_by_role("button", name="Upload").click()
    look_again_until(page, "This is what the file contains")
    page.get_by_role("button", name="Add to the study").click()
    look_again_until(page, "Everything below is now part of the study.")
    scored.judge(study, ("T1", "d1:0", "d1:1", "a"), ("T2", "d2:0", "d2:2", "a"))
    page.goto(reverse("leaderboard", args=[study.pk]))
    while_it_works(page, "gave 2 judgments", page.reload)
    assert Judgment.objects.count() == 2
    page.goto(reverse("study_members", args=[study.pk]))
    page.get_by_role("button", name="Create the link").click()
    expect(page.get_by_label("Link for invitation")).to_be_visible()


def look_again_until(page: Page, text: str) -> None:
    while_it_works(page, text, page.get_by_role("link", name="Check again").click)


def while_it_works(page: Page, text: str, look_again: Callable[[], object]) -> None:
    """Look again until the worker has done what makes this text appear."""
    deadline = time.monotonic() + 90
    while not page.get_by_text(text).count():
        assert time.monotonic() < deadline, f"never saw “{text}”"
        page.wait_for_timeout(100)
        look_again()
