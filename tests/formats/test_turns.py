"""An output that is a conversation keeps its turns, as they were given."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import preferendum as pf
from preferendum import formats
from preferendum.formats import Refused, Turn

ASKED = {"role": "user", "content": "Write y in Python.\n\n    indented"}
SAID = {"role": "assistant", "content": "```python\nif x:\n    y()\n```\nDone."}


def read(path: Path, *summaries: dict[str, Any]) -> formats.Bundle:
    own = [{"system": f"s{n}", **summary} for n, summary in enumerate(summaries)]
    line = {"topic_id": "T", "summaries": [*own, {"system": "other", "text": "Other."}]}
    file = path / "topics.jsonl"
    file.write_text(json.dumps(line) + "\n")
    return formats.read(file)


def refused(path: Path, *summaries: dict[str, Any]) -> list[str]:
    with pytest.raises(Refused) as found:
        read(path, *summaries)
    return [str(complaint) for complaint in found.value.complaints]


def test_turns_are_read_with_what_the_system_wrote_beside_them(tmp_path: Path) -> None:
    again = {"role": "user", "content": "Thanks"}
    bundle = read(tmp_path, {"turns": [ASKED, SAID, again, {"role": "assistant", "content": "Welcome"}]})
    [own] = [summary for summary in bundle.topics[0].summaries if summary.turns]
    assert own.turns is not None
    assert own.turns[:2] == (Turn("user", ASKED["content"]), Turn("assistant", SAID["content"]))
    assert own.text == SAID["content"] + "\n\nWelcome"


@pytest.mark.parametrize(
    "given",
    [
        [{"from": "human", "value": "Why?"}, {"from": "gpt", "value": "So."}],
        [{"role": "User", "content": [{"type": "text", "text": "Why?"}]}, {"role": "assistant", "content": "So."}],
    ],
)
def test_other_forms_of_turns_are_read_in_the_place_of_a_text(tmp_path: Path, given: list[Any]) -> None:
    own = read(tmp_path, {"text": given}).topics[0].summaries[0]
    assert own.turns == (Turn("user", "Why?"), Turn("assistant", "So."))
    assert own.text == "So."


def test_what_is_written_reads_as_the_same(tmp_path: Path) -> None:
    broken = "\n".join(["a line of forty characters, as if broken"] * 9)
    topics = read(tmp_path, {"turns": [ASKED, SAID, {"role": "assistant", "content": broken}]}).topics
    file = io.BytesIO()
    formats.write_topics(topics, file)
    (tmp_path / "again.jsonl").write_bytes(file.getvalue())
    assert formats.read(tmp_path / "again.jsonl").topics == topics
    assert json.loads(file.getvalue())["summaries"][0]["turns"][0] == ASKED


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ([ASKED], "no turn of the assistant"),
        ([], "no turn of the assistant"),
        ("Hello", "a list of turns such as"),
        ([["user", "Hello"], SAID], "a list of 2"),
        ([{"role": "<b>user</b>", "content": "x"}, SAID], "user, assistant or system"),
        ([{"role": ["user"], "content": "x"}, SAID], "user, assistant or system"),
        ([{"role": "tool", "content": "x"}, SAID], "user, assistant or system"),
        ([{"role": "user", "content": ""}, SAID], "an empty text"),
        ([{"role": "user", "content": None}, SAID], "null"),
        ([{"role": "user"}, SAID], "null"),
        ([{"role": "user", "content": []}, SAID], "an empty text"),
        ([ASKED, {"role": "assistant", "content": "\x00"}], "control character"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}, SAID], "image_url"),
        ([{"role": "user", "content": [{"type": ["text"], "text": "x"}]}, SAID], "a part of type a list"),
        ([ASKED, {"role": "assistant", "content": "", "tool_calls": [{"id": 1}]}], "tools are not shown"),
        ([ASKED, SAID] * 5_000, "10000 turns"),
        ([{"role": "user", "content": "x" * 600_000}, {"role": "assistant", "content": "x" * 600_000}], "larger than"),
    ],
)
def test_what_annotators_could_not_be_shown_is_refused(tmp_path: Path, turns: Any, why: str) -> None:
    said = refused(tmp_path, {"turns": turns})
    assert len(said) == 1
    assert why in said[0]
    assert "summaries[0].turns" in said[0]


def test_python_reads_them(tmp_path: Path) -> None:
    rows = [{"topic_id": "T", "summaries": [{"system": s, "turns": [ASKED, SAID]} for s in ("one", "two")]}]
    assert pf.read(rows).bundle.topics[0].summaries[0].turns == (Turn(**ASKED), Turn(**SAID))  # type: ignore[arg-type]


def test_a_million_nested_lists_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    nested = "[" * 1_000_000 + "]" * 1_000_000
    file.write_text(f'{{"topic_id": "T", "summaries": [{{"system": "s", "turns": {nested}}}]}}\n')
    with pytest.raises(Refused, match="more than 200000 values"):
        formats.read(file)


def test_turns_beside_a_text_are_refused(tmp_path: Path) -> None:
    assert "both turns and text" in refused(tmp_path, {"turns": [ASKED, SAID], "text": "Done."})[0]
    assert "both turns and turns" in refused(tmp_path, {"turns": [ASKED, SAID], "text": [ASKED, SAID]})[0]


def test_an_assistant_that_says_nothing_is_an_empty_summary(tmp_path: Path) -> None:
    bundle = read(tmp_path, {"turns": [ASKED, {"role": "assistant", "content": ""}]})
    assert bundle.topics[0].summaries[0].text == ""
    assert [remark.said for remark in bundle.remarks] == ["an empty summary"]


def test_other_keys_of_turns_are_counted_where_they_are_left_out(tmp_path: Path) -> None:
    bundle = read(tmp_path, {"turns": [{**ASKED, "id": 1}, {**SAID, "id": 2, "name": None, "tool_calls": []}]})
    assert [remark.params for remark in bundle.remarks] == [{"count": 2, "first": '"id"'}]


def test_a_document_is_no_conversation(tmp_path: Path) -> None:
    file = tmp_path / "topics.jsonl"
    file.write_text(json.dumps({"topic_id": "T", "documents": [{"id": "d", "text": [ASKED, SAID]}]}) + "\n")
    with pytest.raises(Refused, match="text in double quotes"):
        formats.read(file)
