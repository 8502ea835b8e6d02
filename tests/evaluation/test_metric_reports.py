"""What the worker says of metrics beside people: what the command line says of the same data, and news of judgments."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from annotate import imports
from annotate.models import Annotator, ComputedScore, Result, Study, Topic, TopicMetrics
from annotate.reports import analyses
from evaluation import agenda, tasks
from preferendum import formats
from preferendum.formats.records import HumanScore
from preferendum.methods.analyses.document_sets import compute as study_sets
from preferendum.methods.analyses.system_pairs import compute as study_pairs
from preferendum.metrics.names import AS_PRINTED, COMBINED, COVERAGE
from preferendum.results import AssessorsReport, DimensionAgreement, DocumentSetsReport, MetricAgreement, to_json
from tests import kept, studies
from tests.annotate.everything import made_once
from tests.evaluation.conftest import Run

pytestmark = pytest.mark.django_db
METRICS = (*("score_with_metrics", "compare_metrics", "bound_metrics"), *("document-sets", "assessors", "count_pairs"))

DOCUMENT = ["Quakes hit Chile.", "Ten people died in Chile.", "It rained in Ohio.", "Aid reached Chile late."]
GRADES = {
    "good": ("Quakes hit Chile. Ten people died.", 5.0),
    "fair": ("Quakes hit Chile. It rained in Ohio.", 3.0),
    "poor": ("It rained in Ohio.", 1.0),
    "none": ("Ohio.", 2.0),
}


def lines(person: bool = False) -> list[dict[str, object]]:
    """Three topics with references and grades; with a person among the systems."""
    people = [{"system": "A", "text": "Ten died as quakes hit Chile.", "person": True, "human": {"overall": 4.5}}]
    return [
        {
            "topic_id": f"T{number}",
            "documents": [{"id": "d", "sentences": DOCUMENT}],
            "references": [
                {"id": "A", "text": "Ten died as quakes hit Chile."},
                {"id": "B", "text": "Aid reached Chile late after quakes."},
            ],
            "summaries": [
                {"system": system, "text": text, "human": {"overall": grade + number % 2 * (system == "poor")}}
                for system, (text, grade) in GRADES.items()
            ]
            + (people if person else []),
        }
        for number in range(3)
    ]


def stored(tmp_path: Path, *, person: bool = False, contrary: bool = False, **more: object) -> tuple[Study, Path]:
    """A study of them, with judgments, and the file that it came from. `contrary`: a second annotator says of most
    pairs the opposite."""
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(json.dumps(line | more) + "\n" for line in lines(person)))
    bundle = formats.read(file)
    preferences = tuple(
        formats.Preference(topic.topic_id, f"d:{a}", f"d:{b}", "a", annotator="w1")
        for topic in bundle.topics
        for a, b in ((0, 2), (1, 2), (0, 3), (1, 3), (3, 2))
    )
    if contrary:
        preferences += tuple(replace(own, winner="b", annotator="w2") for own in preferences if own.b != "d:3")
    study = studies.study()
    imports.store(study, replace(bundle, preferences=preferences))
    with (tmp_path / "preferences.jsonl").open("wb") as written:
        formats.write_preferences(preferences, written)
    return study, file


def add_topic_without_human_scores(study: Study, file: Path) -> None:
    summaries = [{"system": system, "text": text} for system, (text, _grade) in GRADES.items()]
    file.write_text(file.read_text() + json.dumps(lines()[0] | {"topic_id": "T9", "summaries": summaries}) + "\n")
    imports.store(study, formats.Bundle(topics=formats.read(file).topics[-1:]))


def caught_up(study: Study) -> None:
    """Everything that the agenda asks for is done, in its order."""
    tasks.catch_up(study.pk)
    for _turn in range(30):
        work = [work for work in agenda.look().waiting if work.task in METRICS]
        if not work:
            return
        tasks.TASKS[work[0].task](work[0].key)
    raise AssertionError(f"still to do: {work}")


def more_judged(study: Study) -> None:
    annotator = Annotator.objects.create(study=study, pseudonym="late")
    for _ in range(3):
        studies.judge(annotator, "right")
    caught_up(study)


def report(study: Study, peers: str = "machines") -> DimensionAgreement:
    record = kept.rows("intervals", peers, "overall", study=study).get().read(DimensionAgreement)
    assert record is not None
    return record


def by_name(agreement: DimensionAgreement) -> dict[str, MetricAgreement]:
    return {metric.metric: metric for metric in agreement.metrics}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for its turn."""
    monkeypatch.setattr(agenda.Kind, "is_rested", lambda *_: True)


def of_machines() -> Study:
    """A study of which everything is worked out."""
    study, _file = stored(Path(settings.MEDIA_ROOT))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(agenda.Kind, "is_rested", lambda *_: True)
        caught_up(study)
    return study


def with_people() -> tuple[Study, Path]:
    """Another with people among its systems and a topic that nobody scored a summary of; and its file."""
    study, file = stored(Path(settings.MEDIA_ROOT), person=True)
    add_topic_without_human_scores(study, file)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(agenda.Kind, "is_rested", lambda *_: True)
        caught_up(study)
    return study, file


made_of_machines, made_with_people = made_once(of_machines), made_once(with_people)


@pytest.fixture
def study(made_of_machines: tuple[Study, Path]) -> Study:
    return Study.objects.get(pk=made_of_machines[0].pk)


@pytest.fixture
def people(made_with_people: tuple[tuple[Study, Path], Path]) -> tuple[Study, Path]:
    (study, file), _files = made_with_people
    return Study.objects.get(pk=study.pk), file


@pytest.mark.parametrize("contrary", [False, True])
def test_the_website_says_of_metrics_what_the_command_line_says(tmp_path: Path, run: Run, contrary: bool) -> None:
    study, file = stored(tmp_path, person=True, contrary=contrary)
    caught_up(study)
    for peers in ("machines", "all") if contrary else ("machines",):
        website_says_what_the_command_line_says(study, file, run, peers)


def website_says_what_the_command_line_says(study: Study, file: Path, run: Run, peers: str) -> None:
    names = [name.removesuffix(":jackknife") for name in by_name(report(study, peers))]
    asked = ["--metrics", ",".join(names), "--peers", peers, "--dimension", "overall", "--compare", "--format", "json"]
    preferences = ["--preferences", str(file.with_name("preferences.jsonl"))]
    (said,) = json.loads(run.out("agree", str(file), *preferences, *asked))["dimensions"]
    ours = kept.rows("intervals", peers, "overall", study=study).get().record
    for mine, theirs in zip(ours["metrics"], said["metrics"], strict=True):
        assert mine["metric"] == theirs["metric"]
        assert mine["agreement"] == pytest.approx(theirs["agreement"])
        for level, kinds in theirs["correlations"].items():
            for kind, figures in kinds.items():
                assert mine["correlations"][level][kind] == pytest.approx(figures), (mine["metric"], level, kind)
    for mine, theirs in zip(ours["differences"], said["differences"], strict=True):
        assert mine["agreement"] == pytest.approx(theirs["agreement"])


def test_a_metric_without_what_it_needs_is_absent_and_says_why(study: Study) -> None:
    assert TopicMetrics.objects.filter(topic__study=study).values_list("absent", flat=True).distinct().get() == {
        "pyramid": "pyramids"
    }
    assert "pyramid" not in by_name(report(study))


def test_judgments_move_only_the_rows_that_rest_on_them(study: Study) -> None:
    before, scored = by_name(report(study)), ComputedScore.objects.latest("pk").pk
    more_judged(study)
    after = by_name(report(study))
    moved = {name for name, metric in after.items() if metric != before[name]}
    assert moved
    assert all(name.startswith("preferences:") for name in moved)
    assert ComputedScore.objects.latest("pk").pk == scored


def test_late_human_scores_are_compared_without_a_new_fit(study: Study) -> None:
    topic = Topic.objects.filter(study=study).first()
    assert topic is not None
    fitted = topic.sentence_set.progress.fitted_version
    late = HumanScore(topic.name, "good", "overall", 0.0)
    imports.store(study, formats.Bundle(human_scores=(late,)))
    assert [work.task for work in agenda.look().waiting if work.task == "refit_topic"] == []
    before = by_name(report(study))["rouge-1"]
    caught_up(study)
    topic.sentence_set.progress.refresh_from_db()
    assert topic.sentence_set.progress.fitted_version == fitted
    assert by_name(report(study))["rouge-1"].agreement != before.agreement


def test_metrics_that_were_worked_out_elsewhere_stand_among_the_others(study: Study) -> None:
    table = "topic,system,metric,score\n"
    table += "".join(
        f"T{number},{system},ours,{grade}\n" for number in range(3) for system, (_, grade) in GRADES.items()
    )
    imports.put_metric_scores(study, study.created_by, io.BytesIO(table.encode()), "scores.csv")
    caught_up(study)
    assert by_name(report(study))["given:ours"].correlations["system"]["spearman"].value == 1.0


def test_intervals_that_take_several_turns_come_to_the_same(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = report(study)
    kept.rows("intervals", study=study).delete()
    kept.heads("intervals", study=study).update(version=0)
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    caught_up(study)
    assert report(study) == whole


def test_intervals_come_while_another_study_is_judged_without_a_pause(tmp_path: Path) -> None:
    study, _file = stored(tmp_path)
    tasks.catch_up(study.pk)
    for topic_id in Topic.objects.filter(study=study).values_list("pk", flat=True):
        tasks.score_with_metrics(topic_id)
    tasks.TASKS["compare_metrics"](study.pk)
    _other, judged = studies.example_study()  # a topic that waits for scores
    tasks_due = {(work.task, work.key) for work in agenda.look().waiting}
    assert {("refit_topic", judged.pk), ("bound_metrics", study.pk)} <= tasks_due


def test_a_report_of_older_scores_is_thrown_away(study: Study) -> None:
    assert not tasks.records.publish(study.pk, "metrics", 1, {})
    assert report(study).metrics


def test_a_topic_without_documents_is_scored_by_what_needs_none(tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text("".join(json.dumps(line | {"documents": []}) + "\n" for line in lines()))
    study = studies.study()
    imports.store(study, formats.read(file))
    caught_up(study)
    assert set(by_name(report(study))) == {"rouge-1", "rouge-2", "rouge-su4", "js-consensus"}
    absent = TopicMetrics.objects.filter(topic__study=study).values_list("absent", flat=True).distinct().get()
    assert absent == {"js": "documents", "pyramid": "pyramids"}


@pytest.mark.parametrize("peers", ["machines", "all"])
def test_pairs_of_systems_are_counted_as_the_command_line_counts_them(
    people: tuple[Study, Path], run: Run, peers: str
) -> None:
    """Of the same topics: one that nobody scored a summary of is left out."""
    study, file = people
    stored_pairs = Result.objects.by_keys(study, "pairs-of-systems")
    ours = {
        (whose == "people", by): row.record["counts"]
        for (among, whose, by), row in stored_pairs.items()
        if among == peers
    }
    names = [by.removesuffix(":jackknife") for by_human, by in ours if not by_human]
    asked = [
        "--metrics",
        ",".join(names),
        "--peers",
        peers,
        "--dimension",
        "overall",
        "--pairs-of-systems",
        "--format",
        "json",
    ]
    preferences = ["--preferences", str(file.with_name("preferences.jsonl"))]
    said = json.loads(run.out("agree", str(file), *preferences, *asked))["pairs_of_systems"]
    assert len(said) == len(ours)
    for theirs in said:
        assert ours[theirs["by"] == "overall", theirs["by"]] == {key: theirs[key] for key in theirs if key != "pairs"}


def test_pairs_rest_on_topics_with_human_scores_alone(people: tuple[Study, Path]) -> None:
    study, _file = people
    loaded = tasks.records.load_study_scores(study.pk)
    assert loaded is not None
    assert "T9" in loaded.scores.topics
    assert {scorer.scores.topics for scorer in study_pairs.scorers(loaded.scores)} == {("T0", "T1", "T2")}


def digests(study: Study) -> dict[tuple[str, ...], str]:
    """Of what the counts of each scorer's pairs rest on."""
    return {keys: row.record["digest"] for keys, row in Result.objects.by_keys(study, "pairs-of-systems").items()}


def test_judgments_have_pairs_tested_anew_by_preferences_alone(study: Study) -> None:
    before = digests(study)
    more_judged(study)
    after = digests(study)
    moved = {by for (_peers, _by_people, by), digest in after.items() if digest not in before.values()}
    assert moved
    assert all(by.startswith("preferences:") for by in moved)


def test_a_dimension_named_like_a_metric_has_pairs_of_its_own(tmp_path: Path) -> None:
    study, _file = stored(tmp_path)
    imports.store(study, formats.Bundle(human_scores=(HumanScore("T0", "good", "rouge-1", 3.0),)))
    caught_up(study)
    assert sum(by == "rouge-1" for *_, by in Result.objects.by_keys(study, "pairs-of-systems")) == 2


def test_pairs_of_too_many_systems_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, _file = stored(tmp_path)
    monkeypatch.setattr(study_pairs, "MOST_SYSTEMS", 3)
    caught_up(study)
    assert not kept.rows("pairs-of-systems", study=study).exists()
    assert kept.heads("pairs-of-systems", study=study).get().version == kept.heads("metrics", study=study).get().version


def test_draws_are_as_many_as_there_is_time_for() -> None:
    assert study_pairs.affordable_draws(5, 3) == 1000
    assert study_pairs.affordable_draws(17, 100) == 40 * 136
    assert study_pairs.FEWEST_DRAWS <= study_pairs.affordable_draws(200, 44) < 40 * 19900
    assert study_pairs.affordable_draws(200, 100) == study_pairs.affordable_draws(201, 2) == 0


def test_pairs_that_take_several_turns_are_all_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, _file = stored(tmp_path)
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    monkeypatch.setitem(globals(), "METRICS", METRICS[:4])
    caught_up(study)
    tasks.TASKS["count_pairs"](study.pk)
    assert kept.rows("pairs-of-systems", study=study).count() == 1
    monkeypatch.setattr(tasks, "LONG_TURN", math.inf)
    tasks.TASKS["count_pairs"](study.pk)
    assert kept.heads("pairs-of-systems", study=study).get().version == kept.heads("metrics", study=study).get().version
    tested = {metric.metric for metric in report(study).metrics} - {COMBINED, COVERAGE, AS_PRINTED}
    assert {by for *_, by in Result.objects.by_keys(study, "pairs-of-systems")} == tested | {"overall"}


@pytest.mark.parametrize("peers", ["machines", "all"])
def test_topics_are_compared_as_the_command_line_compares_them(
    people: tuple[Study, Path], run: Run, peers: str
) -> None:
    """Of the same topics: one that nobody scored a summary of is left out."""
    study, file = people
    ours = kept.rows("document-sets", peers, study=study).get().record
    names = [scorer["by"].removesuffix(":jackknife") for scorer in ours["scorers"] if not scorer["by_human"]]
    asked = ["--metrics", ",".join(names), "--peers", peers, "--dimension", "all", "--format", "json"]
    preferences = ["--preferences", str(file.with_name("preferences.jsonl"))]
    said = json.loads(run.out("sets", str(file), *preferences, *asked))
    assert ours["scorers"][0]["matrix"]["topics"] == ["T0", "T1", "T2"]
    assert close(ours, {key: said[key] for key in ours})


def close(ours: object, theirs: object) -> bool:
    """Equal but for the last digits, which the order of sums decides."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(close(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    return bool(ours == (pytest.approx(theirs, abs=1e-9) if isinstance(theirs, float) else theirs))


def test_assessors_are_those_of_the_command_line(tmp_path: Path, run: Run) -> None:
    """Three of them, one the other way round; half of the systems say the same."""
    given = {"good": (5, 4, 1), "fair": (4, 5, 2), "poor": (2, 2, 4), "none": (1, 2, 5)}
    summaries: list[dict[str, object]] = [
        {
            "system": system,
            "text": "It rained." if scores[0] < 3 else GRADES[system][0],
            "ratings": [{"assessor": who, "overall": score} for who, score in zip("ABC", scores, strict=True)],
        }
        for system, scores in given.items()
    ]
    summaries.append({"system": "A", "text": "Ten died.", "person": True, "human": {"overall": 4.5}})
    study, file = stored(tmp_path, summaries=summaries)
    caught_up(study)
    for peers in ("machines", "all"):
        ours = to_json(kept.rows("assessors", peers, study=study).get().read(AssessorsReport))
        names = [own["metric"] for own in ours["dimensions"][0]["rankings"][0]["without"][0]["metrics"]]
        asked = ["--metrics", ",".join(names), "--peers", peers, "--dimension", "all", "--format", "json"]
        theirs = json.loads(
            run.out("assessors", str(file), "--preferences", str(tmp_path / "preferences.jsonl"), *asked)
        )

        assert [ranking["basis"] for ranking in ours["dimensions"][0]["rankings"]] == ["consistency", "agreement"]
        assert ours["dimensions"][0]["rankings"][1]["without"][1]["left_out"] == ["C"]
        assert close(ours, {key: theirs[key] for key in ours})


def test_a_dimension_in_which_people_alone_were_scored_is_among_all(tmp_path: Path) -> None:
    machine = {"system": "good", "text": "Quakes hit Chile.", "human": {"overall": 2}}
    person = {"system": "A", "text": "Ten died.", "person": True, "human": {"overall": 4.5, "style": 3}}
    study, _file = stored(tmp_path, summaries=[machine, person])
    caught_up(study)
    keys = set(Result.objects.by_keys(study, "metrics"))
    assert keys == {("machines", "overall"), ("all", "overall"), ("all", "style")}
    asked = {"dimension": "style", "peers": "machines"}
    opened = analyses.opened(study, analyses.analyses_of(study)["metric-agreement"], asked, frozenset())
    assert opened.asked == {"dimension": "style", "peers": "all"}
    assert opened.shown is not None


def test_topics_are_compared_anew_when_judgments_move(study: Study) -> None:
    before = kept.rows("document-sets", study=study).get().read(DocumentSetsReport)
    more_judged(study)
    after = kept.rows("document-sets", study=study).get().read(DocumentSetsReport)
    moved = {new.by for new, old in zip(after.scorers, before.scorers, strict=True) if new != old}
    assert moved
    assert all(by.startswith("preferences:") for by in moved)
    assert kept.heads("document-sets", study=study).get().version == kept.heads("metrics", study=study).get().version


def test_an_older_result_is_thrown_away(study: Study) -> None:
    version = kept.heads("document-sets", study=study).get().version
    assert not tasks.records.publish(study.pk, "document-sets", version - 1, {})
    assert kept.rows("document-sets", study=study).exists()


@pytest.mark.parametrize(("limit", "most"), [("MOST_TOPICS", 2), ("MOST_SCORES", 11)])
def test_too_many_topics_or_summaries_are_not_compared(
    study: Study, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(study_sets, limit, most)
    kept.heads("document-sets", study=study).update(version=0)
    caught_up(study)
    assert not kept.rows("document-sets", study=study).exists()
