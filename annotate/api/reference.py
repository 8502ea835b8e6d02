"""The description of the API, and the same put in order for people to read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer

Part = Mapping[str, Any]

#: Nothing of ours is nested deeper, and a schema that leads to itself must end somewhere.
DEPTH = 5


@dataclass(frozen=True, slots=True)
class Field:
    """A value that goes in or comes out. `name` is dotted where it lies inside another; [] is any item of a list."""

    name: str
    kind: str
    required: bool
    description: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """Values that belong together. `sent`: they go in, so that it matters whether they may be left out."""

    caption: str
    fields: tuple[Field, ...]
    sent: bool

    @property
    def explained(self) -> bool:
        return any(field.description or field.choices for field in self.fields)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call. `inputs`: values of the address and where they stand there, path or query.

    `example`: a body to begin with, as text; `file`: whether the body is a file instead.
    """

    key: str
    method: str
    path: str
    summary: str
    description: tuple[str, ...]
    inputs: tuple[tuple[str, Field], ...]
    tables: tuple[Table, ...]
    example: str
    file: bool


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    operations: tuple[Operation, ...]


@cache
def schema() -> bytes:
    """The description as OpenAPI, in JSON. Made once a process: it takes a second and never changes."""
    with override("en"):  # whoever asks first
        generated = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    rendered: bytes = OpenApiJsonRenderer().render(generated)
    return rendered


def reference() -> tuple[Group, ...]:
    """Every call, by what it is about, in the language that is spoken now."""
    return _reference(get_language() or "en")


@cache
def _reference(language: str) -> tuple[Group, ...]:
    described = json.loads(schema())
    groups: dict[str, list[Operation]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            groups.setdefault(operation["tags"][0], []).append(_operation(method, path, operation, described))
    order = ("account", "studies", "members", "annotators", "uploads", "data", "texts", "judging", "results", "exports")
    return tuple(Group(name, tuple(groups[name])) for name in sorted(groups, key=order.index))


def _operation(method: str, path: str, operation: Part, described: Part) -> Operation:
    content = operation.get("requestBody", {}).get("content", {})
    body = content.get("application/json", {}).get("schema")
    parameters = [given for given in operation.get("parameters", ()) if given["in"] != "header"]
    inputs = tuple((parameter["in"], _parameter(parameter, described)) for parameter in parameters)
    tables = [
        Table(_("In the address"), tuple(field for _place, field in inputs), sent=True),
        Table(_("Request"), tuple(_fields(body, described)) if body else (), sent=True),
    ]
    for status, answer in sorted(operation["responses"].items()):
        if status.startswith("2"):
            caption = _("Response (%(status)s)") % {"status": status}
            tables.append(Table(caption, tuple(_fields(_answer(answer), described)), sent=False))
    summary, *description = operation["description"].replace("`", "").split("\n\n")
    return Operation(
        key=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=summary,
        description=tuple(description),
        inputs=inputs,
        tables=tuple(table for table in tables if table.fields),
        example=json.dumps(_example(body, described), indent=2, ensure_ascii=False) if body else "",
        file="multipart/form-data" in content,
    )


def _answer(answer: Part) -> Part:
    schema: Part = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return schema


def _parameter(parameter: Part, described: Part) -> Field:
    kind = _kind(parameter["schema"], described)
    return Field(parameter["name"], kind, parameter.get("required", False), parameter.get("description", ""))


def _fields(part: Part, described: Part, before: str = "", depth: int = 0) -> Iterator[Field]:
    """The fields of an object and of the objects in it, the outer ones first."""
    whole = _resolved(part, described)
    if whole.get("type") == "array":
        yield from _fields(whole["items"], described, f"{before}[]", depth + 1)
        return
    required = set(whole.get("required", ()))
    for name, inner in whole.get("properties", {}).items():
        full = f"{before}.{name}" if before else name
        resolved = _resolved(inner, described)
        yield Field(
            name=full,
            kind=_kind(inner, described),
            required=name in required,
            description=inner.get("description", "") if "$ref" not in inner else "",
            choices=tuple(str(choice) for choice in resolved.get("enum", ()) if choice not in ("", None)),
        )
        if depth < DEPTH:
            yield from _fields(resolved, described, full, depth + 1)


def _resolved(part: Part, described: Part) -> Part:
    """What a reference leads to; of alternatives the first; parts of one whole together."""
    if "$ref" in part:
        return _resolved(described["components"]["schemas"][part["$ref"].rsplit("/", 1)[1]], described)
    together: dict[str, Any] = dict(part)
    for inner in part.get("allOf", ()):
        together = dict(_resolved(inner, described)) | together
    if "oneOf" in part:
        together = dict(_resolved(part["oneOf"][0], described)) | together
    return together


def _kind(part: Part, described: Part) -> str:
    whole = _resolved(part, described)
    kinds = {
        ("integer", ""): _("whole number"),
        ("number", ""): _("number"),
        ("boolean", ""): _("true or false"),
        ("string", "date-time"): _("time"),
        ("string", "uuid"): _("key (UUID)"),
        ("string", "uri"): _("address"),
        ("string", "binary"): _("file"),
        ("string", ""): _("text"),
        ("object", ""): _("object"),
        ("array", ""): _("list"),
    }
    kind, form = whole.get("type", "object"), whole.get("format", "")
    label = kinds.get((kind, form)) or kinds[kind, ""]
    return _("%(kind)s or null") % {"kind": label} if whole.get("nullable") else label


def _example(part: Part, described: Part, depth: int = 0) -> Any:
    """What might be sent: needed fields, or where none is needed the first few."""
    whole = _resolved(part, described)
    if "default" in whole:
        return whole["default"]
    if whole.get("enum"):
        return whole["enum"][0]
    kind = whole.get("type", "object")
    if kind == "object":
        properties = whole.get("properties", {})
        wanted = whole.get("required") or list(properties)[:1]
        return {name: _example(properties[name], described, depth + 1) for name in wanted if depth < DEPTH}
    if kind == "array":
        return [_example(whole["items"], described, depth + 1)]
    return {"integer": whole.get("minimum", 1), "number": 1.0, "boolean": True}.get(kind, "…")
