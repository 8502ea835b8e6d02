"""Verdicts side by side: a row for each pair, a column for each judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import LETTERS
from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.headings import role_of
from preferendum.formats.readers.tools.arena import is_machine
from preferendum.formats.readers.tools.catalogue import NO_WINNER, Judged, Reader, Row, choice_of, text_of

#: What a column is called that says who judged by kind, and not by name.
_NOBODY = frozenset(("person", "people", "human", "humans", "crowd", "annotator", "annotators", "majority", "gold"))


def _recognises(row: Row) -> bool:
    """One column of verdicts that is called an answer, or a column of annotators, makes a table of ours."""
    verdicts = [key for key in row if _is_verdict(key, row[key])]
    of_ours = [key for key in row if role_of(key) == "annotator" and key not in verdicts]
    is_one = len(verdicts) == 1 and role_of(verdicts[0]) == "winner"
    return {"a", "b"} <= row.keys() and "winner" not in row and bool(verdicts) and not of_ours and not is_one


def _judgments(here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    verdicts = {key: value for key, value in row.items() if _is_verdict(key, value)}
    if not verdicts:
        yield NO_WINNER
    for judge, value in verdicts.items():
        yield {
            "topic": text_of(row.get("topic")) or "",
            "a": text_of(row.get("a")),
            "b": text_of(row.get("b")),
            "winner": choice_of(here, judge, value),
            "annotator": "" if judge.lower() in _NOBODY else judge,
            "kind": "machine" if is_machine(judge) else "human",
        }


def _is_verdict(key: str, value: Any) -> bool:
    return key not in ("a", "b", "topic") and isinstance(value, str) and value.strip().lower() in LETTERS


READER = Reader(
    name="Verdicts side by side",
    about="a row for each pair, with a column for each judge; a machine's where the column's name is one such as gpt-4 "
    "or claude-2, nobody's by name where it is *people*, *human* or the like; a pair without any is left out and "
    "counted. Without `topic` votes name none, so every column counts by itself",
    keys="`a`, `b`, and columns with a, b, tie or neither; `topic`",
    source="our own reading of tables with several judges",
    recognises=_recognises,
    judgments=_judgments,
    example="pair,a,b,people,gpt-4\n0,large,small,a,a\n1,small,large,tie,b\n2,large,small,,b\n3,large,small,,\n",
)
