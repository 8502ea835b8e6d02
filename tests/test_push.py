"""`preferendum push hf`: from a real server to a hub that answers as that of huggingface-hub 2.4 does."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from annotate import accounts
from annotate.models import Study
from tests.annotate import making
from tests.annotate.judging_study import joined, judged
from tests.annotate.test_comparing_summaries import record, study_of
from tests.annotate.test_dataset import described
from tests.conftest import ROOT, Web

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "hf_thisIsAdasOwnSecret"
Push = Callable[..., subprocess.CompletedProcess[str]]


class Hub(ThreadingHTTPServer):
    """Repositories of datasets by name, each with its files, and whether it is private."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.files: dict[str, dict[str, bytes]] = {}
        self.private: dict[str, bool] = {}
        self.commits: list[str] = []
        self.large: dict[str, bytes] = {}


class Answer(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: object) -> None:
        return None

    def do_GET(self) -> None:
        self.answer(b"")

    def do_POST(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def do_PUT(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        digest = self.path.rpartition("/")[2]
        assert hashlib.sha256(content).hexdigest() == digest
        self.server.large[digest] = content
        self.say(200, {})

    def answer(self, body: bytes) -> None:
        if self.headers.get("Authorization") != f"Bearer {SECRET}" and self.path != "/api/validate-yaml":
            return self.say(401, {"error": "Invalid user token."})
        hub, path = self.server, self.path.partition("?")[0]
        if path == "/api/whoami-v2":
            return self.say(200, {"type": "user", "name": "ada", "orgs": []})
        if path == "/api/validate-yaml":
            return self.say(200, {"errors": [], "warnings": []})
        if path == "/api/repos/create":
            return self.create(json.loads(body))
        name = "/".join(path.removeprefix("/api").removesuffix(".git/info/lfs/objects/batch").split("/")[2:4])
        if path.endswith(f"datasets/{name}"):
            return self.say(200, {"id": name, "private": hub.private[name], "sha": "0" * 40})
        if "/tree/" in path:
            return self.say(200, [{"type": "file", "path": own, "size": 1, "oid": "0"} for own in hub.files[name]])
        if "/preupload/" in path:
            modes = [
                {"path": own["path"], "uploadMode": "lfs" if own["path"].endswith("jsonl") else "regular"}
                for own in json.loads(body)["files"]
            ]
            return self.say(200, {"files": [mode | {"shouldIgnore": False} for mode in modes]})
        if path.endswith("/lfs/objects/batch"):
            to = [
                own | {"actions": {"upload": {"href": f"{hub.url}/large/{own['oid']}"}}}
                for own in json.loads(body)["objects"]
            ]
            return self.say(200, {"transfer": "basic", "objects": to})
        assert "/commit/main" in path
        return self.commit(name, [json.loads(line) for line in body.splitlines()])

    def create(self, asked: dict[str, Any]) -> None:
        name = f"{asked['organization']}/{asked['name']}"
        assert asked["type"] == "dataset"
        is_new = name not in self.server.files
        if is_new:
            self.server.files[name], self.server.private[name] = {}, asked["visibility"] == "private"
        self.say(200 if is_new else 409, {"url": f"{self.server.url}/datasets/{name}"})

    def commit(self, name: str, lines: list[dict[str, Any]]) -> None:
        files = self.server.files[name]
        for line in sorted(lines, key=lambda own: own["key"] != "deletedFile"):
            value = line["value"]
            if line["key"] == "deletedFile":
                del files[value["path"]]
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.server.large[value["oid"]]
        self.server.commits.append(name)
        address = f"{self.server.url}/datasets/{name}/commit/{'0' * 39}{len(self.server.commits)}"
        self.say(200, {"commitUrl": address, "commitOid": address.rpartition("/")[2], "success": True})

    def say(self, status: int, answer: object) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        yield hub
        hub.shutdown()


@pytest.fixture
def study(transactional_db: None) -> Study:
    study = study_of(record() | {"title": "Rain"}, compares="summaries")
    annotator = joined(study)
    for answer in ("left", "right"):
        judged(annotator, answer)
    return study


@pytest.fixture
def push(hub: Hub, web: Web, study: Study, tmp_path: Path) -> Push:
    _token, secret = accounts.create_token(making.owner(study), "push", read_only=True)

    def run(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
        asked = ["push", "hf", "ada/rain", "--study", f"{web.url}/studies/{study.pk}/", *options]
        own = {"HF_ENDPOINT": hub.url, "HF_TOKEN": SECRET, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_DISABLE_XET": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "preferendum", *asked],
            cwd=ROOT, env=os.environ | own | {"PREFERENDUM_TOKEN": secret} | environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        for token in (SECRET, secret):
            assert token not in done.stdout + done.stderr
            assert not any(token.encode() in content for files in hub.files.values() for content in files.values())
        return done

    return run


LICENSED = ("--license", "cc-by-4.0")


def test_a_study_becomes_a_private_repository_that_says_all_that_croissant_asks_for(
    push: Push, hub: Hub, tmp_path: Path
) -> None:
    done = push(*LICENSED)
    assert (done.returncode, done.stdout) == (0, f"{hub.url}/datasets/ada/rain/commit/{'0' * 39}1\n"), done.stderr
    assert hub.private == {"ada/rain": True}
    files = hub.files["ada/rain"]
    assert sorted(files) == [
        "README.md", "croissant.json", "rain-chosen-rejected.jsonl", "rain-judgments-with-texts.jsonl",
    ]  # fmt: skip
    assert b"\nlicense: cc-by-4.0\n" in files["README.md"]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    found = described(tmp_path / "croissant.json")
    assert (found.errors, found.warnings) == ([], [])
    assert len(found.records["judgments"]) == 2
    said = json.loads(files["croissant.json"])
    assert said.keys() >= {"name", "description", "license", "url", "creator", "datePublished", "conformsTo"}
    assert said["url"] == f"{hub.url}/datasets/ada/rain"
    assert said["creator"] == {"@type": "sc:Person", "name": "ada", "url": f"{hub.url}/ada"}


def test_pushed_again_without_texts_no_text_is_left(push: Push, hub: Hub, study: Study) -> None:
    assert push(*LICENSED).returncode == 0
    hub.files["ada/rain"]["notes.txt"] = b"of theirs"
    done = push(*LICENSED, "--without-texts")
    assert done.returncode == 0, done.stderr
    files = hub.files["ada/rain"]
    assert sorted(files) == ["README.md", "croissant.json", "notes.txt", "rain-judgments.jsonl"]
    texts = [summary.whole.encode() for topic in study.topics.all() for summary in topic.summaries.all()]
    assert not [name for name, content in files.items() for text in texts if text in content]


def test_what_everybody_sees_is_meant(push: Push, hub: Hub) -> None:
    hub.files["ada/rain"], hub.private["ada/rain"] = {}, False
    done = push(*LICENSED)
    assert (done.returncode, hub.files["ada/rain"]) == (2, {})
    assert "everybody sees it: --public" in done.stderr
    assert push(*LICENSED, "--public").returncode == 0
    assert len(hub.files["ada/rain"]) == 4


def test_a_refusal_says_whose_it_is(push: Push, hub: Hub, web: Web) -> None:
    assert "--license" in push().stderr
    assert "'CC BY' is no name of a licence" in push("--license", "CC BY").stderr
    assert "PREFERENDUM_TOKEN is not set" in push(*LICENSED, PREFERENDUM_TOKEN="").stderr
    of_server = push(*LICENSED, PREFERENDUM_TOKEN="prf_wrong")
    assert (of_server.returncode, "This token is not valid" in of_server.stderr) == (2, True)
    of_hub = push(*LICENSED, HF_TOKEN="hf_wrong")
    assert (of_hub.returncode, "Invalid user token" in of_hub.stderr) == (2, True)
    assert hub.commits == []
