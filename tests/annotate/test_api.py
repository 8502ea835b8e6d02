import hashlib
import io
import json
import re
import uuid

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver, reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotate import accounts, exports, imports, judging, members
from annotate.models import (
    Annotator,
    Assignment,
    AuditEntry,
    Fit,
    Invitation,
    ItemSetProgress,
    Judgment,
    Membership,
    Ranking,
    Score,
    SourceDocument,
    Study,
    Summary,
    Upload,
    Utility,
)
from preferendum.formats.archive import study as study_archive
from preferendum.formats.settings import SCORING
from tests.annotate import making
from tests.annotate.judging_study import ready_study
from tests.annotate.making import TOPIC, Role, lines

pytestmark = pytest.mark.django_db

API = "/api/v1"


def client_of(user, **narrowed) -> APIClient:
    """A program with a token of this person."""
    client = APIClient()
    _token, secret = accounts.create_token(user, "test", **narrowed)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def study() -> Study:
    study = making.study(ties_allowed=True)
    for topic in making.take_in(study, TOPIC, TOPIC | {"topic_id": "M2", "question": "Which is sadder?"}):
        making.prepare(topic)
    return study


@pytest.fixture
def owner(study) -> APIClient:
    return client_of(making.owner(study))


def error(response, status, code):
    assert response.status_code == status, response.content
    found = response.json()["error"]
    assert found["code"] == code, found
    assert found["message"]
    return found


# Studies


def test_a_program_begins_a_study_and_reads_it_back():
    client = client_of(making.person(is_superuser=True))
    response = client.post(f"{API}/studies/", {"title": "Rain", "question": "Which?", "seed": 7}, format="json")
    assert response.status_code == 201
    made = response.json()
    assert (made["title"], made["seed"], made["role"], made["topics"]) == ("Rain", 7, "owner", 0)
    assert client.get(f"{API}/studies/{made['id']}/").json() == made
    assert client.get(f"{API}/studies/").json()["results"] == [made]


def test_what_a_study_does_not_have_cannot_be_set(study, owner):
    for sent in ({"owner": 1}, {"is_gold": True}, {"id": 7}, {"created_by": 1}):
        found = error(owner.patch(f"{API}/studies/{study.pk}/", sent, format="json"), 400, "invalid")
        assert list(found["fields"]) == list(sent)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", None),
        ("title", ["x"]),
        ("prior", "NaN"),
        ("prior", -1),
        ("judgments_per_pair", 0),
        ("judgments_per_pair", 1.5),
        ("seed", 2**63),
        ("seed", -1),
        ("ties_allowed", "perhaps"),
        ("smooth", "more"),
        ("state", "asleep"),
    ],
)
def test_a_setting_that_will_not_do_is_named(study, owner, field, value):
    found = error(owner.patch(f"{API}/studies/{study.pk}/", {field: value}, format="json"), 400, error_code(value))
    assert list(found["fields"]) == [field] or value == 2**63
    study.refresh_from_db()
    assert study.title == "Rain"


def error_code(value):
    # A number that no database holds is refused before anybody asks what it is for.
    return "parse_error" if value == 2**63 else "invalid"


def test_settings_and_state_change_together_or_not_at_all(study, owner):
    path = f"{API}/studies/{study.pk}/"
    assert owner.patch(path, {"state": "paused", "prior": 2}, format="json").json()["state"] == "paused"
    error(owner.patch(path, {"state": "open", "prior": -2}, format="json"), 400, "invalid")
    study.refresh_from_db()
    assert (study.state, study.prior) == ("paused", 2.0)
    assert list(AuditEntry.objects.filter(study=study).order_by("pk").values_list("action", flat=True))[-2:] == [
        "change settings",
        "set state",
    ]


def test_a_study_is_deleted_by_its_title_only(study, owner):
    path = f"{API}/studies/{study.pk}/"
    error(owner.delete(path, {"title": "Snow"}, format="json"), 400, "invalid")
    assert owner.delete(path, {"title": "Rain"}, format="json").status_code == 204
    assert not Study.objects.exists()


# People


def test_people_are_invited_given_roles_and_sent_away(study, owner):
    made = owner.post(f"{API}/studies/{study.pk}/invitations/", {"role": "researcher", "max_uses": 1}, format="json")
    assert made.status_code == 201
    assert made.json()["link"].startswith("http")
    user = making.person()
    members.accept(Invitation.objects.get(), user)
    (mine, theirs) = owner.get(f"{API}/studies/{study.pk}/members/").json()["results"]
    assert (mine["role"], theirs["role"], theirs["username"]) == ("owner", "researcher", user.username)
    path = f"{API}/studies/{study.pk}/members/{user.pk}/"
    assert owner.patch(path, {"role": "admin"}, format="json").json()["role"] == "admin"
    error(owner.patch(path, {"role": "king"}, format="json"), 400, "invalid")
    assert owner.delete(path).status_code == 204
    error(owner.delete(path), 404, "not_found")
    error(owner.delete(f"{API}/studies/{study.pk}/members/{mine['user']}/"), 409, "last_owner")


def test_a_link_that_lets_in_more_than_annotators_is_shown_to_owners_only(study, owner):
    path = f"{API}/studies/{study.pk}/invitations/"
    owner.post(path, {"role": "owner"}, format="json")
    annotators = owner.post(path, {}, format="json").json()
    admin = client_of(making.member(study, Role.ADMIN))
    assert [one["id"] for one in admin.get(path).json()["results"]] == [annotators["id"]]
    assert len(owner.get(path).json()["results"]) == 2
    error(admin.post(path, {"role": "owner"}, format="json"), 403, "permission_denied")
    assert admin.delete(f"{path}{annotators['id']}/").status_code == 204
    assert Invitation.objects.get(pk=annotators["id"]).revoked_at


# Uploads


@pytest.mark.parametrize("form", ["multipart", "body"])
def test_a_file_goes_in_by_form_or_as_the_body(form):
    study = making.study()
    client = client_of(making.owner(study))
    path = f"{API}/studies/{study.pk}/uploads/"
    if form == "multipart":
        sent = client.post(path, {"file": SimpleUploadedFile("topics.jsonl", lines(TOPIC))}, format="multipart")
    else:
        sent = client.post(f"{path}?filename=topics.jsonl", lines(TOPIC), content_type="application/x-ndjson")
    assert sent.status_code == 202
    assert (sent.json()["state"], sent.json()["preview"], sent.json()["filename"]) == ("waiting", None, "topics.jsonl")
    mine = f"{path}{sent.json()['key']}/"
    error(client.post(f"{mine}confirm/"), 409, "state")
    upload = Upload.objects.get()
    imports.process(upload)
    ready = client.get(mine).json()
    assert ready["state"] == "ready"
    assert ready["preview"]["topics"][0]["sentences"] == 5
    assert client.post(f"{mine}confirm/").json()["state"] == "confirmed"
    imports.process(upload)
    assert client.get(mine).json()["state"] == "stored"
    error(client.post(f"{mine}discard/"), 409, "state")
    assert client.get(f"{API}/studies/{study.pk}/topics/").json()["results"][0]["name"] == "M1"


def test_a_refused_file_says_where_and_why(study, owner):
    path = f"{API}/studies/{study.pk}/uploads/"
    sent = owner.post(f"{path}?filename=bad.jsonl", b'{"topic_id": 3}\n', content_type="application/json")
    upload = Upload.objects.get(key=sent.json()["key"])
    imports.process(upload)
    found = owner.get(f"{path}{upload.key}/").json()
    assert found["state"] == "refused"
    assert found["complaints"][0] | {"message": ""} == {
        "file": "bad.jsonl",
        "line": 1,
        "field": "topic_id",
        "message": "",
    }
    assert found["complaints"][0]["message"].startswith("bad.jsonl:1: topic_id: found the number 3; expected")
    assert owner.post(f"{path}{upload.key}/discard/").json()["state"] == "discarded"


def test_a_file_that_is_too_large_is_refused_and_not_kept(study, owner, settings):
    settings.UPLOAD_LIMIT = 1000
    path = f"{API}/studies/{study.pk}/uploads/"
    kept = default_storage.listdir("uploads")
    error(owner.post(path, b"x" * 1001, content_type="application/octet-stream"), 413, "too_large")
    form = {"file": SimpleUploadedFile("topics.jsonl", b"x" * 1001)}
    error(owner.post(path, form, format="multipart"), 413, "too_large")
    error(owner.post(path, b"", content_type="application/octet-stream"), 400, "invalid")
    error(owner.post(path, {"other": "x"}, format="multipart"), 400, "invalid")
    assert default_storage.listdir("uploads") == kept


# Texts and results


def test_a_topic_says_how_far_the_worker_is(study, owner):
    topic = study.topics.first()
    path = f"{API}/studies/{study.pk}/topics/{topic.pk}/"
    found = owner.get(path).json()
    assert (found["cut"], found["up_to_date"], found["sentences"], found["judgments"]) == (True, True, 5, 0)
    assert found["extra"] == {"source": "made up"}
    judging.raise_version([topic.pk])
    ItemSetProgress.objects.create(item_set_id=topic.pk, problem="Out of memory.")
    found = owner.get(path).json()
    assert (found["up_to_date"], found["problem"]) == (False, "Out of memory.")


def test_a_topic_that_is_to_be_cut_anew_says_so():
    study = making.study()
    (topic,) = making.take_in(study)
    imports.cut_again(study)
    found = client_of(making.owner(study)).get(f"{API}/studies/{study.pk}/topics/{topic.pk}/").json()
    assert (found["cut"], found["up_to_date"]) == (False, False)


def test_documents_and_references_come_back_as_they_went_in(study, owner):
    topic = study.topics.first()
    base = f"{API}/studies/{study.pk}/topics/{topic.pk}"
    (first, second) = owner.get(f"{base}/documents/").json()["results"]
    assert (first["name"], first["sentences"], first["extra"]) == (
        "d1",
        TOPIC["documents"][0]["sentences"],
        {"place": "Ohio"},
    )
    assert (second["text"], second["sentences"], second["mended"]) == (TOPIC["documents"][1]["text"], None, None)
    assert owner.get(f"{base}/references/").json()["results"][0]["text"] == TOPIC["references"][0]["text"]


def test_a_document_is_mended_until_somebody_judges(study, owner):
    document = SourceDocument.objects.filter(name="d2").first()
    path = f"{API}/studies/{study.pk}/topics/{document.topic_id}/documents/{document.pk}/"
    mended = {"sentences": ["Schools", "closed. Nobody was hurt."]}
    assert owner.patch(path, mended, format="json").json()["mended"] == mended["sentences"]
    error(owner.patch(path, {"sentences": ["Else."]}, format="json"), 400, "words_changed")
    error(owner.patch(path, {"sentences": "Else."}, format="json"), 400, "invalid")
    error(owner.patch(path, {}, format="json"), 400, "invalid")
    making.prepare(document.topic)
    asked: set[int] = set()
    while document.pk not in asked:
        assignment = judging.draw(judging.join(study))
        judging.record_judgment(assignment, 1, "left")
        asked |= {assignment.left.document_id, assignment.right.document_id}
    error(owner.patch(path, {"sentences": None}, format="json"), 409, "judged")


def fit(topic) -> None:
    """Rows as the worker leaves them."""
    rows = {scored_by: _fit(topic, scored_by) for scored_by in ("recommended", "published")}
    for place, sentence in enumerate(topic.sentence_set.items.all()):
        counts = {"sentence": sentence, "wins": 2.5, "judgments": 3}
        recommended = {"strength": 0.2, "utility": 0.5 - place, "value": 0.7, "se": 0.1, "low": 0, "high": 1}
        Utility.objects.create(fit=rows["recommended"], **counts, **recommended)
        published = {"scored_by": "published", "strength": 0.3, "utility": 0.25, "value": 0.3}
        Utility.objects.create(fit=rows["published"], **counts, **published)
    nearest = topic.sentence_set.items.first()
    for summary in Summary.objects.filter(topic=topic):
        part = {"text": "x", "nearest": nearest.pk, "similarity": 1, "value": 0.2, "factor": 1, "weight": 1}
        interval = {"se": 0.01, "low": 0.1, "high": 0.3}
        Score.objects.create(fit=rows["recommended"], summary=summary, score=0.1, coverage=0.4, **interval)
        published = {"fit": rows["published"], "scored_by": "published", "parts": [part]}
        Score.objects.create(summary=summary, score=0.2, **published)
    ItemSetProgress.objects.create(item_set_id=topic.pk, fitted_version=topic.sentence_set.tally.data_version)


def _fit(topic, scored_by):
    """Of words that stand once in the first sentence, are worth .9 where the mean is .5, and are in every summary."""
    words = {"total": 4.0, "mean": 0.5, "words": ["rain"], "occurrences": [1], "idf": [1.0], "values": [0.9]}
    words |= {"sentences": [[[topic.sentence_set.items.first().pk, 1]]], "of_systems": {"lead": [0], "long": [0]}}
    settings = {"prior": 0.1, "score": "published"} if scored_by == "published" else {"score": "importance"}
    kept = {"judgments": 3, "iterations": 2, "settings": settings, "words": words if scored_by == "recommended" else {}}
    return making.fit(topic, scored_by=scored_by, **kept)


def test_sentences_come_with_their_utilities(study, owner):
    topic = study.topics.first()
    path = f"{API}/studies/{study.pk}/topics/{topic.pk}/sentences/"
    first = owner.get(path).json()["results"][0]
    assert (first["name"], first["text"], first["utility"], first["judgments"]) == ("d1:0", "It rained.", None, None)
    fit(topic)
    first = owner.get(path).json()["results"][0]
    assert (first["utility"], first["strength"], first["wins"], first["judgments"]) == (0.5, 0.2, 2.5, 3)
    assert (first["value"], first["published_strength"], first["published_utility"]) == (0.7, 0.3, 0.25)


def test_a_score_can_be_followed_by_hand(study, owner):
    topic = study.topics.first()
    fit(topic)
    listed = owner.get(f"{API}/studies/{study.pk}/summaries/?topic={topic.pk}&system=lead").json()["results"]
    assert [(one["system"], one["topic_name"], one["score"], one["human"]) for one in listed] == [
        ("lead", "M1", 0.1, {"responsiveness": 3.0})
    ]
    assert (listed[0]["coverage"], listed[0]["low"], listed[0]["published_score"]) == (0.4, 0.1, 0.2)
    found = owner.get(f"{API}/studies/{study.pk}/summaries/{listed[0]['id']}/").json()
    assert found["parts"] == [
        {"text": "x", "nearest": "d1:0", "similarity": 1.0, "value": 0.2, "factor": 1.0, "weight": 1.0}
    ]
    term = found["words"][0]
    assert (term["word"], term["occurrences"], term["value"]) == ("rain", 1, 0.9)
    assert term["contribution"] == 1 * 1.0 * (0.9 - 0.5) / 4.0
    assert found["sources"] == {"total": 4.0, "mean": 0.5}
    assert term["sentences"] == [["d1:0", 1]]


@pytest.mark.parametrize("query", ["topic=x", "topic=%00", "system=%00", "system=" + "x" * 201, "system=%ED%A0%80"])
def test_a_filter_that_makes_no_sense_is_refused_or_finds_nothing(study, owner, query):
    response = owner.get(f"{API}/studies/{study.pk}/summaries/?{query}")
    assert response.status_code == 400 or response.json()["results"] == []


def test_the_leaderboard_is_the_one_of_the_pages(study, owner):
    for topic in study.topics.all():
        fit(topic)
    topic = study.topics.first()
    board = owner.get(f"{API}/studies/{study.pk}/topics/{topic.pk}/leaderboard/").json()
    assert [(one["rank"], one["system"], one["score"]) for one in board["systems"]] == [
        (1, "lead", 0.1),
        (1, "long", 0.1),
    ]
    assert (board["judgments"], board["behind"], board["settings"]) == (3, 0, {"score": "importance"})
    assert (board["scored_by"], board["score"], board["systems"][0]["coverage"]) == ("recommended", "importance", 0.4)
    whole = owner.get(f"{API}/studies/{study.pk}/leaderboard/").json()
    assert (whole["systems"], whole["fitted_at"]) == ([], None)


def test_a_leaderboard_says_that_topics_have_newer_scores(study, owner):
    for topic in study.topics.all():
        fit(topic)
    Fit.objects.update(data_version=2)
    ItemSetProgress.objects.update(fitted_version=2)
    ranking = Ranking.objects.create(study=study, version=3, created_at=timezone.now())
    for version, is_old in ((3, True), (4, False)):
        Ranking.objects.filter(pk=ranking.pk).update(version=version)
        assert owner.get(f"{API}/studies/{study.pk}/leaderboard/").json()["is_old"] == is_old


def test_a_leaderboard_is_read_as_published_too(study, owner):
    topic = study.topics.first()
    fit(topic)
    path = f"{API}/studies/{study.pk}/topics/{topic.pk}/leaderboard/"
    board = owner.get(path + "?scored_by=published").json()
    assert (board["scored_by"], board["score"], board["added_prior"]) == ("published", "published", 1)
    assert [(one["system"], one["score"]) for one in board["systems"]] == [("lead", 0.2), ("long", 0.2)]
    assert owner.get(path + "?scored_by=lots").status_code == 400
    study.score = "published"
    study.save()
    assert owner.get(path).json()["scored_by"] == "published"


def test_a_leaderboard_says_what_it_lacks(study, owner):
    topic = study.topics.first()
    fit(topic)
    path = f"{API}/studies/{study.pk}/topics/{topic.pk}/leaderboard/"
    Score.objects.filter(summary__system__name="long", scored_by="recommended").update(score=None)
    ItemSetProgress.objects.filter(item_set=topic.pk).update(problem="no finite utilities")
    board = owner.get(path).json()
    assert board["unranked"] == ["long"]
    assert board["failures"] == [{"topic": topic.name, "problem": "no finite utilities"}]
    assert owner.get(f"{API}/studies/{study.pk}/leaderboard/").json()["failures"] == board["failures"]
    assert board["is_outdated"]  # this fit says nothing of smoothing, which the study does


def test_a_leaderboard_is_not_outdated_under_the_settings_of_its_study(study, owner):
    topic = study.topics.first()
    fit(topic)
    own = {name: getattr(study, name) for name in ("counted_kinds", *(setting.name for setting in SCORING))}
    Fit.objects.filter(scored_by="recommended").update(settings=own)
    path = f"{API}/studies/{study.pk}/topics/{topic.pk}/leaderboard/"
    assert not owner.get(path).json()["is_outdated"]
    study.smooth = "none"
    study.save()
    assert owner.get(path).json()["is_outdated"]


# Judging by program


@pytest.fixture
def machine(study):
    """A program that judges: the client and its address."""
    client = client_of(making.member(study, Role.ANNOTATOR))
    joined = client.post(f"{API}/studies/{study.pk}/annotators/", {"pseudonym": "model-7b"}, format="json")
    assert joined.status_code == 201
    return client, f"{API}/studies/{study.pk}/annotators/{joined.json()['key']}/draw/"


def test_a_program_sees_no_more_than_a_person_does(study, machine):
    client, draw = machine
    shown = client.post(draw).json()
    assignment = Assignment.objects.get()
    assert shown == {
        "key": str(assignment.key),
        "of": "sentences",
        "question": assignment.item_set.topic.question or study.question,
        "prompt": "",
        "left_turns": None,
        "right_turns": None,
        "left": assignment.left.text,
        "right": assignment.right.text,
        "answers": ["left", "right", "tie"],
        "reason_words": "",
        "reason_note": False,
        "revision": 1,
        "progress": {"judged": 0, "quota": 30},
    }
    assert client.post(draw).json() == shown


def test_a_program_is_told_that_it_compares_summaries_and_not_whose_they_are():
    summaries = [{"system": "zyxgpt", "text": "It rained.\n\nA lot."}, {"system": "qwvlead", "text": "It poured."}]
    study = making.study(compares="summaries", summary_question="Which one is better?")
    making.take_in(study, {"topic_id": "M1", "question": "Write of rain.", "summaries": summaries})
    client = client_of(making.member(study, Role.ANNOTATOR))
    joined = client.post(f"{API}/studies/{study.pk}/annotators/", {"pseudonym": "model-7b"}, format="json").json()
    shown = client.post(f"{API}/studies/{study.pk}/annotators/{joined['key']}/draw/").json()
    assert (shown["of"], shown["question"], shown["prompt"]) == ("summaries", "Which one is better?", "Write of rain.")
    assert {shown["left"], shown["right"]} == {"It rained.\n\nA lot.", "It poured."}
    assert not [summary["system"] for summary in summaries if summary["system"] in str(shown)]


def test_an_answer_is_stored_once_and_the_first_stands(study, machine):
    client, draw = machine
    shown = client.post(draw).json()
    path = f"{API}/assignments/{shown['key']}/judgment/"
    answer = {"revision": shown["revision"], "answer": "left", "seconds": 0.5}
    first = client.post(path, answer, format="json")
    assert (first.status_code, first.json()["counted"]) == (201, True)
    again = client.post(path, answer, format="json")
    assert (again.status_code, again.json()) == (200, first.json())
    assert "left" in error(client.post(path, answer | {"answer": "right"}, format="json"), 409, "answered")["message"]
    error(client.post(path, answer | {"revision": 3}, format="json"), 409, "out_of_turn")
    judgment = Judgment.objects.get()
    assert (judgment.answer, judgment.seconds) == ("left", 0.5)
    assert judgment.assignment.annotator.kind == Annotator.Kind.MACHINE


def test_an_answer_taken_back_is_given_anew_as_the_next_revision(study, machine):
    client, draw = machine
    shown = client.post(draw).json()
    path = f"{API}/assignments/{shown['key']}"
    error(client.post(f"{path}/undo/"), 409, "not_answered")
    client.post(f"{path}/judgment/", {"revision": 1, "answer": "tie"}, format="json")
    again = client.post(f"{path}/undo/", {"revision": 2}, format="json").json()
    assert (again["key"], again["revision"]) == (shown["key"], 3)
    error(client.post(f"{path}/undo/", {"revision": 2}, format="json"), 409, "not_answered")
    assert client.post(f"{path}/judgment/", {"revision": 3, "answer": "left"}, format="json").status_code == 201


def test_a_pair_is_skipped_with_a_reason(study, machine):
    client, draw = machine
    path = f"{API}/assignments/{client.post(draw).json()['key']}/skip/"
    error(client.post(path, {"reason": "bored"}, format="json"), 400, "invalid")
    assert client.post(path, {"reason": "language"}, format="json").status_code == 204
    error(client.post(path, {"reason": "language"}, format="json"), 409, "answered")
    assert Assignment.objects.get().skip_reason == "language"


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"revision": 1},
        {"revision": 1, "answer": "both"},
        {"revision": 0, "answer": "left"},
        {"revision": 10**6, "answer": "left"},
        {"revision": 1, "answer": "left", "seconds": -1},
        {"revision": 1, "answer": "left", "seconds": "NaN"},
        {"revision": 1, "answer": "left", "is_gold": True},
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(study, machine, sent):
    client, draw = machine
    path = f"{API}/assignments/{client.post(draw).json()['key']}/judgment/"
    error(client.post(path, sent, format="json"), 400, "invalid")
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(("answer", "setting"), [("tie", "ties_allowed"), ("neither", "neither_allowed")])
def test_to_prefer_neither_is_an_answer_of_a_program_where_the_study_allows_it(study, machine, owner, answer, setting):
    client, draw = machine
    path = f"{API}/assignments/{client.post(draw).json()['key']}/judgment/"
    for is_allowed in (False, True):
        owner.patch(f"{API}/studies/{study.pk}/", {setting: is_allowed}, format="json")
        assert (answer in client.post(draw).json()["answers"]) == is_allowed
        said = client.post(path, {"revision": 1, "answer": answer}, format="json")
        assert said.status_code == (201 if is_allowed else 400)
    assert Judgment.objects.get().answer == answer


def test_where_there_is_nothing_to_judge_the_code_says_why(study, machine, owner):
    client, draw = machine
    owner.patch(f"{API}/studies/{study.pk}/", {"state": "paused"}, format="json")
    error(client.post(draw), 409, "paused")
    owner.patch(f"{API}/studies/{study.pk}/", {"state": "open", "pairs_per_annotator": 1}, format="json")
    key = client.post(draw).json()["key"]
    client.post(f"{API}/assignments/{key}/judgment/", {"revision": 1, "answer": "left"}, format="json")
    error(client.post(draw), 409, "done")


def test_a_person_may_bring_several_machines_and_stays_a_person(study):
    user = making.member(study, Role.ANNOTATOR)
    person = judging.join(study, user=user)
    client = client_of(user)
    path = f"{API}/studies/{study.pk}/annotators/"
    keys = [client.post(path, {"pseudonym": name}, format="json").json()["key"] for name in ("small", "large", "small")]
    assert keys[0] == keys[2] != keys[1]
    assert str(person.key) not in keys
    error(client.post(path, {"pseudonym": person.pseudonym}, format="json"), 409, "taken")
    error(client.post(path, {}, format="json"), 400, "invalid")


def test_what_is_known_of_a_machine_is_said_once_logged_and_stays_what_it_judged_by(study, machine, owner):
    client, draw = machine
    path = f"{API}/studies/{study.pk}/annotators/"

    def says(**judge):
        return client.post(path, {"pseudonym": "model-7b", "judge": judge}, format="json")

    known = {
        "model": "model",
        "version": "7b",
        "prompt": "Which?",
        "temperature": 0,
        "made": ["s"],
    }
    assert says(**known).json()["judge"]["prompt_sha256"] == hashlib.sha256(b"Which?").hexdigest()
    shown = client.post(draw).json()
    answer = f"{API}/assignments/{shown['key']}/judgment/", {"revision": 1, "answer": "left"}
    for wrong in (2, "much"):
        refused = error(client.post(answer[0], answer[1] | {"confidence": wrong}, format="json"), 400, "invalid")
        assert list(refused["fields"]) == ["confidence"]
    nan = '{"revision": 1, "answer": "left", "confidence": NaN}'
    assert client.post(answer[0], nan, content_type="application/json").status_code == 400
    assert client.post(answer[0], answer[1] | {"confidence": 0.9}, format="json").status_code == 201
    assert says(**known, cost=0.002, currency="EUR").status_code == 201
    error(says(**known | {"prompt": "Which one?"}), 409, "another_judge")
    for wrong, field in (
        ({"prompt": "x" * 60_000}, "judge.prompt"),
        ({"prompt_sha256": "0" * 64, "prompt": "Which?"}, "judge.prompt_sha256"),
        ({"temperature": "hot"}, "judge.temperature"),
        ({"cost": -1}, "judge.cost"),
        ({"size": "7b"}, "judge.size"),
    ):
        assert list(error(says(**wrong), 400, "invalid")["fields"]) == [field]
    assert "Found 60000 characters; expected at most 50000." in says(prompt="x" * 60_000).content.decode()
    error(says(prompt="x" * 1_000_000), 413, "too_large")
    (row,) = owner.get(path).json()["results"]
    assert (row["judge"]["cost"], row["judge"]["made"]) == (0.002, ["s"])
    assert owner.get(f"{API}/studies/{study.pk}/judgments/").json()["results"][0]["confidence"] == 0.9
    noted = AuditEntry.objects.filter(action="describe judge").order_by("number")
    assert [entry.detail["judge"]["cost"] for entry in noted] == [None, 0.002]
    assert client.post(path, {"pseudonym": "model-7b"}, format="json").json()["judge"]["cost"] == 0.002
    Annotator.objects.update(kind="human", judge=None)
    error(client.post(draw, {"of": "people"}, format="json"), 400, "invalid")
    error(client.post(answer[0], answer[1] | {"revision": 2, "confidence": 0.9}, format="json"), 400, "invalid")


def test_judgments_are_listed_under_pseudonyms_with_every_revision(study, machine, owner):
    client, draw = machine
    owner.patch(f"{API}/studies/{study.pk}/", {"counted_kinds": "machines"}, format="json")
    key = client.post(draw).json()["key"]
    for revision in (1, 3):
        client.post(f"{API}/assignments/{key}/judgment/", {"revision": revision, "answer": "left"}, format="json")
        if revision == 1:
            client.post(f"{API}/assignments/{key}/undo/", {}, format="json")
    found = owner.get(f"{API}/studies/{study.pk}/judgments/").json()["results"]
    assert [(one["revision"], one["answer"], one["counted"]) for one in found] == [
        (1, "left", False),
        (2, "undone", False),
        (3, "left", True),
    ]
    assert {(one["annotator"], one["kind"], one["assignment"]) for one in found} == {("model-7b", "machine", key)}
    (row,) = owner.get(f"{API}/studies/{study.pk}/annotators/").json()["results"]
    assert (row["pseudonym"], row["judged"]) == ("model-7b", 1)
    assert "key" not in row


# Exports


def test_an_export_is_asked_for_written_and_fetched(study, owner):
    path = f"{API}/studies/{study.pk}/exports/"
    asked = owner.post(path)
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    mine = f"{path}{asked.json()['key']}/"
    error(owner.get(f"{mine}file/"), 409, "state")
    exports.write_export(study.exports.get())
    ready = owner.get(mine).json()
    assert ready["state"] == "ready"
    fetched = owner.get(f"{mine}file/")
    assert fetched["Content-Disposition"] == 'attachment; filename="rain.zip"'
    content = b"".join(fetched.streaming_content)
    archive = io.BytesIO()
    study_archive.write(exports.make_archive(study), archive)
    assert content == archive.getvalue()
    assert owner.get(path).json()["results"] == [ready]
    study.exports.get().file.delete(save=False)
    error(owner.get(f"{mine}file/"), 404, "not_found")


def test_an_owner_sees_the_exports_of_others_and_nobody_else_does(study, owner):
    path = f"{API}/studies/{study.pk}/exports/"
    researcher = client_of(making.member(study, "researcher"))
    asked = researcher.post(path).json()
    assert owner.get(path).json()["results"] == [asked]
    assert owner.get(f"{path}{asked['key']}/").json() == asked
    mine = owner.post(path).json()
    assert researcher.get(path).json()["results"] == [asked]
    error(researcher.get(f"{path}{mine['key']}/file/"), 404, "not_found")


# Accounts


def test_tokens_are_made_in_a_browser_and_shown_once():
    user = making.person()
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(user)
    error(client.post(f"{API}/tokens/", {"name": "script"}, format="json"), 403, "permission_denied")
    client = APIClient()
    client.force_login(user)
    made = client.post(f"{API}/tokens/", {"name": "script"}, format="json").json()
    listed = client.get(f"{API}/tokens/").json()["results"]
    assert [one["name"] for one in listed] == ["script"]
    assert "secret" not in listed[0]
    program = APIClient()
    program.credentials(HTTP_AUTHORIZATION=f"Bearer {made['secret']}")
    me = program.get(f"{API}/me/").json()
    assert (me["username"], me["token"]["name"]) == (user.username, "script")
    error(program.post(f"{API}/tokens/", {"name": "more"}, format="json"), 403, "permission_denied")
    assert client.delete(f"{API}/tokens/{made['id']}/").status_code == 204
    assert error(program.get(f"{API}/me/"), 401, "authentication_failed")


def test_a_token_for_a_study_is_made_by_those_who_see_it(study):
    client = APIClient()
    client.force_login(making.owner(study))
    sent = {"name": "narrow", "study": study.pk, "read_only": True}
    assert client.post(f"{API}/tokens/", sent, format="json").json()["study"] == study.pk
    client.force_login(making.person())
    error(client.post(f"{API}/tokens/", sent, format="json"), 404, "not_found")


# Strictness


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"3",
        b'"x"',
        b'{"title": "a", "title": "b"}',
        b'{"prior": NaN}',
        b'{"prior": Infinity}',
        b'{"prior": 1e999}',
        b'{"seed": ' + b"9" * 5000 + b"}",
        b'{"title": "\\ud800"}',
        b'{"title": "\\u0000"}',
        b'{"title": "\\ufffe"}',
        b'{"title": "\\u0007"}',
        b'{"seed": 9223372036854775808}',
        b'{"title": "\xff"}',
        b'{"title": "a\\u0301' + b"\\u0300\\u0316" * 40 + b'"}',
        b'{"title": "\x00"}',
        b'{"title": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"title": ' + b"[" * 100_000,
        b"\xff\xfe{\x00}\x00",
    ],
)
def test_a_body_that_is_not_strict_json_is_refused_and_poisons_nothing(study, owner, body):
    path = f"{API}/studies/{study.pk}/"
    response = owner.patch(path, body, content_type="application/json")
    if body:
        error(response, 400, "parse_error")
    else:
        assert response.status_code == 200  # nothing sent, nothing changed
    assert owner.get(path).json()["title"] == "Rain"
    assert owner.get(f"{API}/studies/").status_code == 200


def test_a_body_that_is_too_large_is_refused(study, owner):
    body = json.dumps({"guidelines": "x" * 300_000}).encode()
    error(owner.patch(f"{API}/studies/{study.pk}/", body, content_type="application/json"), 413, "too_large")


def test_other_media_types_are_refused(study, owner):
    response = owner.patch(f"{API}/studies/{study.pk}/", "title=x", content_type="application/x-www-form-urlencoded")
    error(response, 415, "unsupported_media_type")


def test_a_database_that_does_not_answer_is_said_to_be_back_soon(study, machine, monkeypatch, caplog):
    client, draw = machine
    client.raise_request_exception = False
    path = f"{API}/assignments/{client.post(draw).json()['key']}/judgment/"

    def fail(*args, **kwargs):
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(judging, "record_judgment", fail)
        response = client.post(path, {"revision": 1, "answer": "left"}, format="json")
    error(response, 503, "unavailable")
    assert response["Retry-After"] == "5"
    assert "disk is full" in caplog.text
    assert client.post(path, {"revision": 1, "answer": "left"}, format="json").status_code == 201


def test_an_address_that_leads_nowhere_says_so_in_json(owner):
    error(owner.get(f"{API}/nowhere/"), 404, "not_found")
    error(owner.get(f"{API}/studies/{10**30}/"), 404, "not_found")
    error(owner.get(f"{API}/studies/x/"), 404, "not_found")


def test_a_forgotten_slash_is_named(study, owner):
    assert "slash" in error(owner.get(f"{API}/studies"), 404, "not_found")["message"]


def test_a_method_that_an_address_does_not_have_says_so(study, owner):
    error(owner.options(f"{API}/studies/{study.pk}/"), 405, "method_not_allowed")
    error(owner.put(f"{API}/studies/{study.pk}/", {}, format="json"), 405, "method_not_allowed")


def test_a_page_holds_two_hundred_at_most(study, owner):
    for number in range(205):
        judging.join(study, pseudonym=f"judge {number}")
    path = f"{API}/studies/{study.pk}/annotators/"
    found = owner.get(f"{path}?page_size=100000").json()
    assert (found["count"], len(found["results"])) == (205, 200)
    assert len(owner.get(path).json()["results"]) == 50
    error(owner.get(f"{path}?page=99"), 404, "not_found")
    error(owner.get(f"{path}?page=%00"), 404, "not_found")


def test_lists_that_grow_with_answers_are_read_page_after_page_without_counting(study, owner):
    others = ready_study(sentences=12, owner=making.owner(study))
    for number in range(4):
        for own in (study, others):
            assignment = judging.draw(judging.join(own, pseudonym=f"judge {number}"))
            judging.record_judgment(assignment, 1, "left", 5.0)
    for path in (f"{API}/studies/{study.pk}/judgments/", f"{API}/studies/{study.pk}/audit-log/"):
        whole, found, costs = owner.get(path).json(), [], []
        assert set(whole) == {"next", "results"}
        assert whole["next"] is None
        address = f"{path}?page_size=1"
        while address:
            with CaptureQueriesContext(connection) as asked:
                page = owner.get(address).json()
            costs.append(len(asked))
            assert not any("COUNT(" in query["sql"] for query in asked)
            assert len(page["results"]) == 1
            found += page["results"]
            address = page["next"]
        assert found == whole["results"]
        assert max(costs) <= costs[0] + 4, "the gaps that other studies leave are passed in a few steps"
        assert "next" in str(error(owner.get(f"{path}?page=2"), 400, "invalid")["fields"])
        for nonsense in ("x", "-1", "9" * 30, "%00", "٣"):
            error(owner.get(f"{path}?after={nonsense}"), 400, "invalid")
        assert owner.get(f"{path}?after={'9' * 18}").json() == {"next": None, "results": []}


# Description


def test_the_description_is_complete(tmp_path):
    """Fails on any warning: a view without a serializer, an enumeration without a name, a type that nobody knows."""
    file = tmp_path / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(file))
    described = json.loads(file.read_text())["paths"]
    assert all(path.startswith("/api/v1/") for path in described)
    names = {pattern.name for pattern in get_resolver("annotate.api.urls").url_patterns}
    assert len(described) == len(names - {"api_schema", "api_docs", "api_nothing"})
    for operations in described.values():
        for operation in operations.values():
            assert operation["description"]
            assert {"401", "404"} <= operation["responses"].keys()


def test_everybody_may_read_the_description(client):
    schema = client.get(reverse("api_schema")).json()
    assert schema["openapi"].startswith("3.")
    page = client.get(reverse("api_docs")).content.decode()
    lines = re.findall(r"<code>([A-Z]+)</code></td><th scope=\"row\"><code>(\S+)</code></th><td>([^<]+)</td>", page)
    assert len(lines) == sum(map(len, schema["paths"].values()))
    assert lines[0][1:] == ("/api/v1/studies/", "The studies that you may see, newest first.")


def test_unknown_keys_of_things_lead_nowhere(study, owner):
    for path in (
        f"studies/{study.pk}/uploads/{uuid.uuid4()}/",
        f"studies/{study.pk}/exports/{uuid.uuid4()}/",
        f"studies/{study.pk}/topics/0/",
        f"studies/{study.pk}/summaries/0/",
    ):
        error(owner.get(f"{API}/{path}"), 404, "not_found")
    assert Membership.objects.count() == 1
