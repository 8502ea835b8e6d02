"""Every value of every call of the API, with what nobody should send: refused or taken, and never a fall.

What was refused leaves every table as it was; after what was taken, every list and page that shows it still answers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from annotate import exports
from annotate.models import Export
from tests.annotate import making
from tests.annotate.everything import BODIES, World, undone
from tests.annotate.test_page_hostile import stored_now
from tests.annotate.visitors import signed_in

pytestmark = pytest.mark.django_db

#: Not strict JSON, or a text that nothing can store: refused before any field sees it.
UNREADABLE = [
    "[" * 100_000,
    "1e400",
    "9223372036854775808",
    "-9223372036854775809",
    "1" + "0" * 400,
    "9" * 5_000,
    "NaN",
    "-Infinity",
    "0x10",
    "'x'",
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\ufffe"',
    '"\\u0085\\u000b\\u001f"',
    '"a' + "\\u0300" * 31 + '"',
    '"a' + "\\u0300\\u0316" * 5_000 + '"',
]
#: As JSON.
HOSTILE = [
    "null",
    "true",
    "false",
    "[]",
    "{}",
    "[null]",
    '[""]',
    '["\\u202e"]',
    '[["x"]]',
    '{"pk": 1}',
    '{"__proto__": {}}',
    "[" * 90 + "]" * 90,
    "0",
    "-0",
    "-1",
    "1.5",
    "1e308",
    "-1e-400",
    "32768",
    "2147483648",
    "9007199254740993",
    "9223372036854775807",
    '""',
    '" "',
    '"\\u202e\\u2028"',
    '"' + "\\u202a" * 200 + '"',
    '"\\u200b"',
    '"\\u00ad"',
    '"NaN"',
    '"Infinity"',
    '"' + "9" * 400 + '"',
    '"' + "9" * 5_000 + '"',
    '"' + "x" * 30_000 + '"',
    '"<script>alert(1)</script>"',
    '"{{ settings.SECRET_KEY }}"',
    '"%s%n%(title)s{0}"',
    "\"=cmd|' /C calc'!A0\"",
    '"x\\r\\nSet-Cookie: a=b"',
    '"../../etc/passwd"',
    '"\u0663"',
    '"9999-12-31T23:59:59-14:00"',
    '"0001-01-01T00:00:00+14:00"',
    '"2026-02-30T25:61"',
]
IN_ADDRESSES = [
    *("0", "-1", "1.5", "true", "null", "nan", "%D9%A3", "9" * 18, "9" * 19, "9" * 30, "9" * 5_000, "%00", "a%00b"),
    *("%ED%A0%80", "%EF%BF%BE", "%E2%80%AE", "%F0%9F%92%A9", "%FF", "..%2f..%2fetc", "x" * 3_000, "%0d%0aX:1", "'"),
    *("[]", "%3Cscript%3E", "00000000-0000-0000-0000-000000000000"),
]
#: Every name that a call looks for in its address, and some that Django's tables would know.
ASKED = ["dimension", "peers", "page", "page_size", "topic", "system", "filename", "act", "study__pk", "order_by"]
LISTS = [
    *("api_studies", "api_annotators", "api_documents", "api_invitations", "api_study", "api_members", "api_topics"),
    *(
        "api_references",
        "api_summaries",
        "api_annotator_figures",
        "api_judgments",
        "api_audit_log",
        "api_uploads",
        "api_leaderboard",
    ),
    *(
        "api_given_metrics",
        "api_results",
        "api_data",
        "api_removals",
    ),
]
#: Below the study's address.
PAGES = [
    *("settings/", "members/", "log/", "", "topics/", "recruitment/", "annotators/", "leaderboard/"),
    *("data/?show=removed", "leaderboard.tex", "leaderboard.csv", "gold-pairs/", "export/", "export/judgments.csv"),
]
#: Which of them each call is sent: the next one is sent the others, and all take them by the same code.
EVERY = 2
#: So many of the lists and pages are opened after each value, all of them at the end.
OF_EACH = PAGES[:4]
#: Who calls; tokens are made by people and not by other tokens.
CALLERS = dict.fromkeys(["api_draw", "api_judgment", "api_skip", "api_undo"], "annotator") | {"api_tokens": "signed in"}
#: What these take is gone afterwards, or was said before.
APART = {("DELETE", "api_study"), ("POST", "api_judgment"), ("POST", "api_skip"), ("POST", "api_undo")}


def addresses() -> dict[str, str]:
    """The name of each address, by what the description calls it."""
    found = {}
    for pattern in get_resolver("annotate.api.urls").url_patterns:
        if pattern.name:
            path = str(pattern.pattern)
            for kind in ("id", "uuid", "slug"):
                path = path.replace(f"<{kind}:", "{")
            found["/api/v1/" + path.replace(">", "}")] = pattern.name
    return found


def described() -> Any:
    return json.loads(Client().get(reverse("api_schema")).content)


def calls() -> Iterator[tuple[str, str, Any]]:
    """Every call of the description: method, path, and what is said of it."""
    for path, operations in described()["paths"].items():
        for method, operation in operations.items():
            yield method.upper(), path, operation


def taking_values() -> Iterator[tuple[str, str, str]]:
    """Every value that a body may hold: method, name of the address, name of the value."""
    names, schemas = addresses(), described()["components"]["schemas"]
    for method, path, operation in calls():
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
        if body:
            for value in schemas[body["$ref"].rsplit("/", 1)[1]]["properties"]:
                yield method, names[path], value


def body_of(method: str, name: str, values: Mapping[str, str]) -> bytes:
    """What is sent there, with these values as JSON."""
    rest = {key: json.dumps(sent) for key, sent in BODIES.get((method, name), {}).items()}
    return ("{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in {**rest, **values}.items()) + "}").encode()


def trials(operations: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[tuple[str, str, str, dict[str, str]]]:
    """Method, name of the address, hostile value, and what to send: every second value in each field.

    Where there are many fields they have one each at once; whoever tries them leaves out those that were wrong.
    """
    for number, ((method, name), fields) in enumerate(operations.items()):
        for hostile in UNREADABLE[number % EVERY :: EVERY]:
            yield method, name, hostile, {fields[0]: hostile}
        for turn, hostile in enumerate(HOSTILE):
            if len(fields) > 10:
                if turn % EVERY != number % EVERY:
                    continue
                places = enumerate(fields)
                yield method, name, hostile, {key: HOSTILE[(turn + 7 * place) % len(HOSTILE)] for place, key in places}
            else:
                yield from ((method, name, hostile, {key: hostile}) for key in fields[(turn + number) % EVERY :: EVERY])


def test_no_value_of_a_body_makes_us_fall(world: World) -> None:
    fallen: list[Any] = []
    answered: Counter[int] = Counter()
    taken: dict[str, list[tuple[str, str, bytes]]] = defaultdict(list)
    operations: dict[tuple[str, str], list[str]] = defaultdict(list)
    for method, name, value in taking_values():
        if name == "api_uploads":  # which reads files (test_hostile_uploads)
            continue
        operations[method, name].append(value)
    assert sum(map(len, operations.values())) > 70
    world.clients["signed in"] = signed_in(making.owner(world.study))
    before = stored_now()
    for method, name, hostile, values in trials(operations):
        caller = CALLERS.get(name, "owner")
        while values:
            body = body_of(method, name, values)
            with undone():
                response = called(world, caller, method, name, body)
                status = response.status_code
                answered[status // 100] += 1
                if status >= 500:
                    fallen.append((method, name, hostile[:60], status))
                elif status >= 400 and stored_now() != before:
                    fallen.append((method, name, hostile[:60], "refused, and stored"))
                elif hostile in UNREADABLE and status != 400:
                    fallen.append((method, name, hostile[:60], "read"))
                elif status < 300 and (method, name) not in APART:
                    taken[hostile].append((method, name, body))
            wrong = {path.partition("[")[0] for path in response.json()["error"]["fields"]} if status == 400 else set()
            values = {key: sent for key, sent in values.items() if key not in wrong} if wrong & values.keys() else {}
    print(f"\n{answered.total()} bodies, {answered[2]} taken")
    assert fallen == []
    assert answered[2] > 100
    assert poisoned(world, taken) == []


def called(world: World, caller: str, method: str, name: str, body: bytes) -> Any:
    return world.clients[caller].generic(method, world.path(name), body, content_type="application/json")


def poisoned(world: World, taken: dict[str, list[tuple[str, str, bytes]]]) -> list[Any]:
    """What can be read no longer after a value was taken wherever it was; and in the end, after all that were."""
    owner, pages = world.clients["owner"], world.clients["signed in"]
    found = []
    for hostile, sent in taken.items():
        with undone():
            for call in sent:
                called(world, CALLERS.get(call[1], "owner"), *call)
            found += [(hostile[:60], one) for one in unreadable(world, owner, pages, OF_EACH)]
    for sent in taken.values():
        for call in sent:
            called(world, CALLERS.get(call[1], "owner"), *call)
    export = exports.request_export(world.study, making.owner(world.study))
    exports.write_export(export)
    export.refresh_from_db()
    if export.state != Export.State.READY:
        found.append(("everything", f"export: {export.problem}"))
    return found + [("everything", one) for one in unreadable(world, owner, pages, PAGES)]


def unreadable(world: World, owner: Any, client: Client, pages: Sequence[str]) -> list[str]:
    lists = [one for one in LISTS[: len(pages)] if owner.get(world.path(one), {"page_size": 200}).status_code != 200]
    for one in pages:
        page = client.get(f"/studies/{world.study.pk}/{one}")
        said = b"".join(page.streaming_content) if page.streaming else page.content
        if page.status_code != 200 or (b"<script>alert" in said and "." not in one):
            lists.append(one)
    return lists


def test_no_address_and_no_question_makes_us_fall(world: World) -> None:
    fallen, tried = [], 0
    client = world.clients["owner"]
    names = addresses()
    for number, (method, address, operation) in enumerate(calls()):
        holes = [given["name"] for given in operation.get("parameters", ()) if given["in"] == "path"]
        real = {hole: str(world.keys[hole, names[address]]) for hole in holes}
        for hostile in IN_ADDRESSES[number % EVERY :: EVERY]:
            for hole in holes:
                path = address.format(**{**real, hole: hostile})
                with undone():
                    status = client.generic(method, path).status_code
                tried += 1
                if status >= 500 or (status < 300 and method != "GET"):
                    fallen.append((method, path[:100], status))
            if method == "GET":
                asked = "&".join(f"{name}={hostile}" for name in ASKED)
                for question in (asked, f"format={hostile}") if hostile in IN_ADDRESSES[::8] else (asked,):
                    response = client.get(f"{address.format(**real)}?{question}")
                    if response.streaming:
                        assert b"".join(response.streaming_content)
                    tried += 1
                    if response.status_code >= 500:
                        fallen.append(("GET", address, question[:60], response.status_code))
    print(f"\n{tried} addresses")
    assert fallen == []


@pytest.mark.parametrize(
    "header", ["Bearer", "Bearer ", "Bearer \xff\x00", "bearer " + "x" * 5_000, "Basic eDp5", "Token x"]
)
def test_no_header_makes_us_fall(world: World, header: str) -> None:
    response = world.clients["nobody"].get(world.path("api_studies"), HTTP_AUTHORIZATION=header)
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
