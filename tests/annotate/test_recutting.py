"""Documents change after people judged: sentences that stay keep their judgments, those of others become history."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.core import serializers
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate import exports, imports, judging
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Fit,
    GoldPair,
    Item,
    Judgment,
    Pair,
    Removal,
    SourceDocument,
    Study,
    SystemScore,
    Tally,
    Topic,
    Upload,
)
from annotate.refusal import Refusal
from annotate.reports import worker
from evaluation import tasks
from tests.annotate import making, scored
from tests.annotate.judging_study import add_topic, assert_books_balance, drawn, joined, judged, ready_study
from tests.annotate.making import TOPIC, lines
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db

TEXTS = [f"Sentence {index} of T0." for index in range(4)]


@pytest.fixture
def study() -> Study:
    """Four sentences, each two compared by somebody."""
    study = ready_study(sentences=4, judgments_per_pair=1, pairs_per_annotator=6)
    annotator = joined(study)
    for _number in range(6):
        judged(annotator)
    return study


def topic_of(study: Study) -> Topic:
    return study.topics.get()


def document(study: Study) -> SourceDocument:
    return topic_of(study).documents.get(name="d1")


def texts(study: Study) -> list[str]:
    return list(topic_of(study).sentence_set.items.order_by("position").values_list("text", flat=True))


def replace(study: Study, *documents: dict[str, Any]) -> Upload:
    return making.store(study, lines({"topic_id": "T0", "documents": list(documents)}), "corrected.jsonl")


def with_a_typo_corrected(study: Study) -> Upload:
    return replace(study, {"id": "d1", "sentences": [*TEXTS[:3], "Sentence three of T0."]})


def put_back(study: Study) -> None:
    imports.restore_removed(Removal.objects.filter(study=study, restored_at=None)[0], making.owner(study))


def state(study: Study) -> str:
    """Everything that is about the sentences of the topic."""
    tables: tuple[type[Any], ...] = (SourceDocument, Item, Pair, Assignment, Judgment, GoldPair)
    key = topic_of(study).pk
    rows = (
        row
        for table in tables
        for row in table.objects.filter(**{"topic" if table is SourceDocument else "item_set": key}).order_by("pk")
    )
    return str(serializers.serialize("json", rows))


def test_a_corrected_document_is_shown_first_with_what_becomes_of_sentences_and_judgments(study: Study) -> None:
    content = lines({"topic_id": "T0", "documents": [{"id": "d1", "sentences": [*TEXTS[:3], "New."]}]})
    upload = making.receive(study, content)
    imports.process(upload)
    assert upload.state == Upload.State.READY, upload.complaints
    assert upload.preview["replacements"] == [
        {"kind": "documents", "topic": "T0", "name": "d1", "before": TEXTS[3], "after": "New."}
    ]
    assert upload.preview["recuts"] == [
        {"topic": "T0", "kept": 3, "gone": 1, "new": 1, "judgments_kept": 3, "judgments_lost": 3}
    ]
    page = signed_in(making.owner(study)).get(reverse("upload", args=[study.pk, upload.key])).content.decode()
    assert "judgments that stay: 3, become history: 3" in page
    assert texts(study) == TEXTS


def test_sentences_that_stay_keep_their_judgments_and_the_others_are_history(study: Study) -> None:
    before = dict(topic_of(study).sentence_set.items.values_list("text", "pk"))
    left_out = topic_of(study).sentence_set.items.get(text=TEXTS[1])
    imports.set_judged(left_out, False, making.owner(study))

    with_a_typo_corrected(study)

    assert texts(study) == [*TEXTS[:3], "Sentence three of T0."]
    after = dict(topic_of(study).sentence_set.items.values_list("text", "pk"))
    assert [after[text] for text in TEXTS[:3]] == [before[text] for text in TEXTS[:3]]
    assert topic_of(study).sentence_set.items.get(pk=left_out.pk).not_judged == "by-hand"
    assert Judgment.objects.count() == 6
    assert Judgment.objects.counted().count() == Judgment.objects.standing().count() == 3
    assert len(list(exports.preferences(study))) == 3
    assert Tally.objects.get(item_set__study=study).taken == 3
    assert Annotator.objects.get().judged == 6
    assert_books_balance(study)
    (removal,) = Removal.objects.all()
    assert (removal.kind, removal.name, removal.counts) == (
        "replaced",
        "corrected.jsonl",
        {"documents": 1, "sentences": 1, "judgments": 3},
    )
    assert AuditEntry.objects.filter(action="replace data", detail__judgments=3).exists()


def test_what_was_there_comes_back_exactly_as_it_was(study: Study) -> None:
    owner = making.owner(study)
    sentences = list(topic_of(study).sentence_set.items.order_by("position"))
    judging.prepare_pair(study, owner, better=sentences[0], worse=sentences[3], use="gold", explanation="Because")
    before = state(study)

    replace(study, {"id": "d2", "sentences": [TEXTS[2], TEXTS[0], "Other."]})

    assert texts(study) == [TEXTS[2], TEXTS[0], "Other."]
    assert Judgment.objects.counted().count() == 1
    assert not GoldPair.objects.exists()
    put_back(study)
    assert state(study) == before
    assert Judgment.objects.counted().count() == 6
    assert_books_balance(study)


def test_a_document_changes_while_another_comes(study: Study) -> None:
    replace(study, {"id": "d0", "text": "Before."}, {"id": "d1", "sentences": [*TEXTS[:3], "New."]})
    assert texts(study) == ["Before.", *TEXTS[:3], "New."]
    assert [document.name for document in topic_of(study).documents.all()] == ["d0", "d1"]
    assert_books_balance(study)
    put_back(study)
    assert [document.name for document in topic_of(study).documents.all()] == ["d1"]
    assert (texts(study), Judgment.objects.counted().count()) == (TEXTS, 6)


def test_what_was_judged_since_is_history_once_the_earlier_documents_are_back(study: Study) -> None:
    replace(study, {"id": "d1", "sentences": [*TEXTS[:2], "New.", "Newer."]})
    annotator = joined(study)
    for _number in range(5):
        judged(annotator)
    assert Judgment.objects.counted().count() == 6
    put_back(study)
    assert texts(study) == TEXTS
    assert Judgment.objects.counted().count() == 6
    assert Judgment.objects.count() == 11
    assert_books_balance(study)


def test_versions_come_back_in_any_order(study: Study) -> None:
    replace(study, {"id": "d1", "sentences": [*TEXTS[:3], "A."]})
    replace(study, {"id": "d1", "sentences": [TEXTS[0], "B.", "A."]})
    assert Judgment.objects.counted().count() == 0
    second, first = Removal.objects.all()
    imports.restore_removed(first, making.owner(study))
    assert (texts(study), Judgment.objects.counted().count()) == (TEXTS, 6)
    imports.restore_removed(second, making.owner(study))
    assert (texts(study), Judgment.objects.counted().count()) == ([*TEXTS[:3], "A."], 3)
    assert_books_balance(study)


def test_an_answer_about_a_sentence_that_is_gone_is_history_and_holds_nobody_up() -> None:
    study = ready_study(sentences=4)
    annotator = joined(study)
    first, held = judged(annotator), drawn(annotator)
    replace(study, {"id": "d1", "sentences": ["One.", "Two.", "Three."]})
    with pytest.raises(Assignment.DoesNotExist):
        judging.undo(first)
    assert judging.record_judgment(held, 1, "left", 5.0).outcome == judging.Outcome.STORED
    assert Judgment.objects.counted().count() == 0
    annotator.refresh_from_db()
    assert (annotator.judged, annotator.previous) == (2, None)
    following = judged(annotator)
    assert following.left.text in ("One.", "Two.", "Three.")
    assert_books_balance(study)
    put_back(study)
    held.refresh_from_db()
    assert (held.state, held.item_set.topic) == ("judged", topic_of(study))
    assert_books_balance(study)


def test_of_copies_the_one_that_people_judged_stays() -> None:
    study = ready_study(sentences=3)
    replace(study, {"id": "d1", "sentences": TEXTS[:3]}, {"id": "d2", "sentences": TEXTS[:1]})
    topic = topic_of(study)
    copy = topic.sentence_set.items.get(document__name="d2")
    assert copy.not_judged == "duplicate"
    annotator = joined(study)
    for _number in range(3):
        judged(annotator)
    judged_one = topic.sentence_set.items.get(document__name="d1", index=0)
    replace(study, {"id": "d2", "sentences": [*TEXTS[:1], "Else."]})
    kept = topic.sentence_set.items.get(text=TEXTS[0])
    assert (kept.pk, kept.name, kept.not_judged) == (judged_one.pk, "d2:0", "")
    put_back(study)
    assert topic.sentence_set.items.get(document__name="d2").pk == copy.pk
    assert Judgment.objects.counted().count() == 3


def test_white_space_alone_changes_no_judgment(study: Study) -> None:
    replace(study, {"id": "d1", "sentences": [text.replace(" ", "\n ") for text in TEXTS]})
    assert Judgment.objects.counted().count() == 6
    assert Removal.objects.get().counts == {"documents": 1}
    assert texts(study)[0] == "Sentence\n 0\n of\n T0."


def test_a_document_that_is_the_same_stays_as_a_person_cut_it() -> None:
    study = ready_study(sentences=4)
    imports.mend(document(study), [" ".join(TEXTS[:2]), *TEXTS[2:]], making.owner(study))
    making.prepare(topic_of(study))
    judged(joined(study))
    replace(study, {"id": "d1", "sentences": TEXTS}, {"id": "d2", "text": "More."})
    assert texts(study) == [" ".join(TEXTS[:2]), *TEXTS[2:], "More."]
    assert Judgment.objects.counted().count() == 1


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        # A word changes: what was joined before it and after it stays so.
        (
            "It rained. And rained. Nobody came out. It is late. Yes.",
            ["It rained. And rained.", "Nobody came out.", "It is late. Yes."],
        ),
        # A word changes inside of what was joined.
        (
            "It poured. And rained. Nobody came. It is late. Yes.",
            ["It poured. And rained.", "Nobody came.", "It is late. Yes."],
        ),
        # Between two changes all is cut anew.
        (
            "It poured. And rained. Nobody came. It is late. No.",
            ["It poured.", "And rained.", "Nobody came.", "It is late.", "No."],
        ),
        # More comes at the end.
        (
            "It rained. And rained. Nobody came. It is late. Yes. Good night. Sleep well.",
            ["It rained. And rained.", "Nobody came.", "It is late. Yes.", "Good night.", "Sleep well."],
        ),
        # Nothing is left of what a person did.
        ("Quite another story. It has two sentences.", ["Quite another story.", "It has two sentences."]),
    ],
)
def test_borders_that_a_person_moved_stay_around_what_changed(now: str, expected: list[str]) -> None:
    text, study = "It rained. And rained. Nobody came. It is late. Yes.", making.study()
    making.store(study, lines({"topic_id": "T0", "documents": [{"id": "d1", "text": text}]}), "topics.jsonl")
    tasks.cut_topic(topic_of(study).pk)
    joined_up = ["It rained. And rained.", "Nobody came.", "It is late. Yes."]
    imports.mend(document(study), joined_up, making.owner(study))
    tasks.cut_topic(topic_of(study).pk)
    assert texts(study) == joined_up
    replace(study, {"id": "d1", "text": now})
    assert texts(study) == expected
    tasks.cut_topic(topic_of(study).pk)
    assert texts(study) == expected


def test_a_topic_without_documents_gets_some_and_is_judged() -> None:
    study = making.study()
    making.take_in(study, TOPIC | {"documents": []})
    upload = making.store(study, lines(TOPIC), "documents.jsonl")
    assert upload.preview["replaced"] == {"documents": 2}
    assert not Removal.objects.exists()
    judged(joined(study))
    assert_books_balance(study)


def test_preferences_beside_other_documents_are_refused(study: Study) -> None:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as packed:
        packed.writestr("topics.jsonl", lines({"topic_id": "T0", "documents": [{"id": "d1", "sentences": ["A."]}]}))
        packed.writestr("preferences.csv", "topic,a,b,winner\nT0,d1:0,d1:1,a\n")
    upload = making.receive(study, zipped.getvalue(), "both.zip")
    imports.process(upload)
    assert upload.state == Upload.State.REFUSED
    assert "a file of their own" in upload.complaints[0]["expected"]


def test_scores_follow_and_come_back() -> None:
    study = scored.scored_study()
    rows = SystemScore.objects.filter(ranking__study=study, ranking__scored_by="recommended")
    before = dict(rows.values_list("system__name", "score"))
    topic = scored.topic(study, "rain")
    cut = {row.name: [one.text for one in row.cut_sentences.order_by("index")] for row in topic.documents.all()}
    next(iter(cut.values()))[0] = "Nothing of the kind."
    documents = [{"id": name, "sentences": sentences} for name, sentences in cut.items()]
    making.store(study, lines({"topic_id": "rain", "documents": documents}), "rain.jsonl")
    assert not Fit.objects.filter(item_set=topic.pk).exists()
    assert tasks.catch_up(study.pk) == {}
    assert dict(rows.values_list("system__name", "score")) != before
    put_back(study)
    assert tasks.catch_up(study.pk) == {}
    assert dict(rows.values_list("system__name", "score")) == pytest.approx(before, abs=1e-12)


def test_after_a_day_history_stays_and_what_nobody_judged_goes(study: Study) -> None:
    add_topic(study, "T1", 3, 7)
    replace(study, {"id": "d1", "sentences": [*TEXTS[1:], "A."]})
    replace(study, {"id": "d1", "sentences": [*TEXTS[2:], "A."]})
    making.store(study, lines({"topic_id": "T1", "documents": [{"id": "d1", "sentences": ["B."]}]}), "t1.jsonl")
    Removal.objects.update(removed_at=timezone.now() - timedelta(days=2))
    imports.forget_removed()
    assert Judgment.objects.count() == 6
    assert {topic.name for topic in Topic.with_unfinished.exclude(removal=None)} == {"T0"}


def bench(study: Study) -> str:
    return reverse("workbench", args=[study.pk, topic_of(study).pk, document(study).pk])


def test_joining_asks_first_and_then_only_the_two_lose_their_judgments(study: Study, client: Client) -> None:
    client.force_login(making.owner(study))
    sent = {"version": topic_of(study).text_version, "join": 0}
    page = client.post(bench(study), sent, headers={"HX-Request": "true"}).content.decode()
    assert "5 judgments are about sentences that would change." in page
    assert 'name="lose" value="5"' in page
    assert "sentences that stay: 2, go: 2, come: 1" in page
    assert "judgments that stay: 1, become history: 5" in page
    assert client.post(bench(study), sent).status_code == 200
    assert client.post(bench(study), sent | {"lose": 4}).status_code == 200
    assert texts(study) == TEXTS
    client.post(bench(study), sent | {"lose": 5})
    assert texts(study) == [" ".join(TEXTS[:2]), *TEXTS[2:]]
    assert topic_of(study).is_cut
    assert Judgment.objects.counted().count() == 1
    assert_books_balance(study)
    (removal,) = Removal.objects.all()
    assert (removal.name, removal.topic_name, removal.counts) == ("d1", "T0", {"sentences": 2, "judgments": 5})
    (replaced,) = AuditEntry.objects.filter(action="replace data")
    assert replaced.detail == {
        "removal": str(removal.key),
        "topic": "T0",
        "document": "d1",
        "sentences": 2,
        "judgments": 5,
    }
    put_back(study)
    assert texts(study) == TEXTS
    assert document(study).mended is None
    assert Judgment.objects.counted().count() == 6


def test_splitting_what_nobody_judged_needs_no_question(client: Client) -> None:
    study = ready_study(sentences=3)
    annotator = joined(study)
    assignment = judged(annotator)
    (free,) = topic_of(study).sentence_set.items.exclude(pk__in=[assignment.pair.first_id, assignment.pair.second_id])
    client.force_login(making.owner(study))
    client.post(bench(study), {"version": topic_of(study).text_version, "split": f"{free.index}:9"})
    assert len(texts(study)) == 4
    assert Judgment.objects.counted().count() == 1
    assert_books_balance(study)


def test_where_nobody_judged_a_split_is_there_at_once_and_what_stays_keeps_its_gold_pair() -> None:
    study = ready_study(sentences=4)
    owner = making.owner(study)
    sentences = list(topic_of(study).sentence_set.items.order_by("position"))
    judging.prepare_pair(study, owner, better=sentences[0], worse=sentences[1], use="gold", explanation="Because")
    drawn(joined(study))

    imports.mend(document(study), [*TEXTS[:2], " ".join(TEXTS[2:])], owner)

    assert topic_of(study).is_cut
    assert texts(study) == [*TEXTS[:2], " ".join(TEXTS[2:])]
    assert [row.pk for row in topic_of(study).sentence_set.items.order_by("position")[:2]] == [
        row.pk for row in sentences[:2]
    ]
    assert GoldPair.objects.count() == 1
    assert not Assignment.objects.exists()
    assert not Removal.objects.exists()
    imports.mend(document(study), None, owner)
    assert texts(study) == TEXTS


def test_a_topic_that_the_worker_is_about_to_split_is_not_edited(study: Study) -> None:
    Topic.objects.update(text_version=2)
    with pytest.raises(Refusal, match="being split"):
        imports.mend(document(study), [" ".join(TEXTS)], making.owner(study), lose=6)
    assert (texts(study), document(study).mended) == (TEXTS, None)


def test_the_plain_form_and_the_api_ask_first_too(study: Study, client: Client) -> None:
    owner = making.owner(study)
    client.force_login(owner)
    address = reverse("document_mend", args=[study.pk, topic_of(study).pk, document(study).pk])
    sent = {"sentences": "\n".join([*TEXTS[:2], " ".join(TEXTS[2:])])}
    asked = client.post(address, sent).content.decode()
    assert 'name="lose" value="5"' in asked
    assert "judgments that stay: 1, become history: 5" in asked
    client.post(address, sent | {"lose": 5})
    assert len(texts(study)) == 3
    api = f"/api/v1/studies/{study.pk}/topics/{topic_of(study).pk}/documents/{document(study).pk}/"
    answer = client.patch(api, {"sentences": [" ".join(TEXTS)]}, content_type="application/json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "judged")
    whole = {"sentences": [" ".join(TEXTS)], "lose_judgments": 1}
    assert client.patch(api, whole, content_type="application/json").status_code == 200
    assert texts(study) == [" ".join(TEXTS)]


def test_history_is_in_no_list_of_judgments_and_nobody_waits_for_it(study: Study, client: Client) -> None:
    with_a_typo_corrected(study)
    client.force_login(making.owner(study))
    shown = client.get(f"/api/v1/studies/{study.pk}/judgments/").json()["results"]
    assert len(shown) == 3
    archive = exports.make_archive(study)
    assert len(archive.judgments) == len(archive.assignments) == 3
    since = worker.with_since(Topic.objects.all()).values_list("since", flat=True)
    assert list(since) == [Judgment.objects.counted()[0].at]


def test_judgments_that_wait_to_be_stored_are_shown_again_when_their_sentences_may_be_others(study: Study) -> None:
    preference = {"topic": "T0", "a": "d1:0", "b": "d1:1", "winner": "a", "annotator": "ann"}
    upload = making.receive(study, lines(preference), "preferences.jsonl")
    imports.process(upload)
    replace(study, {"id": "d1", "sentences": [TEXTS[1], TEXTS[0], *TEXTS[2:]]})
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert (upload.state, upload.preview["asks_again"]) == (Upload.State.READY, True)
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert upload.state == Upload.State.STORED
