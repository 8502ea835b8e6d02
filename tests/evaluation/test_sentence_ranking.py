"""Sentences ranked against their values: perfect where everything was judged, one half where nothing was."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from preferendum.evidence import Evidence, Judgments, Settings
from preferendum.methods.analyses.sentence_ranking.report import sentence_ranking
from preferendum.results import SentenceReport, from_json, to_json
from tests.evaluation.conftest import Run

SENTENCES = ("Quakes hit Chile.", "It rained in Ohio.", "Ten people died in Chile.", "Aid came late.", "Gulls cried.")
VALUES = np.array([2.0, 0.0, 3.0, 1.0, 1.0])


def topic(pairs: list[tuple[int, int]], name: str = "t") -> Evidence:
    a, b = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    outcome = (VALUES[a] > VALUES[b]).astype(float)
    judgments = Judgments(a, b, outcome, np.ones(len(a)), np.zeros(len(a), dtype=np.int64))
    return Evidence(name, tuple(f"d:{k}" for k in range(5)), SENTENCES, judgments)


EVERY_PAIR = [(i, j) for i, j in combinations(range(5), 2) if VALUES[i] != VALUES[j]]


def test_judgments_of_all_pairs_without_smoothing_rank_perfectly() -> None:
    ranking = sentence_ranking("py", [topic(EVERY_PAIR)], {"t": VALUES}, Settings(), "none")

    assert (ranking.agreement, ranking.pooled) == (1.0, 1.0)
    assert (ranking.topics[0].pairs, ranking.topics[0].judgments) == (9, 9)


def test_a_tie_of_the_utilities_counts_one_half() -> None:
    """Sentence 2 beat sentence 1; the other three are tied between them. Of the nine pairs that differ in value seven
    hold one of the two, and are ordered alike; 0 is tied with 3 and with 4."""
    ranking = sentence_ranking("man", [topic([(2, 1)])], {"t": VALUES}, Settings(), "none")

    assert ranking.agreement == pytest.approx((7 + 2 / 2) / 9)


def test_topics_without_judgments_values_or_a_maximum_are_told_apart() -> None:
    topics = [topic([], "none"), topic(EVERY_PAIR, "all"), topic([(2, 1)], "few")]
    values = {"none": VALUES, "all": np.where(VALUES == 1, np.nan, VALUES), "few": np.ones(5)}

    ranking = sentence_ranking("man", topics, values, Settings(), "none")

    assert [(own.pairs, own.agreement) for own in ranking.topics] == [(9, 0.5), (3, 1.0), (0, None)]
    assert (ranking.agreement, ranking.pooled) == (pytest.approx(0.75), pytest.approx(7.5 / 12))
    undetermined = sentence_ranking("man", [topic([(2, 1)])], {"t": VALUES}, Settings(prior=0.0), "none")
    assert (undetermined.agreement, undetermined.topics[0].agreement) == (None, None)


def test_smoothing_reaches_sentences_that_nobody_judged() -> None:
    """Quakes hit Chile shares a word with Ten people died in Chile, and won nothing itself."""
    judged = topic([(2, 1), (2, 3), (2, 4)])
    values = {"t": np.array([2.0, 1.0, np.nan, 1.0, 1.0])}

    smoothed, plain = (sentence_ranking("man", [judged], values, Settings(), smooth) for smooth in ("kernel", "none"))

    assert smoothed.agreement == 1.0
    assert plain.agreement is not None
    again = sentence_ranking("man", [replace(judged, topic_id="t")], values, Settings(), "kernel")
    assert again == smoothed


@pytest.fixture
def topics(tmp_path: Path) -> str:
    path = tmp_path / "topics.jsonl"
    line = {
        "topic_id": "T",
        "documents": [{"id": "d", "sentences": list(SENTENCES)}],
        "references": [{"id": "A", "text": "Ten people died when quakes hit Chile."}],
    }
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return str(path)


def test_the_command_has_a_row_for_each_source_and_smoothing(topics: str, tmp_path: Path, run: Run) -> None:
    judged = tmp_path / "judged.jsonl"
    judged.write_text(json.dumps({"topic": "T", "a": "d:2", "b": "d:1", "winner": "a"}) + "\n", encoding="utf-8")
    given = tmp_path / "values.csv"
    given.write_text("topic,sentence,value\nT,d:0,2\nT,d:1,0\nT,d:2,3\n", encoding="utf-8")
    asked = ["sentences", topics, "--preferences", str(judged), "--against", str(given), "--pairs", "40"]

    data = run.json(*asked)
    table = run.out(*asked, "--smooth", "none", "--prior", "0.5")

    report = from_json(SentenceReport, {name: data[name] for name in ("against", "rankings")})
    assert [(row.judgments, row.smooth) for row in report.rankings] == [
        (judgments, smooth) for judgments in ("man", "ref") for smooth in ("kernel", "paper", "none")
    ]
    assert to_json(report)["against"] == "given"
    assert report.rankings[0].topics[0].pairs == 3
    assert "Judgments that count" in table
    assert "Simulated: 40 judgments a topic, seed 0." in table
    assert "kernel" not in table


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("X,d:0,1", '"X", which is unknown'),
        ("T,d:9,1", '"d:9", which is unknown'),
        ("T,d:0,much", "a number such as 3.5"),
    ],
)
def test_a_table_of_values_that_does_not_fit_is_refused_by_line_and_field(
    topics: str, tmp_path: Path, run: Run, rows: str, message: str
) -> None:
    given = tmp_path / "values.csv"
    given.write_text(f"topic,sentence,value\n{rows}\n", encoding="utf-8")

    error = run.refused("sentences", topics, "--against", str(given))
    assert message in error
    assert "values.csv:2" in error


def test_without_a_pyramid_it_says_what_else_there_is(topics: str, run: Run) -> None:
    assert "--against pyramid: no topic has any; values may come from a FILE, too" in run.refused("sentences", topics)
