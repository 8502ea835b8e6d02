import errno
import hashlib
import io
import json
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import IntegrityError
from django.urls import reverse

from annotate import dataset, exports, imports, judging
from annotate.imports import kept
from annotate.imports.restore import restore
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    HumanScore,
    Judgment,
    PyramidAnnotation,
    Reference,
    SourceDocument,
    Summary,
    System,
    Tally,
    Topic,
    Upload,
)
from annotate.refusal import Refusal
from annotate.reports import annotators, forecast, leaderboard
from annotate.reports.study import look_at
from evaluation import tasks
from preferendum import formats
from preferendum.formats.archive import study as study_archive
from preferendum.formats.readers.pyramid_json import annotation_as_json
from tests.annotate import making
from tests.annotate.making import PYRAMID, TOPIC, lines
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db
State = Upload.State


def test_a_file_is_kept_under_a_name_that_nobody_can_guess_or_choose():
    study = making.study()
    upload = making.receive(study, b"content", "../../etc/passwd\x07")
    assert upload.state == State.WAITING
    assert upload.filename == "passwd"
    assert upload.file.name == f"uploads/{upload.key}"
    with default_storage.open(upload.file.name) as file:
        assert file.read() == b"content"
    assert (upload.size, upload.sha256) == (7, hashlib.sha256(b"content").hexdigest())
    assert AuditEntry.objects.get(action="upload").detail["filename"] == "passwd"


def test_a_file_that_is_too_large_or_empty_is_not_kept(settings):
    settings.UPLOAD_LIMIT = 10
    study = making.study()
    for content in (b"x" * 11, b""):
        with pytest.raises(Refusal):
            making.receive(study, content)
    assert not Upload.objects.exists()
    assert not default_storage.exists("uploads")


def test_a_large_file_is_never_in_memory():
    class Large(ContentFile):
        read_whole = False

        def read(self, size=-1):
            assert 0 < size <= 64 * 1024, "read in chunks"
            return super().read(size)

    upload = imports.receive(making.study(), making.person(), Large(b"x" * 1_000_000, "large"))
    assert upload.size == 1_000_000


def test_nothing_lies_about_where_the_row_could_not_be_stored(monkeypatch):
    study = making.study()

    def fail(*args, **kwargs):
        raise IntegrityError

    monkeypatch.setattr(Upload, "save", fail)
    with pytest.raises(IntegrityError):
        making.receive(study, b"content")
    assert default_storage.listdir("uploads") == ([], [])


def test_where_the_disk_is_nearly_full_uploads_wait_for_judgments(monkeypatch):
    monkeypatch.setattr("annotate.imports.uploads.KEPT_FREE", 1 << 60)
    with pytest.raises(Refusal, match="room"):
        making.receive(making.study(), b"content")


@pytest.mark.parametrize("why", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_takes_no_file_refuses_it_and_keeps_no_half(why, monkeypatch):
    study = making.study()
    monkeypatch.setattr("annotate.imports.uploads.KEPT_FREE", 0)

    class Half(ContentFile):
        passes = 0

        def chunks(self, chunk_size=None):
            self.passes += 1
            yield b"con"
            if self.passes > 1:  # the first is for its sum
                raise OSError(why, os.strerror(why))

    with pytest.raises(Refusal, match="room") as refused:
        imports.receive(study, making.person(), Half(b"content", "half"))
    assert refused.value.code == "no_room"
    assert default_storage.listdir("uploads") == ([], [])
    assert not Upload.objects.exists()


def test_a_file_where_the_folder_of_uploads_should_be_refuses_them(monkeypatch):
    study = making.study()
    monkeypatch.setattr("annotate.imports.uploads.KEPT_FREE", 0)
    folder = Path(default_storage.path("uploads"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.touch()
    with pytest.raises(Refusal, match="room"):
        making.receive(study, b"content")
    assert not Upload.objects.exists()


def test_nobody_is_blamed_for_a_file_that_got_lost_here():
    upload = making.receive(making.study(), lines(TOPIC))
    default_storage.delete(upload.file.name)
    with pytest.raises(FileNotFoundError):
        imports.process(upload)
    upload.refresh_from_db()
    assert (upload.state, upload.complaints) == (State.WAITING, [])


def test_the_preview_says_what_was_found():
    study = making.study()
    upload = making.receive(study, lines(TOPIC | {"pyramid": PYRAMID}))
    imports.process(upload)
    assert upload.state == State.READY
    preview = upload.preview
    assert preview["topics"] == [
        {
            "name": "M1",
            "title": "Rain",
            "documents": 2,
            "sentences": 5,
            "not_judged": 0,
            "references": 1,
            "summaries": 2,
            "without_text": 0,
            "content_units": 1,
            "annotated": 1,
            "texts": [
                {"name": "d1", "sentences": 3, "given_cut": True},
                {"name": "d2", "sentences": 2, "given_cut": False},
            ],
        }
    ]
    assert preview["systems"] == ["lead", "long"]
    assert preview["dimensions"] == [{"name": "responsiveness", "scores": 1}]
    assert (preview["summaries"], preview["human_scores"], preview["preferences"]) == (0, 0, 0)
    assert not Topic.objects.exists()


def test_what_was_passed_over_is_said():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("topics.jsonl", lines(TOPIC))
        archive.writestr("__MACOSX/._topics.jsonl", b"\0\1")
    upload = making.receive(making.study(), packed.getvalue(), "study.zip")
    imports.process(upload)
    (remark,) = upload.preview["remarks"]
    assert "__MACOSX" in remark["file"]


def test_the_preview_says_which_kinds_of_annotators_made_the_preferences(client):
    study = making.study()
    making.take_in(study)
    rows = [f"M1,d1:0,d1:1,a,{kind}" for kind in ("human", "", "machine", "simulated", "simulated")]
    upload = making.receive(study, csv("topic,a,b,winner,kind", *rows), "preferences.csv")
    imports.process(upload)
    assert upload.preview["preferences_by_kind"] == {"human": 2, "machine": 1, "simulated": 2}
    client.force_login(making.owner(study))
    page = client.get(reverse("upload", args=[study.pk, upload.key])).content.decode()
    assert "2 by people, 1 by machines, 2 simulated" in page
    found = client.get(reverse("api_upload", args=[study.pk, upload.key])).json()["preview"]
    assert found["preferences_by_kind"] == {"human": 2, "machine": 1, "simulated": 2}
    Upload.objects.filter(pk=upload.pk).update(preview={**upload.preview, "preferences_by_kind": {"human": 5}})
    assert client.get(reverse("api_upload", args=[study.pk, upload.key])).json()["preview"]["preferences"] == 5


def test_a_file_with_faults_is_refused_with_file_line_and_field():
    upload = making.receive(making.study(), lines(TOPIC, {"topic_id": "M2", "documents": [{"id": "d", "text": 3}]}))
    imports.process(upload)
    assert upload.state == State.REFUSED
    (complaint,) = upload.complaints
    assert (complaint["file"], complaint["line"], complaint["field"]) == ("topics.jsonl", 2, "documents[0].text")
    assert not Topic.objects.exists()


def test_reading_a_second_time_changes_nothing():
    upload = making.receive(making.study(), lines(TOPIC))
    imports.process(upload)
    first = Upload.objects.get().changed_at
    imports.process(upload)
    assert Upload.objects.get().changed_at == first


def test_a_confirmed_file_is_read_again_and_asks_again_if_it_would_replace_what_has_come_since():
    study = making.study()
    upload = making.receive(study, lines(TOPIC | {"title": "Snow"}))
    imports.process(upload)
    imports.confirm(upload, making.owner(study))
    making.take_in(study)
    imports.process(upload)
    assert upload.state == State.READY
    assert upload.preview["replaced"] == {"topics": 1}
    assert Topic.objects.get().title == "Rain"
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert upload.state == State.STORED
    assert Topic.objects.get().title == "Snow"


def test_a_study_asks_for_as_many_judgments_as_suit_its_sentences_unless_somebody_said_how_many():
    large = TOPIC | {"documents": [{"id": "d", "sentences": [f"Town {index} was flooded." for index in range(29)]}]}
    study, decided = making.study(), making.study(judgments_per_topic=80)
    for one in (study, decided):
        for content in (lines(large), lines(TOPIC | {"topic_id": "later"})):
            upload = making.receive(one, content)
            tasks.process_upload(upload.pk)
            imports.confirm(Upload.objects.get(pk=upload.pk), making.owner(one))
            tasks.process_upload(upload.pk)
        one.refresh_from_db()
    assert (study.judgments_per_topic, decided.judgments_per_topic) == (150, 80)
    (entry,) = AuditEntry.objects.filter(action="plan judgments")
    assert (entry.study, entry.detail) == (study, {"judgments_per_topic": [300, 150]})
    first = Upload.objects.filter(study=study).earliest("created_at")
    page = signed_in(making.owner(study)).get(reverse("upload", args=[study.pk, first.key])).content.decode()
    assert "150 judgments per topic about sentences: 150 for these topics." in page
    assert "By their words, that is about 16\xa0minutes of work." in page


def test_a_file_stored_while_its_double_was_loaded_is_there_for_the_double(monkeypatch):
    study = making.study()
    first, second = (making.receive(study, lines(TOPIC)) for _time in range(2))
    for upload in (first, second):
        imports.process(upload)
        imports.confirm(upload, making.owner(study))
    load = kept.load

    def load_slowly(upload):
        bundle = load(upload)
        monkeypatch.setattr(kept, "load", load)
        imports.process(first)
        return bundle

    monkeypatch.setattr(kept, "load", load_slowly)
    imports.process(second)
    assert (first.state, second.state) == (State.STORED, State.CONFIRMED)
    imports.process(second)
    assert second.state == State.STORED  # it brought nothing more
    assert Topic.objects.count() == 1


def test_what_was_read_is_stored_and_the_file_is_read_again_only_where_that_was_lost(monkeypatch):
    uploads = [making.receive(making.study(), lines(TOPIC | {"pyramid": PYRAMID})) for _study in range(2)]
    for upload in uploads:
        imports.process(upload)
    kept.forget(uploads[1])
    read, paths = formats.read, []
    monkeypatch.setattr(formats, "read", lambda path, **options: paths.append(path) or read(path, **options))
    for upload in uploads:
        imports.confirm(upload, upload.user)
        imports.process(upload)
        assert upload.state == State.STORED
    assert paths == [Path(uploads[1].file.path)]
    first, second = (list(exports.topics(upload.study)) for upload in uploads)
    assert first == second


def test_only_what_was_read_can_be_confirmed_and_twice_is_as_good_as_once():
    study = making.study()
    owner = making.owner(study)
    upload = making.receive(study, lines(TOPIC))
    with pytest.raises(Refusal, match="waiting to be read"):
        imports.confirm(upload, owner)
    imports.process(upload)
    imports.confirm(upload, owner)
    imports.confirm(upload, owner)
    imports.process(upload)
    imports.confirm(upload, owner)
    assert AuditEntry.objects.filter(action="confirm upload").count() == 1


def test_a_discarded_file_is_gone(django_capture_on_commit_callbacks):
    study = making.study()
    owner = making.owner(study)
    upload = making.receive(study, lines(TOPIC))
    imports.process(upload)
    with django_capture_on_commit_callbacks(execute=True):
        imports.discard(upload, owner)
    assert default_storage.listdir("uploads") == ([], [])
    imports.discard(upload, owner)
    with pytest.raises(Refusal):
        imports.confirm(upload, owner)
    imports.process(upload)
    assert upload.state == State.DISCARDED


def test_what_is_being_stored_cannot_be_discarded():
    study = making.study()
    upload = making.receive(study, lines(TOPIC))
    imports.process(upload)
    imports.confirm(upload, making.owner(study))
    with pytest.raises(Refusal, match="being stored"):
        imports.discard(upload, making.owner(study))


def test_a_file_is_stored_once():
    study = making.study()
    upload = making.receive(study, lines(TOPIC))
    imports.process(upload)
    imports.process(upload)
    assert not Topic.objects.exists()
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    imports.process(upload)
    assert upload.state == State.STORED
    assert AuditEntry.objects.filter(action="store upload").count() == Topic.objects.count() == 1


def test_a_file_that_is_given_up_says_why():
    upload = making.receive(making.study(), lines(TOPIC))
    upload.give_up("The reader died three times.")
    assert (upload.state, upload.problem) == (State.FAILED, "The reader died three times.")
    imports.process(upload)
    assert upload.state == State.FAILED


def test_everything_that_a_file_brings_is_stored():
    study = making.study()
    (topic,) = making.take_in(study)
    assert (topic.name, topic.title, topic.position, topic.extra) == ("M1", "Rain", 0, {"source": "made up"})
    first, second = SourceDocument.objects.filter(topic=topic)
    assert (first.sentences, first.text, first.extra) == (TOPIC["documents"][0]["sentences"], "", {"place": "Ohio"})
    assert (second.sentences, second.text) == (None, "Schools closed. Nobody was hurt.")
    assert Reference.objects.get().text == "Rain closed roads and schools."
    assert set(System.objects.values_list("name", flat=True)) == {"lead", "long"}
    assert HumanScore.objects.get().score == 3.0
    assert Tally.objects.get().item_set.topic == topic


def test_topics_go_on_counting_where_the_last_upload_stopped():
    study = making.study()
    making.take_in(study)
    making.take_in(study, TOPIC | {"topic_id": "M2"}, TOPIC | {"topic_id": "M3"})
    assert list(Topic.objects.values_list("name", "position")) == [("M1", 0), ("M2", 1), ("M3", 2)]
    assert System.objects.count() == 2


def csv(*rows: str) -> bytes:
    return "\n".join(rows).encode() + b"\n"


def store(study, content, name):
    upload = making.receive(study, content, name)
    imports.process(upload)
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert upload.state == State.STORED


def test_a_later_system_is_scored_from_the_judgments_already_there():
    study = making.study()
    making.take_in(study)
    before = Tally.objects.get().data_version
    store(study, csv("topic,system,text", "M1,new,It rained a lot."), "summaries.csv")
    assert Summary.objects.get(system__name="new").text == "It rained a lot."
    assert Tally.objects.get().data_version > before


def test_a_table_with_one_more_system_leaves_equal_texts_and_their_judgments_alone():
    study = making.study()
    document = {"id": "a.txt", "text": "It rained for days. The river rose."}
    topic = {"topic_id": "M1", "documents": [document], "references": [{"id": "gold", "text": "Rain for days."}]}
    making.take_in(study, topic | {"summaries": [{"system": "lead", "text": "It rained."}]})
    head, cells = (
        "id,document,target,lead,new",
        f"M1,{document['text']},Rain for days.,It rained.,The river rose a lot.",
    )
    columns = {"topic": "id", "document": "document", "reference_text": "target", "systems": ["lead", "new"]}
    upload = imports.receive(study, making.owner(study), ContentFile(csv(head, cells), "wide.csv"), columns=columns)
    imports.process(upload)
    assert (upload.preview["replaced"], upload.preview["systems"]) == ({}, ["lead", "new"])
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert set(Summary.objects.values_list("system__name", flat=True)) == {"lead", "new"}
    assert [SourceDocument.objects.get().name, Reference.objects.get().name] == ["a.txt", "gold"]


def test_a_summary_that_is_there_stays_until_its_replacement_is_confirmed():
    study = making.study()
    making.take_in(study)
    upload = making.receive(study, csv("topic,system,text", "M1,lead,Another."), "summaries.csv")
    imports.process(upload)
    assert upload.preview["replaced"] == {"summaries": 1}
    assert Summary.objects.get(system__name="lead").text == "It rained."


def test_a_later_human_score_replaces_the_earlier_one():
    study = making.study()
    making.take_in(study)
    scores = csv("topic,system,dimension,score", "M1,lead,responsiveness,4.5", "M1,long,responsiveness,2")
    store(study, scores, "human_scores.csv")
    assert dict(HumanScore.objects.values_list("summary__system__name", "score")) == {"lead": 4.5, "long": 2.0}


def test_two_intakes_of_one_file_leave_it_once():
    study = making.study()
    bundle = formats.Bundle((formats.Topic("M1", (formats.Text("d1", "It rained."), formats.Text("d2", "Yes."))),))
    imports.store(study, bundle)
    with pytest.raises(IntegrityError):
        imports.store(study, bundle)
    assert Topic.objects.count() == 1
    assert SourceDocument.objects.count() == 2


def test_preferences_about_sentences_that_are_not_there_are_refused_by_name():
    study = making.study()
    making.take_in(study)
    upload = making.receive(study, csv("topic,a,b,winner", "M1,d1:0,d2:2,a"), "preferences.csv")
    imports.process(upload)
    (complaint,) = upload.complaints
    assert (complaint["line"], complaint["field"]) == (2, "b")
    upload = making.receive(study, csv("topic,a,b,winner", "M1,d1:0,d2:1,a"), "preferences.csv")
    imports.process(upload)
    assert upload.state == State.READY


@pytest.mark.parametrize("prepared", [True, False])
def test_preferences_are_held_against_sentences_that_are_cut_and_those_that_will_be(prepared):
    study = making.study()
    (topic,) = making.take_in(study)
    if not prepared:
        Topic.objects.filter(pk=topic.pk).update(cut_version=0)
    for sentence, state in (
        ("d1:2", State.READY),
        ("d1:3", State.REFUSED),
        ("d2:1", State.READY),
        ("d2:2", State.REFUSED),
    ):
        upload = making.receive(study, csv("topic,a,b,winner", f"M1,d1:0,{sentence},a"), "preferences.csv")
        imports.process(upload)
        assert upload.state == state, sentence


def test_a_mended_document_is_cut_as_a_person_says():
    study = making.study()
    (topic,) = making.take_in(study)
    document = SourceDocument.objects.get(name="d2")
    owner = making.owner(study)
    imports.mend(document, ["Schools closed. Nobody", "  ", "was hurt.\n"], owner)
    document.refresh_from_db()
    assert document.mended == ["Schools closed. Nobody", "was hurt."]
    topic.refresh_from_db()
    assert topic.text_version == 2
    imports.mend(document, ["Schools closed. Nobody", "was hurt."], owner)
    topic.refresh_from_db()
    assert topic.text_version == 2
    imports.mend(document, None, owner)
    document.refresh_from_db()
    assert document.mended is None
    assert AuditEntry.objects.filter(action="mend document").count() == 2


@pytest.mark.parametrize(
    "sentences",
    [[], ["Schools closed."], ["Schools closed. Nobody was hurt!"], ["Nobody was hurt.", "Schools closed."]],
)
def test_mending_moves_borders_and_no_words(sentences):
    study = making.study()
    making.take_in(study)
    with pytest.raises(Refusal, match="not change the text"):
        imports.mend(SourceDocument.objects.get(name="d2"), sentences, making.owner(study))


def test_sentences_that_somebody_judged_stay_unless_a_person_insists():
    study = making.study()
    (topic,) = making.take_in(study)
    making.prepare(topic)
    owner = making.owner(study)
    assignment = judging.draw(judging.join(study))
    imports.mend(SourceDocument.objects.get(name="d2"), ["Schools", "closed. Nobody was hurt."], owner)
    making.prepare(topic)
    assignment = judging.draw(judging.join(study))
    judging.record_judgment(assignment, 1, "left", 2.0)
    document = assignment.pair.first.document
    with pytest.raises(imports.WouldLoseJudgments, match="1 judgment is about"):
        imports.mend(document, [" ".join(row.text for row in document.cut_sentences.order_by("index"))], owner)


def test_what_is_exported_again_is_what_came_in():
    study = making.study()
    making.take_in(study)
    written = io.BytesIO()
    formats.write_topics(exports.topics(study), written)
    assert given(json.loads(written.getvalue())) == TOPIC


def given(value: Any) -> Any:
    """Without the keys that stand on every line and say nothing there."""
    if isinstance(value, list):
        return [given(one) for one in value]
    if isinstance(value, dict):
        return {key: given(one) for key, one in value.items() if one is not None and (key, one) != ("person", False)}
    return value


def test_ratings_are_stored_by_assessor_and_their_mean_for_all():
    study = making.study()
    making.take_in(study, TOPIC | making.PEOPLE)
    preview = Upload.objects.get().preview
    assert (preview["assessors"], preview["ratings"]) == (2, 2)
    scores = HumanScore.objects.filter(summary__system__name="ann").order_by("assessor")
    assert list(scores.values_list("assessor", "score")) == [("", 4.5), ("J", 4.0), ("K", 5.0)]
    later = csv("topic,system,dimension,score,assessor", "M1,ann,responsiveness,3,J", "M1,long,fluency,2,K")
    making.store(study, later, "ratings.csv")
    assert list(scores.values_list("assessor", "score")) == [("", 4.0), ("J", 3.0), ("K", 5.0)]
    assert set(HumanScore.objects.filter(dimension="fluency").values_list("assessor", "score")) == {("", 2), ("K", 2)}
    assert look_at(study).human_scores == HumanScore.objects.of_all().count() == 3
    (topic,) = exports.topics(study)
    ann = topic.summaries[0]
    assert (ann.human, ann.ratings) == (
        {"responsiveness": 4.0},
        {"J": {"responsiveness": 3.0}, "K": {"responsiveness": 5.0}},
    )
    client, key = signed_in(making.owner(study)), scores[0].summary_id
    told = client.get(f"/api/v1/studies/{study.pk}/summaries/{key}/").json()
    assert (told["human"], told["ratings"]["J"]) == ({"responsiveness": 4.0}, {"responsiveness": 3.0})


def test_an_update_knows_the_topic_before_it():
    study = making.study()
    making.take_in(study)
    (update,) = making.take_in(study, TOPIC | {"topic_id": "M2", "base": "M1"})
    assert update.base == "M1"
    client = signed_in(making.owner(study))
    page = client.get(f"/studies/{study.pk}/topics/{update.pk}/").content.decode()
    assert 'Update of <bdi class="given">M1</bdi>' in page
    assert client.get(f"/api/v1/studies/{study.pk}/topics/{update.pk}/").json()["base"] == "M1"


def test_a_person_among_the_systems_is_scored_marked_and_not_ranked():
    study = making.study()
    making.take_in(study, TOPIC | making.PEOPLE)
    making.store(study, csv("topic,system,text,person", "M1,bob,It rained.,true"), "late.csv")
    assert Upload.objects.earliest("pk").preview["persons"] == 1
    people = Summary.objects.filter(person=True).order_by("system__name")
    assert list(people.values_list("system__name", "reference")) == [("ann", "A"), ("bob", "")]
    (topic,) = exports.topics(study)
    assert [(one.person, one.reference) for one in topic.summaries] == [
        (True, "A"),
        (True, None),
        (False, None),
        (False, None),
    ]
    annotator = judging.join(study)
    for _ in range(3):
        judging.record_judgment(judging.draw(annotator), 1, "left", 1.0)
    tasks.catch_up(study.pk)
    for board in (leaderboard.of_study(study), leaderboard.of_topic(study.topics.get())):
        assert {row.system: row.person for row in board.human_written} == {"ann": True, "bob": True}
        assert {row.system: row.person for row in board.rows} == {"lead": False, "long": False}
    client = signed_in(making.owner(study))
    page = client.get(f"/studies/{study.pk}/leaderboard/").content.decode()
    assert page.count('<span class="badge">person</span>') == 2
    summary = client.get(f"/studies/{study.pk}/summaries/{people[0].pk}/").content.decode()
    assert "it is the reference" in summary
    told = client.get(f"/api/v1/studies/{study.pk}/summaries/{people[0].pk}/").json()
    assert (told["person"], told["reference"]) == (True, "A")


def test_a_pyramid_is_stored_and_exported_as_it_was_read():
    study = making.study()
    making.take_in(study, TOPIC | {"pyramid": PYRAMID})
    stored = PyramidAnnotation.objects.get()
    assert (stored.topic.name, stored.assessor) == ("M1", "J")
    (topic,) = exports.topics(study)
    assert topic.pyramid.pyramid.text == "A\nRain closed roads and schools.\n"
    assert topic.pyramid.peers["lead"].matched["1"][0].parts[0].span == (3, 9)
    assert PyramidAnnotation.objects.get().data == annotation_as_json(topic.pyramid)


def test_what_comes_beyond_the_limit_is_counted_and_not_kept(settings, rf):
    settings.UPLOAD_LIMIT = 100_000
    content = ContentFile(b"x" * 300_000, "large")
    request = rf.post("/", {"file": content})
    file = request.FILES["file"]
    assert file.size == 300_000
    assert len(file.read()) <= 100_000
    with pytest.raises(Refusal, match="larger"):
        imports.receive(making.study(), making.person(), file)
    file.close()


def test_who_goes_on_sending_is_cut_off(settings, rf):
    settings.UPLOAD_LIMIT = 100_000
    assert "file" not in rf.post("/", {"file": ContentFile(b"x" * 500_000, "large")}).FILES


ROWS = [
    {"topic": "M1", "a": "d1:0", "b": "d1:1", "winner": "a", "annotator": "w1"},
    {"topic": "M1", "a": "d1:0", "b": "d1:1", "winner": "a", "annotator": "w1", "at": "2026-01-31T16:53:19Z"},
    {"topic": "M1", "a": "d1:1", "b": "d1:0", "winner": "b", "annotator": "w1", "reason": "repeat"},
    {"topic": "M1", "a": "d1:0", "b": "d1:1", "winner": "a", "annotator": "w2", "kind": "machine"},
]


def stored(study, content, filename):
    upload = making.receive(study, content, filename)
    imports.process(upload)
    assert upload.state == State.READY, upload.complaints
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert upload.state == State.STORED
    return upload


def notes(upload):
    return [remark["said"] % remark["params"] for remark in upload.preview["remarks"]]


def test_rows_that_stand_twice_count_once_and_the_preview_says_so():
    study = making.study()
    making.take_in(study, TOPIC)
    upload = stored(study, lines(*ROWS, *ROWS), "p.jsonl")
    assert notes(upload) == ["rows that stand here twice, counted once: 4"]
    assert upload.preview["preferences"] == Judgment.objects.count() == 4


def test_a_file_that_is_uploaded_again_counts_once_and_the_preview_says_so():
    study = making.study()
    making.take_in(study, TOPIC)
    stored(study, lines(*ROWS), "p.jsonl")
    later = ROWS[0] | {"winner": "b", "at": "2026-02-01T10:00:00Z"}
    upload = stored(study, lines(*ROWS, later), "again.jsonl")
    assert notes(upload) == ["rows that the study has already, which are not counted again: 4"]
    assert upload.preview["preferences"] == 1
    assert Judgment.objects.count() == 5
    assert set(Annotator.objects.values_list("pseudonym", "judged")) == {("w1", 4), ("w2", 1)}


def test_a_persons_row_is_not_known_from_a_machine_of_that_name():
    study = making.study()
    making.take_in(study, TOPIC)
    stored(study, lines(ROWS[3]), "machine.jsonl")
    person = {key: value for key, value in ROWS[3].items() if key != "kind"}
    assert stored(study, lines(person), "person.jsonl").preview["preferences"] == 1


def test_a_table_of_the_same_answers_without_seconds_counts_once():
    study = making.study()
    making.take_in(study, TOPIC)
    row = {key: ROWS[0][key] for key in ("topic", "a", "b", "winner")}
    row |= {"annotator": "w1", "at": "2026-01-31T16:53:19Z"}
    stored(study, lines(row | {"seconds": 2.5}), "p.jsonl")
    table = ",".join(row) + "\n" + ",".join(row.values()) + "\n"
    upload = stored(study, table.encode(), "p.csv")
    assert notes(upload) == ["rows that the study has already, which are not counted again: 1"]
    assert stored(study, lines(row | {"seconds": 3.5}), "other.jsonl").preview["preferences"] == 1


def test_equal_rows_without_annotator_and_time_may_be_of_two_people():
    study = making.study()
    making.take_in(study, TOPIC)
    row = {key: ROWS[0][key] for key in ("topic", "a", "b", "winner")}
    upload = stored(study, lines(row, row, row | ROWS[1] | {"annotator": None}), "p.jsonl")
    assert notes(upload) == []
    upload = stored(study, lines(row | ROWS[1] | {"annotator": None}), "again.jsonl")
    assert upload.preview["preferences"] == 0
    assert Judgment.objects.count() == 3


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_judgments_of_a_study_come_back_to_it_without_new_people_or_answers(form):
    study = making.study(judgments_per_pair=2, counted_kinds="all")
    for topic in making.take_in(study, TOPIC):
        making.prepare(topic)
    for kind, answers in (("human", ["left", "right"]), ("machine", ["left"])):
        annotator = judging.join(study, kind=kind)
        for answer in answers:
            judging.record_judgment(judging.draw(annotator), 1, answer, 1.5)
    named = [ROWS[1] | {"annotator": name} for name in ("@w", "=x", "'-y", annotator.pseudonym)]
    stored(study, lines(*named), "names.jsonl")
    before = set(Annotator.objects.values_list("pseudonym", "kind", "judged")), Judgment.objects.count()
    file = io.BytesIO()
    formats.write_preferences(exports.preferences(study), file, form, with_of=True)
    upload = stored(study, file.getvalue(), f"judgments.{form}")
    assert notes(upload) == ["rows that the study has already, which are not counted again: 7"]
    assert (set(Annotator.objects.values_list("pseudonym", "kind", "judged")), Judgment.objects.count()) == before
    upload = stored(study, lines(*named), "names.jsonl")
    assert (upload.preview["preferences"], Judgment.objects.count()) == (0, before[1])


def test_an_answer_that_was_taken_back_does_not_come_back_with_an_older_file():
    study = making.study()
    for topic in making.take_in(study, TOPIC):
        making.prepare(topic)
    annotator = judging.join(study)
    assignment = judging.draw(annotator)
    judging.record_judgment(assignment, 1, "left", 1.5)
    file = io.BytesIO()
    formats.write_preferences(exports.preferences(study), file)
    judging.undo(Assignment.objects.get())
    assert stored(study, file.getvalue(), "judgments.jsonl").preview["preferences"] == 0
    assert not Judgment.objects.counted().exists()


def test_a_judgment_without_a_time_has_none_on_pages_and_in_files_and_after_an_export(tmp_path):
    study = making.study()
    making.take_in(study, TOPIC)
    stored(study, lines(ROWS[0], ROWS[1] | {"annotator": "w3"}), "p.jsonl")
    untimed, timed = Judgment.objects.order_by("pk")
    assert (untimed.at, untimed.assignment.closed_at) == (None, None)
    assert timed.at == timed.assignment.closed_at == datetime(2026, 1, 31, 16, 53, 19, tzinfo=UTC)
    assert [own.at for own in exports.preferences(study)] == ["", "2026-01-31T16:53:19Z"]
    assert [row["at"] for row in dataset.judgments(study)] == [None, "2026-01-31T16:53:19.000000Z"]
    assert forecast.course(study).a_day is None
    client, annotator = signed_in(making.owner(study)), untimed.assignment.annotator
    sentence = client.get(reverse("sentence", args=[study.pk, untimed.assignment.pair.first_id])).content.decode()
    page = client.get(reverse("study_annotator", args=[study.pk, annotator.pk])).content.decode()
    assert "at an unknown time" in sentence
    assert "at an unknown time" in page
    table = client.get(reverse("study_annotator_csv", args=[study.pk, annotator.pk])).content.decode()
    assert table.splitlines()[1].startswith(",M1,")
    assert {row.annotator.pseudonym: row.first_at for row in annotators.rows_of(study)} == {"w1": None, "w3": timed.at}

    archive = exports.make_archive(study)
    assert [own.at for own in archive.judgments] == [None, "2026-01-31T16:53:19Z"]
    assert [own.created_at for own in archive.assignments] == [None, "2026-01-31T16:53:19Z"]
    with (tmp_path / "study.zip").open("wb") as file:
        study_archive.write(archive, file)
    back = restore(study_archive.read(tmp_path / "study.zip"), making.person())
    assert [own.at for own in exports.make_archive(back).judgments] == [None, "2026-01-31T16:53:19Z"]
    assert exports.make_archive(back).assignments[0].created_at is None
