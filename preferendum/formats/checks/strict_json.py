"""JSON as the standard has it: no key twice, no NaN, no number that a database cannot hold, no bottomless nesting."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any

from preferendum.formats.checks import limits
from preferendum.formats.checks.complaints import Place, kind, shown
from preferendum.formats.checks.text import clean

_LARGEST = 2**63 - 1
# A string that is never closed runs to the end, so that the search stays linear in whatever it is given.
_STRINGS = re.compile(r'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)
_BRACKETS = re.compile(r"[\[\]{}]")
_EXTENDED = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}
_LONG_NUMBER = re.compile("[0-9]{19}")
_LINE_ENDS = re.compile("[\u2028\u2029\x85]")


class _NotStrict(ValueError):
    """What a hook of the JSON reader found."""

    def __init__(self, actual: str, expected: str, what: str) -> None:
        super().__init__(actual)
        self.actual, self.expected, self.what = actual, expected, what


def parse(place: Place, text: str) -> Any | None:
    """The value, or None and a complaint. (JSON's own null is refused: nowhere is a line or a file of null wanted.)"""
    if not _well_built(place, text):
        return None
    try:
        value = _DECODER.decode(text)
    except _NotStrict as fault:
        place.refuse(fault.actual, fault.expected, what=fault.what)
        return None
    except json.JSONDecodeError as fault:
        _refuse_syntax(place, text, fault)
        return None
    if value is None:
        place.refuse("null", "a JSON object")
    return value


def parse_object(place: Place, text: str) -> dict[str, Any] | None:
    """Like `parse`, but the value must be an object."""
    value = parse(place, text)
    if value is None or isinstance(value, dict):
        return value
    place.refuse(
        "%(what)s", "one JSON object per line, in braces, without brackets around all of them", what=kind(value)
    )
    return None


def extras(place: Place, given: dict[str, Any], recognized: frozenset[str]) -> dict[str, Any]:
    """The keys that we do not know, their texts cleaned like all others."""
    kept: dict[str, Any] = {}
    for key, value in given.items():
        if key in recognized:
            continue
        cleaned = clean(place.key(key), key)
        if cleaned is None:
            continue
        if cleaned in kept or cleaned in recognized:
            place.refuse("the key %(key)s twice, once decomposed", "each key once", key=shown(cleaned))
        kept[cleaned] = _cleaned(place.key(cleaned), value)
    return kept


# Made once: `json.dumps` makes one for each value.
_dumped = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def _as_given(value: Any) -> Any:
    """The value with numbers in place of endless whole numbers."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    if isinstance(value, dict):
        return {key: _as_given(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_as_given(held) for held in value]
    return value


def line(value: Any) -> str:
    """One line of JSON, keys sorted, characters as they are but those that some programs take for line ends.

    A whole number that would not be read again was 1e300 or so before PostgreSQL kept it: it is written so.
    """
    text = _dumped(value)
    if _LONG_NUMBER.search(text):
        text = _dumped(_as_given(value))
    return text if text.isascii() else _LINE_ENDS.sub(lambda match: _EXTENDED[match[0]], text)


def _cleaned(place: Place, value: Any) -> Any:
    if isinstance(value, str):
        return clean(place, value)
    if isinstance(value, list):
        return [_cleaned(place.key(number), item) for number, item in enumerate(value)]
    if isinstance(value, dict):
        return extras(place, value, frozenset())
    return value


def _well_built(place: Place, text: str) -> bool:
    """Neither deeper nor of more values than we take, seen before any of it is built; a complaint where it is."""
    if text.count("{") + text.count("[") <= limits.DEPTH and text.count(",") <= limits.VALUES:
        return True
    bones = _STRINGS.sub("", text)
    if bones.count("{") + bones.count("[") + bones.count(",") > limits.VALUES:
        place.refuse("more than %(limit)s values", "fewer in one line", limit=limits.VALUES)
        return False
    depth = 0
    for bracket in _BRACKETS.findall(bones):
        depth += 1 if bracket in "{[" else -1
        if depth > limits.DEPTH:
            place.refuse("nesting deeper than %(limit)s", "flatter JSON", limit=limits.DEPTH)
            return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise _NotStrict("the key %(what)s twice in one object", "each key once", shown(twice))
    return members


def _integer(digits: str) -> int:
    if len(digits) > 20 or abs(number := int(digits)) > _LARGEST:
        raise _NotStrict("the whole number %(what)s", "whole numbers below 2^63", shown(digits, 30))
    return number


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _NotStrict("the number %(what)s, which is too large", "numbers below 1.8e308", shown(digits, 30))
    return number


def _constant(word: str) -> float:
    raise _NotStrict("%(what)s, which is not allowed in JSON", "a number or null", word)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_constant, strict=True
)


def _refuse_syntax(place: Place, text: str, fault: json.JSONDecodeError) -> None:
    if place.line == 0:
        place = place.at(fault.lineno)
    if fault.msg.startswith("Unterminated string"):
        actual = "a string that starts at column %(column)s and is never closed"
    elif fault.pos >= len(text.rstrip()):
        actual = "incomplete JSON that ends at column %(column)s" if text.strip() else "nothing"
    else:
        actual = "no JSON at column %(column)s: %(near)s"
    near = shown(text[fault.pos : fault.pos + 30])
    place.refuse(actual, "one complete JSON object per line", column=fault.colno, near=near)
