"""Baseline systems: what standard summarizers write comes like a file that somebody sent."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports
from annotate.models import Study, Summary, Upload
from annotate.refusal import Refusal
from evaluation import agenda, tasks
from preferendum.evidence import evidence
from preferendum.formats.records import Text, Topic
from preferendum.summarizers import SUMMARIZERS, standard_summaries
from tests.annotate import making

pytestmark = pytest.mark.django_db

PLACES = ("Chile", "Peru", "Japan", "Nepal", "Haiti", "Italy", "Turkey")


def document(place: str) -> str:
    return f"A quake hit {place}, said officials. Ten died in {place}. =It rained on, too. Aid reached {place} late."


@pytest.fixture
def study() -> Study:
    """Seven topics without summaries, and one without documents."""
    study = making.study(language="en")
    topics = [{"topic_id": place, "documents": [{"id": "d", "text": document(place)}]} for place in PLACES]
    bare = {"topic_id": "bare", "references": [{"id": "A", "text": "A quake."}]}
    for topic in making.take_in(study, *topics, bare):
        making.prepare(topic)
    return study


def written(study: Study, words: int = 10) -> Upload:
    upload = imports.ask_for_baselines(study, making.owner(study), words)
    while Upload.waiting().filter(pk=upload.pk).exists():
        assert agenda.find("process_upload", upload.pk)
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def store(upload: Upload) -> None:
    imports.confirm(upload, making.owner(upload.study))
    tasks.process_upload(upload.pk)


def test_they_are_looked_at_confirmed_and_stored_as_the_library_writes_them(study: Study) -> None:
    upload = written(study)
    assert upload.state == Upload.State.READY, upload.complaints
    assert upload.preview["systems"] == sorted(f"baseline-{name}" for name in SUMMARIZERS)
    assert upload.size > 0
    assert len(upload.sha256) == 64
    assert not Summary.objects.filter(topic__study=study).exists()
    store(upload)
    assert Summary.objects.filter(topic__study=study).count() == len(PLACES) * len(SUMMARIZERS)
    topic = evidence(Topic("Peru", documents=(Text("d", text=document("Peru")),), language="en"))
    by_library = standard_summaries(topic, words=10)
    for name in ("lead", "klsum", "lexrank"):
        text = Summary.objects.get(topic__study=study, topic__name="Peru", system__name=f"baseline-{name}").text
        assert text == "\n".join(by_library[name])


def test_a_turn_ends_after_a_topic_and_the_next_one_goes_on(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    upload = imports.ask_for_baselines(study, making.owner(study), 10)
    for done in range(1, len(PLACES) + 1):
        tasks.process_upload(upload.pk)
        upload.refresh_from_db()
        assert upload.preview == {"written": done, "of": len(PLACES)}
    monkeypatch.undo()
    assert len(written(study).preview["systems"]) == len(SUMMARIZERS)
    assert Upload.objects.filter(study=study, filename="baselines.csv").count() == 1, "asked for twice, made once"


def test_topics_that_have_them_are_left_out_and_with_nothing_to_do_nothing_is_made(study: Study) -> None:
    store(written(study))
    with pytest.raises(Refusal, match="All topics have baseline summaries"):
        imports.ask_for_baselines(study, making.owner(study), 10)
    (late,) = making.take_in(study, {"topic_id": "late", "documents": [{"id": "d", "text": document("Fiji")}]})
    making.prepare(late)
    upload = written(study)
    assert upload.preview["summaries"] == len(SUMMARIZERS)


def test_a_file_that_is_discarded_meanwhile_is_not_written_again(study: Study) -> None:
    upload = imports.ask_for_baselines(study, making.owner(study), 10)
    with pytest.raises(FileNotFoundError):
        imports.written.add_rows(Upload(file="gone"), [("Peru", "baseline-lead", "A quake.")])
    imports.discard(upload, making.owner(study))
    tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.state == Upload.State.DISCARDED


def test_the_page_offers_them_and_says_what_will_not_do(client: Client, study: Study) -> None:
    client.force_login(making.owner(study))
    page = reverse("upload_new", args=[study.pk])
    assert "Make baseline systems" in client.get(page).content.decode()
    wrong = client.post(reverse("make_baselines", args=[study.pk]), {"words": "5"})
    assert wrong.status_code == 422
    assert "greater than or equal to 10" in wrong.content.decode()
    answer = client.post(reverse("make_baselines", args=[study.pk]), {"words": "20"}, follow=True)
    assert "Standard summarizers are about to write." in answer.content.decode()
    store(written(study))
    again = client.post(reverse("make_baselines", args=[study.pk]), {"words": "20"})
    assert again.status_code == 422
    assert "All topics have baseline summaries" in again.content.decode()
