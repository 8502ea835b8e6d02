"""Serializers of records, made from their annotations: the API returns what is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from rest_framework import serializers

from preferendum.formats.serialization import json_name

Fields = serializers.Field[Any, Any, Any, Any]

_PLAIN: Mapping[Any, type[Fields]] = {
    bool: serializers.BooleanField,
    datetime: serializers.DateTimeField,
    float: serializers.FloatField,
    int: serializers.IntegerField,
    str: serializers.CharField,
}


@cache
def serializer_of(record: type) -> type[serializers.Serializer[Any]]:
    """A serializer of `to_json` of such a record, or of the record itself."""
    types = get_type_hints(record)
    fields = {json_name(field): _field(types[field.name]) for field in dataclasses.fields(record)}
    about = {"__doc__": record.__doc__, "__module__": record.__module__}
    return type(f"{record.__name__}Serializer", (serializers.Serializer,), about | fields)


def _field(kind: Any, **options: Any) -> Fields:
    origin, arguments = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind):
        return serializer_of(kind)(**options)  # type: ignore[arg-type]  # the class, not one of its records
    if origin in (Union, UnionType):
        kinds = [argument for argument in arguments if argument is not NoneType]
        return _field(kinds[0], **options, **({"allow_null": True} if NoneType in arguments else {}))
    if origin is tuple:
        return serializers.ListField(child=_field(arguments[0]), **_length(arguments), **options)
    if origin is Literal:
        return serializers.CharField(**options)
    if origin is not None and issubclass(origin, Mapping):
        return serializers.DictField(child=_field(arguments[1]), **options)
    return _PLAIN[kind](**options)


def _length(arguments: tuple[Any, ...]) -> dict[str, Any]:
    """A tuple of fixed length is a list of that length; others, such as names, have any length."""
    return {} if arguments[-1] is ... else {"min_length": len(arguments), "max_length": len(arguments)}
