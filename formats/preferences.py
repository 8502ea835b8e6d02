"""Preferences: who preferred which of two sentences, as JSON Lines or as CSV with the same column names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO, Literal, get_args

from formats import strict_json
from formats.complaints import Place, kind, shown
from formats.draft import Draft
from formats.lines import Sink, read_lines
from formats.records import Preference, Winner
from formats.study_records import KINDS
from formats.tables import Columns, number, read_rows, write_rows
from formats.text import clean, name
from formats.topics import named

NEEDED = ("topic", "a", "b", "winner")
OPTIONAL = ("annotator", "seconds", "at")
COLUMNS = Columns(NEEDED, OPTIONAL, others=True)

_KEYS = frozenset(NEEDED + OPTIONAL)
_SENTENCE = re.compile(r"(?P<document>.+):(?P<index>0|[1-9][0-9]{0,6})", re.DOTALL)


def read_preferences_jsonl(file: BinaryIO, place: Place, draft: Draft) -> None:
    for line_number, line in read_lines(file, place):
        if line is None or not line.strip():
            continue
        here = place.at(line_number)
        found = strict_json.parse_object(here, line)
        if found is None:
            if len(line.strip()) == 1:
                return  # a pretty-printed file or an array: every line would be complained of
            continue
        preference = _preference(here, found)
        if preference and not draft.add_row(draft.preferences, preference, here, preference.extra):
            return


def read_preferences_csv(file: BinaryIO, place: Place, draft: Draft) -> None:
    for here, row in read_rows(file, place, COLUMNS):
        found: dict[str, Any] = {key: value for key, value in row.items() if value or key in NEEDED}
        if "seconds" in found:
            found["seconds"] = number(here.key("seconds"), found["seconds"])
            if found["seconds"] is None:
                continue
        preference = _preference(here, found)
        if preference and not draft.add_row(draft.preferences, preference, here, preference.extra):
            return


def write_preferences(preferences: Iterable[Preference], file: Sink, form: Literal["jsonl", "csv"] = "jsonl") -> None:
    """JSON Lines are exact and for analysis. CSV is for spreadsheets: formulas are defused, and of other keys only
    those are there that say who judged (`kind`) and why the pair was shown (`reason`)."""
    if form == "csv":
        rows = (
            (p.topic, p.a, p.b, p.winner, p.annotator, p.seconds, p.at, _word(p, "kind") or "human", _word(p, "reason"))
            for p in preferences
        )
        write_rows(file, (*NEEDED, *OPTIONAL, "kind", "reason"), rows)
        return
    file.writelines(strict_json.line(preference_as_json(preference)).encode() + b"\n" for preference in preferences)


def _word(preference: Preference, key: str) -> str:
    said = preference.extra.get(key)
    return said if isinstance(said, str) else ""


def preference_as_json(preference: Preference) -> dict[str, Any]:
    found: dict[str, Any] = dict(preference.extra)
    found |= {key: getattr(preference, key) for key in NEEDED}
    return found | {key: value for key in OPTIONAL if (value := getattr(preference, key)) not in ("", None)}


def sentence_name(found: str) -> tuple[str, int] | None:
    """`d1:0` as document and index; None where it is no name of a sentence."""
    match = _SENTENCE.fullmatch(found)
    return (match["document"], int(match["index"])) if match else None


def moment(place: Place, found: str) -> str:
    """A point in time as ISO 8601 with its zone, as given; empty and a complaint where it is none."""
    try:
        given = datetime.fromisoformat(found)
        # The last hours of the calendar are beyond it elsewhere.
        aware = given.tzinfo is not None and given.astimezone(UTC) is not None
    except (ValueError, OverflowError):
        aware = False
    if not aware or not found.isascii():
        place.refuse("%(what)s", "a time with its zone such as 2026-01-31T16:53:19Z", what=shown(found))
        return ""
    return found


def _preference(place: Place, found: dict[str, Any]) -> Preference | None:
    before = len(place.complaints.collected)
    topic = named(place, found, "topic")
    a, b = _sentence(place, found, "a"), _sentence(place, found, "b")
    if a and a == b:
        place.key("b").refuse("%(name)s on both sides", "two different sentences", name=shown(a))
    winner = found.get("winner")
    if winner not in get_args(Winner):
        what = "no such key" if "winner" not in found else kind(winner)
        place.key("winner").refuse("%(what)s", "a, b or tie", what=what)
    if "kind" in found and found["kind"] not in KINDS:  # or a machine might count as a person
        place.key("kind").refuse("%(what)s", ", ".join(KINDS), what=kind(found["kind"]))
    preference = Preference(
        topic,
        a,
        b,
        winner=winner,  # type: ignore[arg-type]  # or complained of above
        annotator=_annotator(place, found),
        seconds=_seconds(place, found),
        at=_at(place, found),
        extra=strict_json.extras(place, found, _KEYS),
    )
    return preference if len(place.complaints.collected) == before else None


def _sentence(place: Place, found: Mapping[str, Any], key: str) -> str:
    here = place.key(key)
    value = found.get(key)
    if not isinstance(value, str):
        what = "no such key" if key not in found else kind(value)
        here.refuse("%(what)s", "a sentence's name <document>:<index from 0>, such as d1:0", what=what)
        return ""
    cleaned = clean(here, value)
    if cleaned is None:
        return ""
    if not sentence_name(cleaned):
        here.refuse("%(what)s", "a sentence's name <document>:<index from 0>, such as d1:0", what=shown(cleaned))
        return ""
    return cleaned


def _annotator(place: Place, found: Mapping[str, Any]) -> str:
    value = found.get("annotator")
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return name(place.key("annotator"), value) or ""
    place.key("annotator").refuse("%(what)s", "a name in double quotes", what=kind(value))
    return ""


def _seconds(place: Place, found: Mapping[str, Any]) -> float | None:
    value = found.get("seconds")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or math.isinf(value):
        place.key("seconds").refuse("%(what)s", "a number of seconds, 0 or more", what=kind(value))
        return None
    return float(value)


def _at(place: Place, found: Mapping[str, Any]) -> str:
    value = found.get("at")
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return moment(place.key("at"), value)
    place.key("at").refuse("%(what)s", "a time such as 2026-01-31T16:53:19Z", what=kind(value))
    return ""
