"""Files of other tools: what of each becomes a judgment, what is left out, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import preferendum as pf
from preferendum.cli.__main__ import main
from preferendum.formats.readers.tools.catalogue import Reader, readers, table
from preferendum.reading import Data
from tests.conftest import ROOT

#: What the example of each reader holds: topic, a, b, winner, annotator, kind.
EXAMPLES = {
    "AlpacaEval": [
        ("Name a river.", "small", "large", "b", "judge-7b", "machine"),
        ("Name a hill.", "small", "large", "tie", "judge-7b", "machine"),
    ],
    "Arena, LMSYS, MT-Bench": [
        ("q1", "large", "small", "a", "arena_user_1", "human"),
        ("q2", "small", "large", "neither", "arena_user_2", "human"),
        ("q2, turn 2", "small", "large", "tie", "gpt-4 pair-v2", "machine"),
    ],
    "Preference sets for training": [
        ("Where is the key?", "large", "small", "a", "", "human"),
        ("Is it?", "small", "large", "a", "", "human"),
    ],
    "TL;DR comparisons": [("t1", "large", "small", "a", "w1", "human")],
    "Label Studio, pairwise": [
        ("7", "large", "small", "a", "3", "human"),
        ("7", "large", "small", "tie", "4", "human"),
    ],
    "Potato, pairwise": [
        ("i1", "large", "small", "a", "u1", "human"),
        ("i1", "large", "small", "tie", "u2", "machine"),
        ("i2", "small", "large", "b", "u2", "human"),
    ],
    "Argilla, ranking": [
        ("r1", "large", "small", "a", "u1", "human"),
        ("r1", "large", "small", "tie", "u2", "human"),
        ("r2", "large", "small", "b", "u1", "human"),
    ],
}
#: What is remarked on beside the votes of each example.
LEFT_OUT = {
    "AlpacaEval": "4 rows: 2 votes, 1 with a preference between 1, 1.5 and 2 (a judgment here has no fractions), 1 "
    "without a preference",
    "Arena, LMSYS, MT-Bench": "5 rows: 3 votes, 1 without a winner, 1 by a model that is not named",
    "Preference sets for training": "3 rows: 2 votes, 1 of a model against itself; rows do not say who judged (taken "
    "for people) or which text stood on the left (taken for the chosen one)",
    "TL;DR comparisons": "2 rows: 1 vote, 1 of a model against itself",
    "Label Studio, pairwise": "1 row: 2 votes, 1 skipped by its annotator",
    "Potato, pairwise": "4 rows: 3 votes, 1 without a winner",
    "Argilla, ranking": "2 rows: 3 votes, 1 draft and not submitted; which text stood on the left is not said",
}
#: What must be named to read an example.
COLUMNS = {
    "Label Studio, pairwise": {"a": "left_model", "b": "right_model"},
    "Potato, pairwise": {"a": "system_a", "b": "system_b"},
}
ARENA = {"question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_a"}

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(text: str) -> Path:
        path = tmp_path / "from_elsewhere"  # a name that says nothing
        path.write_text(text)
        return path

    return written


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def judged(data: Data) -> list[tuple[object, ...]]:
    return [
        (one.topic, one.a, one.b, one.winner, one.annotator, one.extra.get("kind", "human")) for one in data.preferences
    ]


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_the_example_of_a_reader_is_read_and_what_is_left_out_is_counted(reader: Reader, write: Write) -> None:
    data = pf.read(write(reader.example), columns=COLUMNS.get(reader.name))
    assert judged(data) == EXAMPLES[reader.name]
    assert str(data.bundle.remarks[0]) == f"from_elsewhere: {reader.name}, {LEFT_OUT[reader.name]}"


def test_docs_have_the_table_of_the_catalogue() -> None:
    assert table() in (ROOT / "docs" / "formats.md").read_text()


@pytest.mark.parametrize(
    ("winner", "letter"),
    [
        *(("model_a", "a"), ("model_b", "b"), ("tie", "tie"), ("TIE", "tie"), ("tie (bothbad)", "neither")),
        *(("both_bad", "neither"), ("both-bad", "neither"), ("bothbad", "neither")),
    ],
)
def test_a_winner_of_the_arena_has_many_spellings(winner: str, letter: str) -> None:
    assert pf.read([ARENA | {"winner": winner}]).preferences[0].winner == letter


def test_votes_of_the_arena_are_read_from_tables_lists_and_lines_alike(write: Write) -> None:
    rows = [ARENA | {"judge": "arena_user_1", "tstamp": 1_700_000_000.5}, ARENA | {"winner": "tie (bothbad)"}]
    header = "question_id,model_a,model_b,winner,judge,tstamp\n"
    forms = [
        lines(*rows),
        json.dumps(rows),
        json.dumps(rows, indent=2),
        header + "q,x,y,model_a,arena_user_1,1700000000.5\nq,x,y,tie (bothbad),,\n",
    ]
    first, *others = [list(pf.read(write(form)).preferences) for form in forms]
    assert first[0].at == "2023-11-14T22:13:20.500Z"
    assert all(other == first for other in others)


def test_one_column_an_outcome_is_a_winner() -> None:
    row = {"id": 5, "model_a": "x", "model_b": "y", "winner_model_a": 0, "winner_model_b": 0, "winner_tie": 1}
    assert judged(pf.read([row])) == [("5", "x", "y", "tie", "", "human")]


@pytest.mark.parametrize("judge", [["gpt-4", "pair-v2"], "gpt-4-1106-preview", "claude-3-opus"])
def test_votes_of_machines_never_count_as_those_of_people(judge: object) -> None:
    data = pf.read([ARENA | {"judge": judge}] * 2)
    with pytest.raises(pf.Refused, match="judgments of the kind machine alone"):
        pf.rank(data)
    assert len(pf.rank(data, counted_kinds="machines").systems) == 2


def test_what_is_left_out_stands_on_the_board() -> None:
    board = pf.rank([ARENA, ARENA | {"winner": None}])
    assert "2 rows: 1 vote, 1 without a winner." in " ".join(str(board).split())


def test_a_training_set_that_does_not_say_whose_texts_it_has_asks_for_the_columns(write: Write) -> None:
    row = {"prompt": "Why?", "chosen": "So.", "rejected": "No.", "better": "large", "worse": "small"}
    with pytest.raises(pf.Refused, match="no columns that say whose they are") as refused:
        pf.read(write(lines(row)))
    assert "--columns a=COLUMN,b=COLUMN" in str(refused.value)
    assert "better, worse" in str(refused.value)
    data = pf.read(write(lines(row)), columns={"a": "better", "b": "worse"})
    assert judged(data) == [("Why?", "large", "small", "a", "", "human")]


@pytest.mark.parametrize(
    "prompt",
    [
        {"prompt": "Why?"},
        {"prompt": [{"role": "user", "content": "Why?"}]},
        {"instruction": "Why?", "input": ""},
        {"conversations": [{"from": "human", "value": "Why?"}]},
        {"chosen": [{"role": "user", "content": "Why?"}, 1], "rejected": [{"role": "user", "content": "Why?"}, 2]},
    ],
)
def test_the_prompt_of_a_training_set_has_many_forms(prompt: dict[str, Any]) -> None:
    row = {"chosen": "So.", "rejected": "No.", "chosen_model": "x", "rejected_model": "y"} | prompt
    assert pf.read([row]).preferences[0].topic == "Why?"


def test_a_long_prompt_has_a_name_of_its_own() -> None:
    rows = [ARENA | {"question_id": None, "prompt": "word " * 100 + end} for end in ("x", "y")]
    names = {one.topic for one in pf.read(rows).preferences}
    assert len(names) == 2
    assert max(map(len, names)) <= 80


def test_a_file_that_two_readers_know_is_refused_with_their_names(write: Write) -> None:
    both = ARENA | {"chosen": "x", "rejected": "y"}
    with pytest.raises(pf.Refused, match="Arena, LMSYS, MT-Bench or Preference sets for training"):
        pf.read(write(lines(both)))


def test_columns_of_no_such_key_and_of_our_own_file_are_refused(write: Write) -> None:
    with pytest.raises(ValueError, match="winner is none of"):
        pf.read([ARENA], columns={"winner": "x"})
    with pytest.raises(pf.Refused, match=r'no column "nobody" in any row'):
        pf.read([ARENA], columns={"annotator": "nobody"})
    with pytest.raises(pf.Refused, match="a file whose columns need no names"):
        pf.read(write("a,b,winner\nx,y,a\n"), columns={"a": "x"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lines(ARENA, ARENA | {"winner": "left"}), r'elsewhere:2: winner: found the text "left"; expected model_a'),
        (lines(ARENA, ARENA | {"model_a": 3.5}), r"elsewhere:2: model_a: found the number 3.5"),
        (lines(ARENA) + '{"model_a": ' + "[" * 100_000, "elsewhere:2: found nesting deeper than 20"),
        (lines(ARENA) + '{"winner": NaN}\n', "elsewhere:2: found NaN"),
        (lines(ARENA) + '{"turn": ' + "9" * 400 + "}\n", "elsewhere:2: found the whole number"),
        ("[" + lines(ARENA) + "," + "[" * 1_000_000, "found nesting deeper than 20"),
        ("[" + lines(ARENA) + "," + lines(ARENA), "a list that is never closed"),
        ("[" + lines(ARENA) + "] x", "text after the list"),
        ("[" + lines(ARENA) + ',{"model_a": "x' + '\\"' * 400_000, "found"),
        ("model_a,model_b,winner\nx,y\n", "found 2 values"),
        (lines(ARENA | {"winner": ""}), "1 row: 0 votes, 1 without a winner"),
        (lines({"generator_1": "x", "generator_2": "y", "preference": 3}), "expected 1 to 2, or null"),
        (lines({"info": {}, "choice": 0, "summaries": [1]}), "expected a list of two objects"),
        (lines({"info": {}, "choice": 0, "summaries": []}, {"info": 1}), "expected a list of two objects"),
        (lines(ARENA, {"model_a": "x", "model_b": "y"}, {"winner": []}), "elsewhere:3: winner: found a list of 0"),
        (lines({"chosen": "x", "rejected": "y", "chosen_model": 1.5, "rejected_model": "s"}, {}), "the number 1.5"),
    ],
    ids=range(16),
)
def test_a_broken_file_is_refused_with_the_place(text: str, expected: str, write: Write) -> None:
    with pytest.raises(pf.Refused, match=expected):
        pf.read(write(text))


def test_a_file_is_converted_to_our_form_which_is_read_again(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(lines(ARENA, ARENA | {"winner": ""}))
    output = tmp_path / "mine.jsonl"
    assert main(["convert", str(source), "--output", str(output)]) == 0
    assert "2 rows: 1 vote, 1 without a winner" in capsys.readouterr().err
    assert judged(pf.read(output)) == judged(pf.read(source))


def test_the_command_line_ranks_by_the_columns_that_it_is_given(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(lines({"chosen": "So.", "rejected": "No.", "good": "large", "bad": "small"}))
    assert main(["rank", str(source)]) == 2
    assert "--columns a=COLUMN,b=COLUMN" in capsys.readouterr().err
    assert main(["rank", str(source), "--columns", "a=good,b=bad"]) == 0
    assert "large" in capsys.readouterr().out


@pytest.mark.parametrize(
    "selected",
    [[{"selected": "right"}], {"selected": "right"}, "right", '[{"selected": "right"}]'],
    ids=["a list, as JSON-MIN", "an object", "a word", "text, as CSV"],
)
def test_the_selected_side_of_label_studio_has_many_forms(selected: object) -> None:
    row = {"id": 7, "left": "x", "right": "y", "pw": selected, "annotator": 3, "annotation_id": 1, "lead_time": 2.5}
    data = pf.read([row], columns={"a": "left", "b": "right"})
    assert judged(data) == [("7", "x", "y", "b", "3", "human")]
    assert data.preferences[0].seconds == 2.5


def test_sides_without_a_name_ask_for_the_columns() -> None:
    task = {"id": 1, "data": {"left_by": "x", "right_by": "y"}, "annotations": []}
    with pytest.raises(pf.Refused, match=r"left and right without a name .a task has left_by, right_by.") as refused:
        pf.read([task])
    assert "--columns a=COLUMN,b=COLUMN" in str(refused.value)
    options = {"id": 1, "fields": {}, "responses": {"best": [{"value": ["response-1", "response-2"]}]}}
    with pytest.raises(pf.Refused, match="the options response-1 and response-2"):
        pf.read([options])
    named = options | {"metadata": {"first": "x", "second": "y"}}
    assert judged(pf.read([named], columns={"a": "first", "b": "second"})) == [("1", "x", "y", "a", "", "human")]


def test_a_ranking_of_three_is_refused_with_the_reason() -> None:
    row = {"id": 1, "fields": {}, "responses": {"best": [{"value": ["x", "y", "z"], "user_id": "u"}]}}
    with pytest.raises(pf.Refused, match=r"answers that are not independent \(docs/not-done.md\)"):
        pf.read([row])


@pytest.mark.parametrize(("value", "winner"), [(-2, "a"), ("-1", "a"), (0, "tie"), (1.5, "b")])
def test_a_point_on_a_scale_is_a_side(value: object, winner: str) -> None:
    row = {"instance_id": "i", "user_id": "u", "better.scale_value": value, "left": "x", "right": "y"}
    assert judged(pf.read([row], columns={"a": "left", "b": "right"})) == [("i", "x", "y", winner, "u", "human")]
    with pytest.raises(pf.Refused, match="join the items to this file"):
        pf.read([row])
