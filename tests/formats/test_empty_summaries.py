"""A summary that shows nothing is stored, since its system said nothing, and remarked on, whatever the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from preferendum import formats
from tests.formats.test_corpora import DUC_2005, TAC_2008, on_disk

TOPIC = {"topic_id": "T", "documents": [{"id": "d", "text": "It rained."}]}


def as_lines(root: Path, text: str) -> Path:
    return on_disk(root, {"t.jsonl": json.dumps(TOPIC | {"summaries": [{"system": "s", "text": text}]})}) / "t.jsonl"


def as_csv(root: Path, text: str) -> Path:
    return on_disk(root, {"t.jsonl": json.dumps(TOPIC), "summaries.csv": f'topic,system,text\nT,s,"{text}"\n'})


def as_folder(root: Path, text: str) -> Path:
    return on_disk(root, {"topics/T/documents/d.txt": "It rained.", "topics/T/summaries/s.txt": text})


def as_tac(root: Path, text: str) -> Path:
    return on_disk(root, {**TAC_2008, "eval/ROUGE/peers/D0801-A.M.100.A.7": text})


def as_duc(root: Path, text: str) -> Path:
    return on_disk(root, {**DUC_2005, "results/ROUGE/peers/D301.M.250.I.5": text})


@pytest.mark.parametrize("write", [as_lines, as_csv, as_folder, as_tac, as_duc])
@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("", "an empty summary"),
        ("\u2800\u3164", "a summary of invisible characters only"),
        ("\u200b", "a summary of invisible characters only"),
    ],
)
def test_every_reader_remarks_on_a_summary_that_shows_nothing(
    tmp_path: Path, write: Callable[[Path, str], Path], text: str, remark: str
) -> None:
    bundle = formats.read(write(tmp_path, text))
    assert [one.said for one in bundle.remarks].count(remark) == 1
    summaries = [summary for topic in bundle.topics for summary in topic.summaries]
    assert [summary.text for summary in summaries].count(text) == 1


@pytest.mark.parametrize("sentences", [[], ["", " "]])
def test_a_summary_without_sentences_is_remarked_on(tmp_path: Path, sentences: list[str]) -> None:
    (tmp_path / "t.jsonl").write_text(json.dumps(TOPIC | {"summaries": [{"system": "s", "sentences": sentences}]}))
    assert "an empty summary" in {one.said for one in formats.read(tmp_path / "t.jsonl").remarks}


def test_letters_with_fillers_between_them_show_something(tmp_path: Path) -> None:
    assert formats.read(as_lines(tmp_path, "\u3164비")).remarks == ()
