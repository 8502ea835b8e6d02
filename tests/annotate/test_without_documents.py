"""Topics without documents: what they have is for metrics, nobody is asked about them, and it is no failure."""

from __future__ import annotations

import pytest
from django.test import Client

from annotate import exports, invitations, judging, studies
from annotate.imports.restore import restore
from annotate.judging.no_pair import NoPair
from annotate.models import Fit, PyramidAnnotation, Study, Summary, Topic
from annotate.reports import leaderboard
from annotate.reports.study import Next, look_at
from evaluation import tasks
from tests.annotate import making
from tests.annotate.making import PYRAMID, TOPIC, lines
from tests.annotate.visitors import signed_in
from tests.studies import to_do

pytestmark = pytest.mark.django_db

BARE = {key: value for key, value in TOPIC.items() if key != "documents"} | {"topic_id": "M0"}


@pytest.fixture
def study() -> Study:
    """A study of a topic that people judge and one, before it, that has no documents."""
    study = making.study()
    making.take_in(study, BARE | {"pyramid": PYRAMID}, TOPIC)
    return study


def judge(study: Study, judgments: int) -> None:
    annotator = judging.join(study)
    for _ in range(judgments):
        judging.record_judgment(judging.draw(annotator), 1, "left", 1.0)


def test_nobody_is_asked_and_nothing_waits(study: Study) -> None:
    assert to_do() == []
    judge(study, 10)  # all pairs of the other topic
    assert judging.draw(judging.join(study)) is NoPair.NO_WORK
    assert tasks.catch_up(study.pk) == {}
    assert set(Fit.objects.values_list("item_set__topic__name", flat=True)) == {"M1"}
    making.take_in(study, BARE | {"topic_id": "M2"})
    assert to_do() == []


def test_a_study_without_any_documents_has_no_pairs_and_says_why() -> None:
    study = making.study()
    making.take_in(study, BARE)
    assert judging.draw(judging.join(study)) is NoPair.NO_WORK
    assert look_at(study).next == Next.UPLOAD_DOCUMENTS
    assert leaderboard.what_is_missing(study) == "documents"
    assert tasks.catch_up(study.pk) == {}


def test_an_invitation_promises_no_more_pairs_than_there_are() -> None:
    study = making.study(pairs_per_annotator=30)
    making.take_in(
        study, {"topic_id": "M1", "documents": [{"id": "d", "sentences": ["It rained.", "It poured.", "It hailed."]}]}
    )
    for topic in study.topics.all():
        making.prepare(topic)
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert "There are 3 pairs to judge." in " ".join(Client().get(link).content.decode().split())
    study.topics.all().delete()
    assert "pairs to judge" not in Client().get(link).content.decode()


def test_a_study_with_one_text_a_topic_says_that_nothing_can_be_asked() -> None:
    outputs = [{"system": "a", "text": "Rain fell."}]
    study = making.study(compares="both")
    making.take_in(study, {"topic_id": "M1", "documents": [{"id": "d", "text": "It rained."}], "summaries": outputs})
    assert look_at(study).next == Next.UPLOAD_MORE
    page = signed_in(making.owner(study)).get(f"/studies/{study.pk}/").content.decode()
    assert "Sentences: 1; summaries: 1." in " ".join(page.split())
    assert "All judgments are in" not in page
    assert judging.draw(judging.join(study)) is NoPair.NO_WORK


def test_pages_and_the_api_say_that_documents_are_needed(study: Study) -> None:
    judge(study, 3)
    tasks.catch_up(study.pk)
    client, bare = signed_in(making.owner(study)), Topic.objects.get(name="M0")
    here = f"/studies/{study.pk}/"
    for page, words in (
        ("", "1 topic with a Pyramid"),
        ("topics/", "needs documents"),
        (f"topics/{bare.pk}/", "This topic needs documents to be judged"),
        (f"topics/{bare.pk}/documents/", "Rain closed roads"),
        (f"topics/{bare.pk}/leaderboard/", "This topic needs documents"),
        ("leaderboard/", "1 topic needs documents to be judged and is not part of this leaderboard"),
        (f"summaries/{Summary.objects.get(topic=bare, system__name='lead').pk}/", ""),
    ):
        response = client.get(here + page)
        assert response.status_code == 200, page
        assert words in response.content.decode(), page
    told = {topic["name"]: topic for topic in _results(client, f"/api/v1{here}topics/")}
    assert (told["M0"]["needs_documents"], told["M0"]["up_to_date"]) == (True, True)
    assert not told["M0"]["problem"]
    assert not told["M1"]["needs_documents"]
    assert client.get(f"/api/v1{here}leaderboard/").json()["without_documents"] == 1


def _results(client: Client, path: str) -> list[dict[str, object]]:
    found = client.get(path).json()
    return list(found["results"]) if isinstance(found, dict) else found


def test_it_is_exported_and_taken_back(study: Study) -> None:
    judge(study, 2)
    archive = exports.make_archive(study)
    studies.delete_study(study, study.created_by)
    assert exports.make_archive(restore(archive, making.person())) == archive


def test_what_comes_later_is_stored(study: Study) -> None:
    making.store(study, b"topic,system,text\nM0,late,Roads closed.\n", "summaries.csv")
    later = {"topic_id": "M1", "pyramid": PYRAMID | {"assessor": "K"}}
    making.store(study, lines(later), "pyramids.jsonl")
    assert Summary.objects.filter(topic__name="M0").count() == 3
    assert set(PyramidAnnotation.objects.values_list("topic__name", "assessor")) == {("M0", "J"), ("M1", "K")}
    first, second = exports.topics(study)
    assert first.pyramid is not None
    assert second.pyramid is not None
    assert first.pyramid.pyramid == second.pyramid.pyramid
    assert first.pyramid.peers == second.pyramid.peers
    making.store(study, lines(later | {"pyramid": PYRAMID | {"assessor": "L"}}), "pyramids.jsonl")
    assert PyramidAnnotation.objects.get(topic__name="M1").assessor == "L"
    assert tasks.catch_up(study.pk) == {}
