"""Pairwise choices made in Label Studio: its JSON, JSON-MIN and CSV exports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import NEITHER, TIE
from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.tools.catalogue import (
    NO_WINNER,
    Judged,
    Reader,
    Row,
    Unnamed,
    moment_of,
    text_of,
    texts_in,
)

_SIDES = {"left": "a", "right": "b"}
_SELECTED = re.compile(r'"selected"\s*:\s*"(left|right)"')
#: What people call the choices beside the control.
_TIE = re.compile(
    r"\s*(?:(?P<bad>neither|both (?:are )?bad)|tie|equal|(?:about )?(?:the )?same|both (?:are )?good)\b", re.IGNORECASE
)


def _recognises(row: Row) -> bool:
    if isinstance(row.get("annotations"), list) and "data" in row:
        return True
    return {"annotation_id", "annotator", "lead_time"} <= row.keys() and any(map(_side, row.values()))


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    if not {"a", "b"} <= columns.keys():
        data = row.get("data", row)
        raise Unnamed(f"left and right without a name (a task has {', '.join(data) if isinstance(data, dict) else ''})")
    tasks = row.get("annotations")
    if not isinstance(tasks, list):  # JSON-MIN and CSV: one annotation a row
        side = next(filter(None, map(_side, row.values())), "")
        yield _judgment(row.get("id"), row, side, row.get("annotator"), texts_in(row, columns.values()))
        return
    if not tasks:
        yield "not annotated"
    for number, annotation in enumerate(tasks):
        if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
            here.key("annotations").key(number).refuse("no list of results", "an annotation with its `result`")
        elif annotation.get("was_cancelled"):
            yield "skipped by its annotator"
        else:
            results = annotation["result"]
            sides = next(filter(None, map(_sides, results)), [])
            texts = texts_in(data, columns.values(), sides) if isinstance(data := row.get("data"), dict) else {}
            yield _judgment(row.get("id"), annotation, _winner(results), annotation.get("completed_by"), texts)


def _judgment(task: Any, row: Row, winner: str, annotator: Any, texts: Row) -> Judged:
    if not winner:
        return NO_WINNER
    if isinstance(annotator, dict):
        annotator = annotator.get("id")
    seconds = row.get("lead_time")
    return {
        "topic": text_of(task) or "",
        "a": "left",
        "b": "right",
        "winner": winner,
        "annotator": text_of(annotator),
        "seconds": float(seconds) if isinstance(seconds, str) and re.fullmatch(r"[0-9.]{1,12}", seconds) else seconds,
        "at": moment_of(row.get("created_at")),
        "texts": texts,
    }


def _sides(result: Any) -> list[str]:
    """What stood left and right, by the names in the control's `toName`."""
    named = result.get("to_name") if isinstance(result, dict) and result.get("type") == "pairwise" else None
    return [name.strip() for name in named.split(",")] if isinstance(named, str) else []


def _winner(results: list[Any]) -> str:
    """The side that was selected, or what another choice says; "" for neither of the two."""
    values = [(own.get("type"), own.get("value")) for own in results if isinstance(own, dict)]
    sides = [_side(value) for kind, value in values if kind == "pairwise"]
    choices = [
        choice
        for kind, value in values
        if kind == "choices" and isinstance(value, dict) and isinstance(value.get("choices"), list)
        for choice in value["choices"]
    ]
    return next(filter(None, (*sides, *map(_tie, choices))), "")


def _tie(choice: Any) -> str:
    match = _TIE.match(choice) if isinstance(choice, str) else None
    return "" if match is None else NEITHER if match["bad"] else TIE


def _side(value: Any) -> str:
    """The letter of the selected side, however an export writes it; "" where it is something else."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = value.get("selected")
    if not isinstance(value, str):
        return ""
    match = _SELECTED.search(value)
    return _SIDES.get(match[1] if match else value, "")


READER = Reader(
    name="Label Studio, pairwise",
    about="the selected side; a choice such as *tie* or *both bad* beside it; skipped tasks are left out and counted. "
    "Name the fields of a task that say whose texts stand left (`a`) and right (`b`). The texts are kept that the "
    "control's `toName` names, or two fields such as `text1` and `text2`, and a `prompt`, `source` or the like",
    keys="tasks with `data` and `annotations` (`result` of the type `pairwise`), `completed_by`, `lead_time`, "
    "`was_cancelled`; or JSON-MIN and CSV",
    source="label-studio-sdk 2.1.2",
    recognises=_recognises,
    judgments=_judgments,
    example="""[
  {"id": 7, "data": {"text1": "A dry day.", "text2": "Dry.", "left_model": "large", "right_model": "small"},
   "annotations": [
    {"id": 1, "completed_by": 3, "was_cancelled": false, "lead_time": 4.5, "created_at": "2026-01-31T16:53:19.5Z",
     "result": [{"type": "pairwise", "from_name": "pw", "to_name": "text1,text2", "value": {"selected": "left"}}]},
    {"id": 2, "completed_by": {"id": 4}, "was_cancelled": false, "lead_time": 9.0,
     "result": [{"type": "choices", "from_name": "tie", "to_name": "text1", "value": {"choices": ["Tie"]}}]},
    {"id": 3, "completed_by": 5, "was_cancelled": true, "lead_time": 1.0, "result": []}
   ]}
]
""",
)
