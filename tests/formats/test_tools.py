"""Files of other tools: what of each becomes a judgment, what is left out, and what is refused."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import preferendum as pf
from preferendum import formats
from preferendum.cli.__main__ import main
from preferendum.formats.judge import judge_in
from preferendum.formats.readers.tools.catalogue import Reader, readers, table
from preferendum.formats.records import Existing
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
    "Mechanical Turk, batch results": [
        ("h1", "large", "small", "a", "w1", "human"),
        ("h2", "small", "large", "tie", "w1", "human"),
    ],
    "Verdicts side by side": [
        ("", "large", "small", "a", "", "human"),
        ("", "large", "small", "a", "gpt-4", "machine"),
        ("", "small", "large", "tie", "", "human"),
        ("", "small", "large", "b", "gpt-4", "machine"),
        ("", "large", "small", "b", "gpt-4", "machine"),
    ],
    "Winners and losers": [
        ("", "large", "small", "a", "ada", "human"),
        ("", "small", "large", "a", "ben", "human"),
        ("", "large", "small", "tie", "cem", "human"),
    ],
    "Argilla, ranking": [
        ("r1", "large", "small", "a", "u1", "human"),
        ("r1", "large", "small", "tie", "u2", "human"),
        ("r2", "large", "small", "b", "u1", "human"),
    ],
}
#: And of files of scores: topic, system, dimension, score, assessor.
SCORES = {
    "Appraise": [
        ("news.1:7", "large", "score", 85.0, "deu01"),
        ("news.1:7", "small", "score", 40.0, "deu01"),
        ("news.1:7", "small", "score", 60.0, "deu02"),
    ],
    "mt-metrics-eval": [("0", "large", "mqm", 0.0, "rater1"), ("0", "small", "mqm", -5.1, "rater1")],
    "Pearmut": [
        ("s1", "large", "score", 85.0, "u1"),
        ("s1", "large", "fluency", 4.0, "u2"),
        ("s1", "large", "meaning", 3.0, "u2"),
        ("s1", "small", "score", 40.0, "u1"),
    ],
}
#: What is remarked on beside the votes of each example.
LEFT_OUT = {
    "Appraise": "7 rows: 3 scores, 2 to check the annotator, 1 without a score, 1 of a whole document",
    "mt-metrics-eval": "3 rows: 2 scores, 1 with a severity other than major, minor and neutral",
    "Pearmut": "4 rows: 4 scores, 1 of a task that was reset, 1 skipped, 1 without a score, 1 of a tutorial, a check "
    "or a form",
    "AlpacaEval": "4 rows: 2 votes, 1 with a preference between 1, 1.5 and 2 (a judgment here has no fractions), 1 "
    "without a preference",
    "Arena, LMSYS, MT-Bench": "5 rows: 3 votes, 1 without a winner, 1 by a model that is not named",
    "Preference sets for training": "3 rows: 2 votes, 1 of a model against itself; rows do not say who judged (taken "
    "for people) or which text stood on the left (taken for the chosen one)",
    "TL;DR comparisons": "2 rows: 1 vote, 1 of a model against itself",
    "Label Studio, pairwise": "1 row: 2 votes, 1 skipped by its annotator",
    "Potato, pairwise": "4 rows: 3 votes, 1 without a winner",
    "Mechanical Turk, batch results": "4 rows: 2 votes, 1 rejected, 1 without a winner",
    "Verdicts side by side": "4 rows: 5 votes, 1 without a winner",
    "Winners and losers": "4 rows: 3 votes, 1 without a winner; rows do not say which of the two stood on the "
    "left (taken for the winner)",
    "Argilla, ranking": "2 rows: 3 votes, 1 draft and not submitted; which text stood on the left is not said",
}
#: What must be named to read an example.
COLUMNS = {
    "Label Studio, pairwise": {"a": "left_model", "b": "right_model"},
    "Mechanical Turk, batch results": {"a": "Input.system_a", "b": "Input.system_b"},
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


def scored(bundle: formats.Bundle) -> list[tuple[object, ...]]:
    """The scores of a file, of its own topics or of others."""
    alone = [(one.topic, one.system, one.dimension, one.score, one.assessor) for one in bundle.human_scores]
    return alone + [
        (topic.topic_id, summary.name, dimension, score, assessor)
        for topic in bundle.topics
        for summary in topic.summaries
        for assessor, scores in summary.ratings.items()
        for dimension, score in scores.items()
    ]


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_the_example_of_a_reader_is_read_and_what_is_left_out_is_counted(reader: Reader, write: Write) -> None:
    data = pf.read(write(reader.example), columns=COLUMNS.get(reader.name))
    assert judged(data) == EXAMPLES.get(reader.name, [])
    assert scored(data.bundle) == SCORES.get(reader.name, [])
    models = {judge_in([own]).model for own in data.preferences} - {""}
    assert models == {"AlpacaEval": {"judge-7b"}, "Arena, LMSYS, MT-Bench": {"gpt-4"}}.get(reader.name, set())
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
        json.dumps({"data": rows}),
        json.dumps({"version": 1.0, "note": "exported", "votes": rows}, indent=2),
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
    ("won", "lost"),
    [
        ("Winner", "Loser"),
        ("winning_model", "losing_model"),
        ("better", "worse"),
        ("gagnant", "perdant"),
        ("胜者", "败者"),
    ],
)
def test_the_winner_and_the_loser_of_a_table_have_many_names(won: str, lost: str, write: Write) -> None:
    rows = [{"topic": "t1", won: "large", lost: "small", "rater": "ada"}]
    expected = [("t1", "large", "small", "a", "ada", "human")]
    assert judged(pf.read(rows)) == expected
    assert judged(pf.read(write(f"topic;{won};{lost};rater\nt1;large;small;ada\n"))) == expected


@pytest.mark.parametrize(("drawn", "winner"), [("yes", "tie"), (True, "tie"), ("no", "a"), (0, "a"), (None, "a")])
def test_a_column_of_ties_says_whether_somebody_won(drawn: object, winner: str) -> None:
    assert pf.read([{"winner": "large", "loser": "small", "draw": drawn}]).preferences[0].winner == winner


def test_a_word_in_a_column_of_ties_that_says_neither_is_refused() -> None:
    with pytest.raises(pf.Refused, match=r'draw: found the text "perhaps"'):
        pf.read([{"winner": "large", "loser": "small", "draw": "perhaps"}])


def test_winning_texts_that_do_not_say_whose_they_are_ask_for_the_columns() -> None:
    row = {"prompt": "Why?", "winner": "So.\nThat is why.", "loser": "No.", "x": "large", "y": "small"}
    with pytest.raises(pf.Refused, match=r"no columns that say whose they are.*expected --columns a=COLUMN"):
        pf.read([row])
    assert judged(pf.read([row], columns={"a": "x", "b": "y", "topic": "prompt"})) == [
        ("Why?", "large", "small", "a", "", "human")
    ]


@pytest.mark.parametrize(
    "prompt",
    [
        {"prompt": "Why?"},
        {"prompt": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}]},
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
    with pytest.raises(ValueError, match="loser is none of"):
        pf.read([ARENA], columns={"loser": "x"})
    with pytest.raises(pf.Refused, match=r'no column "nobody" in any row'):
        pf.read([ARENA], columns={"annotator": "nobody"})
    with pytest.raises(pf.Refused, match='no column "x"'):
        pf.read(write("a,b,winner\nx,y,a\n"), columns={"a": "x"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lines(ARENA, ARENA | {"winner": "third"}), r'elsewhere:2: winner: found the text "third"; expected a, left'),
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
    with pytest.raises(pf.Refused, match="put the items' file beside"):
        pf.read([row])


def state(user: str, answers: Mapping[str, object], name: str = "selection", **more: object) -> str:
    """What Potato keeps of a person, as it writes it; an item's clicks may be many."""
    labels = {item: [[{"schema": "better", "name": name}, value]] for item, value in answers.items()}
    clicks = {item: {"total_time_ms": 1500, "session_end": 1.7e9, "interactions": [[]] * 9} for item in answers}
    given = {"user_id": user, "max_assignments": -1, "instance_id_to_behavioral_data": clicks}
    return json.dumps(given | {"instance_id_to_label_to_value": labels, "origin": {}} | more, indent=2)


POTATO = {
    "out/u1/user_state.json": state(
        "u1", {"i1": "A", "i2": "A"}, instance_id_to_presentation_order={"i2": {"better": [1, 0]}}
    ),
    "out/u2/user_state.json": state("u2", {"i1": "-2"}, "scale_value", origin={"kind": "llm"}),
    "out/config.yaml": "port: 8000\n",
    "data/items.jsonl": lines(
        {"id": "i1", "text": ["A dry day.", "Dry."], "prompt": "How was it?", "one": "large", "two": "small"},
        {"id": "i2", "text": ["Wet.", "A wet day."], "prompt": "And now?", "one": "small", "two": "large"},
    ),
}
SIDES = {"a": "one", "b": "two"}


def packed(path: Path, files: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_states_of_potato_are_joined_to_their_items_and_keep_what_was_shown_where(tmp_path: Path) -> None:
    path = packed(tmp_path / "project.zip", POTATO)
    data = pf.read(path, columns=SIDES)
    assert judged(data) == [
        ("i1", "large", "small", "a", "u1", "human"),
        ("i2", "large", "small", "a", "u1", "human"),  # the second text stood first
        ("i1", "large", "small", "a", "u2", "machine"),
    ]
    assert (data.preferences[0].seconds, data.preferences[0].at) == (1.5, "2023-11-14T22:13:20.000Z")
    remarks = "; ".join(map(str, data.bundle.remarks))
    assert "config.yaml: ignored: it has nothing of Potato, pairwise" in remarks
    assert "3 rows: 3 votes" in remarks
    study = formats.read(path, columns=SIDES, existing=Existing({}))
    assert [topic.question for topic in study.topics] == ["How was it?", "And now?"]
    assert {summary.name: summary.text for summary in study.topics[1].summaries} == {
        "large": "A wet day.",
        "small": "Wet.",
    }


def test_lines_of_potato_are_read_and_many_clicks_are_no_reason_to_refuse_a_state(tmp_path: Path) -> None:
    clicks = {"i1": {"interactions": [0] * 200_001}}
    rows = {
        "annotations.jsonl": lines({"instance_id": "i2", "user_id": "u3", "labels": {"better": {"selection": "B"}}}),
        "state.json": state("u1", {"i1": "A"}, instance_id_to_behavioral_data=clicks),
        "items.jsonl": POTATO["data/items.jsonl"],
    }
    data = pf.read(packed(tmp_path / "mine.zip", rows), columns=SIDES)
    assert {row[:5] for row in judged(data)} == {
        ("i2", "small", "large", "b", "u3"),
        ("i1", "large", "small", "a", "u1"),
    }


LARGE, SMALL = ({"item_id": "s1", "src": "Wet.", "tgt": {name: name}} for name in ("large", "small"))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"annotation": [{"large": {"score": True}}], "item": [LARGE]}], 'elsewhere:1: score: found "True"'),
        ([{"annotation": [1], "item": [LARGE]}], "annotation[0]: found the number 1"),
        ([{"annotation": [], "item": [LARGE]}], "annotation: found a list of 0"),
        ([{"annotation": [{"large": [1]}], "item": [LARGE]}], "0 scores, 1 without a score"),
        ([{"annotation": [{}], "item": [{"tgt": {}}]}], "neither `item_id` nor `src`"),
    ],
)
def test_broken_scores_are_refused_with_the_place(rows: list[dict[str, Any]], expected: str, write: Write) -> None:
    with pytest.raises(pf.Refused, match=re.escape(expected)):
        pf.read(write(lines(*({"user_id": "u", "item_i": 0} | row for row in rows))))


def test_campaigns_of_pearmut_are_told_apart_and_a_task_sent_again_counts_once(write: Write) -> None:
    entries = [
        {"annotation": [{"large": {"score": score}}], "item": [LARGE], "user_id": "u", "item_i": 0} for score in (1, 2)
    ]
    data = pf.read(write(json.dumps({"one": entries, "two": entries[:1]})))
    assert scored(data.bundle) == [
        ("one: s1", "large", "score", 2.0, "u"),
        ("two: s1", "large", "score", 1.0, "u"),
    ]
    assert "2 scores, 1 by the same annotator, who scored the same again" in str(data.bundle.remarks[0])


def test_two_pairs_of_languages_of_appraise_and_lines_that_are_not_its_are_refused(write: Write) -> None:
    line = "u,large,7,TGT,eng,{},85,1700000000.5,1700000001.5\n"
    with pytest.raises(pf.Refused, match='elsewhere:2: found "eng-ces"; expected one pair of languages'):
        pf.read(write(line.format("deu") + line.format("ces")))
    with pytest.raises(pf.Refused, match="expected user, system, segment, TGT"):
        pf.read(write(line.format("deu") + "u,large\n"))


SET = {
    "wmt/sources/en-de.txt": "It rained.\nIt is dry.\n",
    "wmt/references/en-de.refA.txt": "Es regnete.\nEs ist trocken.\n",
    "wmt/system-outputs/en-de/large.txt": "Es regnete!\nTrocken.\n",
    "wmt/system-outputs/en-de/refA.txt": "Es regnete.\nEs ist trocken.\n",
    "wmt/human-scores/en-de.esa.seg.score": "large\t80.5\nlarge\tNone\nrefA 90\nrefA None\n",
    "wmt/human-scores/en-de.mqm.rater1.seg.rating": 'large\tNone\nlarge\t{"errors": [{"severity": "major"}]}\n'
    'refA\t{"errors": []}\trater7\n',
    "wmt/metric-scores/en-de/BLEU-refA.seg.score": "large 1\n",
}


def test_an_evaluation_set_of_mt_metrics_eval_has_its_texts_beside_its_scores(tmp_path: Path) -> None:
    bundle = formats.read(packed(tmp_path / "set.zip", SET), existing=Existing({}))
    assert [(topic.documents[0].text, topic.references[0].text) for topic in bundle.topics] == [
        ("It rained.", "Es regnete."),
        ("It is dry.", "Es ist trocken."),
    ]
    summaries = {(topic.topic_id, own.name): own for topic in bundle.topics for own in topic.summaries}
    assert {key: dict(own.human) for key, own in summaries.items()} == {
        ("0", "large"): {"esa": 80.5},
        ("0", "refA"): {"esa": 90.0, "mqm": 0.0},
        ("1", "large"): {"mqm": -5.0},
    }
    assert summaries["0", "refA"].person
    assert dict(summaries["1", "large"].ratings) == {"rater1": {"mqm": -5.0}}
    remarks = "; ".join(map(str, bundle.remarks))
    assert "7 rows: 4 scores, 3 without a score" in remarks
    assert "BLEU-refA.seg.score: ignored" in remarks
    two = SET | {"wmt/human-scores/en-ru.esa.seg.score": "large\t1\n"}
    with pytest.raises(pf.Refused, match='found "en-de, en-ru"; expected one pair'):
        pf.read(packed(tmp_path / "two.zip", two))


def test_texts_of_label_studio_become_those_of_a_study(tmp_path: Path) -> None:
    result = {"type": "pairwise", "to_name": "text2,text1", "value": {"selected": "left"}}
    task = {"id": 7, "data": {"text1": "Dry.", "text2": "A dry day.", "source": "It was dry.", "l": "x", "r": "y"}}
    rows = [
        task | {"annotations": [{"completed_by": 1, "result": [result]}]},
        {"id": 8, "text1": "Wet.", "text2": "So wet.", "l": "x", "r": "y", "pw": "right", "annotator": 1}
        | {"annotation_id": 2, "lead_time": 1},
    ]
    texts = []
    for number, row in enumerate(rows):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps([row]))
        topic = formats.read(path, columns={"a": "l", "b": "r"}, existing=Existing({})).topics[0]
        texts.append((topic.question, {summary.name: summary.text for summary in topic.summaries}))
    assert texts == [("It was dry.", {"x": "A dry day.", "y": "Dry."}), ("", {"x": "Wet.", "y": "So wet."})]
