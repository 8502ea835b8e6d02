"""The page that says how well a topic's sentences are ordered, its files and the API's answer."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotate import judging
from annotate.models import Topic
from evaluation import tasks
from preferendum import formats
from preferendum.results import SentenceRankings, SentenceReport
from tests import kept
from tests.annotate import making, scored
from tests.annotate.making import PYRAMID, TOPIC
from tests.annotate.reading import address, rows_of, signed_in, text_of

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
    tasks.TASKS["rank_sentences"](topic.pk)
    return topic


def reports_of(topic: Topic) -> tuple[SentenceReport, ...]:
    ranked = kept.heads("sentence-ranking", topic=topic).get().read(SentenceRankings)
    assert ranked is not None
    return ranked.reports


def test_the_page_says_how_well_each_kind_of_judgments_orders_sentences(topic: Topic) -> None:
    text = text_of(signed_in(topic.study), address(topic, "sentence-ranking"))
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
    assert address(topic, "sentence-ranking") in text_of(
        signed_in(topic.study), reverse("topic", args=[topic.study_id, topic.pk])
    )


def test_the_files_say_what_the_record_says(topic: Topic) -> None:
    client = signed_in(topic.study)
    rows = rows_of(client, address(topic, "sentence-ranking", "agreement"))
    by_source = {report.against: report for report in reports_of(topic)}
    assert len(rows) == 2 * 3
    for row in rows:
        for ranking in by_source[row["against"]].rankings:  # type: ignore[index]  # a Literal
            if ranking.judgments == row["judgments"]:
                assert float(row[ranking.smooth]) == ranking.agreement
                assert int(row["n"]) == ranking.topics[0].judgments
    table = text_of(client, address(topic, "sentence-ranking", "agreement", "tex"))
    assert table.isascii()
    assert "Preferences rest on: 3 by people (imported).}" in table
    assert {line.count(" & ") for line in table.splitlines() if line.endswith(r"\\")} == {6}


def test_a_topics_page_says_how_long_its_judgments_took(topic: Topic) -> None:
    client = signed_in(topic.study)
    page = reverse("topic", args=[topic.study_id, topic.pk])
    assert "minutes" not in text_of(client, page)
    timed = [formats.Preference("M1", "d1:0", "d1:1", "a", seconds=45.0)] * 2
    judging.import_judgments(topic.study, timed, "human", "judge-2")
    assert "1.5 minutes" in text_of(client, page)
    assert "1.5 minutes" in text_of(client, address(topic, "sentence-ranking"))
