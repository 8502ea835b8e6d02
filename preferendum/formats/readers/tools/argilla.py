"""Rankings of two options made in Argilla. Three and more are refused: their answers are not independent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from preferendum.formats.answers import TIE
from preferendum.formats.checks.complaints import Place, kind
from preferendum.formats.readers.tools.catalogue import Judged, Reader, Row, Unnamed, text_of

#: Options that are places and no names: response-1, completion_2.
_PLACE = re.compile(r"(?:response|completion|output|answer|text|option|summary)[-_ ]?(?:[0-9]|[ab])", re.IGNORECASE)
_THREE = "rankings of two: three or more texts imply answers that are not independent (docs/not-done.md)"


def _recognises(row: Row) -> bool:
    return {"fields", "responses"} <= row.keys()


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    rankings = list(_rankings(row.get("responses")))
    questions = {question for question, _value, _user, _status in rankings}
    if len(questions) > 1:
        here.key("responses").refuse("%(count)s questions with rankings", "one", count=len(questions))
        return
    if not rankings:
        yield "without a ranking"
    for _question, value, user, status in rankings:
        if status not in (None, "submitted"):
            yield f"{status} and not submitted" if status in ("draft", "discarded") else "not submitted"
            continue
        options = [_option(own, place) for place, own in enumerate(value)]
        if len(options) != 2 or None in options:
            here.key("responses").refuse("%(what)s", _THREE, what=kind(value))
            return
        (a, rank_a), (b, rank_b) = sorted(own for own in options if own is not None)
        if not {"a", "b"} <= columns.keys() and _PLACE.fullmatch(a) and _PLACE.fullmatch(b):
            raise Unnamed(f"the options {a} and {b}, which are not said to be anybody's")
        yield {
            "topic": text_of(row.get("id")) or "",
            "a": a,
            "b": b,
            "winner": TIE if rank_a == rank_b else "a" if rank_a < rank_b else "b",
            "annotator": text_of(user),
            "texts": _texts(row.get("fields"), a, b),
        }


def _rankings(responses: Any) -> Iterator[tuple[str, list[Any], Any, Any]]:
    """The question, value, user and status of each answer that is a list, as versions 1 and 2 write them."""
    if isinstance(responses, dict):
        answers = [
            (question, answer.get("value"), answer)
            for question, given in responses.items()
            for answer in (given if isinstance(given, list) else ())
            if isinstance(answer, dict)
        ]
    else:
        answers = [
            (question, value.get("value"), answer)
            for answer in (responses if isinstance(responses, list) else ())
            if isinstance(answer, dict) and isinstance(answer.get("values"), dict)
            for question, value in answer["values"].items()
            if isinstance(value, dict)
        ]
    for question, value, answer in answers:
        if isinstance(value, list):
            yield question, value, answer.get("user_id"), answer.get("status")


def _texts(fields: Any, a: str, b: str) -> dict[str, Any]:
    """The texts of options that are called as their fields are."""
    if not isinstance(fields, dict) or not {a, b} <= fields.keys():
        return {}
    prompt = next((fields[key] for key in ("prompt", "instruction", "question") if key in fields), None)
    return {"prompt": prompt, "a": fields[a], "b": fields[b]}


def _option(own: Any, place: int) -> tuple[str, int] | None:
    """An option with its rank, which is its place where none is given; None where it is neither."""
    if isinstance(own, str):
        return own, place
    if isinstance(own, dict) and isinstance(own.get("value"), str):
        rank = own.get("rank", place)
        return (own["value"], rank) if isinstance(rank, int) else None
    return None


READER = Reader(
    name="Argilla, ranking",
    about="rankings of two options, of which `a` is the first by name; equal ranks are ties (version 2 exports the "
    "order alone). Options such as response-1 need `--columns`; three or more are "
    "[refused](not-done.md#three-or-more-texts-at-once-and-best-worst-scaling)",
    keys="records with `fields` and `responses`: `value`, `rank`, `user_id`, `status`",
    source="argilla 2.8.0",
    recognises=_recognises,
    judgments=_judgments,
    example="""[
  {"id": "r1", "fields": {"prompt": "Rhyme."}, "metadata": {}, "responses": [
    {"user_id": "u1", "status": "submitted", "values": {"best": {"value": [
      {"value": "small", "rank": 2}, {"value": "large", "rank": 1}]}}},
    {"user_id": "u2", "status": "submitted", "values": {"best": {"value": [
      {"value": "small", "rank": 1}, {"value": "large", "rank": 1}]}}},
    {"user_id": "u3", "status": "draft", "values": {"best": {"value": [
      {"value": "small", "rank": 1}, {"value": "large", "rank": 2}]}}}]},
  {"id": "r2", "fields": {"prompt": "Sing."}, "metadata": {}, "responses": {"best": [
    {"value": ["small", "large"], "user_id": "u1"}]}}
]
""",
    remark="which text stood on the left is not said",
)
