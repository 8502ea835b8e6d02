"""How well a topic's sentences are ordered: what the command line says of the same data, in time and not too often."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotate import imports
from annotate.models import Annotator, Topic
from evaluation import agenda, tasks
from preferendum import formats
from preferendum.methods.analyses.sentence_ranking import compute as topic_sentences
from preferendum.results import SentenceRankings, to_json
from preferendum.work import works
from tests import kept, studies
from tests.evaluation.conftest import Run

pytestmark = pytest.mark.django_db

SENTENCES = [
    "Quakes hit Chile.",
    "Ten people died in Chile.",
    "It rained in Ohio.",
    "Aid reached Chile late.",
    "Gulls cried.",
]
LINE = {
    "topic_id": "T",
    "documents": [{"id": "d", "sentences": SENTENCES}],
    "references": [{"id": "A", "text": "Ten died as quakes hit Chile."}, {"id": "B", "text": "Aid reached Chile."}],
    "summaries": [{"system": "lead", "text": "Quakes hit Chile."}],
}
PYRAMID = {
    "models": ["A"],
    "scus": [
        {"uid": "1", "label": "Ten died", "contributors": [{"model": "A", "parts": ["Ten died"]}]},
        {"uid": "2", "label": "Quakes", "contributors": [{"model": "A", "parts": ["quakes hit Chile"]}]},
    ],
    "peers": {"lead": {"2": ["Quakes hit Chile"]}},
}


def stored(tmp_path: Path, **fields: object) -> tuple[Topic, Path]:
    file = tmp_path / "topics.jsonl"
    file.write_text(json.dumps(LINE | fields) + "\n")
    bundle = formats.read(file)
    preferences = tuple(
        formats.Preference("T", f"d:{a}", f"d:{b}", "a", annotator="w1")
        for a, b in ((0, 2), (1, 2), (0, 3), (1, 3), (3, 2), (2, 4))
    )
    study = studies.study(seed=7)
    imports.store(study, replace(bundle, preferences=preferences))
    with (tmp_path / "preferences.jsonl").open("wb") as written:
        formats.write_preferences(preferences, written)
    assert tasks.catch_up(study.pk) == {}
    return Topic.objects.get(study=study), file


def due(topic: Topic) -> bool:
    return ("rank_sentences", topic.pk) in [(work.task, work.key) for work in agenda.look().waiting]


def report(topic: Topic) -> SentenceRankings:
    record = kept.heads("sentence-ranking", topic=topic).get().read(SentenceRankings)
    assert record is not None
    return record


@pytest.mark.parametrize("against", ["references", "pyramid"])
def test_the_website_says_of_sentences_what_the_command_line_says(tmp_path: Path, run: Run, against: str) -> None:
    topic, file = stored(tmp_path, pyramid=PYRAMID)
    assert due(topic)
    tasks.TASKS["rank_sentences"](topic.pk)
    ours = {ranked.against: to_json(ranked) for ranked in report(topic).reports}
    asked = ["--preferences", str(tmp_path / "preferences.jsonl"), "--against", against, "--seed", "7"]
    said = run.json("sentences", str(file), *asked)
    assert ours.keys() == {"references", "pyramid"}
    assert [ranking["judgments"] for ranking in ours[against]["rankings"]][::3] == ["man", "ref", "py"]
    assert ours[against] == {key: said[key] for key in ours[against]}


def test_new_judgments_have_sentences_ranked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agenda.Kind, "is_rested", lambda *_: True)
    topic, _file = stored(tmp_path)
    tasks.TASKS["rank_sentences"](topic.pk)
    assert not due(topic)
    before = report(topic).reports[0]
    annotator = Annotator.objects.create(study=topic.study, pseudonym="late")
    for _click in range(3):
        studies.judge(annotator)
    assert tasks.catch_up(topic.study_id) == {}
    assert due(topic)
    tasks.TASKS["rank_sentences"](topic.pk)
    after = report(topic).reports[0]
    assert after.rankings[0].topics[0].judgments == 9
    assert after.rankings[3:] == before.rankings[3:]
    assert not due(topic)


def test_a_topic_without_references_and_pyramid_is_never_due(tmp_path: Path) -> None:
    topic, _file = stored(tmp_path, references=[])
    assert not due(topic)
    tasks.TASKS["rank_sentences"](topic.pk)
    assert not kept.heads("sentence-ranking").exists()


def test_a_pyramid_that_comes_late_is_worked_in(tmp_path: Path) -> None:
    topic, file = stored(tmp_path, references=[])
    file.write_text(json.dumps(LINE | {"pyramid": PYRAMID}) + "\n")
    annotation = formats.read(file).topics[0].pyramid
    assert annotation is not None
    imports.store(topic.study, formats.Bundle(pyramids={"T": annotation}))
    tasks.catch_up(topic.study_id)
    assert due(topic)


def test_too_many_sentences_are_left_out_and_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_sentences, "MOST_SENTENCES", 4)
    topic, _file = stored(tmp_path)
    tasks.TASKS["rank_sentences"](topic.pk)
    assert report(topic).reports == ()
    assert not due(topic)


def test_an_older_ranking_is_thrown_away(tmp_path: Path) -> None:
    topic, _file = stored(tmp_path)
    (work,) = (work for work in works() if work.name == "sentence-ranking")
    loaded = tasks.records.load_at_work(work, topic.pk, tasks.split)
    assert loaded is not None
    ranked = SentenceRankings(7, ())
    assert tasks.records.keep_of_topic(topic.pk, "sentence-ranking", loaded.version, ranked)
    assert not tasks.records.keep_of_topic(topic.pk, "sentence-ranking", loaded.version - 1, ranked)
    assert tasks.records.load_at_work(work, topic.pk, tasks.split) is None
