"""Records as JSON and back, by their annotations: nothing is written by hand, nothing is dropped on the way.

A record is a frozen dataclass of strings, numbers, tuples, mappings and other records. A field is written under its
own name, or under the one that `written_as` gives it. What is unknown is None, in JSON null, never not a number.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import cache
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Reader = Callable[[Any, str], Any]
Record = TypeVar("Record")

_NAME = "written_as"
_PLAIN = {str, int, bool, NoneType}
_EXPECTED: Mapping[type, str] = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}


class Misread(ValueError):
    """JSON that is not what the record says; the message names the field and what was expected there."""

    def __init__(self, where: str, expected: str) -> None:
        super().__init__(f"{where}: expected {expected}")


def written_as(name: str) -> Mapping[str, str]:
    """The metadata of a field that has another name in JSON: one that files or programs know already."""
    return {_NAME: name}


def json_name(field: dataclasses.Field[Any]) -> str:
    """The name under which a field is written."""
    return str(field.metadata.get(_NAME, field.name))


def to_json(value: Any) -> Any:
    """A record, or a collection of records, as JSON. Raises `ValueError` for a number that JSON does not have."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written as JSON")
        return value
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return _items_to_json(value)
    if dataclasses.is_dataclass(value):
        names, items = _fields(value.__class__)
        return dict(zip(names, _items_to_json(items(value)), strict=True))
    return dict(zip(value, _items_to_json(value.values()), strict=True))


def but_defaults(value: Any) -> dict[str, Any]:
    """What JSON's own writer is to write of a record (`default`): the fields that are not as they are by default."""
    names, items = _fields(value.__class__)
    given = zip(names, items(value), _defaults(value.__class__), strict=True)
    return {name: item for name, item, default in given if item != default}


@cache
def _defaults(kind: type) -> list[Any]:
    """The default of each field; what equals nothing where there is none."""
    return [
        field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        for field in dataclasses.fields(kind)
    ]


def _items_to_json(values: Collection[Any]) -> list[Any]:
    """The items as JSON; those of a matrix's row, or of a list of names, are not looked at one by one."""
    kinds = set(map(type, values))
    if kinds <= _PLAIN or (kinds <= {float, NoneType} and math.isfinite(sum(filter(None, values)))):
        return list(values)
    return [item if type(item) in _PLAIN else to_json(item) for item in values]


@cache
def _fields(kind: type) -> tuple[tuple[str, ...], Callable[[Any], Any]]:
    """What the fields of a record are called in JSON, and what reads them all."""
    own = dataclasses.fields(kind)
    names = [field.name for field in own]
    return tuple(map(json_name, own)), attrgetter(*names) if len(names) > 1 else lambda value: [
        getattr(value, name) for name in names
    ]


def from_json(kind: type[Record], value: Any) -> Record:
    """The record that was written. Keys that have a default may be missing: rows are older than fields are.

    Raises `Misread` where any other key is missing or unknown, or a value is of another type.
    """
    record: Record = _reader(cast(Hashable, kind))(value, kind.__name__)
    return record


@cache
def _reader(kind: Any) -> Reader:
    origin, arguments = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return _record_reader(kind)
    if origin in (Union, UnionType):
        return _union_reader(arguments)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin is Literal:
        return _plain_reader(str, frozenset(arguments))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_reader(arguments[1])
    if kind in _EXPECTED:
        return _plain_reader(kind)
    if kind is Any:
        return lambda value, _where: value
    raise TypeError(f"no record holds {kind}")


def _record_reader(kind: Any) -> Reader:
    types = get_type_hints(kind)
    readers = {json_name(field): (field.name, _reader(types[field.name])) for field in dataclasses.fields(kind)}
    needed = {json_name(field) for field in dataclasses.fields(kind) if _has_no_default(field)}

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            raise Misread(where, "an object")
        if not needed <= value.keys() <= readers.keys():
            for name in sorted(value.keys() - readers.keys()):
                raise Misread(f"{where}.{name}", "no such key")
            raise Misread(f"{where}.{min(needed - value.keys())}", "a value, and there is none")
        return kind(**{readers[name][0]: readers[name][1](item, f"{where}.{name}") for name, item in value.items()})

    return read


def _has_no_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _union_reader(kinds: tuple[Any, ...]) -> Reader:
    readers = [_reader(kind) for kind in kinds if kind is not NoneType]
    is_optional = NoneType in kinds

    def read(value: Any, where: str) -> Any:
        if value is None and is_optional:
            return None
        for reader in readers[:-1]:
            try:
                return reader(value, where)
            except Misread:
                continue
        return readers[-1](value, where)

    return read


def _tuple_reader(kinds: tuple[Any, ...]) -> Reader:
    if kinds[-1] is ...:
        return _sequence_reader(kinds[0])
    readers = [_reader(kind) for kind in kinds]

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise Misread(where, f"a list of {len(readers)}")
        return tuple(reader(item, f"{where}[{k}]") for k, (reader, item) in enumerate(zip(readers, value, strict=True)))

    return read


def _sequence_reader(kind: Any) -> Reader:
    reader = _reader(kind)

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, list | tuple):
            raise Misread(where, "a list")
        if _are_all(kind, value):
            return tuple(value)
        return tuple(reader(item, f"{where}[{k}]") for k, item in enumerate(value))

    return read


def _mapping_reader(kind: Any) -> Reader:
    reader = _reader(kind)

    def read(value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            raise Misread(where, "an object")
        if _are_all(kind, value.values()):
            return dict(value)
        return {key: reader(item, f"{where}.{key}") for key, item in value.items()}

    return read


def _are_all(kind: Any, values: Collection[Any]) -> bool:
    """Whether nothing needs to be converted, seen a hundred times faster than by looking at each value."""
    kinds = set(get_args(kind)) if get_origin(kind) is UnionType else {kind}
    return kinds <= _EXPECTED.keys() | {NoneType} and set(map(type, values)) <= kinds


def _plain_reader(kind: type, allowed: Collection[Any] = ()) -> Reader:
    expected = f"one of {', '.join(map(repr, sorted(allowed)))}" if allowed else _EXPECTED[kind]

    def read(value: Any, where: str) -> Any:
        # JSON knows one kind of numbers: a database may give 1 for 1.0.
        if kind is float and type(value) is int:
            return float(value)
        if type(value) is not kind or (allowed and value not in allowed):
            raise Misread(where, expected)
        return value

    return read
