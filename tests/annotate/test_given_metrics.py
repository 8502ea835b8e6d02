"""Scores by metrics that were worked out elsewhere: by upload, through the API, out and in again."""

from __future__ import annotations

from functools import partial

import pytest

from annotate import exports, studies
from annotate.imports.restore import restore
from annotate.models import AuditEntry, MetricScore, Study, Upload
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.making import TOPIC
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db

HEADER = "topic,system,metric,score\n"


@pytest.fixture
def study() -> Study:
    study = making.study()
    making.take_in(study, TOPIC, TOPIC | {"topic_id": "M2"})
    return study


def stored() -> set[tuple[str, str, str, float]]:
    columns = ("summary__topic__name", "summary__system__name", "metric", "score")
    return set(MetricScore.objects.values_list(*columns))


def put(study: Study, rows: str, header: str = HEADER):
    client = program(making.owner(study))
    return client.generic("PUT", f"/api/v1/studies/{study.pk}/metrics/given/", header + rows, content_type="text/csv")


def test_a_table_is_previewed_and_stored_and_a_later_one_replaces_it(study):
    upload = making.store(study, (HEADER + "M1,lead,BERTScore,0.5\nM2,lead,BERTScore,-1e-3\n").encode(), "scores.csv")
    assert upload.preview["metrics"] == [{"name": "BERTScore", "scores": 2}]
    making.store(study, (HEADER + "M1,lead,BERTScore,0.75\nM1,long,MoverScore,1\n").encode(), "scores.csv")
    assert stored() == {
        ("M1", "lead", "given:BERTScore", 0.75),
        ("M2", "lead", "given:BERTScore", -0.001),
        ("M1", "long", "given:MoverScore", 1.0),
    }


def test_they_may_stand_in_the_topics_and_come_with_late_summaries(study, tmp_path):
    summaries = [{"system": "lead", "text": "It rained.", "metrics": {"BERTScore": 0.5}}]
    making.take_in(study, TOPIC | {"topic_id": "M3", "summaries": summaries})
    assert Upload.objects.latest("pk").preview["metrics"] == [{"name": "BERTScore", "scores": 1}]
    assert stored() == {("M3", "lead", "given:BERTScore", 0.5)}
    archive = exports.make_archive(study)
    studies.delete_study(study, study.created_by)
    assert not MetricScore.objects.exists()
    assert exports.make_archive(restore(archive, making.person())) == archive
    assert stored() == {("M3", "lead", "given:BERTScore", 0.5)}


def test_the_api_puts_a_metrics_scores_whole_and_leaves_others(study):
    assert put(study, "M1,lead,A,1\nM1,lead,B,2\n").json() == [
        {"metric": "given:A", "scores": 1},
        {"metric": "given:B", "scores": 1},
    ]
    put(study, "M2,lead,A,3\n")
    assert stored() == {("M2", "lead", "given:A", 3.0), ("M1", "lead", "given:B", 2.0)}
    listed = program(making.owner(study)).get(f"/api/v1/studies/{study.pk}/metrics/given/").json()["results"]
    assert [(one["topic"], one["system"], one["metric"], one["score"]) for one in listed] == [
        ("M1", "lead", "given:B", 2.0),
        ("M2", "lead", "given:A", 3.0),
    ]
    entry = AuditEntry.objects.filter(action="put metric scores").latest("pk")
    assert entry.detail == {"metrics": "given:A", "scores": 1}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("M1,lead,A,NaN\n", 'the body:2: score: found "NaN"; expected a number such as 3.5, with a point'),
        ("M1,lead,A,1e999\n", 'the body:2: score: found "1e999", which is too large; expected a number'),
        ("M1,lead,A,1\nM1,lead,A,1\n", 'the body:3: found a second score of "lead" by "A" in topic "M1"; expected'),
        ("M9,lead,A,1\n", 'the body:2: topic: found "M9", which is unknown'),
        ("M1,lead,A,1\nM1,led,A,1\n", 'the body:3: system: found "led", which is unknown (most similar: "lead"'),
        ("M1,lead,A:b,1\n", 'the body:2: metric: found "A:b"; expected a name without colons and commas'),
        ('M1,lead,"A,b",1\n', 'the body:2: metric: found "A,b"; expected a name without colons and commas'),
        ("M1,lead,,1\n", "the body:2: metric: found an empty name"),
        ("M1,lead,\x00,1\n", "the body:2: metric: found U+0000 (NUL)"),
        ("M1,lead,A\n", "the body:2: found 3 values; expected 4"),
        ("", "the body: found a header without rows"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_nothing_changes(study, rows, message):
    put(study, "M1,lead,A,1\n")
    puts = AuditEntry.objects.filter(action="put metric scores")
    before, entries = stored(), puts.count()
    response = put(study, rows)
    assert response.status_code == 400
    messages = response.json()["error"]["fields"]["file"]
    assert any(one.startswith(message) for one in messages), messages
    assert (stored(), puts.count()) == (before, entries)


def test_other_tables_and_what_is_none_are_refused(study):
    for header in ("", "topic,system,dimension,score\n", "PK\x03\x04", "\xff\xfe", "{}"):
        assert put(study, "M1,lead,A,1\n" if header else "", header).status_code == 400
    assert put(study, "M1,lead,A,1\n" * 200_000).status_code == 413
    assert not stored()


@pytest.mark.django_db(transaction=True)
def test_two_who_put_at_once_leave_one_table_whole():
    study = making.study()
    making.take_in(study, TOPIC)

    def once(score: int) -> int:
        return put(study, f"M1,lead,A,{score}\nM1,long,A,{score}\n").status_code

    assert at_once(partial(once, 1), partial(once, 2)) == [200, 200]
    assert len({score for *_names, score in stored()}) == 1
    assert len(stored()) == 2
