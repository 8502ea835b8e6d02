"""The data page: what came when, from which file, by whom; removed and restored there and by the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from annotate import imports
from annotate.models import HumanScore, Removal, Study, System
from preferendum import formats
from preferendum.formats.records import HumanScore as HumanScoreRecord
from tests.annotate import making
from tests.annotate.everything import study_once
from tests.annotate.making import TOPIC, lines
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db


def study_of_two_uploads() -> Study:
    study = making.study()
    making.store(study, lines(TOPIC, TOPIC | {"topic_id": "M2"}), "both.jsonl")
    making.store(study, b"topic,system,text\nM1,late,Rain.\n", "late.csv")
    return study


made_study, study = study_once(study_of_two_uploads)


@pytest.fixture
def owner(study: Study) -> Client:
    return signed_in(making.owner(study))


def text_of(client: Client, study: Study, show: str) -> str:
    response = client.get(reverse("study_data", args=[study.pk]), {"show": show})
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_says_what_each_file_brought_and_whose_it_was(owner: Client, study: Study) -> None:
    shown = text_of(owner, study, "uploads")
    assert "2 topics, 4 documents, 2 references, 4 summaries, 2 human scores" in shown
    assert making.owner(study).username in shown
    topics = owner.get(reverse("study_topics", args=[study.pk])).content.decode()
    assert (topics.count("both.jsonl"), topics.count("Remove the topic")) == (2, 2)
    assert text_of(owner, study, "systems").count("late.csv") == 1
    assert "both.jsonl" in text_of(owner, study, "scores")
    assert "Nothing was removed." in text_of(owner, study, "removed")


def test_a_list_that_there_is_not_is_not_found(owner: Client, study: Study) -> None:
    assert owner.get(reverse("study_data", args=[study.pk]), {"show": "secrets"}).status_code == 404


def test_a_study_of_many_systems_is_a_few_questions(
    owner: Client, study: Study, django_assert_max_num_queries: Any
) -> None:
    for show in ("uploads", "systems", "scores", "removed"):
        with django_assert_max_num_queries(20):
            text_of(owner, study, show)


def test_nothing_is_removed_before_it_is_confirmed_and_then_it_can_be_restored(owner: Client, study: Study) -> None:
    system = System.objects.get(study=study, name="lead")
    address = reverse("data_remove", args=[study.pk, "system"])
    asked = owner.get(address, {"key": system.pk}).content.decode()
    assert "2 summaries" in asked
    assert "2 human scores" in asked
    assert System.objects.filter(pk=system.pk).exists()
    owner.post(address, {"key": system.pk})
    assert not System.objects.filter(pk=system.pk).exists()
    removal = Removal.objects.get()
    assert "Restore lead" in text_of(owner, study, "removed")
    owner.post(reverse("data_restore", args=[study.pk, removal.key]))
    assert System.objects.filter(pk=system.pk).exists()
    assert "restored" in text_of(owner, study, "removed")


def test_answers_about_a_systems_summaries_stay_as_history(owner: Client, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(compares="both")
    making.store(study, b'{"topic": "M1", "a": "lead", "b": "long", "winner": "a", "of": "summaries"}', "answers.jsonl")
    key = System.objects.get(study=study, name="lead").pk
    asked = owner.get(reverse("data_remove", args=[study.pk, "system"]), {"key": key})
    assert "1 judgment stays as history" in asked.content.decode()


def test_why_something_cannot_go_is_said_on_the_page(owner: Client, study: Study) -> None:
    making.take_in(study, TOPIC | making.PEOPLE | {"topic_id": "M3"})
    reference = study.topics.get(name="M3").references.get()
    response = owner.post(reverse("data_remove", args=[study.pk, "reference"]), {"key": reference.pk})
    assert response.status_code == 409
    assert "Remove that summary first" in response.content.decode()


def test_the_same_by_the_api(study: Study) -> None:
    api = APIClient()
    api.force_authenticate(making.owner(study))
    here = f"/api/v1/studies/{study.pk}"
    found = api.get(f"{here}/data/").json()
    assert [(system["name"], system["summaries"], system["uploads"]) for system in found["systems"]] == [
        ("late", 1, ["late.csv"]),
        ("lead", 2, ["both.jsonl"]),
        ("long", 2, ["both.jsonl"]),
    ]
    assert found["dimensions"][0]["scores"] == 2
    gone = api.post(f"{here}/removals/", {"kind": "human_scores", "key": "responsiveness"}, format="json")
    assert (gone.status_code, gone.json()["counts"]) == (201, {"human_scores": 2})
    assert not HumanScore.objects.exists()
    again = api.post(f"{here}/removals/", {"kind": "human_scores", "key": "responsiveness"}, format="json")
    assert (again.status_code, again.json()["error"]["code"]) == (409, "gone")
    back = api.post(f"{here}/removals/{gone.json()['key']}/restore/").json()
    assert back["restorable_until"] is None
    assert HumanScore.objects.count() == 2
    assert [removal["name"] for removal in api.get(f"{here}/removals/").json()["results"]] == ["responsiveness"]
    assert {upload["by"] for upload in api.get(f"{here}/uploads/").json()["results"]} == {making.owner(study).username}


def test_a_name_that_looks_like_an_address_or_markup_is_removed_like_any_other(owner: Client, study: Study) -> None:
    name = "a/b?c=<b>&d #1"
    imports.store(study, _scored(name))
    shown = text_of(owner, study, "scores")
    assert "<b>&d" not in shown
    (link,) = [part.split('"')[0] for part in shown.split('href="') if "a%2Fb" in part.split('"')[0]]
    assert owner.get(link).status_code == 200
    owner.post(reverse("data_remove", args=[study.pk, "human_scores"]), {"key": name})
    assert not HumanScore.objects.filter(dimension=name).exists()


def _scored(dimension: str) -> Any:
    return formats.Bundle(human_scores=(HumanScoreRecord("M1", "lead", dimension, 1.0),))
