"""Bad files, sent to a real web server and read by a real worker, and the whole journey of a program past both."""

from __future__ import annotations

import io
import json
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotate import accounts
from annotate.models import (
    HumanScore,
    Judgment,
    MetricScore,
    PyramidAnnotation,
    Reference,
    SourceDocument,
    Study,
    Summary,
    System,
    Topic,
    Upload,
    WorkerPulse,
)
from preferendum.formats.archive import study as study_archive
from tests.annotate import making
from tests.conftest import Web

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 90.0
GOOD = {"topic_id": "T", "documents": [{"id": "d", "text": "Rain fell. Rivers rose. Roads closed."}]}


class Program:
    """Somebody's script."""

    def __init__(self, web: Web, study: Study) -> None:
        _token, self.secret = accounts.create_token(making.owner(study), "script")
        self.root = f"{web.url}/api/v1"
        self.here = f"{self.root}/studies/{study.pk}"

    def call(self, method: str, url: str, body: bytes | None = None, kind: str = "application/json") -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.secret}", "Content-Type": kind}
        request = urllib.request.Request(url, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                content = answer.read()
                return answer.status, json.loads(content) if "json" in answer.headers["Content-Type"] else content
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def get(self, url: str) -> Any:
        return self.call("GET", url)[1]

    def post(self, url: str, **sent: Any) -> tuple[int, Any]:
        return self.call("POST", url, json.dumps(sent).encode() if sent else b"")

    def upload(self, name: str, content: bytes) -> tuple[int, Any]:
        path = f"{self.here}/uploads/?filename={name}"
        return self.call("POST", path, content, "application/octet-stream")


def wait_until(condition: Callable[[], Any], what: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still waiting for {what()}"
        time.sleep(0.1)
    return found


def topic(**keys: Any) -> bytes:
    return json.dumps(GOOD | keys).encode()


def packed(**files: str | bytes) -> bytes:
    """A zip; in names __ stands for a slash."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ({"topics__T__documents__d.txt": "Rain fell."} | files).items():
            archive.writestr(name.replace("__", "/"), content)
    return file.getvalue()


def bomb() -> bytes:
    return packed(topics__T__documents__e=b"a" * 15_000_000)


#: The name of a file, what is in it, and what its first complaint must say: file, line and field, then in words.
BAD: list[tuple[str, bytes, tuple[str, int, str], str]] = [
    ("broken.zip", packed()[:-30], ("broken.zip", 0, ""), "zip"),
    ("cut.zip", packed()[:40], ("cut.zip", 0, ""), "zip"),
    ("bomb.zip", bomb(), ("bomb.zip/topics/T/documents/e", 0, ""), "100-fold"),
    ("out.zip", packed(**{"../evil.txt": "x"}), ("out.zip/../evil.txt", 0, ""), "leads out of the ZIP file"),
    ("absolute.zip", packed(**{"/etc/passwd": "x"}), ("absolute.zip//etc/passwd", 0, ""), "an absolute path"),
    ("nested.zip", packed(**{"more.zip": packed()}), ("nested.zip/more.zip", 0, ""), "zip"),
    ("office.zip", packed(**{"[Content_Types].xml": "<x/>"}), ("office.zip", 0, ""), "Office"),
    (
        "scores.zip",
        packed(**{"human_scores.csv": "topic,system\nT,x\n"}),
        ("scores.zip/human_scores.csv", 1, ""),
        "score",
    ),
    ("latin.jsonl", topic(title="Año").decode("unicode-escape").encode("latin-1"), ("latin.jsonl", 1, ""), "UTF-8"),
    ("utf16.csv", "topic,a,b,winner\n".encode("utf-16"), ("utf16.csv", 1, ""), "UTF-16"),
    ("nul.jsonl", topic()[:-1] + b', "title": "a\0b"}', ("nul.jsonl", 1, ""), "u{0000}"),
    ("nul-escaped.jsonl", topic(title="a\0b"), ("nul-escaped.jsonl", 1, "title"), "NUL"),
    ("surrogate.jsonl", topic()[:-1] + b', "title": "\\ud800"}', ("surrogate.jsonl", 1, "title"), "surrogate"),
    ("empty.jsonl", b"\n", ("empty.jsonl", 0, ""), "an empty file"),
    ("broken.jsonl", topic() + b"\n" + topic()[:-9], ("broken.jsonl", 2, ""), "JSON"),
    ("twice.jsonl", topic() + b"\n" + topic(), ("twice.jsonl", 2, "topic_id"), "second time"),
    ("key-twice.jsonl", topic()[:-1] + b', "topic_id": "U"}', ("key-twice.jsonl", 1, ""), "twice"),
    ("nameless.jsonl", b'{"documents": []}', ("nameless.jsonl", 1, "topic_id"), "no such key"),
    ("textless.jsonl", topic(documents=[{"id": "d"}]), ("textless.jsonl", 1, "documents[0].text"), "no such key"),
    ("blank.jsonl", topic(documents=[{"id": "d", "text": " "}]), ("blank.jsonl", 1, "documents[0].text"), "empty"),
    ("number.jsonl", topic(documents=[{"id": "d", "text": 3}]), ("number.jsonl", 1, "documents[0].text"), "number 3"),
    ("nan.jsonl", topic()[:-1] + b', "x": NaN}', ("nan.jsonl", 1, ""), "NaN"),
    ("deep.jsonl", topic()[:-1] + b', "x": ' + b"[" * 500 + b"]" * 500 + b"}", ("deep.jsonl", 1, ""), "nesting"),
    ("long.jsonl", b'{"topic_id": "' + b"x" * 49_000_000 + b'"}', ("long.jsonl", 1, ""), "line"),
    (
        "same.jsonl",
        topic(documents=[{"id": "d", "text": "One."}, {"id": "d", "text": "Two."}]),
        ("same.jsonl", 1, "documents[1].id"),
        "second time",
    ),
    ("preferences.csv", b"topic;a;b;winner\nT;d:0;d:1\n", ("preferences.csv", 2, ""), "3 values"),
    ("tabs.csv", b"topic\ta\tb\twinner\nT\td:0\td:1\n", ("tabs.csv", 2, ""), "3 values"),
    ("short.csv", b"topic,a,b,winner\nM1,d1:0,d1:1\n", ("short.csv", 2, ""), "3"),
    ("quote.csv", b'topic,a,b,winner\nM1,"d1:0,d1:1,a\n', ("quote.csv", 2, ""), "quot"),
    ("unknown.csv", b"topic,a,b,winner\nM9,d1:0,d1:1,a\n", ("unknown.csv", 2, "topic"), '"M9"'),
    ("sentence.csv", b"topic,a,b,winner\nM1,d1:0,d1:3,a\n", ("sentence.csv", 2, "b"), "3 sentences"),
    ("winner.csv", b"topic,a,b,winner\nM1,d1:0,d1:1,perhaps\n", ("winner.csv", 2, "winner"), "a, b, tie or neither"),
    ("system.csv", b"topic,system,dimension,score\nM1,Lead,x,1\n", ("system.csv", 2, "system"), '"Lead"'),
    ("score.csv", b"topic,system,dimension,score\nM1,lead,x,much\n", ("score.csv", 2, "score"), "number"),
    ("twice.csv", b"topic,system,text\nM1,x,a\nM1,x,b\n", ("twice.csv", 3, "system"), "a second summary"),
    ("paper.pdf", b"%PDF-1.7\n\0", ("paper.pdf", 0, ""), "a PDF"),
    ("page.html", b"<!doctype html><p>x", ("page.html", 0, ""), "a web page"),
    ("noise.bin", bytes(range(256)) * 50, ("noise.bin", 0, ""), ""),
]


def stored() -> list[int]:
    of_topics = (Topic, SourceDocument, Reference, PyramidAnnotation, System, Summary, HumanScore, MetricScore)
    return [table.objects.count() for table in (*of_topics, Judgment)]


def test_every_bad_file_is_refused_with_its_reason_and_nobody_falls(web, worker):
    assert len(BAD) >= 25
    study = making.study()
    for row in making.take_in(study):
        making.prepare(row)
    program = Program(web, study)
    before = stored()
    for name, content, _where, _words in BAD:
        status, answer = program.upload(name, content)
        assert status == 202, (name, answer)
    waiting = Upload.objects.filter(state="waiting")
    wait_until(lambda: not waiting.exists(), lambda: list(waiting.values_list("filename", "tries")))
    uploads = {one["filename"]: one for one in program.get(f"{program.here}/uploads/?page_size=200")["results"]}
    wrong = []
    for name, _content, where, words in BAD:
        found = uploads[name]
        first = (found["complaints"] or [{"file": "", "line": -1, "field": "", "message": ""}])[0]
        place = (first["file"], first["line"], first["field"])
        # A table that lacks a column may have it under another name: its page asks.
        state = "asked" if name == "scores.zip" else "refused"
        if found["state"] != state or (where != place and name != "noise.bin") or words not in first["message"]:
            wrong.append((name, found["state"], place, first["message"][:200]))
    assert wrong == []
    assert stored() == before
    assert program.post(f"{program.here}/uploads/{uploads['twice.jsonl']['key']}/confirm/")[0] == 409
    assert WorkerPulse.objects.filter(at__gt=timezone.now() - timedelta(seconds=30)).exists()
    assert web.process.poll() is None
    assert worker.poll() is None


def test_a_program_goes_all_the_way_from_a_file_to_an_archive(web, worker, tmp_path):
    study = making.study(title="Rain", prior=1.0, counted_kinds="machines")
    program = Program(web, study)
    _status, upload = program.upload("topics.jsonl", making.lines(making.TOPIC))
    mine = f"{program.here}/uploads/{upload['key']}"
    ready = wait_until(lambda: (one := program.get(f"{mine}/"))["state"] != "waiting" and one, lambda: "the reader")
    assert (ready["state"], ready["preview"]["topics"][0]["sentences"]) == ("ready", 5)
    assert not Topic.objects.exists()
    assert program.post(f"{mine}/confirm/")[0] == 202
    topics = wait_until(lambda: program.get(f"{program.here}/topics/")["results"], lambda: "the topic")
    here = f"{program.here}/topics/{topics[0]['id']}"
    wait_until(lambda: program.get(f"{here}/")["cut"], lambda: "its sentences")
    sentences = {one["text"]: one["position"] for one in program.get(f"{here}/sentences/")["results"]}
    assert len(sentences) == 5
    _status, judge = program.post(f"{program.here}/annotators/", pseudonym="first-is-best")
    for number in range(6):
        status, pair = program.post(f"{program.here}/annotators/{judge['key']}/draw/")
        assert status == 200, pair
        answer = "left" if sentences[pair["left"]] < sentences[pair["right"]] else "right"
        url = f"{program.root}/assignments/{pair['key']}/judgment/"
        status, recorded = program.post(url, revision=pair["revision"], answer=answer, seconds=0.2)
        assert (status, recorded["counted"]) == (201, True), number
    board = wait_until(
        lambda: (one := program.get(f"{program.here}/leaderboard/"))["judgments"] == 6 and not one["behind"] and one,
        lambda: "the leaderboard",
    )
    assert {one["system"] for one in board["systems"]} == {"lead", "long"}
    assert board["has_worker"]
    ranked = program.get(f"{here}/sentences/")["results"]
    assert ranked[0]["utility"] > ranked[-1]["utility"]
    _status, asked = program.post(f"{program.here}/exports/")
    mine = f"{program.here}/exports/{asked['key']}"
    wait_until(lambda: program.get(f"{mine}/")["state"] == "ready", lambda: "the archive")
    (tmp_path / "study.zip").write_bytes(program.get(f"{mine}/file/"))
    archive = study_archive.read(tmp_path / "study.zip")
    assert (len(archive.judgments), archive.annotators[0].kind) == (6, "machine")
