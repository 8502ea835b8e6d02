"""Simulated judgments that a researcher asks for: written by the worker, looked at, stored as simulated."""

from __future__ import annotations

from collections import Counter

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotate import imports, studies
from annotate.models import Annotator, AuditEntry, Judgment, Study, Upload
from annotate.refusal import Refusal
from evaluation import agenda, tasks
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.making import TOPIC

pytestmark = pytest.mark.django_db

ALIKE = {
    "topic_id": "alike",
    "documents": [{"id": "d1", "sentences": ["Snow fell.", "Ice froze."]}],
    "references": [{"id": "A", "text": "Nothing of it."}],
}
BARE = {"topic_id": "bare", "documents": [{"id": "d1", "sentences": ["Wind blew.", "Trees bent."]}]}


def simulated_study() -> Study:
    """Two topics with references that tell sentences apart, one whose do not, one without references."""
    study = making.study(language="en")
    for topic in making.take_in(study, TOPIC, ALIKE, TOPIC | {"topic_id": "M2"}, BARE):
        making.prepare(topic)
    return study


@pytest.fixture
def study() -> Study:
    return simulated_study()


def work(upload: Upload) -> Upload:
    """Let the worker go on until somebody has to look at it."""
    while Upload.waiting().filter(pk=upload.pk).exists():
        assert agenda.find("process_upload", upload.pk)
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def ask(study: Study, source: str = "references", per_topic: int = 20, seed: int = 0) -> Upload:
    return imports.ask_for_simulated(study, making.owner(study), source, per_topic, seed)


def answers(study: Study) -> Counter[tuple[object, ...]]:
    rows = Judgment.objects.filter(item_set__study=study)
    pair = "assignment__pair"
    return Counter(rows.values_list("item_set__topic__name", f"{pair}__first__text", f"{pair}__second__text", "answer"))


def test_they_are_looked_at_confirmed_and_stored_as_simulated(study: Study) -> None:
    upload = work(ask(study))
    assert upload.state == Upload.State.READY, upload.complaints
    assert upload.preview["preferences_by_kind"] == {"simulated": 40}
    assert not Judgment.objects.exists()
    imports.confirm(upload, making.owner(study))
    work(upload)
    annotator = Annotator.objects.get(study=study)
    assert (annotator.kind, annotator.pseudonym, annotator.judged) == ("simulated", "simulated from the references", 40)
    assert not Judgment.objects.counted().exists()
    studies.change_settings(study, making.owner(study), counted_kinds="simulated")
    assert Judgment.objects.counted().count() == 40
    assert AuditEntry.objects.get(action="simulate judgments").detail["per_topic"] == 20


def test_they_are_those_of_the_command(study: Study) -> None:
    upload = work(ask(study, seed=3))
    imports.confirm(upload, making.owner(study))
    work(upload)
    other = simulated_study()
    call_command("simulate_judgments", other.pk, per_topic=20, seed=3, verbosity=0)
    assert answers(study) == answers(other)


def test_a_turn_ends_after_a_topic_and_the_next_one_goes_on(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    upload = ask(study)
    tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    assert upload.preview == {"written": 1, "of": 3}
    read = program(making.owner(study)).get(reverse("api_upload", args=[study.pk, upload.key]))
    assert (read.json()["state"], read.json()["preview"]) == ("waiting", None)
    Upload.objects.filter(pk=upload.pk).update(preview={})  # as if the turn had broken off before it said so
    assert ask(study) == upload, "asked for twice, made once"
    monkeypatch.undo()
    assert work(upload).preview["preferences"] == 40


@pytest.mark.parametrize(
    ("asked", "why"),
    [({"source": "pyramid"}, "No topic has references or a Pyramid"), ({"per_topic": 6_667}, "20001 judgments")],
)
def test_what_cannot_be_simulated_is_refused(study: Study, asked: dict[str, object], why: str) -> None:
    with pytest.raises(Refusal, match=why):
        ask(study, **asked)
    assert not Upload.objects.filter(filename="simulated.csv").exists()


def test_the_page_offers_them_and_says_that_they_do_not_count(client: Client, study: Study) -> None:
    client.force_login(making.owner(study))
    sent = {"source": "references", "per_topic": "5", "seed": "0"}
    assert "Simulate judgments" in client.get(reverse("upload_new", args=[study.pk])).content.decode()
    wrong = client.post(reverse("make_simulated", args=[study.pk]), sent | {"per_topic": "1001"})
    assert wrong.status_code == 422
    assert "less than or equal to 1000" in wrong.content.decode()
    answer = client.post(reverse("make_simulated", args=[study.pk]), sent, follow=True)
    assert "Judgments are about to be simulated." in answer.content.decode()
    upload = work(Upload.objects.get(filename="simulated.csv"))
    shown = client.get(reverse("upload", args=[study.pk, upload.key])).content.decode()
    assert "Simulated judgments do not count in this study" in shown
    assert "10 simulated" in shown


def test_a_study_without_references_is_told_at_once_why_nothing_can_be_simulated(client: Client) -> None:
    study = making.study()
    making.take_in(study, BARE)
    client.force_login(making.owner(study))
    page = client.get(reverse("upload_new", args=[study.pk])).content.decode()
    assert "Simulate judgments" not in page
    assert "Judgments are simulated from references or Pyramids" in page


def test_programs_ask_by_the_api(study: Study) -> None:
    caller = program(making.owner(study))
    answer = caller.post(reverse("api_simulated", args=[study.pk]), {"per_topic": 5}, format="json")
    assert answer.status_code == 202
    assert work(Upload.objects.get(key=answer.json()["key"])).preview["preferences"] == 10
