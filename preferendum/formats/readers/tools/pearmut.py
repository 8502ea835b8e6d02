"""Scores given in Pearmut: its downloaded annotations, or the log of one campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from preferendum.formats.checks.complaints import Complaints, Place, kind
from preferendum.formats.readers.draft import Draft
from preferendum.formats.readers.sources import Source
from preferendum.formats.readers.tools.catalogue import (
    NO_SCORE,
    Judged,
    Reader,
    Row,
    first_row,
    members_of,
    objects_in,
    rows_of,
    text_in,
    text_of,
    topic_of,
)
from preferendum.formats.records import Refused

_ENTRY = {"annotation", "item", "user_id", "item_i"}
_RESET = "__RESET__"
#: Where items stand that are about no system: a tutorial, questions about the annotator.
_ASIDE = ("welcome_", "random_", "goodbye_")


def _recognises(row: Row) -> bool:
    lists = [own for own in row.values() if isinstance(own, list) and own]
    return row.keys() >= _ENTRY or any(isinstance(own[0], dict) and own[0].keys() >= _ENTRY for own in lists)


def _rows(sources: Sequence[Source], place: Place, _draft: Draft) -> Iterator[tuple[Place, Row]]:
    """The entries, each with its `campaign` where there are several, and whether its task was reset later."""
    last: dict[tuple[str, Any], int] = {}
    campaigns: set[str] = set()
    with suppress(Refused):
        for number, (campaign, _here, row) in enumerate(_entries(sources, Complaints())):
            campaigns.add(campaign)
            if row.get("annotation") == _RESET:
                last[campaign, str(row.get("user_id"))] = number
    for number, (campaign, here, row) in enumerate(_entries(sources, place.complaints)):
        if row.get("annotation") == _RESET:
            continue
        is_reset = number <= last.get((campaign, str(row.get("user_id"))), -1)
        yield here, {**row, "campaign": campaign if len(campaigns) > 1 else "", "is_reset": is_reset}


def _entries(sources: Sequence[Source], complaints: Complaints) -> Iterator[tuple[str, Place, Row]]:
    for source in sources:
        place = Place(complaints, source.label)
        if first_row(source).keys() >= _ENTRY:
            yield from (("", here, row) for here, row in rows_of(source, place))
            continue
        for line, campaign, entries in members_of(text_in(source, place) or "", place):
            yield from ((campaign, here, row) for here, row in objects_in(entries, place, line))


def _judgments(here: Place, row: Row, _columns: Mapping[str, str]) -> Iterator[Judged]:
    items, annotations = row.get("item"), row.get("annotation")
    if row["is_reset"]:
        yield "of a task that was reset"
    elif str(row.get("item_i")).startswith(_ASIDE):
        yield "of a tutorial, a check or a form"
    elif not isinstance(items, list) or not isinstance(annotations, list) or len(items) != len(annotations):
        here.key("annotation").refuse("%(what)s", "a list with one value for each `item`", what=kind(annotations))
    else:
        for number, (item, annotation) in enumerate(zip(items, annotations, strict=True)):
            if annotation is None:
                yield "skipped"
            elif isinstance(item, dict) and "validation" in item:
                yield "of a tutorial, a check or a form"
            elif isinstance(item, dict) and isinstance(annotation, dict) and isinstance(item.get("tgt"), dict):
                yield from _of_item(here.key("item").key(number), row, item, annotation)
            else:
                at, what = ("annotation", annotation) if isinstance(item, dict) and "tgt" in item else ("item", item)
                expected = "`tgt` and `annotation` with an object each, by system"
                here.key(at).key(number).refuse("%(what)s", expected, what=kind(what))


def _of_item(here: Place, row: Row, item: Row, annotation: Row) -> Iterator[Judged]:
    source, reference = (own if isinstance(own := item.get(key), str) else "" for key in ("src", "ref"))
    topic = topic_of(here, item.get("item_id")) or topic_of(here, source or reference)
    if not topic or not isinstance(topic, str):
        here.refuse("neither `item_id` nor `src`", "the name of what was translated")
        return
    topic = f"{row['campaign']}: {topic}" if row["campaign"] else topic
    for system, text in item["tgt"].items():
        if isinstance(text, str):
            texts = {"text": text, "document": source, "reference_text": reference}
            yield {"topic": topic, "system": system, **texts}
    for system, own in annotation.items():
        answer = own if isinstance(own, dict) else {}
        sliders = answer.get("sliders")
        scores = sliders if isinstance(sliders, dict) and sliders else {"score": answer.get("score")}
        assessor = str(text_of(row.get("user_id")) or "")
        for dimension, score in scores.items():
            scored = {"topic": topic, "system": system, "dimension": dimension, "assessor": assessor}
            yield NO_SCORE if score is None else scored | {"score": str(score)}


READER = Reader(
    name="Pearmut",
    about="each annotator's scores of each system, or their sliders by name; of a task that was sent again the last "
    "ones. `src` becomes the topic's document, `ref` its reference, `tgt` the summaries. What was reset, tutorials and "
    "checks are left out and counted; error spans are not read",
    keys="`annotation` (by system `score`, `sliders`), `item` (`item_id`, `src`, `tgt`, `ref`), `user_id`, `item_i`; "
    "downloads have them by campaign",
    source="pearmut 1.1.6",
    what="score",
    recognises=_recognises,
    judgments=_judgments,
    rows=_rows,
    fields={"topic": "item_id", "assessor": "user_id"},
    example="""{"mine": [
 {"annotation": [{"large": {"score": 20, "error_spans": []}, "small": {"score": 90}}],
  "item": [{"item_id": "s1", "src": "It rained.", "tgt": {"large": "Es regnete.", "small": "Regen."}}],
  "actions": [{"time": 1700000000.5, "action": "load"}], "user_id": "u1", "item_i": 0},
 {"user_id": "u1", "annotation": "__RESET__"},
 {"annotation": [{"large": {"score": 85, "error_spans": []}, "small": {"score": 40}}, null],
  "item": [{"item_id": "s1", "src": "It rained.", "tgt": {"large": "Es regnete.", "small": "Regen."}},
           {"item_id": "s2", "src": "It is dry.", "tgt": {"large": "Es ist trocken.", "small": "Trocken."}}],
  "user_id": "u1", "item_i": 0},
 {"annotation": [{"large": {"score": null, "sliders": {"fluency": 4, "meaning": 3}}, "small": {"score": null}}],
  "item": [{"item_id": "s1", "src": "It rained.", "tgt": {"large": "Es regnete.", "small": "Regen."}}],
  "user_id": "u2", "item_i": 0},
 {"annotation": ["German"], "item": [{"text": "Your language?", "form": "string"}], "user_id": "u2",
  "item_i": "welcome_0"}
]}
""",
)
