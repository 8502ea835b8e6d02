"""Records of a fixed shape out of JSON objects: each key must be there, of its kind, and no other."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from preferendum.formats.checks import limits, text
from preferendum.formats.checks.complaints import Place, kind, shown
from preferendum.formats.checks.strict_json import extras

Record = TypeVar("Record")
# Gives back the value as it is kept; complains of what cannot be kept.
Check = Callable[[Place, Any], Any]


def record(
    place: Place,
    given: Mapping[str, Any],
    make: Callable[..., Record],
    shape: Mapping[str, Check],
    optional: Collection[str] = (),
) -> Record | None:
    """What `make` makes of the checked values, or None and every complaint. `optional` keys may be missing."""
    before = len(place.complaints.collected)
    for key in sorted(given.keys() - shape.keys()):
        place.key(key).refuse("an unknown key", "only %(keys)s", keys=", ".join(shape))
    values = {}
    for key, check in shape.items():
        if key in given:
            values[key] = check(place.key(key), given[key])
        elif key not in optional:
            place.key(key).refuse("no such key", "all of %(keys)s", keys=", ".join(shape))
    return make(**values) if len(place.complaints.collected) == before else None


def items(place: Place, value: Any) -> list[Any]:
    """The list; empty and a complaint where it is none."""
    if isinstance(value, list):
        return value
    place.refuse("%(what)s", "a list in square brackets", what=kind(value))
    return []


def words(characters: int) -> Check:
    def check(place: Place, value: Any) -> str:
        if not isinstance(value, str):
            place.refuse("%(what)s", "text in double quotes", what=kind(value))
        elif len(value) > characters:
            place.refuse("%(count)s characters", "at most %(limit)s", count=len(value), limit=characters)
        else:
            return text.clean(place, value) or ""
        return ""

    return check


def name(place: Place, value: Any) -> str:
    if isinstance(value, str):
        return text.name(place, value) or ""
    place.refuse("%(what)s", "a name in double quotes", what=kind(value))
    return ""


def topic(place: Place, value: Any) -> str:
    """The name of a topic; "" stands for that of answers which name none."""
    return "" if value == "" else name(place, value)


def matching(pattern: re.Pattern[str], expected: str) -> Check:
    def check(place: Place, value: Any) -> str:
        if isinstance(value, str) and pattern.fullmatch(value):
            return value
        place.refuse("%(what)s", expected, what=kind(value))
        return ""

    return check


def one_of(choices: Sequence[str]) -> Check:
    def check(place: Place, value: Any) -> Any:
        if value not in choices:
            listed = ", ".join(choice or '""' for choice in choices)
            place.refuse("%(what)s", "one of %(choices)s", what=kind(value), choices=listed)
        return value

    return check


def whole(low: int, high: int) -> Check:
    def check(place: Place, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            place.refuse("%(what)s", "a whole number from %(low)s to %(high)s", what=kind(value), low=low, high=high)
        return value

    return check


def real(low: float = -math.inf, high: float = math.inf) -> Check:
    def check(place: Place, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            upward = "a number" if low == -math.inf else "a number, %(low)s or more"
            expected = upward if high == math.inf else "a number from %(low)s to %(high)s"
            place.refuse("%(what)s", expected, what=kind(value), low=low, high=high)
            return math.nan
        return float(value)

    return check


def flag(place: Place, value: Any) -> Any:
    if not isinstance(value, bool):
        place.refuse("%(what)s", "true or false", what=kind(value))
    return value


def moment(place: Place, value: Any) -> str:
    if isinstance(value, str):
        return _moment(place, value)
    place.refuse("%(what)s", "a time with its zone such as 2026-01-31T16:53:19Z", what=kind(value))
    return ""


def _moment(place: Place, value: str) -> str:
    """A point in time as ISO 8601 with its zone, as given; empty and a complaint where it is none."""
    try:
        given = datetime.fromisoformat(value)
        # The last hours of the calendar are beyond it elsewhere.
        aware = given.tzinfo is not None and given.astimezone(UTC) is not None
    except (ValueError, OverflowError):
        aware = False
    if not aware or not value.isascii():
        place.refuse("%(what)s", "a time with its zone such as 2026-01-31T16:53:19Z", what=shown(value))
        return ""
    return value


def maybe(check: Check) -> Check:
    """A check of what another check allows, or null."""
    return lambda place, value: None if value is None else check(place, value)


def by_name(checks: Sequence[Check]) -> Check:
    """An object whose keys are names and whose values are lists, each item checked by its own check."""
    return each(_row(checks))


def _row(checks: Sequence[Check]) -> Check:
    def check(place: Place, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != len(checks):
            place.refuse("%(what)s", "a list of %(count)s numbers", what=kind(value), count=len(checks))
            return ()
        return tuple(check(place.key(i), item) for i, (check, item) in enumerate(zip(checks, value, strict=True)))

    return check


def each(of: Check) -> Check:
    """An object whose keys are names, each value checked."""

    def check(place: Place, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            place.refuse("%(what)s", "an object in braces", what=kind(value))
            return {}
        kept = {}
        for key, item in value.items():
            here = place.key(key)
            called = name(here, key)
            kept[called] = of(here, item)
        return kept

    return check


def listed(of: Check, most: int) -> Check:
    """A list of at most so many items, each checked."""

    def check(place: Place, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            place.refuse("%(what)s", "a list in brackets", what=kind(value))
        elif len(value) > most:
            place.refuse("%(count)s items", "at most %(limit)s", count=len(value), limit=most)
        else:
            return tuple(of(place.key(i), item) for i, item in enumerate(value))
        return ()

    return check


#: The names of systems.
systems = listed(name, limits.VALUES)


def of_shape(make: Callable[..., Record], shape: Mapping[str, Check]) -> Check:
    """An object of this shape, as `record` reads it."""

    def check(place: Place, value: Any) -> Any:
        if isinstance(value, dict):
            return record(place, value, make, shape)
        place.refuse("%(what)s", "an object in braces", what=kind(value))
        return None

    return check


def free(place: Place, value: Any) -> Any:
    """An object of any content, its texts cleaned."""
    if isinstance(value, dict):
        return extras(place, value, frozenset())
    place.refuse("%(what)s", "an object in braces", what=kind(value))
    return {}


@cache
def shape_of(kind: type) -> Mapping[str, Check]:
    """The shape of a dataclass, by its annotations: `Annotated[type, check]`, or a type that needs no more."""
    return {name: _check_of(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}


def of_kind(kind: type) -> Check:
    """An object of the shape of a dataclass."""
    return lambda place, value: of_shape(kind, shape_of(kind))(place, value)


def _check_of(hint: Any) -> Check:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        check: Check = hint.__metadata__[0]
        return check
    if origin is Literal:
        return one_of(arguments)
    if origin in (Union, UnionType):
        [own] = (argument for argument in arguments if argument is not NoneType)
        return maybe(_check_of(own))
    if origin is tuple:
        return _row([_check_of(argument) for argument in arguments])
    if origin is not None and issubclass(origin, Mapping):
        return free if arguments[1] is Any else each(_check_of(arguments[1]))
    if isinstance(hint, type) and is_dataclass(hint):
        return of_kind(hint)
    return {bool: flag, float: real()}[hint]
