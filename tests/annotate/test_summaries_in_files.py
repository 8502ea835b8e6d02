"""Judgments about whole summaries come from files and go into files as those about sentences do."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import exports, imports, judging
from annotate.imports.restore import restore
from annotate.imports.store import cut_bundle, remove_topics, store_topics
from annotate.models import Annotator, Assignment, GoldPair, Item, ItemSet, Judgment, Study, Tally, Topic, Upload
from preferendum import formats
from preferendum.formats.archive import study as study_archive
from preferendum.formats.checks.complaints import Complaints, Place
from preferendum.formats.records import Preference
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, joined, judged
from tests.annotate.making import lines
from tests.annotate.test_comparing_summaries import SYSTEMS, counted, of_summaries, record, study_of
from tests.annotate.test_exports import packed
from tests.formats.hostile import zipped

pytestmark = pytest.mark.django_db

TABLE = (
    b"topic,a,b,winner,annotator,of\n"
    b"M1,ann,bob,a,p1,summaries\nM1,lead,ann,b,p1,summaries\nM1,d1:0,d1:1,a,p1,\nM1,bob,long,tie,p2,summaries\n"
)
SAID = [("ann", "bob", "a"), ("lead", "ann", "b"), ("bob", "long", "tie")]


def files(contents: dict[str, str]) -> bytes:
    return zipped({name: content.encode() for name, content in contents.items()})


def refusals(upload: Upload) -> list[str]:
    imports.process(upload)
    return [f"{complaint['found']} {complaint['expected']}" % complaint["params"] for complaint in upload.complaints]


def of_kind(preferences: Any, of: str) -> list[tuple[str, str, str]]:
    return [(one.a, one.b, one.winner) for one in preferences if one.of == of]


def exported(study: Study) -> list[Preference]:
    return list(exports.preferences(study))


@pytest.mark.parametrize("asked", ["sentences", "summaries", "both"])
def test_an_upload_brings_judgments_of_both_kinds_whatever_the_study_asks(asked: str) -> None:
    study = study_of(record(), compares=asked)
    making.store(study, TABLE, "preferences.csv")
    assert of_kind(exported(study), "summaries") == SAID
    assert of_kind(exported(study), "sentences") == [("d1:0", "d1:1", "a")]
    assert Tally.objects.get(item_set=of_summaries(study)).taken == 3
    assert dict(Annotator.objects.values_list("pseudonym", "judged")) == {"p1": 3, "p2": 1}
    assert_books_balance(study)


def test_topics_and_judgments_of_their_summaries_come_in_one_upload() -> None:
    study = making.study()
    prompt = {"topic_id": "M2", "question": "Why is the sky blue?"}
    prompt["summaries"] = [{"system": system, "text": f"{system} knows."} for system in ("x", "y")]
    table = TABLE + b"M2,x,y,a,p2,summaries\n"
    content = files({"topics.jsonl": lines(record(), prompt).decode(), "preferences.csv": table.decode()})
    making.store(study, content, "all.zip")
    assert of_kind(exported(study), "summaries") == [*SAID, ("x", "y", "a")]
    assert_books_balance(study)


def test_an_upload_that_fails_on_the_way_leaves_no_summaries_to_compare() -> None:
    study = study_of(record(), compares="sentences")
    table = TABLE.decode().replace("M1", "M2")
    content = files({"topics.jsonl": lines(record("M2")).decode(), "preferences.csv": table})
    upload = making.receive(study, content, "all.zip")
    bundle = formats.read(upload.file.path, existing=formats.Existing({}))
    store_topics(study, cut_bundle(study, bundle), upload)
    Upload.objects.filter(pk=upload.pk).update(judgments_stored=0)
    assert judging.store_some(judging.arrivals(study, bundle.preferences, upload), 0, 10) == 4
    assert not exported(study)
    judging.remove_some(upload, 10)
    remove_topics(upload)
    assert list(Topic.with_unfinished.values_list("name", flat=True)) == ["M1"]
    assert set(ItemSet.with_unfinished.values_list("of", flat=True)) == {"sentences"}


def test_what_cannot_be_compared_is_refused_with_its_place() -> None:
    study = study_of(record(), record("M2"), compares="sentences")
    header = b"topic,a,b,winner,of\n"
    for rows, expected in {
        b"M1,ann,d1:0,a,summaries\nM2,ann,bo,a,summaries\n": [
            '"d1:0", which is unknown a system that summarized topic "M1" before this file came',
            '"bo", which is unknown (most similar: "bob") a system that summarized topic "M2" before this file came',
        ],
        b"M1,ann,ann,a,summaries\nM1,ann,bob,a,words\n": [
            '"ann" on both sides summaries of two systems',
            'the text "words" sentences or summaries',
        ],
    }.items():
        assert refusals(making.receive(study, header + rows, "preferences.csv")) == expected
    assert not Judgment.objects.exists()


def test_answers_about_a_summary_that_comes_in_the_same_file_wait_for_it() -> None:
    study = study_of(record())
    more = {"late.csv": "topic,system,text\nM1,late,Late.\n", "p.csv": "topic,a,b,winner,of\nM1,ann,late,a,summaries\n"}
    (reason,) = refusals(making.receive(study, files(more), "more.zip"))
    assert reason.startswith('"late", which is unknown')
    assert reason.endswith('a system that summarized topic "M1" before this file came')


def test_no_file_brings_answers_twice_nor_answers_about_other_words() -> None:
    study = study_of(record(), compares="sentences")
    table = "topic,a,b,winner,of\nM1,ann,bob,a,summaries\n"
    first = files({"topics.jsonl": lines(record()).decode(), "p.csv": table})
    making.store(study, first, "all.zip")
    (reason,) = refusals(making.receive(study, first, "all.zip"))
    assert reason.startswith("preferences of a topic that is there with imported judgments")
    other = files({"topics.jsonl": lines(record(ann="Other words.")).decode(), "p.csv": table})
    reason, *_again = refusals(making.receive(study, other, "all.zip"))
    assert reason.startswith("preferences beside summaries that differ from those of the study")
    assert counted(study) == 1


def test_strange_summaries_are_judged_as_files_say() -> None:
    """One of 100,000 characters, one without a letter, an empty one, twenty that say the same: of two of these none is
    better, so an answer about them counts nowhere."""
    texts = {"huge": "word " * 20_000, "dots": "... 123", "none": ""} | {f"same{n}": "The same." for n in range(20)}
    summaries = [{"system": system, "text": text} for system, text in texts.items()]
    pairs = [("huge", "dots"), ("none", "huge"), ("dots", "none"), ("same0", "same19"), ("same3", "huge")]
    preferences = [{"topic": "M1", "of": "summaries", "a": a, "b": b, "winner": "a"} for a, b in pairs]
    study = making.study(compares="summaries")
    content = files(
        {
            "topics.jsonl": lines(record() | {"summaries": summaries}).decode(),
            "preferences.jsonl": lines(*preferences).decode(),
        }
    )
    making.store(study, content, "all.zip")
    assert of_kind(exported(study), "summaries") == [(a, b, "a") for a, b in pairs if b != "same19"]
    assert exports.make_archive(restore(exports.make_archive(study), making.person())).judgments


def test_files_of_judgments_can_be_uploaded_again(client: Client) -> None:
    study = study_of(record(), compares="both")
    making.store(study, TABLE, "preferences.csv")
    client.force_login(making.owner(study))
    for form in ("jsonl", "csv"):
        content = b"".join(client.get(reverse(f"judgments_{form}", args=[study.pk])).streaming_content)  # type: ignore[attr-defined]
        other = study_of(record(), compares="sentences")
        making.store(other, content, f"preferences.{form}")
        assert [(one.of, one.a, one.b, one.winner, one.annotator) for one in exported(other)] == [
            (one.of, one.a, one.b, one.winner, one.annotator) for one in exported(study)
        ]


def test_a_table_of_judgments_of_sentences_has_no_column_for_others(client: Client) -> None:
    study = study_of(record(), compares="sentences")
    judged(joined(study))
    client.force_login(making.owner(study))
    content = b"".join(client.get(reverse("judgments_csv", args=[study.pk])).streaming_content)  # type: ignore[attr-defined]
    assert next(csv.reader(io.StringIO(content.decode())))[-2:] == ["note", "confidence"]


def test_an_archive_taken_back_gives_the_same_judgments_counted_the_same() -> None:
    study = study_of(record(), record("M2"), compares="both", judgments_per_pair=5, pairs_per_annotator=50)
    for annotator in (joined(study), joined(study), joined(study, kind="machine")):
        for _pair in range(12):
            judged(annotator)
    judging.skip(judging.draw(annotator), "broken")  # type: ignore[arg-type]
    judging.exclude(annotator, making.owner(study), "test")
    better, worse = Item.objects.filter(item_set=of_first(study)).order_by("pk")[:2]
    judging.prepare_pair(study, making.owner(study), better=better, worse=worse, use="gold")
    archive = exports.make_archive(study)
    assert {row.of for row in archive.assignments} == {"sentences", "summaries"}
    restored = restore(archive, making.person())
    keys = {row.key for row in archive.assignments}
    again = exports.make_archive(restored)
    assert [(row.of, row.left, row.right, row.topic, row.holds_place) for row in again.assignments] == [
        (row.of, row.left, row.right, row.topic, row.holds_place) for row in archive.assignments
    ]
    assert again.gold_pairs == archive.gold_pairs
    assert not keys & {row.key for row in again.assignments}
    assert exported(restored) == exported(study)
    assert counted(restored) == counted(study)
    assert_books_balance(restored)


def of_first(study: Study) -> ItemSet:
    return ItemSet.objects.get(study=study, topic__name="M1", of="summaries")


def test_an_archive_of_a_study_that_asks_about_sentences_now_keeps_its_answers_about_summaries() -> None:
    study = study_of(record())
    judged(joined(study))
    Study.objects.filter(pk=study.pk).update(compares="sentences")
    assert exported(restore(exports.make_archive(study), making.person())) == exported(study)


def test_answers_about_summaries_that_went_travel_as_history(tmp_path: Any) -> None:
    study = study_of(record(), record("M2"), judgments_per_pair=10, pairs_per_annotator=50)
    for annotator in (joined(study), joined(study)):
        for _pair in range(8):
            judged(annotator)
    making.store(study, b"topic,system,text\nM1,ann,Something else.\n", "late.csv")
    imports.remove(study, making.owner(study), "topic", str(study.topics.get(name="M2").pk))
    path = tmp_path / "study.zip"
    path.write_bytes(packed(study))
    archive = study_archive.read(path)
    assert {row.of for row in archive.history} == {"summaries"}
    assert {row.topic for row in archive.history} == {"M1", "M2"}
    systems = {side.document for row in archive.history for side in (row.left, row.right)}
    assert systems <= set(SYSTEMS)
    restored = restore(archive, making.person())
    again = exports.make_archive(restored)

    def told(row: Any) -> tuple[Any, ...]:
        return (row.topic, row.of, row.annotator, row.left.text, row.right.text, row.answers)

    assert sorted(map(told, again.history)) == sorted(map(told, archive.history))
    assert exported(restored) == exported(study)
    assert_books_balance(restored)


def test_gold_pairs_of_summaries_come_from_a_table_and_go_with_the_archive() -> None:
    study = study_of(record(), compares="both")
    table = b"topic,better,worse,use,explanation,of\nM1,ann,bob,gold,,summaries\nM1,d1:0,d1:1,training,So.,\n"
    place = Place(Complaints(), "gold.csv")
    assert judging.import_gold_pairs(study, making.owner(study), io.BytesIO(table), place) == 2
    pair = GoldPair.objects.get(use="gold")
    assert (pair.item_set, str(pair.better)) == (of_summaries(study), "What ann says of M1.\n\nAll of it.")
    restored = restore(exports.make_archive(study), making.person())
    assert exports.make_archive(restored).gold_pairs == exports.make_archive(study).gold_pairs
    for row, expected in {
        b"M1,ann,b,gold,,summaries": "a system that summarized the topic",
        b"M9,ann,bob,gold,,summaries": "a topic of the study",
        b"M1,ann,lead,gold,,both": "sentences or summaries",
        b"M1,ann,lead,gold,,": "a sentence of the topic",
    }.items():
        file = io.BytesIO(table.splitlines()[0] + b"\n" + row + b"\n")
        with pytest.raises(formats.Refused) as refused:
            judging.import_gold_pairs(study, making.owner(study), file, Place(Complaints(), "gold.csv"))
        assert expected in formats.message(refused.value.complaints[0])


def test_lists_of_judgments_say_what_they_are_of(client: Client) -> None:
    study = study_of(record(), compares="both")
    making.store(study, TABLE, "preferences.csv")
    client.force_login(making.owner(study))
    rows = json.loads(client.get(f"/api/v1/studies/{study.pk}/judgments/").content)["results"]
    assert {(row["of"], row["topic"], row["left"], row["right"]) for row in rows} == {
        ("sentences", "M1", "d1:0", "d1:1"),
        *(("summaries", "M1", a, b) for a, b, _winner in SAID),
    }
    assert Assignment.objects.count() == 4
    file = client.get(reverse("study_annotator_csv", args=[study.pk, Annotator.objects.get(pseudonym="p1").pk]))
    table = csv.DictReader(io.StringIO(file.content.decode()))
    assert {(row["of"], row["left"]) for row in table} == {
        ("sentences", "d1:0"),
        ("summaries", "ann"),
        ("summaries", "lead"),
    }
