"""An upload that brings what is there: the same stays, what differs is shown first and then takes its place."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports
from annotate.models import HumanScore, Judgment, MetricScore, Reference, Removal, Study, Summary, SystemScore, Upload
from annotate.refusal import Refusal
from evaluation import tasks
from tests.annotate import making, scored
from tests.annotate.making import TOPIC, lines
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    study = making.study()
    making.store(study, lines(TOPIC), "topics.jsonl")
    return study


def sent(study: Study, content: bytes, name: str) -> Upload:
    upload = making.receive(study, content, name)
    imports.process(upload)
    assert upload.state == Upload.State.READY, upload.complaints
    return upload


def text(system: str = "lead") -> str:
    return Summary.objects.get(system__name=system).text


def test_a_summary_that_differs_is_shown_first_and_replaced_when_confirmed(study: Study) -> None:
    key = Summary.objects.get(system__name="lead").pk
    upload = sent(study, b"topic,system,text\nM1,lead,It poured.\nM1,new,Rain.\n", "late.csv")
    assert upload.preview["replacements"] == [
        {"kind": "summaries", "topic": "M1", "name": "lead", "before": "It rained.", "after": "It poured."}
    ]
    assert upload.preview["replaced"] == {"summaries": 1}
    assert text() == "It rained."
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert (text(), text("new")) == ("It poured.", "Rain.")
    summary = Summary.objects.get(system__name="lead")
    assert (summary.pk, summary.upload) == (key, upload)
    assert HumanScore.objects.get().summary == summary


def test_human_scores_of_a_replaced_text_are_kept_or_dropped_as_the_user_says(study: Study, client: Client) -> None:
    client.force_login(making.owner(study))
    for number, choice in enumerate(["keep", "drop"]):
        upload = sent(study, b"topic,system,text\nM1,lead,It poured %d.\n" % number, f"{choice}.csv")
        address = reverse("upload", args=[study.pk, upload.key])
        page = client.get(address).content.decode()
        assert "1 human score is of a text that is replaced" in page
        assert "Replace</button>" in page
        client.post(f"{address}confirm/", {"scores": choice})
        imports.process(upload)
        assert HumanScore.objects.exists() == (choice == "keep")
    dropped = Removal.objects.get(kind=Removal.Kind.HUMAN_SCORES)
    assert (dropped.name, dropped.counts) == ("drop.csv", {"human_scores": 1})
    imports.restore_removed(dropped, making.owner(study))
    assert HumanScore.objects.get().summary.text == "It poured 1."
    score = HumanScore.objects.get()
    given = TOPIC["summaries"][0] | {"text": "It drizzled.", "human": {score.dimension: score.score}}
    again = sent(study, lines(TOPIC | {"summaries": [given]}), "again.jsonl")
    assert again.preview["scores_of_old_texts"] == 0, "the file gives the score again"


def test_what_was_replaced_can_be_restored_within_a_day(study: Study) -> None:
    making.store(study, b"topic,system,metric,score\nM1,lead,BERTScore,0.5\n", "metric.csv")
    making.store(study, b"topic,system,text\nM1,lead,It poured.\n", "late.csv")
    assert not MetricScore.objects.exists()
    removal = Removal.objects.get()
    assert (removal.kind, removal.name, removal.counts) == ("replaced", "late.csv", {"summaries": 1})
    imports.restore_removed(removal, making.owner(study))
    assert text() == "It rained."
    assert MetricScore.objects.get().score == 0.5


def test_a_version_does_not_come_back_where_its_summary_is_gone(study: Study) -> None:
    making.store(study, b"topic,system,text\nM1,lead,It poured.\n", "late.csv")
    removal = Removal.objects.get()
    imports.remove(study, making.owner(study), "summary", str(Summary.objects.get(system__name="lead").pk))
    with pytest.raises(Refusal, match="removed since"):
        imports.restore_removed(removal, making.owner(study))


def test_the_same_file_again_changes_nothing_and_says_so(study: Study) -> None:
    before = list(Summary.objects.order_by("pk").values())
    upload = sent(study, lines(TOPIC), "topics.jsonl")
    assert upload.preview["replacements"] == []
    assert upload.preview["unchanged"] == {"topics": 1, "references": 1, "summaries": 2, "human_scores": 1}
    page = signed_in(making.owner(study)).get(reverse("upload", args=[study.pk, upload.key])).content.decode()
    assert "Nothing is stored twice." in page
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert upload.state == Upload.State.STORED
    assert list(Summary.objects.order_by("pk").values()) == before
    assert study.topics.count() == Reference.objects.count() == 1
    assert not Removal.objects.exists()


def test_a_topic_again_brings_references_title_and_scores(study: Study) -> None:
    corrected: dict[str, Any] = TOPIC | {
        "title": "Rain in Ohio",
        "references": [{"id": "A", "text": "Rain closed roads."}, {"id": "B", "text": "It rained."}],
        "summaries": [{"system": "lead", "text": "It rained.", "human": {"responsiveness": 4.0}}],
    }
    making.store(study, lines(corrected), "corrected.jsonl")
    (topic,) = study.topics.all()
    assert topic.title == "Rain in Ohio"
    assert dict(topic.references.values_list("name", "text")) == {"A": "Rain closed roads.", "B": "It rained."}
    assert HumanScore.objects.get().score == 4.0
    assert topic.summaries.count() == 2
    imports.restore_removed(Removal.objects.get(), making.owner(study))
    topic.refresh_from_db()
    assert topic.title == "Rain"
    assert topic.references.get(name="A").text == "Rain closed roads and schools."
    assert HumanScore.objects.get().score == 3.0


def test_a_rating_that_changes_takes_the_mean_with_it_and_back(study: Study) -> None:
    head = b"topic,system,dimension,score,assessor\n"
    making.store(study, head + b"M1,long,fluency,2,J\nM1,long,fluency,4,K\n", "scores.csv")
    making.store(study, head + b"M1,long,fluency,5,J\n", "corrected.csv")
    mean = HumanScore.objects.of_all().filter(dimension="fluency")
    assert mean.get().score == 4.5
    imports.restore_removed(Removal.objects.get(), making.owner(study))
    assert mean.get().score == 3.0


def test_after_a_replacement_scores_are_of_the_new_text_and_judgments_are_as_before() -> None:
    study = scored.scored_study()
    scores = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="recommended", system__name="off")
    assert not scores.exists()  # it shares no word with the documents
    judgments = Judgment.objects.counted().count()
    making.store(study, b"topic,system,text\nrain,off,Heavy rain flooded three towns in Ohio.\n", "late.csv")
    assert tasks.catch_up(study.pk) == {}
    assert scores.get().score > 0
    assert Judgment.objects.counted().count() == judgments


def test_judgments_that_were_imported_are_not_imported_twice(study: Study) -> None:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as packed:
        packed.writestr("topics.jsonl", lines(TOPIC))
        packed.writestr("preferences.csv", "topic,a,b,winner\nM1,d1:0,d1:1,a\n")
    making.store(study, zipped.getvalue(), "first.zip")
    upload = making.receive(study, zipped.getvalue(), "again.zip")
    imports.process(upload)
    assert upload.state == Upload.State.REFUSED
    assert [complaint["field"] for complaint in upload.complaints] == ["preferences"]
    assert Judgment.objects.count() == 1


def test_the_page_shows_what_changes_before_it_is_confirmed(study: Study) -> None:
    upload = sent(study, b"topic,system,text\nM1,lead,<b>It poured.\n", "late.csv")
    page = signed_in(making.owner(study)).get(reverse("upload", args=[study.pk, upload.key])).content.decode()
    assert "What changes" in page
    assert "It rained." in page
    assert "&lt;b&gt;It poured." in page
