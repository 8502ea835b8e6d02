"""A machine judge's card: agreement beside people's own, sides, ties, bias, and nothing from next to nothing."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import preferendum as pf
from preferendum.card import Card
from preferendum.results.judge_card import Row
from tests.conftest import SHARED
from tests.evaluation.conftest import Run
from tests.evaluation.test_helped import ALPHA, JUDGE, people, rows


def of(card: Card, what: str) -> Row:
    (row,) = [row for row in card.rows if row.what.startswith(what)]
    return row


def same_pairs(number: int = 120, seed: int = 0) -> list[dict[str, Any]]:
    """Three annotators on the same pairs, who err once in ten."""
    rng, own = np.random.default_rng(seed), rows(ALPHA, number, seed)
    own = [*{(row["topic"], *sorted((row["a"], row["b"]))): row for row in own}.values()]
    other = {"a": "b", "b": "a"}
    return [
        row | {"annotator": name, "winner": other[row["winner"]] if rng.random() < 0.1 else row["winner"]}
        for row in own
        for name in ("Ann", "Bob", "Cy")
    ]


def answers_of_judge(human: list[dict[str, Any]], **more: Any) -> list[dict[str, Any]]:
    return [row | JUDGE | more for row in human if row["annotator"] == "Ann"]


def test_a_judge_who_answers_as_one_annotator_agrees_as_much_as_people_do():
    human = same_pairs()
    card = pf.judge_card(human + answers_of_judge(human), judge="gpt")
    agreed = of(card, "agrees with people, both decided")
    assert agreed.low < agreed.value < agreed.high
    assert 0.75 < agreed.human < 0.87 < agreed.value
    assert of(card, "agrees with people less than they do by").value < 0
    assert of(card, "alternative-annotator test, annotators it wins (margin 0.1)").note == "passes"
    assert card.rows[-1].what.startswith("alternative-annotator test")


def test_twenty_pairs_are_too_early_for_every_figure_about_answers():
    human = same_pairs(20)
    card = pf.judge_card(human + answers_of_judge(human), judge="gpt")
    about_answers = [row for row in card.rows if row.what.startswith(("agrees", "first", "ties", "alternative"))]
    assert {row.note for row in about_answers} == {"too early"}
    assert {row.value for row in about_answers} == {None}


def test_a_judge_that_always_takes_the_first_is_named_in_one_order_and_in_both():
    human = people(ALPHA, 400, 1)
    one = [row | {"winner": "a"} for row in rows(ALPHA, 300, 2, **JUDGE)]
    turned = [row | {"a": row["b"], "b": row["a"]} for row in one]
    card = pf.judge_card(human + one, judge="gpt")
    assert "prefers the first named more often than people do" in card.tables[0].note
    assert of(card, "the same when").note == "too early"
    card = pf.judge_card(human + one + turned, judge="gpt")
    assert "leans to the first shown" in card.tables[0].note
    assert of(card, "the same when").value == 0.0
    assert of(card, "of ties over both orders").value == 1.0


def test_an_order_of_three_systems_has_no_interval_and_ties_alone_have_no_figure_that_takes_more():
    three = [row for row in same_pairs(600) if {row["a"], row["b"]} <= {"s0", "s3", "s7"}]
    order = of(pf.judge_card(three + answers_of_judge(three), judge="gpt"), "order of systems")
    assert (order.value, order.low, order.note) == (1.0, None, "too few systems for an interval")
    equal = [row | {"winner": "tie"} for row in same_pairs(100)]
    assert of(pf.judge_card(equal + answers_of_judge(equal), judge="gpt"), "agrees beyond chance").value is None
    ties = pf.judge_card(equal + answers_of_judge(same_pairs(100)), judge="gpt")
    assert of(ties, "order of systems").value is None


@pytest.mark.parametrize("winner", ["a", "tie"])
def test_no_interval_is_a_single_point_where_a_judge_always_or_never_agrees(winner: str):
    human = [
        {"topic": f"T{k}", "of": "summaries", "a": "x", "b": "y", "winner": "a", "annotator": "Ann"} for k in range(120)
    ]
    card = pf.judge_card(human + answers_of_judge(human, winner=winner), judge="gpt")
    assert {row.what for row in card.rows if row.low is not None and row.low == row.high} == set()
    as_such = of(card, "agrees with people, ties as such")
    hits = 120 if winner == "a" else 0
    assert (as_such.low, as_such.high) == pytest.approx(binomtest(hits, 120).proportion_ci(method="wilson"))


def test_a_judge_that_shirks_has_its_ties_named():
    human = people(ALPHA, 400, 3)
    lazy = [row | {"winner": "tie" if k % 2 else row["winner"]} for k, row in enumerate(rows(ALPHA, 400, 4, **JUDGE))]
    assert "more often than people do" in pf.judge_card(human + lazy, judge="gpt").tables[0].note


def test_a_preference_for_length_beyond_people_is_found_where_texts_are_there():
    human = same_pairs(400)
    names = [f"s{k}" for k in range(len(ALPHA))]
    texts = [
        {
            "topic_id": topic,
            "documents": [{"id": "d", "text": "It rained."}],
            "summaries": [{"system": name, "text": "word " * (5 + 40 * ((k * 5) % 8))} for k, name in enumerate(names)],
        }
        for topic in sorted({row["topic"] for row in human})
    ]
    longer = [
        row | {"winner": "a" if (int(row["a"][1]) * 5) % 8 > (int(row["b"][1]) * 5) % 8 else "b"}
        for row in answers_of_judge(human)
    ]
    lean = of(pf.judge_card(human + longer, judge="gpt", topics=texts), "prefers the longer")
    assert lean.low > 0
    none = of(pf.judge_card(human + answers_of_judge(human), judge="gpt", topics=texts), "prefers the longer")
    assert none.low < 0.05
    assert none.value < lean.value / 2


def test_the_card_prints_and_is_written_for_papers_and_by_the_command(run: Run, tmp_path):
    human = same_pairs()
    path = tmp_path / "judgments.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["topic", "a", "b", "winner", "annotator", "kind"], restval="")
        writer.writeheader()
        writer.writerows(human + answers_of_judge(human))
    card = pf.judge_card(path, judge="gpt")
    assert "gpt beside people" in repr(card)
    assert card.to_latex().startswith("\\begin{table*}")
    assert pf.evaluate("card", path, "--judge", "gpt")["card"] == card.to_dicts()
    with pytest.raises(pf.Refused, match="no judgment by the machine gtp; expected one of gpt"):
        pf.judge_card(path, judge="gtp")


@pytest.mark.shared("judges")
def test_the_leans_of_both_judges_of_arena_to_a_side_are_named():
    with (SHARED / "judges" / "arena.csv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file))[:9000]
    source = [{"a": row["a"], "b": row["b"], "winner": row["people"]} for row in pairs]
    for judge in ("gpt-4", "claude-3-opus"):
        own = [
            {"a": row["a"], "b": row["b"], "winner": row[judge], "annotator": judge, "kind": "machine"} for row in pairs
        ]
        assert " named more often than people do" in pf.judge_card(source + own, judge=judge).tables[0].note
