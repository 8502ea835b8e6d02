"""Every value of every call of the API, with what nobody should send: refused or taken, and never a fall."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import get_resolver

from annotate.api import reference
from tests.annotate.everything import BODIES, World, everything, undone

pytestmark = pytest.mark.django_db

#: As JSON. What is not strict JSON, or holds what no text may, is refused before any field sees it (test_api).
HOSTILE = [
    "null",
    "true",
    "[]",
    "{}",
    "-1",
    "1.5",
    "1e308",
    "9223372036854775807",
    '""',
    '"\\u202e\\u2028"',
    '"\\u200b"',
    '"NaN"',
    '"Infinity"',
    '"' + "9" * 400 + '"',
    '"' + "x" * 30_000 + '"',
    '"<script>alert(1)</script>"',
    '"%s%n%(title)s"',
    '"9999-12-31T23:59:59-14:00"',
    '"0001-01-01T00:00:00+14:00"',
]
IN_ADDRESSES = ["0", "-1", "9" * 30, "%00", "%ED%A0%80", "%F0%9F%92%A9", "..%2f..%2fetc", "x" * 3_000, "%0d%0aX:1", "'"]


@pytest.fixture
def world() -> World:
    return everything()


def addresses() -> dict[str, str]:
    """The name of each address, by what the description calls it."""
    found = {}
    for pattern in get_resolver("annotate.api.urls").url_patterns:
        if pattern.name:
            path = str(pattern.pattern)
            for kind in ("id", "uuid"):
                path = path.replace(f"<{kind}:", "{")
            found["/api/v1/" + path.replace(">", "}")] = pattern.name
    return found


def taking_values() -> list[tuple[str, str, str]]:
    """Every value that a body may hold: method, name of the address, name of the value."""
    names = addresses()
    return [
        (operation.method, names[operation.path], field.name)
        for group in reference.reference()
        for operation in group.operations
        if operation.example
        for table in operation.tables
        if table.sent
        for field in table.fields
        if field.name not in {name for _place, one in operation.inputs for name in [one.name]}
    ]


def test_no_value_of_a_body_makes_us_fall(world: World) -> None:
    fallen: list[Any] = []
    values = taking_values()
    assert len(values) > 30
    for method, name, value in values:
        caller = "annotator" if name in {"api_judgment", "api_skip", "api_undo"} else "owner"
        client = world.clients[caller]
        for hostile in HOSTILE:
            rest = {key: sent for key, sent in BODIES.get((method, name), {}).items() if key != value}
            pairs = [f"{json.dumps(key)}: {json.dumps(sent)}" for key, sent in rest.items()]
            body = "{" + ", ".join([*pairs, f"{json.dumps(value)}: {hostile}"]) + "}"
            with undone():
                response = client.generic(method, world.path(name), body.encode(), content_type="application/json")
                if response.status_code >= 500:
                    fallen.append((method, name, value, hostile[:60], response.status_code))
                elif response.status_code < 300:
                    fallen += poisoned(world, method, name, value, hostile)
    assert fallen == []


def poisoned(world: World, method: str, name: str, value: str, hostile: str) -> list[Any]:
    """What can be read no longer after a value was taken."""
    owner = world.clients["owner"]
    reading = ["api_studies", "api_invitations", "api_documents", "api_annotators", "api_judgments"]
    statuses = {one: owner.get(world.path(one)).status_code for one in reading}
    gone = {one for one, status in statuses.items() if status not in (200, 404)}
    return [(method, name, value, hostile[:60], sorted(gone))] if gone else []


def test_no_address_and_no_question_makes_us_fall(world: World) -> None:
    fallen = []
    client = world.clients["owner"]
    for group in reference.reference():
        for operation in group.operations:
            if operation.method != "GET":
                continue
            path = operation.path
            for place, field in operation.inputs:
                if place == "path":
                    path = path.replace(f"{{{field.name}}}", str(world.keys[field.name, addresses()[operation.path]]))
            for hostile in IN_ADDRESSES:
                for asked in (
                    f"{path}?page={hostile}&topic={hostile}",
                    f"{path}?page_size={hostile}&system={hostile}",
                    f"{path}{hostile}/",
                ):
                    response = client.get(asked)
                    if response.streaming:
                        assert b"".join(response.streaming_content)
                    if response.status_code >= 500:
                        fallen.append((asked[:100], response.status_code))
    assert fallen == []


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer \xff\x00", "bearer " + "x" * 5_000, "Basic eDp5", "Token x"]
)
def test_no_header_makes_us_fall(world: World, header: str) -> None:
    response = world.clients["nobody"].get(world.path("api_studies"), HTTP_AUTHORIZATION=header)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
