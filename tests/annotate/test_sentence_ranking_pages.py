"""The page that says how well a topic's sentences are ordered, its files and the API's answer."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

import formats
from annotate import judging
from annotate.models import Study, Topic
from evaluation.worker import tasks
from formats.results import SentenceRankings, SentenceReport
from tests import kept
from tests.annotate import making, scored
from tests.annotate.making import PYRAMID, TOPIC, owner
from tests.annotate.test_api import API, client_of
from tests.annotate.test_monitor import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def topic() -> Topic:
    return ranked_topic()


def ranked_topic(**fields: Any) -> Topic:
    """A topic with references and a Pyramid, three judgments, and what the worker makes of them."""
    made = making.study(title="Rain")
    (topic,) = making.take_in(made, TOPIC | {"pyramid": PYRAMID} | fields)
    scored.judge(made, ("M1", "d1:0", "d1:1", "a"), ("M1", "d1:2", "d1:1", "a"), ("M1", "d1:0", "d2:1", "a"))
    assert tasks.catch_up(made.pk) == {}
    tasks.rank_sentences(topic.pk)
    return topic


def address(topic: Topic, form: str = "") -> str:
    part = ["agreement"] if form else []
    return reverse(f"topic_analysis{form}", args=[topic.study_id, topic.pk, "sentence-ranking", *part])


def reports_of(topic: Topic) -> tuple[SentenceReport, ...]:
    ranked = kept.heads("sentence-ranking", topic=topic).get().read(SentenceRankings)
    assert ranked is not None
    return ranked.reports


def text_of(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_says_how_well_each_kind_of_judgments_orders_sentences(topic: Topic) -> None:
    text = text_of(signed_in(topic.study), address(topic))
    assert text.index("Against the Pyramid") < text.index("Against the references")
    record = reports_of(topic)[0]
    assert f">{record.rankings[0].agreement:.3f}<" in text
    for words in (
        "Judgments that count",
        "Simulated from references",
        "Simulated from the Pyramid",
        "kernel smoothing",
    ):
        assert words in text
    (pyramid,) = (report for report in reports_of(topic) if report.against == "pyramid")
    shares = [ranking.agreement for ranking in pyramid.rankings if ranking.judgments == "man"]
    assert None not in shares
    assert "Against the Pyramid, 3 judgments rank" in text
    assert f"with an agreement of {min(shares):.3f}" in text  # type: ignore[type-var]
    assert address(topic) in text_of(signed_in(topic.study), reverse("topic", args=[topic.study_id, topic.pk]))


def test_the_files_say_what_the_record_says(topic: Topic) -> None:
    client = signed_in(topic.study)
    rows = list(csv.DictReader(io.StringIO(client.get(address(topic, "_csv")).content.decode())))
    by_source = {report.against: report for report in reports_of(topic)}
    assert len(rows) == 2 * 3
    for row in rows:
        for ranking in by_source[row["against"]].rankings:  # type: ignore[index]  # a Literal
            if ranking.judgments == row["judgments"]:
                assert float(row[ranking.smooth]) == ranking.agreement
                assert int(row["n"]) == ranking.topics[0].judgments
    table = client.get(address(topic, "_tex")).content.decode()
    assert table.isascii()
    assert table.startswith("% Preferences rest on: 3 by people")
    assert {line.count(" & ") for line in table.splitlines() if line.endswith(r"\\")} == {6}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("nothing", "Being worked out"),
        ("too many", "Not worked out here"),
        ("no values", "With references or a Pyramid, this page says"),
    ],
)
def test_what_is_not_there_says_why(topic: Topic, change: str, words: str) -> None:
    if change == "nothing":
        kept.heads("sentence-ranking").all().delete()
    elif change == "too many":
        kept.heads("sentence-ranking").update(record={"seed": 0, "reports": []})
    else:
        topic.references.all().delete()
        topic.pyramid.delete()
    assert words in text_of(signed_in(topic.study), address(topic))
    assert signed_in(topic.study).get(address(topic, "_csv")).status_code == 404


def test_figures_of_older_judgments_say_so(topic: Topic) -> None:
    assert "being worked in" not in text_of(signed_in(topic.study), address(topic))
    kept.heads("sentence-ranking").update(version=1)
    assert "being worked in" in text_of(signed_in(topic.study), address(topic))


def test_a_topics_page_says_how_long_its_judgments_took(topic: Topic) -> None:
    client = signed_in(topic.study)
    page = reverse("topic", args=[topic.study_id, topic.pk])
    assert "minutes" not in text_of(client, page)
    timed = [formats.Preference("M1", "d1:0", "d1:1", "a", seconds=45.0)] * 2
    judging.import_judgments(topic.study, timed, "human", "judge-2")
    assert "1.5 minutes" in text_of(client, page)
    assert "1.5 minutes" in text_of(client, address(topic))


def test_the_page_and_its_files_take_few_queries(topic: Topic, django_assert_max_num_queries: Any) -> None:
    client = signed_in(topic.study)
    for form in ("", "_csv", "_tex"):
        with django_assert_max_num_queries(20):
            assert client.get(address(topic, form)).status_code == 200


def test_the_api_has_the_same_report(topic: Topic) -> None:
    client = client_of(owner(topic.study))
    place = f"{API}/studies/{topic.study_id}/topics/{topic.pk}/results/"
    answer = client.get(f"{place}sentence-ranking/").json()
    (table,) = answer["tables"]
    assert {
        (row["against"], row["judgments"], name): row[name]
        for row in table["rows"]
        for name in ("kernel", "paper", "none")
    } == {
        (report.against, ranking.judgments, ranking.smooth): ranking.agreement
        for report in reports_of(topic)
        for ranking in report.rankings
    }
    assert not answer["is_old"]
    verdicts = {question["name"]: question["verdict"] for question in client.get(place).json()}
    assert verdicts.keys() == {"metrics", "sentence-ranking"}
    assert verdicts["sentence-ranking"] == answer["verdict"]
    assert client.get(f"{place}document-sets/").status_code == 404
    kept.heads("sentence-ranking").all().delete()
    answer = client.get(f"{place}sentence-ranking/").json()
    assert (answer["tables"], answer["verdict"], answer["is_old"], answer["is_left_out"]) == ([], None, True, False)


def test_a_study_that_may_not_be_seen_has_no_such_page(topic: Topic) -> None:
    other: Study = making.study()
    assert signed_in(other).get(address(topic)).status_code == 404
