"""What the command line makes of an exported study is what the worker made of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import preferendum as pf
from annotate import exports, judging
from annotate.imports.restore import restore
from annotate.models import Annotator, Assignment, Result, Study
from annotate.reports import leaderboard
from evaluation import tasks
from preferendum.archived import evidence_of
from preferendum.cli.__main__ import main
from preferendum.formats.archive import study as study_archive
from preferendum.formats.archive.study_preferences import counted
from preferendum.results import StudyAgreement, to_json
from preferendum.scoring.ranking import Comparison
from preferendum.scoring.summary_answers import answers_of, summaries_there
from preferendum.scoring.win_rate import win_rates
from tests.annotate import making
from tests.annotate.everything import made_once
from tests.annotate.judging_study import drawn, joined, judged
from tests.annotate.test_comparing_summaries import record, study_of

pytestmark = pytest.mark.django_db


def busy_study() -> Study:
    """Both kinds, judged by people, one of whom is excluded, and by a machine that does not count; with a sentence that
    repeats another one, judged by a file, one that was left out, ties, answers taken back and imported ones."""
    more = ["Schools opened late.", "12 : 7", "Ohio slept.", "A dog barked.", "Trains stood still."]
    sentences = ["Rain fell on Ohio.", "Roads closed.", "Rain fell on Ohio.", *more]
    texts = {"ann": "Rain fell.", "bob": "Roads closed.", "lead": "Schools opened in Ohio.", "long": "Ohio slept."}
    documents = [{"id": "d1", "sentences": sentences}]
    records = [record(name, **texts) | {"documents": documents} for name in ("M1", "M2")]
    study = study_of(
        *records,
        compares="both",
        judgments_per_pair=5,
        pairs_per_annotator=14,
        summary_judgments_per_topic=60,  # enough for everybody's share
        ties_allowed=True,
        seed=3,
        neither_allowed=True,
    )
    table = "topic,a,b,winner,annotator,of\nM1,d1:2,d1:1,a,p1,\nM1,d1:4,d1:3,b,p1,\nM2,ann,bob,neither,p1,summaries\n"
    making.store(study, table.encode(), "p.csv")
    annotators = [*(joined(study) for _person in range(6)), joined(study, kind="machine")]
    for taste, annotator in enumerate(reversed(annotators)):  # whoever came first need not answer first
        for number in range(12):
            answer, pair = ("left", "right", "tie", "neither")[number % 4], drawn(annotator)
            if number % 4 != 2 and pair.item_set.of == "summaries":  # every second one likes what others do not
                answer = "left" if (pair.left.system < pair.right.system) == taste % 2 else "right"
            judged(annotator, answer)
    judging.undo(Assignment.objects.filter(annotator=annotators[0], state="judged").order_by("-pk").first())
    judging.skip(drawn(annotators[1]), "unclear")
    judging.exclude(annotators[2], making.owner(study), "careless")
    return study


def exported_study() -> tuple[int, bytes]:
    study = busy_study()
    assert tasks.catch_up(study.pk) == {}
    file = io.BytesIO()
    study_archive.write(exports.make_archive(study), file)
    return study.pk, file.getvalue()


made_export = made_once(exported_study)


@pytest.fixture
def exported(made_export: tuple[tuple[int, bytes], Path], tmp_path: Path) -> tuple[Study, Path]:
    (study, archive), _files = made_export
    (tmp_path / "study.zip").write_bytes(archive)
    return Study.objects.get(pk=study), tmp_path / "study.zip"


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main([*map(str, arguments), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_archive_has_the_judgments_that_count(exported: tuple[Study, Path]) -> None:
    study, path = exported
    own = list(counted(study_archive.read(path)))
    in_topics = sorted(own, key=lambda one: (one.of, one.topic))
    assert in_topics == sorted(exports.preferences(study), key=lambda one: (one.of, one.topic))
    assert {one.of for one in own} == {"sentences", "summaries"}
    assert len({one.annotator for one in own}) == 6


def test_scores_from_an_archive_are_those_of_the_board(
    exported: tuple[Study, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    study, path = exported
    found = told(capsys, "score", path)
    keys = ("se", "low", "high", "rank", "rank_low", "rank_high")
    by_importance = leaderboard.of_study(study, "recommended").rows
    assert [(row["system"], row["score"], *(row[key] for key in keys)) for row in found["systems"]] == [
        (row.system, row.score, *(getattr(row, key) for key in keys)) for row in by_importance
    ]
    by_win_rate = leaderboard.of_study(study, "win-rate").rows
    assert [(row["system"], row["win_rate"], *(row[key] for key in keys)) for row in found["win_rates"]["systems"]] == [
        (row.system, row.score, *(getattr(row, key) for key in keys)) for row in by_win_rate
    ]
    assert len(by_importance) == len(by_win_rate) == 4
    for way, own in (("recommended", found), ("win-rate", found["win_rates"])):
        assert own["differences"] == to_json(leaderboard.of_study(study, way).differences)


def test_what_a_notebook_makes_of_an_archive_is_what_the_website_shows(exported: tuple[Study, Path]) -> None:
    study, path = exported
    keys = ("system", "se", "low", "high", "rank", "rank_low", "rank_high", "better_than")
    for way, board, name in (("win-rate", pf.rank(path), "win_rate"), ("recommended", pf.score(path), "score")):
        shown = leaderboard.of_study(study, way)
        rows = [row for row in board.to_dicts() if row["rank"]]
        assert [(row[name], *(row[key] for key in keys)) for row in rows] == [
            (row.score, *(getattr(row, key) for key in keys[:-1]), list(row.better_than)) for row in shown.rows
        ]
        assert board.differences == shown.differences
        assert board.ground.words == shown.ground.words
    agreed = pf.agreement(path)
    tasks.report_annotators(study.pk)
    found = Result.objects.head(study, "annotators").read(StudyAgreement)
    assert found is not None
    assert (agreed.record.study, agreed.record.sentences, agreed.record.summaries) == (
        *(found.study, found.sentences, found.summaries),
    )
    assert agreed.n == found.study.pairs > 10
    assert (agreed.share, agreed.alpha, agreed.kappa) == (found.study.percent, found.study.alpha, found.study.kappa)


def test_a_study_taken_back_gives_the_same_win_rates_to_the_last_digit(exported: tuple[Study, Path]) -> None:
    archive = study_archive.read(exported[1])
    again = exports.make_archive(restore(archive, making.person()))
    first, second = (
        win_rates(answers, summaries_there(topics, answers)).standing
        for topics in (list(evidence_of(archive)), list(evidence_of(again)))
        for answers in [answers_of(topics)]
    )
    assert first.systems == second.systems
    assert first.scores == second.scores
    assert first.shares is not None
    assert Comparison([first]).ground.spread == Comparison([second]).ground.spread > 0
    assert Comparison([first]).ranked() == Comparison([second]).ranked()
    assert Comparison([first]).differences() == Comparison([second]).differences()
    assert Annotator.objects.filter(kind="machine").exists()


def test_a_replay_takes_the_archive(exported: tuple[Study, Path], capsys: pytest.CaptureFixture[str]) -> None:
    found = told(capsys, "replay", exported[1], "--compares", "summaries", "--runs", "1")
    assert found["points"][-1]["tau"] == pytest.approx(1.0)
    found = told(capsys, "replay", exported[1], "--runs", "1")
    assert found["points"][-1]["tau"] == pytest.approx(1.0)


def test_an_archive_takes_no_other_judgments(exported: tuple[Study, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(exported[1]), "--preferences", str(exported[1])]) == 2
    assert "is an exported study, which has judgments" in capsys.readouterr().err
