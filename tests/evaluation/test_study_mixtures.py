"""People's judgments and simulated ones together: what agree --add says of the same data, in turns, in quiet."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from annotate import imports
from annotate.models import Annotator, Judgment, Result, Study
from evaluation import agenda, tasks
from evaluation.records import derived
from preferendum import formats
from preferendum.results.scores import MIXED
from tests import kept, studies
from tests.annotate.everything import made_once
from tests.evaluation import test_metric_reports as metric_reports
from tests.evaluation.conftest import Run

pytestmark = pytest.mark.django_db

PYRAMID = {
    "models": ["A", "B"],
    "scus": [
        {"uid": "1", "label": "quakes in Chile", "contributors": [{"model": "A", "parts": ["quakes hit Chile"]}]},
        {"uid": "2", "label": "late aid", "contributors": [{"model": "B", "parts": ["Aid reached Chile late"]}]},
    ],
    "peers": {"good": {"1": ["Quakes hit Chile"]}},
}


def let_nothing_wait(patched: pytest.MonkeyPatch) -> None:
    """Neither for its turn, nor for people to stop judging."""
    patched.setattr(agenda.Kind, "is_rested", lambda *_: True)
    patched.setattr(derived, "QUIET", timedelta(0))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    let_nothing_wait(monkeypatch)


def stored(tmp_path: Path) -> tuple[Study, Path]:
    """Three topics with references and Pyramids, grades and judgments, and the file that they came from."""
    return metric_reports.stored(tmp_path, pyramid=PYRAMID)


def mixed(study: Study) -> None:
    """Everything about metrics is done, mixtures and what follows from them last."""
    metric_reports.caught_up(study)
    for _turn in range(20):
        if not agenda.find("mix_judgments", study.pk):
            break
        tasks.TASKS["mix_judgments"](study.pk)
    metric_reports.caught_up(study)
    assert not agenda.find("mix_judgments", study.pk)


def all_mixed() -> tuple[Study, Path]:
    """A study of which everything is worked out, and its file."""
    study, file = stored(Path(settings.MEDIA_ROOT))
    with pytest.MonkeyPatch.context() as patched:
        let_nothing_wait(patched)
        mixed(study)
    return study, file


made = made_once(all_mixed)


@pytest.fixture
def study(made: tuple[tuple[Study, Path], Path]) -> Study:
    return Study.objects.get(pk=made[0][0].pk)


def rows(study: Study) -> dict[str, dict[str, object]]:
    metrics = kept.rows("intervals", "machines", "overall", study=study).get().record["metrics"]
    return {metric["metric"]: metric for metric in metrics}


def test_the_website_says_of_mixtures_what_the_command_line_says(
    study: Study, made: tuple[tuple[Study, Path], Path], run: Run
) -> None:
    (_study, file), _files = made
    asked = ["--metrics", "preferences:importance,preferences:published", "--add", "references=200,pyramid=200"]
    asked += ["--preferences", str(file.with_name("preferences.jsonl")), "--dimension", "overall", "--format", "json"]
    (said,) = json.loads(run.out("agree", str(file), *asked))["dimensions"]
    theirs = {metric["metric"]: metric for metric in said["metrics"] if MIXED in metric["metric"]}
    ours = {name: row for name, row in rows(study).items() if MIXED in name}
    assert list(ours) == list(theirs)
    assert {name.rpartition(" ")[2] for name in ours} == {"man+ref", "man+py", "man+ref+py"}
    for name, row in ours.items():
        assert row["signature"] == theirs[name]["signature"]
        assert row["agreement"] == pytest.approx(theirs[name]["agreement"])


def test_mixtures_come_after_a_while_without_judgments_and_stay_meanwhile(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: row for name, row in rows(study).items() if MIXED in name}
    monkeypatch.setattr(derived, "QUIET", timedelta(minutes=1))
    judged = studies.judge(Annotator.objects.create(study=study, pseudonym="late"))
    metric_reports.caught_up(study)
    assert not agenda.find("mix_judgments", study.pk)
    assert {name: row for name, row in rows(study).items() if MIXED in name} == before
    versions = dict(kept.heads("mixtures", topic__study=study).values_list("topic", "version"))
    monkeypatch.setattr(derived, "QUIET", timedelta(0))
    mixed(study)
    moved = {
        row.topic_id
        for row in kept.heads("mixtures", topic__study=study).all()
        if row.version != versions[row.topic_id]
    }
    assert moved == {judged.pair.item_set_id}


def test_mixtures_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, _file = stored(tmp_path)
    metric_reports.caught_up(study)
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    tasks.TASKS["mix_judgments"](study.pk)
    assert kept.heads("mixtures", topic__study=study).count() == 1
    assert not kept.heads("mixtures", study=study).exists()
    monkeypatch.setattr(tasks, "LONG_TURN", math.inf)
    mixed(study)
    assert kept.heads("mixtures", topic__study=study).count() == 3


def test_without_references_or_a_pyramid_there_is_nothing_to_mix(tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(json.dumps(line | {"references": []}) + "\n" for line in metric_reports.lines()))
    study = studies.study()
    imports.store(study, formats.read(file))
    studies.judge(Annotator.objects.create(study=study, pseudonym="first"))
    metric_reports.caught_up(study)
    assert not agenda.find("mix_judgments", study.pk)


def test_pairs_of_systems_are_not_counted_by_mixtures(study: Study) -> None:
    assert not any(MIXED in by for *_, by in Result.objects.by_keys(study, "pairs-of-systems"))


def test_a_summary_that_is_gone_is_passed_over(study: Study) -> None:
    row = kept.heads("mixtures", topic__study=study).first()
    assert row is not None
    for by_system in row.record["scores"].values():
        by_system["nobody"] = 1.0
    row.save()
    loaded = tasks.records.load_study_scores(study.pk)
    assert loaded is not None
    assert "nobody" not in loaded.scores.systems


@pytest.mark.parametrize(
    ("source", "pseudonym"),
    [("references", "simulated from the references"), ("pyramid", "simulated from the Pyramid")],
)
def test_judgments_simulated_from_one_source_are_labeled_and_follow_it(
    tmp_path: Path, source: str, pseudonym: str
) -> None:
    """A study that counts nothing else shows what such judgments alone come to: table 3 of Zopf (2018)."""
    study, _file = stored(tmp_path)
    call_command("simulate_judgments", study.pk, source=source, per_topic=30, verbosity=0)
    judgments = Judgment.objects.filter(assignment__annotator__study=study, assignment__annotator__kind="simulated")
    assert judgments.count() == 90
    assert set(judgments.values_list("assignment__annotator__pseudonym", flat=True)) == {pseudonym}
    shown = [(judgment.assignment.left.index, judgment.assignment.right.index) for judgment in judgments]
    winners = {
        pair[0] if judgment.answer == "left" else pair[1]
        for pair, judgment in zip(shown, judgments, strict=True)
        if set(pair) == {0, 2}
    }
    assert winners == {0}  # the quakes, which references and the Pyramid have, and not the rain


def test_without_a_pyramid_nothing_is_simulated_from_one() -> None:
    study, _topic = studies.example_study()
    with pytest.raises(CommandError, match="No topic of this study has a Pyramid that distinguishes its sentences"):
        call_command("simulate_judgments", study.pk, source="pyramid")
