"""What the worker says of agreement by number of judgments: what converge says of the same data, in turns, in quiet."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models import F

from annotate import imports
from annotate.models import Annotator, Result, Study
from evaluation import agenda, tasks
from evaluation.records import derived
from preferendum.formats.records import HumanScore
from preferendum.methods.analyses.convergence import compute as study_convergence
from preferendum.results import Convergence, StudyConvergence
from tests import kept, studies
from tests.annotate.everything import study_once
from tests.evaluation import test_metric_reports as metric_reports
from tests.evaluation.conftest import Run

pytestmark = pytest.mark.django_db


def let_nothing_wait(patched: pytest.MonkeyPatch) -> None:
    """Neither for its turn, nor for people to stop judging; and few samples are enough."""
    patched.setattr(agenda.Kind, "is_rested", lambda *_: True)
    patched.setattr(derived, "QUIET", timedelta(0))
    patched.setattr(study_convergence, "RUNS", 4)
    patched.setattr(study_convergence, "SIZES", (2, 4))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    let_nothing_wait(monkeypatch)


def caught_up(study: Study) -> None:
    """Everything about metrics is done, curves last."""
    metric_reports.caught_up(study)
    for _turn in range(60):
        if not [work for work in agenda.look().waiting if work.task == "converge"]:
            return
        tasks.TASKS["converge"](study.pk)
    raise AssertionError("still to do")


def all_done() -> Study:
    """A study of which everything is worked out."""
    study, _file = metric_reports.stored(Path(settings.MEDIA_ROOT))
    with pytest.MonkeyPatch.context() as patched:
        let_nothing_wait(patched)
        caught_up(study)
    return study


made_study, study = study_once(all_done)


def report(study: Study, peers: str = "machines") -> Convergence:
    record = kept.rows("convergence", peers, "overall", study=study).get().read(StudyConvergence)
    assert record is not None
    return record.curves


def test_the_website_says_of_growth_what_the_command_line_says(tmp_path: Path, run: Run) -> None:
    study, file = metric_reports.stored(tmp_path, person=True)
    caught_up(study)
    for peers in ("machines", "all"):
        figures = kept.rows("convergence", peers, "overall", study=study).get().record["curves"]
        flat = [baseline["metric"].removesuffix(":jackknife") for baseline in figures["baselines"]]
        metrics = ",".join(["preferences:importance", "preferences:published", *flat])
        asked = ["--metrics", metrics, "--peers", peers, "--dimension", "overall", "--at", "2,4,all", "--runs", "4"]
        asked += ["--preferences", str(tmp_path / "preferences.jsonl"), "--format", "json"]
        said = json.loads(run.out("converge", str(file), *asked))
        assert figures == {name: said[name] for name in figures}
        assert figures["sizes"] == [2, 4, 5]


def test_it_rests_on_what_counts_and_says_how_many(study: Study) -> None:
    assert kept.rows("convergence", study=study).get().record["judgments"] == {"human": 15}


def test_judgments_have_only_their_topic_sampled_anew(study: Study) -> None:
    before = {row.topic_id: row.version for row in kept.heads("samples", topic__study=study).all()}
    judged = studies.judge(Annotator.objects.create(study=study, pseudonym="late"))
    caught_up(study)
    moved = {
        row.topic_id for row in kept.heads("samples", topic__study=study).all() if row.version != before[row.topic_id]
    }
    assert moved == {judged.pair.item_set_id}
    assert report(study).sizes == (2, 4, 6)


def test_nothing_is_sampled_while_people_judge_and_the_old_curves_stay(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = report(study)
    monkeypatch.setattr(derived, "QUIET", timedelta(minutes=1))
    studies.judge(Annotator.objects.create(study=study, pseudonym="late"))
    metric_reports.caught_up(study)
    assert "converge" not in {work.task for work in agenda.look().waiting}
    tasks.TASKS["converge"](study.pk)
    assert report(study) == before
    kept.heads("metrics", study=study).update(computed_at=F("computed_at") - timedelta(minutes=1))
    assert "converge" in {work.task for work in agenda.look().waiting}


def test_it_waits_for_intervals_of_agreement(study: Study) -> None:
    Result.objects.filter(study=study, analysis__in=["convergence", "intervals"]).update(version=0)
    assert "converge" not in {work.task for work in agenda.look().waiting}


def test_curves_that_take_several_turns_come_to_the_same(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report(study)
    kept.heads("samples", topic__study=study).all().delete()
    kept.rows("convergence", study=study).delete()
    kept.heads("convergence", study=study).update(version=0)
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    tasks.TASKS["converge"](study.pk)
    assert kept.heads("samples", topic__study=study).get().record["remaining"] == 5
    assert kept.heads("convergence", study=study).get().record == {"sampled": 0, "to_sample": 3}
    caught_up(study)
    assert report(study) == whole


def test_topics_of_too_many_sentences_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, _file = metric_reports.stored(tmp_path)
    monkeypatch.setattr(study_convergence, "MOST_SENTENCES", 3)
    caught_up(study)
    assert not kept.rows("convergence", study=study).exists()
    assert kept.heads("convergence", study=study).get().version == kept.heads("metrics", study=study).get().version


def test_a_topic_without_judgments_is_in_no_curve(tmp_path: Path) -> None:
    study = studies.study()
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in metric_reports.lines()))
    imports.store(study, metric_reports.formats.read(file))
    annotator = Annotator.objects.create(study=study, pseudonym="first")
    judged = studies.judge(annotator)
    caught_up(study)
    (curve, _published) = report(study).metrics
    assert [topic.topic for topic in curve.topics] == [judged.pair.item_set.topic.name]
    assert list(report(study).baselines[0].topics) == [judged.pair.item_set.topic.name]


def test_late_human_scores_move_the_curves(study: Study) -> None:
    before = report(study)
    imports.store(study, metric_reports.formats.Bundle(human_scores=(HumanScore("T0", "good", "overall", 0.0),)))
    caught_up(study)
    assert report(study).metrics[0].topics[0] != before.metrics[0].topics[0]
    assert report(study).metrics[0].topics[1] == before.metrics[0].topics[1]
