"""A study goes out as an archive and comes into an empty installation: there its reports on metrics are the same."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotate import studies
from annotate.models import ComputedScore, HumanScore, MetricScore, Result, Study
from tests.annotate import making, scored
from tests.studies import person

pytestmark = pytest.mark.django_db

SENTENCES = ["Heavy rain flooded three towns.", "He wore a hat.", "Schools closed."]
TEXTS = {"Heavy rain flooded three towns.": (4, 5), "He wore a hat.": (1, 2), "It rained in Ohio.": (3, 3)}


def topic(name: str) -> dict[str, Any]:
    """With references, a person's summary, ratings by two assessors, a Pyramid and a metric worked out elsewhere."""
    summaries: list[dict[str, Any]] = [
        {
            "system": f"s{k}",
            "text": text,
            "ratings": [{"assessor": "ann", "overall": one}, {"assessor": "bob", "overall": two + len(name) % 2}],
            "metrics": {"BERTScore": one / 7},
        }
        for k, (text, (one, two)) in enumerate(TEXTS.items())
    ]
    author = {"system": "A", "text": "Rain closed roads.", "person": True, "reference": "A", "human": {"overall": 5}}
    documents = [{"id": "d", "sentences": SENTENCES}]
    references = [{"id": "A", "text": "Rain closed roads."}, {"id": "B", "text": "Heavy rain flooded towns in Ohio."}]
    parts = {"A": "Rain closed roads", "B": "Heavy rain"}
    contributors = [{"model": name, "parts": [part]} for name, part in parts.items()]
    unit = {"uid": "1", "label": "It rained", "contributors": contributors}
    return {
        "topic_id": name,
        "documents": documents,
        "references": references,
        "summaries": [*summaries, author],
        "pyramid": {"models": ["A", "B"], "scus": [unit], "peers": {"s0": {"1": ["Heavy rain"]}, "s1": {}}},
    }


def kept_records(made: Study, analysis: Any) -> dict[tuple[str, ...], Any]:
    return {keys: row.record for keys, row in Result.objects.by_keys(made, analysis).items()}


def reports(made: Study) -> dict[str, Any]:
    """Everything that pages say of metrics, without keys and times."""
    scores = ComputedScore.objects.filter(summary__topic__study=made)
    of = "summary__topic__name", "summary__system__name"
    return {
        "scores": sorted(scores.values_list(*of, "metric", "score")),
        "agreements": kept_records(made, "metrics"),
        "intervals": kept_records(made, "intervals"),
        "pairs": {keys: record["counts"] for keys, record in kept_records(made, "pairs-of-systems").items()},
        "ratings": sorted(HumanScore.objects.values_list(*of, "dimension", "assessor", "score")),
        "given": sorted(MetricScore.objects.values_list(*of, "metric", "score")),
    }


def test_a_replay_gives_equal_reports(tmp_path: Path) -> None:
    made = making.study(title="Weather", metric_names="rouge-2,js,pyramid")
    making.take_in(made, topic("one"), topic("three"), topic("four"))
    judged = [("one", "d:0", "d:1", "a"), ("one", "d:1", "d:2", "b"), ("three", "d:0", "d:1", "a")]
    scored.judge(made, *judged, ("four", "d:0", "d:2", "tie"))
    assert scored.tasks.catch_up(made.pk) == {}
    scored.score_with_metrics(made)
    before = reports(made)
    bounded = before["intervals"]["all", "overall"]["metrics"]
    names = {metric["metric"]: metric["agreement"]["low"] for metric in bounded}
    assert {"preferences:importance", "rouge-2:jackknife", "pyramid:jackknife", "js", "given:BERTScore"} <= names.keys()
    assert names["js"] is not None
    assert len(before["agreements"]) == 2
    call_command("export_study", made.pk, output=tmp_path / "study.zip", verbosity=0, stdout=io.StringIO())
    studies.delete_study(made, made.created_by)
    assert not ComputedScore.objects.exists()
    call_command("import_study", tmp_path / "study.zip", owner=person().username, stdout=io.StringIO())
    back = Study.objects.get()
    scored.score_with_metrics(back)
    assert back.metric_names == "rouge-2,js,pyramid"
    assert reports(back) == before
