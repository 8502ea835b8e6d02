"""Preference sets for training: a prompt with the chosen and the rejected answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.headings import called
from preferendum.formats.readers.tools.catalogue import Judged, Reader, Row, Unnamed, text_of, topic_of

_SIDES = ("chosen", "rejected")
#: How columns are called that say whose texts these are.
_NAMED = ("{}_model", "{}-model", "{}_model_name", "{}_generator", "{}_policy", "{}_source", "model_{}")


def _recognises(row: Row) -> bool:
    return {*_SIDES} <= row.keys()


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    named = next((names for names in map(_names, _NAMED) if {*names} <= row.keys()), None)
    if named is None and not {"a", "b"} <= columns.keys():
        raise Unnamed("chosen and rejected texts, and no columns that say whose they are")
    if row.get("chosen") is not None and row.get("chosen") == row.get("rejected"):
        yield "of two equal texts"
        return
    yield {
        "topic": _topic(here, row),
        "a": text_of(row.get(named[0])) if named else None,
        "b": text_of(row.get(named[1])) if named else None,
        "winner": "a",
        "annotator": text_of(called(row, "annotator")),
        "kind": row.get("kind") or "human",
        "texts": {"prompt": _prompt(row), "a": row.get("chosen"), "b": row.get("rejected")},
    }


def _names(template: str) -> tuple[str, str]:
    return template.format("chosen"), template.format("rejected")


def _prompt(row: Row) -> Any:
    if isinstance(row.get("instruction"), str):
        return "\n".join(part for part in (row["instruction"], row.get("input")) if isinstance(part, str) and part)
    return next(filter(None, (row.get(key) for key in ("prompt", "question", "conversations", "messages"))), None)


def _topic(here: Place, row: Row) -> str:
    """The prompt, whatever form it has; without one the first message that the texts have in common."""
    for key in ("prompt_id", "prompt", "question", "conversations", "messages"):
        if named := topic_of(here, row.get(key)):
            return named
    parts: list[Any] = [row.get(key) for key in ("instruction", "input")]
    if texts := [part for part in parts if isinstance(part, str) and part.strip()]:
        return topic_of(here, "\n".join(texts))
    chosen, rejected = row.get("chosen"), row.get("rejected")
    if isinstance(chosen, list) and isinstance(rejected, list) and chosen[:1] == rejected[:1]:
        return topic_of(here, chosen[:1])
    return ""


READER = Reader(
    name="Preference sets for training",
    about="the chosen text's system is preferred. Rows must say whose texts they are, or you name the columns that do",
    keys="`chosen`, `rejected`, with `chosen_model` and `rejected_model` or the like; `prompt` (text or messages), "
    "`messages`, `instruction` and `input`, `conversations`",
    source="the documentation of TRL (0087e4f) and LLaMA-Factory (015ff25)",
    recognises=_recognises,
    judgments=_judgments,
    fields={"a": "chosen_model", "b": "rejected_model", "topic": "prompt"},
    example=(
        '{"prompt": "Where is the key?", "chosen": "On the hook.", "rejected": "No.", "chosen_model": "large", '
        '"rejected_model": "small"}\n'
        '{"prompt": [{"role": "user", "content": "Is it?"}], "chosen": [{"role": "assistant", "content": "Yes."}], '
        '"rejected": [{"role": "assistant", "content": "No."}], "chosen_model": "small", "rejected_model": "large"}\n'
        '{"instruction": "Add.", "input": "1 and 2", "chosen": "3", "rejected": "12", "chosen_model": "large", '
        '"rejected_model": "large"}\n'
    ),
    remark="rows do not say who judged (taken for people) or which text stood on the left (taken for the chosen one)",
)
