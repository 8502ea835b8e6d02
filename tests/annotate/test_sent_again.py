"""What a program sends again under its `Idempotency-Key` is done once, and answered as before."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from rest_framework.test import APIClient

from annotate import crowd, judging, members, studies
from annotate.api.views.base import View
from annotate.models import Annotator, AnsweredRequest, AuditEntry, Invitation, Study, Upload
from annotate.server import idempotency
from tests.annotate import making
from tests.annotate.everything import BODIES, World, api_patterns, everything, program, undone
from tests.annotate.making import TOPIC, Role, lines
from tests.annotate.test_judging_together import PATIENCE, at_once
from tests.annotate.test_lost_races import once_before

pytestmark = pytest.mark.django_db

#: Where a repetition is known by something else, or not at all (a secret is in one answer only).
WITHOUT_KEY = {
    *("api_annotators", "api_draw", "api_judgment", "api_skip", "api_undo", "api_tokens"),
    *("api_webhooks", "api_webhook_secret"),
}


def posts() -> list[str]:
    views = [(pattern.name, getattr(pattern.callback, "view_class", None)) for pattern in api_patterns()]
    return [str(name) for name, view in views if hasattr(view, "post") and name not in WITHOUT_KEY]


@pytest.fixture
def world() -> World:
    return everything()


@pytest.fixture
def study() -> Study:
    return making.study()


@pytest.fixture
def owner(study: Study) -> APIClient:
    return program(making.owner(study))


def post(client: APIClient, path: str, body: Any, key: str = '"1"', **options: Any) -> Any:
    return client.post(f"/api/v1/{path}", body, headers={"Idempotency-Key": key}, format="json", **options)


def test_whatever_is_sent_twice_is_done_once(world: World) -> None:
    assert len(posts()) > 10
    for name in posts():
        with undone():
            caller = world.clients["site" if name == "api_studies" else "owner"]
            world.clients["keyed"] = caller
            caller.defaults["HTTP_IDEMPOTENCY_KEY"] = name
            first = world.call("keyed", "POST", name)
            done = AuditEntry.objects.count()
            again = world.call("keyed", "POST", name)
            assert (again.status_code, again.content) == (first.status_code, first.content), name
            assert first.status_code < 300, first.content
            assert AuditEntry.objects.count() == done


def test_a_key_with_another_request_is_refused(study: Study, owner: APIClient) -> None:
    here = f"studies/{study.pk}/invitations/"
    assert post(owner, here, {"label": "one"}).status_code == 201
    for path, body in ((here, {"label": "two"}), (f"studies/{study.pk}/copies/", {"title": "x"})):
        answer = post(owner, path, body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "used")
    assert Invitation.objects.count() == 1


def test_files_are_told_apart_by_their_content(study: Study, owner: APIClient) -> None:
    path = f"/api/v1/studies/{study.pk}/uploads/?filename=topics.jsonl"
    send = partial(owner.generic, "POST", path, content_type="application/x-ndjson", HTTP_IDEMPOTENCY_KEY="1")
    first, again, other = (send(data=lines(TOPIC | {"title": title})) for title in ("Rain", "Rain", "Snow"))
    assert (first.status_code, again.json(), other.status_code) == (202, first.json(), 422)
    assert json.loads(Path(Upload.objects.get().file.path).read_bytes())["title"] == "Rain"


def test_keys_of_others_and_of_other_tokens_are_others(study: Study, owner: APIClient) -> None:
    for client in (owner, program(making.owner(study)), program(making.member(study, Role.ADMIN))):
        assert post(client, f"studies/{study.pk}/invitations/", {}).status_code == 201
    assert Invitation.objects.count() == 3


def test_what_was_refused_is_tried_anew(study: Study, owner: APIClient) -> None:
    path, body = f"studies/{study.pk}/uploads/simulated/", {"per_topic": 5}
    assert post(owner, path, body).status_code == 409
    assert not AnsweredRequest.objects.exists()
    making.prepare(*making.take_in(study))
    assert post(owner, path, body).status_code == 202


def test_no_link_is_stored(study: Study, owner: APIClient) -> None:
    path = f"studies/{study.pk}/invitations/"
    first, again = (post(owner, path, {"label": "course"}).json() for _ in range(2))
    assert first == again
    assert Client().get(first["link"]).status_code == 200
    assert AnsweredRequest.objects.get().answer == str(first["id"])


def test_who_is_no_longer_a_member_is_told_nothing_again(study: Study) -> None:
    member = making.member(study, Role.ADMIN)
    client = program(member)
    assert post(client, f"studies/{study.pk}/invitations/", {}).status_code == 201
    members.remove_member(study, making.owner(study), member)
    assert post(client, f"studies/{study.pk}/invitations/", {}).status_code == 404


@pytest.mark.parametrize("role", [Role.ADMIN, Role.RESEARCHER])
def test_who_may_no_longer_send_a_request_is_not_told_its_answer_again(study: Study, role: str) -> None:
    member = making.member(study, Role.OWNER)
    client, path = program(member), f"studies/{study.pk}/invitations/"
    assert post(client, path, {"role": "owner"}).status_code == 201
    copied = post(client, f"studies/{study.pk}/copies/", {"title": "x"}, key="copy")
    members.set_role(study, study.created_by, member, role)
    again = post(client, path, {"role": "owner"})
    assert (again.status_code, "link" in again.json()) == (403, False)
    assert post(client, path, {}, key="new").status_code == (201 if role == Role.ADMIN else 403)
    copy_again = post(client, f"studies/{study.pk}/copies/", {"title": "x"}, key="copy")
    assert copy_again.status_code == (403 if role == Role.ADMIN else 201)
    assert copied.status_code == 201


def test_who_lost_what_they_created_is_not_told_about_it_again() -> None:
    site = making.person(is_superuser=True)
    client = program(site)
    made = post(client, "studies/", {"title": "Rain"})
    study = Study.objects.get(pk=made.json()["id"])
    members.give_role(study, making.person(), Role.OWNER)
    type(site).objects.update(is_superuser=False)
    members.remove_member(study, site, site)
    assert post(client, "studies/", {"title": "Rain"}).status_code == 403
    making.study(site)
    assert post(client, "studies/", {"title": "Rain"}).status_code == 404


def test_no_stored_answer_names_an_annotator(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may erase themselves, and then nothing of them is left."""
    Annotator.objects.filter(study=world.study, pseudonym="machine").update(pseudonym="j4n3")
    for name in ("api_what_ifs", "api_exclusions"):
        monkeypatch.setitem(BODIES, ("POST", name), BODIES["POST", name] | {"annotators": ["j4n3"]})
    world.clients["owner"].defaults["HTTP_IDEMPOTENCY_KEY"] = "1"
    for name in posts():
        if name != "api_studies":
            with undone():
                assert world.call("owner", "POST", name).status_code < 300, name
                assert "j4n3" not in AnsweredRequest.objects.get().answer, name


def test_an_answer_that_is_given_again_leaves_out_who_erased_themselves(study: Study, owner: APIClient) -> None:
    machine, other = (
        judging.join(study, user=making.person(), kind=Annotator.Kind.MACHINE, pseudonym=name)
        for name in ("reader one", "reader two")
    )
    path, body = f"studies/{study.pk}/exclusions/", {"annotators": ["reader one", "reader two"], "reason": "A test."}
    asked = f"studies/{study.pk}/what-if/"
    assert post(owner, path, body).status_code == 200
    assert post(owner, asked, {"annotators": ["reader one", "reader two"]}, key="asked").status_code == 202
    crowd.withdraw(machine, erase=True)
    assert not AnsweredRequest.objects.filter(answer__contains="reader one").exists()
    assert [row["pseudonym"] for row in post(owner, path, body).json()] == [other.pseudonym]
    assert post(owner, asked, {"annotators": ["reader one", "reader two"]}, key="asked").json()["annotators"] == [
        "reader two"
    ]


def test_a_study_takes_what_was_answered_about_it_along(study: Study, owner: APIClient) -> None:
    post(owner, f"studies/{study.pk}/invitations/", {})
    studies.delete_study(study, making.owner(study))
    assert not AnsweredRequest.objects.exists()


def test_an_upload_that_the_database_does_not_take_leaves_no_file(
    study: Study, owner: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_the_disk() -> None:
        raise OperationalError("database or disk is full")

    once_before(monkeypatch, View, "to_keep", fill_the_disk)
    owner.raise_request_exception = False
    send = partial(post, owner, f"studies/{study.pk}/uploads/?filename=topics.jsonl", TOPIC)
    assert send().status_code == 503
    assert [path for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()] == []
    assert send().status_code == 202


def test_answers_are_forgotten_after_a_day(study: Study, owner: APIClient) -> None:
    path = f"studies/{study.pk}/invitations/"
    post(owner, path, {})
    idempotency.forget()
    post(owner, path, {})
    assert Invitation.objects.count() == 1
    AnsweredRequest.objects.update(at=timezone.now() - timedelta(days=1, minutes=1))
    idempotency.forget()
    post(owner, path, {})
    assert Invitation.objects.count() == 2


def test_the_description_names_the_header_where_it_may_be_sent() -> None:
    described = json.loads(Client().get(reverse("api_schema")).content)["paths"]
    named = {
        path
        for path, operations in described.items()
        for parameter in operations.get("post", {}).get("parameters", ())
        if parameter["in"] == "header"
    }
    assert len(named) == len(posts())


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_twice_at_once_is_done_once() -> None:
    one, other = program(making.person(is_superuser=True)), APIClient()
    other.credentials(**one._credentials)
    answers = at_once(*[partial(post, client, "studies/", {"title": "Rain"}) for client in (one, other)])
    assert Study.objects.count() == len({answer.json()["id"] for answer in answers}) == 1


@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite's one lock is waited for before")
@pytest.mark.django_db(transaction=True)
def test_a_request_that_is_still_worked_on_is_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = program(making.person(is_superuser=True)), APIClient()
    other.credentials(**one._credentials)
    refused_meanwhile = threading.Event()
    once_before(monkeypatch, studies, "create_study", partial(refused_meanwhile.wait, PATIENCE))

    def impatient(client: APIClient) -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '500ms'")
        answer = post(client, "studies/", {"title": "Rain"})
        refused_meanwhile.set()
        return answer

    made, refused = sorted(at_once(partial(impatient, one), partial(impatient, other)), key=lambda one: one.status_code)
    assert (made.status_code, refused.status_code, refused.json()["error"]["code"]) == (201, 409, "running")
    assert post(one, "studies/", {"title": "Rain"}).json() == made.json()
