"""docs/agents.md: its ten calls, sent one after the other to a real server, make a study that annotators can open, and
what it names for afterwards answers."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from annotate import accounts, docs
from annotate.models import Study
from tests.annotate import making
from tests.conftest import ROOT, Web

CALL = re.compile(r"^    (GET|POST|PATCH) (/\S+)\n((?:    .+\n)*)", re.MULTILINE)


@pytest.mark.django_db(transaction=True)
def test_ten_calls_of_the_page_lead_from_nothing_to_a_link_for_annotators(web: Web, worker: object) -> None:
    _token, secret = accounts.create_token(making.person(is_superuser=True), "agent")
    page = (ROOT / "docs" / "agents.md").read_text()
    calls, afterwards = CALL.findall(page), re.findall(r"`(GET|POST) …(/\S+)`", page.partition("## Afterwards")[2])
    assert (len(calls), len(afterwards)) == (10, 3)
    found: dict[str, Any] = {}
    answers: list[dict[str, Any]] = []

    def sent(method: str, path: str, body: str) -> bytes:
        for name, value in found.items():
            path = path.replace(name, str(value))
        kind = "octet-stream" if "filename=" in path else "json"
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": f"application/{kind}"}
        asked = urllib.request.Request(web.url + path, body.encode() or None, headers, method=method)
        with urllib.request.urlopen(asked, timeout=30) as answer:
            content: bytes = answer.read()
            return content

    def send(method: str, path: str, body: str) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(sent(method, path, body))
        return read

    for method, path, indented in calls:
        body = re.sub(r"(?m)^    ", "", indented)
        answer = send(method, path, body)
        until = time.monotonic() + 60
        while answer.get("state") in ("waiting", "confirmed") and method == "GET" and time.monotonic() < until:
            time.sleep(0.2)
            answer = send(method, path, body)
        for name, where, key in (("STUDY", "/studies/", "id"), ("UPLOAD", "/uploads/", "key")):
            if method == "POST" and path.partition("?")[0].endswith(where):
                found[name] = answer[key]
        answers.append(answer)
    assert [answers[place].get("state") for place in (3, 5)] == ["ready", "stored"]
    assert (answers[7]["count"], answers[9]["systems"]) == (2, [])
    study = Study.objects.get()
    assert (study.compares, study.topics.count(), study.judgments_per_pair) == ("summaries", 2, 3)
    with urllib.request.urlopen(answers[8]["link"], timeout=30) as invitation:
        assert "Which text tells more about the flood?" in invitation.read().decode()
    for method, path in afterwards:
        assert sent(method, f"/api/v1/studies/STUDY{path}", "")


def test_a_language_model_finds_every_page_as_plain_text(client: Client) -> None:
    listed = client.get("/llms.txt")
    assert listed["Content-Type"] == "text/plain; charset=utf-8"
    text = listed.content.decode()
    assert text.startswith("# Preferendum\n\n> ")
    links = re.findall(r"^- \[.+\]\((\S+)\): .+\.$", text, re.MULTILINE)
    assert len(links) == len(docs.NAMES)
    for link in links:
        page = client.get(link.removeprefix(settings.ORIGIN))
        assert page["Content-Type"] == "text/markdown; charset=utf-8"
        name = link.rpartition("/")[2]
        assert page.content == (ROOT / "docs" / name).read_bytes()
    assert client.get("/docs/nothing.md").status_code == 404
