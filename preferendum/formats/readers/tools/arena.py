"""Votes of Chatbot Arena and of MT-Bench, by people and by models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import TIE
from preferendum.formats.checks.complaints import Place
from preferendum.formats.readers.headings import called
from preferendum.formats.readers.tools.catalogue import Judged, Reader, Row, choice_of, moment_of, text_of, topic_of

#: One column an outcome, as in a competition's table.
_FLAGS = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": TIE}
#: A judge is a model where a pair of its name and a prompt's stands there, or a name of a family of models.
_MODEL = re.compile(
    r"(?:gpt|claude|gemini|llama|mi[sx]tral|qwen|deepseek|palm|command|gemma|phi|o[1-9])[-_ .0-9]"
    r"|.*pair-v\d|.*\bjudge\b",
    re.IGNORECASE,
)


def _recognises(row: Row) -> bool:
    return {"model_a", "model_b"} <= row.keys() and ("winner" in row or row.keys() >= _FLAGS.keys())


def _judgments(here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    judge = row.get("judge", row.get("judge_session_id", row.get("evaluation_session_id")))
    judge = called(row, "annotator") if judge is None else judge
    is_model = isinstance(judge, list) or is_machine(judge)
    model = judge[0] if judge and isinstance(judge, list) else judge
    if isinstance(judge, list):
        judge = " ".join(map(str, judge))
    yield {
        "topic": _topic(here, row),
        "a": text_of(row.get("model_a")),
        "b": text_of(row.get("model_b")),
        "winner": _winner(here, row),
        "annotator": text_of(judge),
        "at": moment_of(row.get("tstamp", row.get("timestamp"))),
        "kind": row.get("kind") or ("machine" if is_model else "human"),
        **({"judge": {"model": text_of(model)}} if is_model else {}),
        "texts": {
            "prompt": row.get("prompt"),
            "a": row.get("conversation_a", row.get("response_a")),
            "b": row.get("conversation_b", row.get("response_b")),
        },
        **{key: row[key] for key in ("language", "turn") if row.get(key) is not None},
    }


def is_machine(judge: Any) -> bool:
    """Whether a judge is called as models are."""
    return isinstance(judge, str) and _MODEL.match(judge) is not None


def _winner(here: Place, row: Row) -> str:
    if "winner" in row or not row.keys() >= _FLAGS.keys():
        winner = row.get("winner")
        named = [letter for letter in ("a", "b") if winner and row.get(f"model_{letter}") == winner]
        return named[0] if len(named) == 1 else choice_of(here, "winner", winner)
    chosen = [letter for key, letter in _FLAGS.items() if str(row.get(key)).lower() in ("1", "1.0", "true")]
    return chosen[0] if len(chosen) == 1 else ""


def _topic(here: Place, row: Row) -> str:
    """The question; from the second turn on, which one. Without one the first message, if there are any."""
    named = topic_of(here, row.get("question_id", row.get("id")) or called(row, "topic"))
    if not named:
        texts: list[Any] = [row.get(key) for key in ("prompt", "conversation", "conversation_a")]
        named = next(filter(None, (topic_of(here, text) for text in texts)), "")
    turn = str(row.get("turn", "1"))
    return f"{named}, turn {turn}" if named and turn.isdecimal() and int(turn) > 1 else named


READER = Reader(
    name="Arena, LMSYS, MT-Bench",
    about="votes of people; a machine's where `judge` is a list, as MT-Bench has it, or a name such as gpt-4 or "
    "claude-2: any other name counts as a person; “both bad” is `neither`",
    keys="`model_a`, `model_b`, `winner` (or `winner_model_a`, `winner_model_b`, `winner_tie`); `question_id`, "
    "`judge`, `judge_session_id`, `turn`, `language`, `tstamp`",
    source="FastChat 0.2.36, the published votes",
    recognises=_recognises,
    judgments=_judgments,
    fields={"a": "model_a", "b": "model_b", "topic": "question_id", "annotator": "judge", "at": "tstamp"},
    example=(
        '{"question_id": "q1", "model_a": "large", "model_b": "small", "winner": "model_a", "judge": "arena_user_1", '
        '"conversation_a": [{"role": "user", "content": "How deep is it?"}, {"role": "assistant", "content": "1"}], '
        '"turn": 1, "language": "English", "tstamp": 1700000000.25}\n'
        '{"question_id": "q2", "model_a": "small", "model_b": "large", "winner": "tie (bothbad)", "judge": '
        '"arena_user_2", "turn": 1, "language": "English", "tstamp": 1700000100.5}\n'
        '{"question_id": "q2", "model_a": "small", "model_b": "large", "winner": "tie", "judge": ["gpt-4", "pair-v2"], '
        '"turn": 2, "tstamp": 1700000200.0}\n'
        '{"question_id": "q3", "model_a": "small", "model_b": "large", "winner": null, "judge": "arena_user_3"}\n'
        '{"question_id": "q4", "model_a": "small", "model_b": "", "winner": "model_b", "judge": "arena_user_3"}\n'
    ),
)
