"""Pairwise answers given in Potato: people's states as it keeps them, or its exports, joined to their items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from preferendum.formats.answers import TIE
from preferendum.formats.checks import strict_json
from preferendum.formats.checks.complaints import Place, kind
from preferendum.formats.readers.columns import columns_of
from preferendum.formats.readers.draft import RECORD, Draft, weight
from preferendum.formats.readers.sources import BROKEN, Source
from preferendum.formats.readers.tables import is_number
from preferendum.formats.readers.tools.catalogue import (
    NO_WINNER,
    Judged,
    Reader,
    Row,
    Unnamed,
    choice_of,
    first_row,
    members_of,
    moment_of,
    rows_of,
    text_in,
    text_of,
    texts_in,
)

_ENDS = (".selection", ".scale_value")
_STATE = "instance_id_to_label_to_value"
_TIMES = "instance_id_to_behavioral_data"
_ORDERS = "instance_id_to_presentation_order"


def _recognises(row: Row) -> bool:
    is_export = {"instance_id", "user_id"} <= row.keys()
    return _STATE in row or (is_export and ("labels" in row or any(key.endswith(_ENDS) for key in row)))


def _folder(sources: Sequence[Source], draft: Draft) -> Sequence[Source]:
    """The files with answers, and those with items: that have the columns which the user named."""
    firsts: list[tuple[Source, Row]] = []
    for source in sources:
        if source.name.lower().endswith((".json", ".jsonl", ".csv", ".tsv")):
            with suppress(*BROKEN):
                firsts.append((source, first_row(source)))
    answers = [source for source, first in firsts if _recognises(first)]
    columns = {column for column, role in columns_of(draft.columns).items() if role in ("a", "b")}
    items = [source for source, first in firsts if source not in answers and columns <= first.keys()]
    return [*items, *answers] if answers else ()


def _rows(sources: Sequence[Source], place: Place, draft: Draft) -> Iterator[tuple[Place, Row]]:
    """The answers, each with the `data` of its item, where the folder has a file of items."""
    items: list[Row] = []
    indexes: list[Mapping[str, Row]] | None = None
    for source in sources:
        own, first = Place(place.complaints, source.label), first_row(source)
        if not _recognises(first):
            for here, row in rows_of(source, own):
                items.append(row)
                draft.memory += RECORD + weight(row)
                if not draft.has_room(here):
                    return
            continue
        indexes = _indexes(items) if indexes is None else indexes
        for here, row in _answers(source, own) if _STATE in first else rows_of(source, own):
            name = str(text_of(row.get("instance_id")))
            item = next((index[name] for index in indexes if name in index), None)
            yield here, {**row, "data": item} if item else row


def _indexes(items: Sequence[Row]) -> list[Mapping[str, Row]]:
    """The items by each key that may be their id: every one has another value."""
    keys = dict.fromkeys(key for item in items for key in item)
    indexes = ({str(text_of(item.get(key))): item for item in items} for key in keys)
    return [index for index in indexes if len(index) == len(items)]


def _answers(source: Source, place: Place) -> Iterator[tuple[Place, Row]]:
    """The answers of one person's state as rows of an export. What else the state holds is never built: clicks and keys
    are most of it."""
    text = text_in(source, place)
    state = {name: (line, value) for line, name, value in members_of(text, place)} if text is not None else {}
    read = {
        name: strict_json.parse(place.at(state[name][0]), state[name][1])
        for name in ("user_id", "origin", _STATE, _ORDERS)
        if name in state
    }
    spent = _spent(place, *state[_TIMES]) if _TIMES in state else {}
    answers, orders = (own if isinstance(own := read.get(name), dict) else {} for name in (_STATE, _ORDERS))
    for instance, given in answers.items():
        labels: dict[str, dict[str, Any]] = {}
        here = place.at(state[_STATE][0]).key(_STATE).key(instance)
        for pair in given if isinstance(given, list) else [None]:
            label, value = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
            if not isinstance(label, dict):
                here.refuse("%(what)s", "a list of pairs of a label and its value", what=kind(pair))
                continue
            labels.setdefault(str(label.get("schema")), {})[str(label.get("name"))] = value
        yield (
            place.at(state[_STATE][0]),
            {
                "instance_id": instance,
                "user_id": read.get("user_id"),
                "annotator_origin": read.get("origin"),
                "labels": labels,
                "orders": orders.get(instance),
                **spent.get(instance, {}),
            },
        )


def _spent(place: Place, line: int, times: str) -> dict[str, dict[str, Any]]:
    """How long a person looked at each item, and when they left it."""
    spent: dict[str, dict[str, Any]] = {}
    for below, instance, behaviour in members_of(times, place, line):
        values = {
            name: strict_json.parse(place.at(number), value)
            for number, name, value in members_of(behaviour, place, below)
            if name in ("total_time_ms", "session_end") and value.strip() != "null"
        }
        total = values.get("total_time_ms")
        if isinstance(total, int | float) and total > 0:
            spent[instance] = {"seconds": total / 1000}
        spent.setdefault(instance, {})["at"] = moment_of(values.get("session_end"))
    return spent


def _judgments(here: Place, row: Row, columns: Mapping[str, str]) -> Iterator[Judged]:
    if not {"a", "b"} <= columns.keys():
        raise Unnamed("answers A and B (put the items' file beside, in a folder or ZIP file, and name its fields)")
    labels, data = (own if isinstance(own := row.get(key), dict) else {} for key in ("labels", "data"))
    answers = {key: value for key, value in row.items() if key.endswith(_ENDS)}
    for scheme, own in labels.items():
        answers |= {f"{scheme}.{name}": value for name, value in own.items()} if isinstance(own, dict) else {}
    answers = {key: value for key, value in answers.items() if key.endswith(_ENDS) and value not in (None, "")}
    if not answers:
        yield NO_WINNER
    if len(answers) > 1:
        here.refuse("answers to %(count)s questions in a row", "one", count=len(answers))
        return
    for key, value in answers.items():
        orders = row.get("orders")
        order = orders.get(key.rpartition(".")[0]) if isinstance(orders, dict) else None
        yield {
            "topic": text_of(row.get("instance_id")) or "",
            "a": "A",
            "b": "B",
            "winner": _sign(here, key, value) if key.endswith(_ENDS[1]) else choice_of(here, key, value),
            "annotator": text_of(row.get("user_id")),
            "kind": _kind(row.get("annotator_origin")),
            "texts": texts_in(data, columns.values()),
            "is_swapped": isinstance(order, list) and [str(place) for place in order] == ["1", "0"],
            **{name: row[name] for name in ("seconds", "at") if row.get(name) is not None},
        }


def _kind(origin: Any) -> str:
    """Whether a person answered: nothing says otherwise, or `human` does."""
    by = origin.get("kind", "human" if not origin else "") if isinstance(origin, dict) else origin
    return "human" if by in (None, "", "human") and by is not False else "machine"


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
    about="the selected item or the side of a scale (negative is A); machines by `annotator_origin`. Put the items' "
    "file beside the answers, in a folder or ZIP file, and name its fields that say whose texts were A (`a`) and B "
    "(`b`); a list of two texts is kept. Only a state says which order `randomize_order` showed",
    keys="`user_state.json` with `user_id`, `instance_id_to_label_to_value`; or exports with `instance_id`, `user_id`, "
    "`QUESTION.selection` (A, B, tie) or `QUESTION.scale_value`, in `labels` or as columns",
    source="potato-annotation 2.12.1",
    recognises=_recognises,
    judgments=_judgments,
    rows=_rows,
    folder=_folder,
    example=(
        "instance_id,user_id,annotator_origin,better.selection,system_a,system_b\n"
        "i1,u1,human,A,large,small\n"
        "i1,u2,llm,tie,large,small\n"
        "i2,u1,human,,small,large\n"
        "i2,u2,human,B,small,large\n"
    ),
)
