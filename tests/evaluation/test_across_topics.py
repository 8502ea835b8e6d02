"""Metrics that see all topics of a study: what the command line says of the same topics, and news of any of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotate import imports
from annotate.models import ComputedScore, Study, TopicMetrics
from annotate.reports import analyses
from evaluation import agenda, tasks
from preferendum import formats
from preferendum.evidence import evidence
from preferendum.metrics import registry
from preferendum.results import DimensionAgreement
from tests import kept, studies
from tests.evaluation import test_metric_reports as metric_reports

pytestmark = pytest.mark.django_db
PLACES = ("Chile", "Peru", "Japan", "Nepal", "Haiti", "Italy", "Turkey")
NAMES = ("js", "cosine", "topic-share:cutoff=1", "js-pool", "rouge-1:models=1:pseudo=1:global")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for its turn."""
    monkeypatch.setattr(agenda.Kind, "is_rested", lambda *_: True)


def line(number: int) -> dict[str, object]:
    """A topic of its own place, the last one without rain."""
    text = json.dumps(metric_reports.lines()[number % 3]).replace("Chile", PLACES[number])
    text = text.replace("It rained in Ohio.", "It snowed in Utah.") if number == len(PLACES) - 1 else text
    return json.loads(text) | {"topic_id": f"T{number}"}


def stored(path: Path, topics: int) -> tuple[Study, formats.Bundle]:
    path.write_text("".join(json.dumps(line(number)) + "\n" for number in range(topics)))
    bundle = formats.read(path)
    study = studies.study(metric_names=",".join(NAMES))
    imports.store(study, bundle)
    return study, bundle


def caught_up(study: Study) -> None:
    for _turn in range(9):
        metric_reports.caught_up(study)
        if not agenda.find("score_across_topics", study.pk):
            return
        tasks.score_across_topics(study.pk)


def scores(study: Study, name: str) -> list[float | None]:
    rows = ComputedScore.objects.filter(summary__topic__study=study, metric=name)
    return list(rows.order_by("summary__topic__position", "summary__system__name").values_list("score", flat=True))


def by_library(bundle: formats.Bundle, name: str) -> list[float]:
    topics = [evidence(topic) for topic in bundle.topics]
    (metric,) = registry.prepared([registry.metric(name)], topics)
    return [
        score
        for topic in topics
        for _system, score in sorted(
            zip((summary.system for summary in topic.summaries), metric.score(topic), strict=True)
        )
    ]


def test_they_score_a_studys_summaries_as_the_library_does_and_are_compared_with_people(tmp_path):
    study, bundle = stored(tmp_path / "topics.jsonl", 7)
    caught_up(study)
    for name in NAMES:
        assert scores(study, name) == pytest.approx(by_library(bundle, name)), name
    agreement = kept.rows("metrics", study=study).get().read(DimensionAgreement)
    assert [metric.metric for metric in agreement.metrics if metric.metric in NAMES] == list(NAMES)


def test_a_new_topic_changes_what_they_say_of_the_others(tmp_path):
    study, _bundle = stored(tmp_path / "topics.jsonl", 6)
    caught_up(study)
    before = scores(study, "cosine")
    (tmp_path / "late.jsonl").write_text(json.dumps(line(6)) + "\n")
    imports.store(study, formats.read(tmp_path / "late.jsonl"))
    tasks.catch_up(study.pk)
    assert scores(study, "cosine") == before, "until all topics have been seen, the old scores stay"
    caught_up(study)
    assert scores(study, "cosine")[: len(before)] != before
    assert kept.heads("across-topics", study=study).get().version == sum(
        TopicMetrics.objects.filter(topic__study=study).values_list("version", flat=True)
    )


def test_pages_say_what_too_few_topics_lack(tmp_path):
    study, _bundle = stored(tmp_path / "topics.jsonl", 3)
    caught_up(study)
    notes = analyses.stored_for(study, analyses.analyses_of(study)["metric-agreement"]).notes
    assert "Cosine of documents and summary needs six topics or more with documents of their own." in notes
    assert scores(study, "cosine") == []
    assert len(scores(study, "js-pool")) == len(scores(study, "js")) == 12


def test_one_that_the_study_wants_no_more_is_forgotten(tmp_path):
    study, _bundle = stored(tmp_path / "topics.jsonl", 6)
    caught_up(study)
    study.metric_names = "js,js-pool"
    study.save()
    study.topics.score_anew()
    caught_up(study)
    assert scores(study, "cosine") == []
    assert len(scores(study, "js-pool")) == 24


def test_they_go_on_where_a_turn_ended(tmp_path, monkeypatch):
    study, _bundle = stored(tmp_path / "topics.jsonl", 6)
    metric_reports.caught_up(study)
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    for done in range(1, len(NAMES)):
        tasks.score_across_topics(study.pk)
        assert len(kept.heads("across-topics", study=study).get().record) == done
    tasks.score_across_topics(study.pk)
    assert not agenda.find("score_across_topics", study.pk)
