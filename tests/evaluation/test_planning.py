"""What the planner says is what comes, in studies that it never saw; judgments, topics and care help."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.worlds import world
from preferendum.cli.__main__ import main
from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.results import Forecast, Ground, from_json, to_json
from preferendum.results.outlook import Outlook
from preferendum.results.planning import work
from preferendum.scoring import planning
from preferendum.scoring.planning import TYPICAL, Assumed, Prepared
from preferendum.scoring.replaying import replay
from preferendum.scoring.simulate import judge
from preferendum.show.points import why_untested
from tests.evaluation.conftest import Run

N = 40
SIZES = (40, 160)
SETTINGS = Settings()


def made(name: str, seed: int, judgments: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)
    drawn = world("words", N, 1.0, rng)
    names = tuple(f"d:{k}" for k in range(N))
    return Evidence(name, names, drawn.texts, drawn.judgments(judgments, rng), drawn.summaries(5, rng))


TOPICS = [made("a", 1, 160), made("b", 2, 160)]


def expected(assumed: Assumed = TYPICAL, topics: list[Evidence] = TOPICS, stop_rule: bool = False) -> Forecast:
    return planning.forecast(topics, SETTINGS, SIZES, assumed, stop_rule=stop_rule, runs=3)


def errors(forecast: Forecast) -> list[float]:
    return [point.se or np.nan for point in forecast.points]


def test_errors_are_those_of_studies_that_the_planner_never_saw() -> None:
    """Their truth comes from words, not from the planner's prior."""
    variances = []
    for seed in range(4):
        for topic in TOPICS:
            judged = world("words", N, 1.0, np.random.default_rng(int(topic.topic_id == "b") + 1)).judgments(
                160, np.random.default_rng(100 + seed)
            )
            variances.append(
                [planning.errors_of(Prepared.of(topic, SETTINGS), judged.some(slice(m)), SETTINGS)[0] for m in SIZES]
            )

    realised = np.sqrt(np.mean(variances, axis=0) / len(TOPICS))

    assert errors(expected()) == pytest.approx(realised, rel=0.15)
    fits = [(Prepared.of(topic, SETTINGS).fit(topic.judgments, SETTINGS), topic.judgments, N) for topic in TOPICS]
    learnt = planning.learnt(fits)
    assert learnt.learnt_from == 320
    assert errors(expected(learnt)) == pytest.approx(realised, rel=0.15)


def test_four_times_the_judgments_or_the_topics_halve_the_error() -> None:
    few, many = errors(expected())
    simulated = {(0, place): simulate(topic) for place, topic in enumerate(TOPICS)}
    of_two, of_eight = (planning.points(SIZES, simulated, topics) for topics in (2, 8))

    assert few / many == pytest.approx(2, rel=0.2)
    assert of_two[0].se == pytest.approx(2 * of_eight[0].se)


def simulate(topic: Evidence) -> planning.Errors:
    return planning.simulate(Prepared.of(topic, SETTINGS), SETTINGS, SIZES, TYPICAL, 0, 0)


def test_careless_annotators_and_double_judgments_cost() -> None:
    usual = errors(expected())[0]

    assert errors(expected(replace(TYPICAL, careless=0.6)))[0] > 1.03 * usual
    assert errors(expected(replace(TYPICAL, judgments_per_pair=4)))[0] > 1.03 * usual


def test_ties_make_sentences_less_different_and_are_learnt() -> None:
    some, none = (expected(replace(TYPICAL, ties=ties)).points[-1].sentence_se for ties in (0.4, 0.0))
    assert some < 0.95 * none

    judged = replace(TOPICS[0].judgments, outcome=np.resize([0.5, 1.0], 160))
    fitted = Prepared.of(TOPICS[0], SETTINGS).fit(judged, SETTINGS)
    assert planning.learnt([(fitted, judged, N)]).ties == 0.5


def test_a_study_without_systems_is_planned_with_standard_ones() -> None:
    bare = [replace(topic, summaries=()) for topic in TOPICS]
    forecast = expected(topics=bare)

    assert forecast.are_standard
    assert forecast.systems > 5
    assert errors(forecast)[0] > errors(forecast)[1] > 0


def unjudged(forecast: Forecast) -> Outlook:
    ground = Ground()
    return Outlook.of("sentences", 0, 0, None, [], ground, topics=forecast.topics, planned=320, expected=forecast)


def test_what_is_expected_before_the_first_answer_is_what_was_simulated() -> None:
    forecast = expected()
    few, many = errors(forecast)
    outlook = unjudged(forecast)

    assert [outlook.after(2 * size) for size in SIZES] == pytest.approx([1.96 * few, 1.96 * many], rel=1e-3)
    between = outlook.told_apart(160)
    assert 80 < outlook.answers_to_tell(between * 1.001) <= 160
    assert outlook.told_apart(320) < between < outlook.told_apart(80)
    assert unjudged(expected(stop_rule=True)).told_apart(160) > between
    assert forecast.error(160, 4) == pytest.approx(forecast.error(160, 2), rel=0.1)


def test_work_is_in_hours_and_money() -> None:
    assert (work(240, 15, 12.0).hours, work(240, 15, 12.0).cost, work(240, 15, None).cost) == (1, 12, None)


def test_the_same_seed_gives_the_same_forecast_and_it_survives_storing() -> None:
    forecast = expected()

    assert expected() == forecast == from_json(Forecast, to_json(forecast))


@pytest.mark.parametrize(("lengths", "chosen"), [([5, 1, 9, 7], [0, 2, 3]), ([3, 4, 5, 6, 7], [0, 4]), ([1], [])])
def test_topics_from_the_shortest_to_the_longest_stand_for_all(lengths: list[int], chosen: list[int]) -> None:
    assert planning.sample(lengths, most=3 if len(lengths) == 4 else 2) == chosen


def test_pairs_run_out_in_short_topics() -> None:
    short = replace(made("c", 3), sentence_ids=("d:0", "d:1", "d:2"), sentences=TOPICS[0].sentences[:3])
    forecast = planning.forecast([short], SETTINGS, (3, 50), TYPICAL, runs=2)

    assert forecast.points[0].se == forecast.points[1].se


def test_a_replay_ends_with_the_order_that_all_judgments_give() -> None:
    report = replay(TOPICS, SETTINGS, SIZES, runs=3)
    few, all_of_them = report.points

    assert all_of_them.tau == pytest.approx(1)
    assert (report.systems, report.topics) == (5, 2)
    assert few.se > all_of_them.se
    assert few.sentence_se > all_of_them.sentence_se
    assert few.tau < 1
    assert all_of_them.forecast == pytest.approx(all_of_them.se, rel=0.15)
    assert all_of_them.sentence_forecast == pytest.approx(all_of_them.sentence_se, rel=0.25)


def test_judgments_that_all_say_the_same_do_not_break_a_replay() -> None:
    values = np.arange(N, dtype=float)
    report = replay([replace(TOPICS[0], judgments=judge(values, 60, 0))], SETTINGS, (10, 60), runs=2)

    assert report.points[-1].tau == pytest.approx(1)


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def file(tmp_path: Path) -> str:
    topic = TOPICS[0]
    documents = [{"id": "d", "sentences": list(topic.sentences)}]
    summaries = [{"system": own.system, "sentences": list(own.sentences)} for own in topic.summaries]
    return write(tmp_path / "topics.jsonl", {"topic_id": "a", "documents": documents, "summaries": summaries})


@pytest.fixture
def preferences(tmp_path: Path) -> str:
    judged: Judgments = TOPICS[0].judgments
    rows = zip(judged.a.tolist(), judged.b.tolist(), judged.outcome.tolist(), strict=True)
    return write(
        tmp_path / "preferences.jsonl",
        *({"topic": "a", "a": f"d:{a}", "b": f"d:{b}", "winner": "a" if won else "b"} for a, b, won in rows),
    )


def test_plan_on_the_command_line(file: str, preferences: str, run: Run) -> None:
    asked = ["plan", file, "--at", "160,40", "--runs", "2", "--difference", "0.05", "--pay", "12", "--seconds", "30"]
    shown = " ".join(run.out(*asked).split())
    assert "Variance of utilities 1.20, share of similarity 0.70" in shown
    assert "No answer counts yet. In typical studies, 160 answers (about 1 hour, 16 units of your pay) bring" in shown
    assert "answers in all (about" in shown
    assert "is taken from studies of others" in shown
    told = run.json(*asked, "--preferences", preferences)
    assert (told["learnt_from"], told["careless"], told["seconds"]) == (160, 0, 30)
    assert [point["judgments"] for point in told["points"]] == [40, 160]
    assert "'2' is not a number from 0 to 1" in run.refused("plan", file, "--careless", "2")


def test_replay_on_the_command_line(file: str, preferences: str, run: Run) -> None:
    header, few, most = run.out(
        "replay", file, "--preferences", preferences, "--runs", "2", "--at", "40,500", "--format", "csv"
    ).splitlines()
    assert header == "judgments,margin,forecast,apart,tau,sentence margin,sentence forecast"
    assert [row.split(",")[0] for row in (few, most)] == ["40", "160"]
    assert main(["replay", file]) == 2


@pytest.mark.parametrize(("score", "prior"), [("combined", []), ("published", ["--prior", "0.1"])])
def test_neither_plan_nor_replay_tells_apart_what_is_not_tested(
    file: str, preferences: str, run: Run, score: str, prior: list[str]
) -> None:
    asked = ["--score", score, *prior, "--runs", "2", "--at", "160", "--preferences", preferences]
    replayed = run.json("replay", file, *asked)["points"][0]
    assert replayed["apart"] is None
    assert (replayed["se"] is not None) == (score == "combined")
    assert replayed["tau"] == pytest.approx(1)
    assert run.json("plan", file, *asked, "--difference", "0.05")["needed"] is None
    for command in ("plan", "replay"):
        shown = " ".join(run.out(command, file, *asked).split())
        assert why_untested(score) in shown
        assert "told apart" not in shown
    (row,) = csv.DictReader(io.StringIO(run.out("plan", file, *asked, "--format", "csv")))
    assert (row["answers"], row["told_apart"]) == ("160", "")
