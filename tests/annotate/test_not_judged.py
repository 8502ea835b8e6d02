"""Sentences that nobody is asked about: marked by rules or by hand, never drawn, without a part in scores."""

from __future__ import annotations

import io
import re
import zipfile
from itertools import combinations

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotate import exports, imports, judging
from annotate.imports.restore import restore
from annotate.models import Assignment, AuditEntry, Item, Judgment, Study, Suggestion, Topic, Upload, Utility
from annotate.refusal import Refusal
from annotate.reports import leaderboard, rests_on
from annotate.reports.study import look_at
from evaluation import tasks
from preferendum.formats.not_judged import BY_HAND, RULES
from tests.annotate import making
from tests.annotate.judging_study import assert_books_balance, drawn, joined, judged, prepare_pairs, ready_study
from tests.annotate.reading import signed_in, text_of

pytestmark = pytest.mark.django_db

NEWS = {
    "topic_id": "N",
    "documents": [
        {"id": "d1", "text": "Rivers rise in Ohio\nJuly 12, 2005\nIt rained. Rivers rose. Roads closed for days."},
        {"id": "d2", "text": "By Jane Doe\nSchools closed. It rained. Nobody was hurt."},
    ],
    "summaries": [{"system": "lead", "text": "It rained."}, {"system": "long", "text": "Rivers rose in Ohio."}],
}
MARKS = {"d1:0": "heading", "d1:1": "dateline", "d2:0": "byline", "d2:2": "duplicate"}


def news(**settings: object) -> tuple[Study, Topic]:
    study = making.study(**settings)
    (topic,) = making.take_in(study, NEWS)
    return study, topic


def marks(topic: Topic) -> dict[str, str]:
    return {row.name: row.not_judged for row in topic.sentence_set.items.select_related("document") if row.not_judged}


def called(topic: Topic, name: str) -> Item:
    document, index = name.split(":")
    return Item.objects.get(item_set=topic.pk, document__name=document, index=index)


def leave_out(topic: Topic, *names: str) -> None:
    for name in names:
        imports.set_judged(called(topic, name), False, making.owner(topic.study))


def scores(topic: Topic) -> dict[str, float | None]:
    return {summary.system.name: summary.recommended.score for summary in topic.summaries.all()}


def test_every_rule_has_its_words() -> None:
    assert set(Item.NotJudged) == {BY_HAND, Item.NotJudged.NO_TEXT, *RULES}


def test_new_topics_are_marked_and_only_the_others_are_wanted() -> None:
    study, topic = news(judgments_per_topic=1000, judgments_per_pair=1)
    assert marks(topic) == MARKS
    (state,) = look_at(study).topics
    assert (state.sentences, state.wanted) == (9, 5 * 4 // 2)


def test_what_is_marked_is_never_drawn() -> None:
    study, topic = news(person_cap=1)
    annotator = joined(study, quota=1000)
    shown = {frozenset([row.left.name, row.right.name]) for row in (judged(annotator) for _pair in range(10))}
    names = sorted({row.name for row in topic.sentence_set.items.all()} - MARKS.keys())
    assert shown == {frozenset(two) for two in combinations(names, 2)}
    assert judging.draw(annotator) == judging.NoPair.NO_WORK


def test_a_pair_that_was_begun_asked_for_prepared_or_lapsed_is_not_drawn_either() -> None:
    study = ready_study(sentences=4, judgments_per_pair=2, random_share=0.0, gold_share=0.5)
    topic = Topic.objects.get()
    first, second, *_rest = sentences = list(topic.sentence_set.items.all())
    Suggestion.objects.create(item_set_id=topic.pk, first=first, second=second, rank=0)
    prepare_pairs(study, "gold", 2)
    begun = judged(joined(study))
    imports.set_judged(begun.left, False, making.owner(study))
    left = {row.pk for row in sentences} - {begun.left.pk}
    annotator = joined(study)
    for _pair in range(3):
        shown = judged(annotator)
        assert {shown.pair.first_id, shown.pair.second_id} <= left


def test_leaving_out_takes_the_pair_back_and_keeps_a_late_answer() -> None:
    study = ready_study(sentences=4)
    annotator = joined(study)
    held = drawn(annotator)
    imports.set_judged(held.left, False, making.owner(study))
    held.refresh_from_db()
    assert (held.state, held.holds_place) == (Assignment.State.EXPIRED, False)
    assert held.left.pk not in {drawn(annotator).pair.first_id, drawn(annotator).pair.second_id}
    assert judging.record_judgment(held, 1, "left").counted


def test_prepared_pairs_need_sentences_that_are_judged() -> None:
    study, topic = news()
    better, worse = called(topic, "d1:2"), called(topic, "d1:0")
    with pytest.raises(Refusal) as refused:
        judging.prepare_pair(study, making.owner(study), better=better, worse=worse, use="gold")
    assert "not to be judged" in refused.value.fields["worse"][0]


def test_a_persons_choice_is_logged_and_survives_another_cutting() -> None:
    study, topic = news()
    owner = making.owner(study)
    imports.set_judged(called(topic, "d1:0"), True, owner)
    leave_out(topic, "d1:4", "d1:4")
    imports.mend(
        topic.documents.get(name="d1"), [row.text for row in topic.sentence_set.items.filter(index__lt=5)][:5], owner
    )
    imports.mend(
        topic.documents.get(name="d2"), ["By Jane Doe", "Schools closed. It rained.", "Nobody was hurt."], owner
    )
    making.prepare(topic)
    assert marks(topic) == {"d1:1": "dateline", "d1:4": "by-hand", "d2:0": "byline"}
    actions = list(AuditEntry.objects.filter(study=study).values_list("action", flat=True))
    assert (actions.count("take back sentence"), actions.count("leave out sentence")) == (1, 1)


def test_a_sentence_that_went_meanwhile_is_told_so() -> None:
    study, topic = news()
    gone = called(topic, "d1:0")
    topic.sentence_set.items.all().delete()
    with pytest.raises(Refusal, match="not there any more"):
        imports.set_judged(gone, False, making.owner(study))


def test_topics_of_before_keep_what_they_have_when_they_are_cut_again() -> None:
    study, topic = news()
    Item.objects.update(not_judged="")
    imports.mend(
        topic.documents.get(name="d2"), ["By Jane Doe", "Schools closed. It rained. Nobody was hurt."], study.created_by
    )
    making.prepare(topic)
    assert marks(topic) == {}


def test_what_is_marked_has_no_part_in_scores_unless_judgments_are_about_it() -> None:
    study, topic = news()
    judge = joined(study)
    for _pair in range(4):
        judged(judge)
    tasks.refit_topic(topic.pk)
    assert Utility.objects.filter(sentence__item_set=topic.pk, scored_by="recommended").count() == 5
    before = scores(topic)
    assigned = Assignment.objects.filter(item_set=topic.pk).first()
    assert assigned is not None
    leave_out(topic, assigned.left.name)
    tasks.refit_topic(topic.pk)
    assert scores(topic) == before  # what people said still counts
    unjudged = topic.sentence_set.items.to_judge().exclude(utilities__judgments__gt=0).first()
    if unjudged is not None:
        imports.set_judged(unjudged, False, making.owner(study))
        tasks.refit_topic(topic.pk)
        assert not Utility.objects.filter(sentence=unjudged).exists()


def test_imported_judgments_of_what_is_marked_count_and_those_of_a_copy_are_the_originals() -> None:
    study, topic = news()
    rows = ["N,d1:0,d1:3,a", "N,d2:2,d1:3,a", "N,d2:2,d1:2,a"]
    making.store(study, "\n".join(["topic,a,b,winner", *rows]).encode(), "preferences.csv")
    tasks.refit_topic(topic.pk)
    utilities = {row.sentence.name: row for row in Utility.objects.filter(scored_by="recommended")}
    assert utilities.keys() == {"d1:0", "d1:2", "d1:3", "d1:4", "d2:1", "d2:3"}
    assert (utilities["d1:0"].judgments, utilities["d1:2"].wins, utilities["d1:3"].judgments) == (1, 1.0, 2)


def test_an_imported_judgment_of_a_sentence_and_its_copy_is_in_no_count_and_the_board_says_so() -> None:
    study, _topic = news()
    rows = ["N,d1:3,d2:1,a,w1", "N,d1:2,d2:2,a,w2", "N,d2:2,d1:4,b,w1"]
    making.store(study, "\n".join(["topic,a,b,winner,annotator", *rows]).encode(), "preferences.csv")
    assert tasks.catch_up(study.pk) == {}
    board = leaderboard.of_study(study)
    assert (board.judgments, board.rests_on.counted.total, board.rests_on.of_copies) == (2, 2, 1)
    said = "(1 imported judgment compares a sentence with its own copy and does not count)"
    assert said in text_of(signed_in(study), reverse("leaderboard", args=[study.pk]))
    assert_books_balance(study)
    again = restore(exports.make_archive(study), making.person())
    assert tasks.catch_up(again.pk) == {}
    assert leaderboard.of_study(again).rests_on == board.rests_on
    judging.exclude(study.annotators.get(pseudonym="w2"), making.owner(study), "A coin.")
    assert rests_on.of_study(study).of_copies == 0
    assert_books_balance(study)


def test_archives_carry_the_marks_and_older_ones_have_none() -> None:
    study, topic = news()
    leave_out(topic, "d1:4")
    imports.set_judged(called(topic, "d1:0"), True, making.owner(study))
    archive = exports.make_archive(study)
    again = restore(archive, making.person()).topics.get()
    assert marks(again) == marks(topic)
    assert marks(again)["d1:4"] == "by-hand"
    assert exports.make_archive(again.study) == archive


def test_leaving_out_is_allowed_after_judging_and_keeps_every_judgment() -> None:
    study, topic = news()
    shown = judged(joined(study))
    leave_out(topic, shown.left.name)
    assert Judgment.objects.counted().filter(item_set=topic.pk).count() == 1


def bench(topic: Topic, name: str = "d1") -> str:
    return reverse("workbench", args=[topic.study_id, topic.pk, topic.documents.get(name=name).pk])


def send(client: Client, topic: Topic, **change: object) -> HttpResponse:
    topic.refresh_from_db()
    return client.post(bench(topic), {"version": topic.text_version} | change)


def texts(topic: Topic) -> list[str]:
    return list(topic.sentence_set.items.filter(document__name="d1").order_by("index").values_list("text", flat=True))


def test_the_preview_shows_how_documents_are_cut_and_what_is_left_out(client: Client) -> None:
    study = making.study()
    client.force_login(making.owner(study))
    upload = making.receive(study, making.lines(NEWS))
    imports.process(upload)
    address = reverse("upload", args=[study.pk, upload.key])
    first, second = (client.get(f"{address}?page={number}").content.decode() for number in (1, 2))
    assert "9 <small>4 not to be judged</small>" in first
    assert "is a date or a place by itself" in first
    assert "says who wrote it" in second
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert bench(study.topics.get()) in client.get(address).content.decode()


def in_preview(client: Client, upload: Upload, number: int, **change: object) -> HttpResponse:
    upload.refresh_from_db()
    version = {"version": upload.preview.get("changes", 0)}
    return client.post(reverse("upload_document", args=[upload.study_id, upload.key, number]), version | change)


def test_what_is_changed_in_the_preview_is_stored_so(client: Client) -> None:
    study = making.study()
    owner = making.owner(study)
    client.force_login(owner)
    upload = making.receive(study, making.lines(NEWS))
    imports.process(upload)
    in_preview(client, upload, 0, join=2)
    in_preview(client, upload, 0, take_back=0)
    in_preview(client, upload, 0, leave_out=3)
    in_preview(client, upload, 1, take_back=2)
    answer = in_preview(client, upload, 1, split="1:8")
    assert answer["Location"].endswith("/documents/1/?page=1#s-1")
    assert _facts(client, upload) == ["Sentences", "9", "3", "not", "to", "be", "judged"]
    imports.confirm(upload, owner)
    imports.process(upload)
    topic = study.topics.get()
    assert texts(topic)[2:] == ["It rained. Rivers rose.", "Roads closed for days."]
    assert marks(topic) == {"d1:1": "dateline", "d1:3": "by-hand", "d2:0": "byline"}
    tasks.cut_topic(topic.pk)
    imports.mend(topic.documents.get(name="d2"), None, owner)
    making.prepare(topic)
    assert texts(topic)[2:] == ["It rained. Rivers rose.", "Roads closed for days."]
    assert in_preview(client, upload, 0, leave_out=0).status_code == 404


def _facts(client: Client, upload: Upload) -> list[str]:
    page = client.get(reverse("upload", args=[upload.study_id, upload.key])).content.decode()
    words = re.sub("<[^>]+>", " ", page).split()
    return words[words.index("Sentences") :][:7]


def test_sentences_that_judgments_in_the_file_name_keep_their_borders_in_the_preview(client: Client) -> None:
    study = making.study()
    client.force_login(making.owner(study))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("topics.jsonl", making.lines(NEWS))
        archive.writestr("preferences.csv", "topic,a,b,winner\nN,d1:2,d1:3,a\n")
    upload = making.receive(study, packed.getvalue(), "study.zip")
    imports.process(upload)
    for change in ({"join": 2}, {"split": "2:3"}, {"leave_out": 99}, {"version": 7, "leave_out": 2}):
        in_preview(client, upload, 0, **change)
    upload.refresh_from_db()
    assert "changes" not in upload.preview
    in_preview(client, upload, 0, leave_out=2)
    imports.confirm(upload, making.owner(study))
    imports.process(upload)
    assert marks(study.topics.get())["d1:2"] == "by-hand"


@pytest.fixture
def news_page(client: Client) -> tuple[Client, Topic]:
    study, topic = news()
    client.force_login(making.owner(study))
    return client, topic


def test_sentences_are_joined_and_split_one_by_one(news_page: tuple[Client, Topic]) -> None:
    client, topic = news_page
    answer = send(client, topic, join=2)
    assert answer["Location"] == f"{bench(topic)}?page=1#s-2"
    assert texts(topic)[2:] == ["It rained. Rivers rose.", "Roads closed for days."]
    send(client, topic, split="2:3")
    assert texts(topic)[2:] == ["It", "rained. Rivers rose.", "Roads closed for days."]
    assert marks(topic).items() >= {("d1:0", "heading"), ("d1:1", "dateline")}
    page = client.get(bench(topic) + "?split=3").content.decode()
    assert f'href="{bench(topic, "d2")}"' in page  # the next document
    assert 'value="3:8"' in page
    assert 'value="3:0"' not in page


def test_leaving_out_and_taking_back_is_one_click_each(news_page: tuple[Client, Topic]) -> None:
    client, topic = news_page
    send(client, topic, take_back=0)
    send(client, topic, leave_out=3)
    assert marks(topic) == {"d1:1": "dateline", "d1:3": "by-hand", "d2:0": "byline", "d2:2": "duplicate"}
    assert "left out by a researcher" in client.get(bench(topic)).content.decode()


def test_once_judged_leaving_out_keeps_all_and_joining_asks_first(news_page: tuple[Client, Topic]) -> None:
    client, topic = news_page
    annotator = joined(topic.study)
    for _pair in range(10):  # all there are of five sentences
        judged(annotator)
    before = texts(topic)
    assert "have been judged" in client.get(bench(topic)).content.decode()
    asked = client.post(
        bench(topic), {"version": topic.text_version, "join": 2}, headers={"HX-Request": "true"}
    ).content.decode()
    assert "Join anyway" in asked
    send(client, topic, leave_out=2)
    assert (texts(topic), marks(topic)["d1:2"]) == (before, "by-hand")


@pytest.mark.parametrize(
    "change",
    [
        {"join": 4},
        {"join": -1},
        {"join": 2**31},
        {"join": "x"},
        {"split": "2:0"},
        {"split": "2:4"},
        {"split": "2:99"},
        {"split": "99:3"},
        {"split": "²:³"},
        {"leave_out": 99},
        {"join": 2, "leave_out": 2},
        {"join": 2, "version": 99},
        {},
    ],
)
def test_what_no_page_of_ours_sends_changes_nothing(news_page: tuple[Client, Topic], change: dict[str, object]) -> None:
    client, topic = news_page
    before = texts(topic), marks(topic)
    assert send(client, topic, **change).status_code == 302
    assert (texts(topic), marks(topic)) == before


def test_texts_without_spaces_are_split_between_characters() -> None:
    words = imports.words_of("警察は逮捕。川が増水。")
    assert [word.start for word in words if word.may_begin] == list(range(1, 10))
    assert not any(word.may_begin for word in imports.words_of("– Yes."))
