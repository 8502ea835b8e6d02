"""A study on a real server, from Python: what a researcher's script does, also where the connection breaks."""

from __future__ import annotations

import doctest
import subprocess
import sys
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from annotate import accounts
from annotate.models import Annotator, AuditEntry, Invitation, Judgment, Upload
from annotate.models import Study as Row
from lab.harness.proxy import Deed, Proxy, Request
from preferendum import ApiError, Study, client
from tests.annotate import making
from tests.annotate.making import TOPIC, lines
from tests.conftest import ROOT, SHARED, Web

SUMMEVAL = SHARED / "summeval_op" / "topics.jsonl"
real = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(transactional_db: None) -> str:
    _token, secret = accounts.create_token(making.person(is_superuser=True), "script")
    return secret


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    file = tmp_path / "topics.jsonl"
    file.write_bytes(lines(TOPIC, TOPIC | {"topic_id": "M2"}))
    return file


@real
@pytest.mark.shared("summeval_op")
def test_a_script_uploads_simulates_reads_the_board_and_judges_as_a_machine(
    web: Web, worker: object, token: str, tmp_path: Path
) -> None:
    some = tmp_path / "topics.jsonl"
    some.write_bytes(b"".join(SUMMEVAL.read_bytes().splitlines(keepends=True)[:8]))
    study = Study.create(web.url + "/", token, title="Opinions", counted_kinds="all")
    assert len(study.upload(some)["preview"]["topics"]) == 8
    assert study.leaderboard() == []
    study.simulate(source="references", per_topic=40, seed=1)
    study.wait()
    board = study.leaderboard()
    assert len(board) == 12  # and summaries by people, which are not ranked
    assert board == sorted(board, key=lambda row: -row["score"])

    study = Study(study.address + "leaderboard/", token)
    for _ in range(10):
        pair = study.next_pair("my-model-7b")
        assert pair is not None
        study.answer(pair, "left" if len(pair["left"]) > len(pair["right"]) else "right")
    judgments = study.judgments()
    assert len(judgments) == 320 + 10 > client.PAGE
    assert [row["annotator"] for row in judgments if row["kind"] == "machine"] == ["my-model-7b"] * 10
    study.wait()
    assert study.leaderboard() != board
    study.wait("agreement")
    assert study.results("agreement")[0]["why"] == "nobody_twice"
    assert [row["a"] for row in study.results("agreement", "annotators")] == []


@real
def test_the_examples_of_the_documentation_are_true(
    web: Web, worker: object, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wikinews.jsonl").write_bytes((ROOT / "annotate" / "demo" / "wikinews.jsonl").read_bytes())
    (tmp_path / "preferences.csv").write_bytes((ROOT / "annotate/demo/squality/preferences.csv").read_bytes())
    (tmp_path / "notes.txt").write_text("Call Ann.\n")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "python.md").read_text().replace("https://example.org", web.url)
    test = doctest.DocTestParser().get_doctest(text, {"token": token}, "python.md", None, 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@real
def test_whatever_breaks_off_is_done_once(web: Web, worker: object, token: str, topics: Path) -> None:
    tries: Counter[bytes] = Counter()

    def break_off(request: Request) -> Deed:
        """The server gets half of the first try; the client gets nothing or half of the answer to the second one."""
        if not request.line.startswith("POST"):
            return Deed()
        tries[request.content] += 1
        return Deed({1: "torn", 2: ("reset", "halved")[len(tries) % 2]}.get(tries[request.content], "pass"))

    parts = urlsplit(web.url)
    with Proxy((str(parts.hostname), int(parts.port or 0)), break_off) as proxy:
        study = Study.create("http://{}:{}".format(*proxy.address), token, title="Rain", counted_kinds="all")
        study.upload(topics)
        study.simulate(per_topic=5)
        link = study.invite(label="course")
        pair = study.next_pair("my-model-7b")
        assert pair is not None
        study.answer(pair, "left")
        assert (proxy.done["torn"], proxy.done["reset"] + proxy.done["halved"]) == (9, 9)
    assert [Row.objects.count(), Upload.objects.count(), Invitation.objects.count()] == [1, 2, 1]
    assert link.rsplit("/join/")[1]
    assert Annotator.objects.filter(kind="machine").count() == 1
    assert Judgment.objects.filter(assignment__annotator__kind="machine").count() == 1
    noted = list(AuditEntry.objects.values_list("action", flat=True))
    assert len(noted) == len(set(noted)) + 2, noted  # two uploads are confirmed and stored


@real
def test_a_function_judges_what_people_judged_in_both_orders_and_goes_on_where_it_ended(
    web: Web, worker: object, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(web.url, token, title="Rain", compares="summaries")
    topics = [{"topic_id": f"T{k}", "question": "Rain?", "summaries": [
        {"system": name, "text": f"{name} rained {k} times."} for name in "abcd"]} for k in range(3)]  # fmt: skip
    answers = [{"topic": f"T{k}", "of": "summaries", "a": "a", "b": b, "winner": "a", "annotator": "Ann"}
               for k in range(3) for b in "bc"]  # fmt: skip
    for name, rows in (("topics", topics), ("preferences", answers)):
        (file := tmp_path / f"{name}.jsonl").write_bytes(lines(*rows))
        study.upload(file)
    seen: list[tuple[str, str]] = []

    def prefer(pair: dict[str, object]) -> tuple[str, float]:
        seen.append((str(pair["left"]), str(pair["right"])))
        if len(seen) in (2, 6):
            raise TimeoutError("the model sleeps")
        return "left" if str(pair["left"]) < str(pair["right"]) else "right", 0.75

    known = {"model": "m", "prompt": "Which?", "cost": 0.5, "currency": "EUR", "made": ["a"]}
    told: list[tuple[int, int]] = []
    asked = {"pairs": "people", "progress": lambda *own: told.append(own), **known}
    waited: list[float] = []
    with monkeypatch.context() as patch:
        patch.setattr(client.time, "sleep", waited.append)
        first = study.judge(prefer, "m", most_calls=5, **asked)
    assert first == {"stored": 4, "left": 8, "calls": 5, "cost": 2.5, "stopped": "most_calls"}
    assert (waited, told[-1]) == ([1.0], (4, 12))
    assert study.judge(prefer, "m", most_cost=1.0, **asked)["stopped"] == "most_cost"
    again = Study(study.address, token)  # of another day
    last = again.judge(prefer, "m", **asked)
    assert (last["left"], last["stopped"]) == (0, "")
    assert again.judge(prefer, "m", **asked)["calls"] == 0
    right = [pair for number, pair in enumerate(seen, 1) if number not in (2, 6)]
    assert len(right) == len(set(right)) == 12
    assert {(b, a) for a, b in right} == set(right)
    rows = [row for row in study.judgments() if row["kind"] == "machine"]
    assert {(row["annotator"], row["confidence"]) for row in rows} == {("m", 0.75)}
    assert len({row["assignment"] for row in rows}) == 12

    assert study.judge(lambda _pair: "left", "other", pairs=0.5, both_orders=False, progress=None)["left"] == 0
    with pytest.raises(ValueError, match="'tie' is none of left, right"):
        study.judge(lambda _pair: "tie", "ties", pairs="all", tries=2, progress=None)
    with pytest.raises(ValueError, match="most_cost needs cost"):
        study.judge(prefer, "m", most_cost=1.0)
    with pytest.raises(ApiError, match="another name"):
        study.judge(prefer, "m", progress=None, model="m2")
    study.wait("judge-cards")
    assert study.results("judge-cards", judge="m")[0]["n"] == 6


@real
def test_what_the_api_refuses_is_said_in_its_words(web: Web, worker: object, token: str, tmp_path: Path) -> None:
    with pytest.raises(ApiError) as refused:
        Study.create(web.url, token, title="", prior="much")
    assert (refused.value.status, refused.value.code) == (400, "invalid")
    assert set(refused.value.fields) == {"title", "prior"}
    assert "prior: A valid number is required." in str(refused.value)

    study = Study.create(web.url, token, title="Rain")
    (wrong := tmp_path / "topics.jsonl").write_text('{"topic_id": 1}\n{"topic_id": "M"\n')
    with pytest.raises(ApiError) as refused:
        study.upload(wrong)
    assert refused.value.code == "refused"
    assert len(refused.value.fields["file"]) == 2
    assert all(complaint in str(refused.value) for complaint in refused.value.fields["file"])
    with pytest.raises(ValueError, match="agreement-of-annotators"):
        study.results("agree-to-nothing")
    with pytest.raises(ApiError, match="Upload what people think of the summaries"):
        study.wait("metric-agreement")
    with pytest.raises(ApiError, match="not_found"):
        study.answer({"key": uuid.uuid4(), "revision": 1}, "left")


@real
def test_a_token_is_shown_to_nobody(web: Web, token: str) -> None:
    for wrong in (token + "x", token + "\nx", token + "ß"):
        with pytest.raises((ApiError, ValueError)) as refused:
            Study(f"{web.url}/studies/1/", wrong).leaderboard()
        assert token not in f"{refused.value!r} {refused.value}"
    assert token not in repr(Study(f"{web.url}/studies/1/", token + "\n"))
    for address in ("http://example.org", "http://127.0.0.1.example.org", "http://127.0.0.1@example.org", "ftp://x"):
        with pytest.raises(ValueError, match="https://"):
            Study.create(address, token)


class Server(HTTPServer):
    """Answers with one status after another, each with a header, and keeps what it was sent."""

    answers: list[tuple[int, str, str]]
    asked: list[dict[str, str]]


class Answering(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(dict(self.headers))
        status, name, value = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b'{"link": "here"}')

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(*answers: tuple[int, str, str]) -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Answering) as server:
        server.answers, server.asked = list(answers), []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def of(server: Server) -> Study:
    return Study(f"http://127.0.0.1:{server.server_port}/studies/1/", "secret")


def test_a_request_is_sent_again_with_its_key_until_it_is_answered() -> None:
    with serving((503, "Retry-After", "1"), (429, "Retry-After", "0"), (200, "X", "x")) as server:
        assert of(server).invite() == "here"
    assert len({headers["Idempotency-Key"] for headers in server.asked}) == 1
    assert {headers["User-Agent"] for headers in server.asked} == {"preferendum/1.0.0"}


def test_a_request_is_not_sent_again_where_that_is_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving((429, "Retry-After", "3600"), (500, "X", "x"), (200, "X", "x")) as server:
        for status in (429, 500):
            with pytest.raises(ApiError) as refused:
                of(server).invite()
            assert refused.value.status == status
    monkeypatch.setattr(client, "PATIENCE", 1.0)
    with pytest.raises(ApiError, match="does not answer"):
        of(server).invite()


def test_a_token_follows_no_redirect() -> None:
    with serving() as other, serving((307, "Location", f"http://localhost:{other.server_port}/")) as server:
        study = of(server)
        with pytest.raises(ApiError, match=f"leads to http://localhost:{other.server_port}/"):
            study.invite()
    assert other.asked == []


def test_the_client_loads_nothing_but_the_standard_library() -> None:
    program = "import sys; before = {*sys.modules}; from preferendum import Study; print(*{*sys.modules} - before)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    names = {name.partition(".")[0] for name in loaded.stdout.split()}
    assert names <= {*sys.stdlib_module_names, "preferendum", "sitecustomize", "usercustomize"}
