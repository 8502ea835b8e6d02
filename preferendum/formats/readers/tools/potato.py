"""Pairwise answers given in Potato: its table or lines of one answer a row, joined to the items by the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import TIE
from preferendum.formats.checks.complaints import Place, kind
from preferendum.formats.readers.tables import is_number
from preferendum.formats.readers.tools.catalogue import NO_WINNER, Judged, Reader, Row, Unnamed, choice_of, text_of

_WORDS = {"a": "a", "b": "b", TIE: TIE}
_ENDS = (".selection", ".scale_value")


def _recognises(row: Row) -> bool:
    return {"instance_id", "user_id"} <= row.keys() and any(key.endswith(_ENDS) for key in row)


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    if not {"a", "b"} <= columns.keys():
        raise Unnamed("answers A and B (join the items to this file, with a column for each one's system)")
    answers = {key: value for key, value in row.items() if key.endswith(_ENDS) and value is not None}
    if not answers:
        yield NO_WINNER
    if len(answers) > 1:
        here.refuse("answers to %(count)s questions in a row", "one", count=len(answers))
        return
    for key, value in answers.items():
        by = row.get("annotator_origin") or "human"
        yield {
            "topic": text_of(row.get("instance_id")) or "",
            "a": "A",
            "b": "B",
            "winner": _sign(here, key, value) if key.endswith(_ENDS[1]) else choice_of(here, key, value, _WORDS),
            "annotator": text_of(row.get("user_id")),
            "kind": "human" if by == "human" else "machine",
        }


def _sign(here: Place, key: str, value: Any) -> str:
    """The side of a point on a scale, on which A is negative; "" and a complaint for what is no number."""
    if isinstance(value, str) and is_number(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        here.key(key).refuse("%(what)s", "a number, negative for A", what=kind(value))
        return ""
    return "a" if value < 0 else "b" if value > 0 else TIE


READER = Reader(
    name="Potato, pairwise",
    about="the selected item or the side of a scale (negative is A); machines by `annotator_origin`. The export says A "
    "and B alone: join your items' systems to it as two columns and name them",
    keys="`instance_id`, `user_id`, `QUESTION.selection` (A, B, tie) or `QUESTION.scale_value`",
    source="potato-annotation 2.12.1",
    recognises=_recognises,
    judgments=_judgments,
    example=(
        "instance_id,user_id,annotator_origin,better.selection,system_a,system_b\n"
        "i1,u1,human,A,large,small\n"
        "i1,u2,llm,tie,large,small\n"
        "i2,u1,human,,small,large\n"
        "i2,u2,human,B,small,large\n"
    ),
)
