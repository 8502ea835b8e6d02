"""The command line on preferences between whole summaries: score, agree, replay, plan."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from preferendum.evidence import evidence
from preferendum.formats.records import Preference, Summary, Text, Topic
from preferendum.metrics import registry
from preferendum.metrics.registry import MissingEvidence
from preferendum.scoring.summary_answers import answers_of
from preferendum.scoring.win_rate import win_rates
from tests.evaluation.conftest import Run

SYSTEMS = ("best", "good", "fair", "poor", "worst")
#: How good they are, of 1.
QUALITY = dict(zip(SYSTEMS, (0.9, 0.7, 0.5, 0.3, 0.1), strict=True))


def prompt(name: str, systems: tuple[str, ...] = SYSTEMS) -> dict[str, Any]:
    """A topic without documents: outputs of systems, which people scored as they are good."""
    summaries = [
        {"system": system, "text": f"The {system} of {name} says so.", "human": {"quality": 5 * QUALITY.get(system, 0)}}
        for system in systems
    ]
    return {"topic_id": name, "question": "Why?", "summaries": summaries}


def answers(names: list[str], times: int = 1, seed: int = 1) -> list[dict[str, Any]]:
    """Every two systems of every topic compared by three annotators, who seldom err."""
    rng = np.random.default_rng(seed)
    said = []
    for name in names:
        for number, (a, b) in enumerate(list(combinations(SYSTEMS, 2)) * times):
            is_first = rng.random() < 1 / (1 + np.exp(5 * (QUALITY[b] - QUALITY[a])))
            said.append(
                {"topic": name, "of": "summaries", "a": a, "b": b, "winner": "a" if is_first else "b"}
                | {"annotator": f"p{number % 3}", "seconds": 40.0}
            )
    return said


NAMES = [f"T{number}" for number in range(8)]


@pytest.fixture
def topics(tmp_path: Path) -> str:
    return lines(tmp_path / "topics.jsonl", *map(prompt, NAMES))


def lines(path: Path, *records: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


def test_outputs_of_prompts_are_ranked_by_their_win_rates(run: Run, topics: str, tmp_path: Path) -> None:
    found = run.json("score", topics, "--preferences", lines(tmp_path / "p.jsonl", *answers(NAMES)))["win_rates"]
    board = found["systems"]
    assert [row["system"] for row in board] == list(SYSTEMS)
    assert [row["rank"] for row in board] == [1, 2, 3, 4, 5]
    assert all(0 <= row["low"] < row["win_rate"] < row["high"] <= 1 for row in board)
    assert all(row["rank_low"] <= row["rank"] <= row["rank_high"] and row["answers"] == 32 for row in board)
    assert np.mean([row["win_rate"] for row in board]) == pytest.approx(0.5)
    assert found["answers"] == 80
    assert [topic["topic_id"] for topic in found["topics"]] == NAMES
    assert all(topic["answers"] == 10 and len(topic["summaries"]) == 5 for topic in found["topics"])


def test_answers_turned_round_turn_the_order_round(run: Run, topics: str, tmp_path: Path) -> None:
    said = answers(NAMES)
    turned = [one | {"winner": {"a": "b", "b": "a"}[one["winner"]]} for one in said]
    first, second = (
        run.json("score", topics, "--preferences", lines(tmp_path / name, *several))["win_rates"]["systems"]
        for name, several in (("p.jsonl", said), ("q.jsonl", turned))
    )
    assert [row["system"] for row in second] == [row["system"] for row in reversed(first)]
    assert [row["win_rate"] for row in second] == pytest.approx([1 - row["win_rate"] for row in reversed(first)])


def test_the_terminal_and_the_csv_say_the_same(run: Run, topics: str, tmp_path: Path) -> None:
    file = lines(tmp_path / "p.jsonl", *answers(NAMES))
    found = run.json("score", topics, "--preferences", file)["win_rates"]
    shown = run.out("score", topics, "--preferences", file)
    table = run.out("score", topics, "--preferences", file, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == 8 * 5 + 5
    assert [float(row["win_rate"]) for row in rows if not row["topic"]] == [own["win_rate"] for own in found["systems"]]
    assert "All topics, whole summaries" in shown
    assert "80 answers by 3 annotators about 8 topics" in " ".join(shown.split())
    assert re.search(rf"1  \S+ +best +{100 * found['systems'][0]['win_rate']:.0f}\b", shown)


def test_both_kinds_stand_beside_each_other_and_change_nothing_of_the_other(run: Run, tmp_path: Path) -> None:
    documents = [{"id": "d", "sentences": ["The best says so.", "The worst of all.", "Rain fell.", "A fair day."]}]
    file = lines(tmp_path / "topics.jsonl", *(prompt(name) | {"documents": documents} for name in NAMES))
    pairs = [("d:0", "d:1"), ("d:2", "d:3"), ("d:0", "d:3")]
    sentences = [{"topic": name, "a": a, "b": b, "winner": "a"} for name in NAMES for a, b in pairs]
    alone = run.json("score", file, "--preferences", lines(tmp_path / "s.jsonl", *sentences))
    of_summaries = run.json("score", file, "--preferences", lines(tmp_path / "w.jsonl", *answers(NAMES)))
    both = run.json("score", file, "--preferences", lines(tmp_path / "b.jsonl", *sentences, *answers(NAMES)))
    assert both["systems"] == alone["systems"]
    assert both["win_rates"] == of_summaries["win_rates"]
    assert "win_rates" not in alone
    within = {own["system"]: own["win_rate"] for own in both["win_rates"]["topics"][0]["summaries"]}
    assert {own["system"]: own["win_rate"] for own in both["topics"][0]["summaries"]} == within
    shown = run.out("score", file, "--preferences", str(tmp_path / "b.jsonl"))
    assert "All topics\n" in shown
    assert "All topics, whole summaries\n" in shown


def test_a_system_that_nobody_judged_is_predicted_and_never_ranked(run: Run, tmp_path: Path) -> None:
    names = (*SYSTEMS, "late")
    file = lines(tmp_path / "topics.jsonl", *(prompt(name, names) for name in NAMES))
    preferences = lines(tmp_path / "p.jsonl", *answers(NAMES))
    found = run.json("score", file, "--preferences", preferences)["win_rates"]
    assert [row["system"] for row in found["predicted"]] == ["late"]
    assert "late" not in {row["system"] for row in found["systems"]}
    shown = run.out("score", file, "--preferences", preferences)
    assert "predicted from the texts of judged summaries, nobody judged it" in " ".join(shown.split())


def test_strange_summaries_are_scored(run: Run, tmp_path: Path) -> None:
    texts = {"huge": "word " * 20_000, "dots": "... 123", "none": ""} | {f"same{n}": "The same." for n in range(20)}
    summaries = [{"system": system, "text": text} for system, text in texts.items()]
    file = lines(tmp_path / "topics.jsonl", {"topic_id": "T", "summaries": summaries})
    said = [
        {"topic": "T", "of": "summaries", "a": a, "b": b, "winner": "a"}
        for a, b in (("huge", "dots"), ("dots", "none"), ("huge", "none"), ("same0", "same1"))
    ]
    found = run.json("score", file, "--preferences", lines(tmp_path / "p.jsonl", *said))["win_rates"]
    board = {row["system"]: row["win_rate"] for row in found["systems"]}
    assert board.keys() == {"huge", "dots", "none", "same0", "same1"}
    assert board["huge"] > board["dots"] > board["none"]
    assert len(found["predicted"]) == 18


def test_win_rates_are_held_against_people_as_a_metric(run: Run, topics: str, tmp_path: Path) -> None:
    file = lines(tmp_path / "p.jsonl", *answers(NAMES))
    asked = ("agree", topics, "--preferences", file, "--dimension", "quality", "--draws", "0")
    (dimension,) = run.json(*asked, "--metrics", "win-rate")["dimensions"]
    (metric,) = dimension["metrics"]
    assert metric["metric"] == "win-rate"
    assert metric["agreement"]["value"] > 0.9
    assert metric["correlations"]["system"]["kendall"]["value"] == pytest.approx(1.0)
    (dimension,) = run.json(*asked)["dimensions"]
    assert [metric["metric"] for metric in dimension["metrics"]] == ["win-rate"]
    reason = run.refused("agree", topics, "--dimension", "quality", "--metrics", "win-rate")
    assert "win-rate needs preferences between summaries, and there are none" in reason


def test_importance_may_be_asked_for_by_its_name(run: Run, topics: str, tmp_path: Path) -> None:
    file = lines(tmp_path / "p.jsonl", *answers(NAMES))
    asked = ("agree", topics, "--preferences", file, "--dimension", "quality", "--metrics", "win-rate,importance")
    assert "preferences:importance needs documents" in run.refused(*asked)


def test_a_replay_ends_with_what_all_answers_say_to_the_last_digit(run: Run, topics: str, tmp_path: Path) -> None:
    said = answers(NAMES)
    file = lines(tmp_path / "p.jsonl", *said)
    found = run.json("replay", topics, "--preferences", file, "--runs", "2", "--at", "2,5")
    assert [point["judgments"] for point in found["points"]] == [2, 5, 10]
    assert found["points"][-1]["tau"] == pytest.approx(1.0)
    covariance = np.asarray(win_rates(answers_of(read(said))).standing.covariance)
    own = np.diag(covariance)
    variances = (own[:, None] + own - 2 * covariance)[np.triu_indices(len(own), 1)]
    assert found["points"][-1]["se"] == float(np.sqrt(variances.mean()))
    assert found["points"][0]["se"] > found["points"][1]["se"] > found["points"][2]["se"]
    assert found["points"][1]["forecast"] == pytest.approx(found["points"][1]["se"], rel=0.4)
    reason = run.refused("replay", topics, "--preferences", file, "--compares", "sentences")
    assert "there are no judgments of sentences" in reason


def read(said: list[dict[str, Any]]) -> list[Any]:
    preferences = [
        Preference(one["topic"], one["a"], one["b"], one["winner"], one["annotator"], of="summaries") for one in said
    ]
    summaries = tuple(Summary(system, system) for system in SYSTEMS)
    return [evidence(Topic(name, (), summaries=summaries), preferences) for name in NAMES]


def test_a_plan_says_how_many_answers_and_how_long_they_take(run: Run, topics: str, tmp_path: Path) -> None:
    asked = ("plan", topics, "--compares", "summaries", "--difference", "0.5")
    before = run.json(*asked)
    assert (before["topics"], before["systems"], before["learnt_from"]) == (8, 5, 0)
    assert before["words"] == 12
    assert before["seconds"] == pytest.approx(5 + 12 * 60 / 238)
    errors = [point["se"] for point in before["points"]]
    assert errors == sorted(errors, reverse=True)
    needed = before["needed"]
    enough = -(-needed // 8)
    table = csv.DictReader(io.StringIO(run.out(*asked, "--at", f"{enough - 1},{enough}", "--format", "csv")))
    assert [float(row["told_apart"]) <= 0.5 for row in table] == [False, True]
    after = run.json(*asked, "--preferences", lines(tmp_path / "p.jsonl", *answers(NAMES)))
    assert (after["learnt_from"], after["seconds"]) == (80, 40.0)
    assert after["system_variance"] > before["system_variance"]
    shown = " ".join(run.out(*asked, "--pay", "12", "--currency", "EUR").split())
    assert f"{needed} answers in all (about" in shown
    assert "EUR) tell two systems apart that differ by 50 percentage points, in 80% of studies." in shown
    assert after["now"] == 80
    assert f"±{100 * after['margin']:.0f} percentage points" in " ".join(
        run.out(*asked, "--preferences", str(tmp_path / "p.jsonl")).split()
    )
    alone = lines(tmp_path / "one.jsonl", {"topic_id": "T", "documents": [{"id": "d", "text": "One. Two."}]})
    assert "no topic has two summaries to compare" in run.refused("plan", alone, "--compares", "summaries")


def test_an_annotator_of_one_name_is_one_in_all_topics_and_nobody_is_nobody() -> None:
    said = [
        Preference("T0", "a", "b", "a", annotator="p", of="summaries"),
        Preference("T1", "b", "a", "tie", annotator="p", of="summaries"),
        Preference("T1", "a", "c", "b", of="summaries"),
        Preference("T1", "d:0", "d:1", "b"),
    ]
    summaries = tuple(Summary(system, system) for system in "abc")
    topics = [Topic(name, (Text("d", "One. Two."),), summaries=summaries) for name in ("T0", "T1")]
    own = answers_of([evidence(topic, said) for topic in topics])
    assert own.systems == ("a", "b", "c")
    assert own.annotator.tolist() == [0, 0, -1]
    assert own.topic.tolist() == [0, 1, 1]
    assert own.outcome.tolist() == [1.0, 0.5, 0.0]
    with pytest.raises(MissingEvidence, match="win-rate needs"):
        registry.prepared([registry.metric("win-rate")], [evidence(topics[0])])


@pytest.mark.parametrize("form", ["table", "latex", "csv", "json"])
def test_every_form_says_that_answers_name_no_annotators(topics: str, tmp_path: Path, run: Run, form: str) -> None:
    for named in (True, False):
        said = [own if named else own | {"annotator": ""} for own in answers(NAMES)]
        given = lines(tmp_path / f"preferences{named}.jsonl", *said)
        status, out, err = run("score", topics, "--preferences", given, "--format", form)
        assert status == 0
        assert ("Not all answers say who gave them" in " ".join(f"{out} {err}".split())) is not named
