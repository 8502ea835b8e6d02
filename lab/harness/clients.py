"""Annotators over HTTP that behave as the page does, and a journal of what they sent and what was confirmed.

A client keeps an answer until the server has confirmed it and sends it again under the same key (the pair's, and the
revision), as static/judge-answers.js does, with shorter pauses. Some do without the script, as a browser without
JavaScript would.
"""

from __future__ import annotations

import html
import http.client
import itertools
import json
import os
import random
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

CANARY = "canary-system"  # as in inside.py: part of the name of every system, which no annotator is ever told

PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds between tries; the page waits 1, 2, 4, 8, 15
PATIENCE = 15.0  # seconds that a request may take, as in the page
#: Some leave a pair out, some take an answer back.
SKIPS, UNDOES = 0.04, 0.04

CSRF_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_ACTION = re.compile(r'<form id="answer" method="post" action="(/judge/([0-9a-f-]+)/)"')
_REVISION = re.compile(r'name="revision" value="(\d+)"')
_TICKET = re.compile(r'name="ticket" value="([^"]*)"')
_UNDO = re.compile(
    r'<form class="undo" method="post" action="(/judge/[0-9a-f-]+/undo/)".*?name="revision" value="(\d+)"', re.DOTALL
)
_SENTENCE = re.compile(r'<(?:span|div) class="sentence given"[^>]*>(.*?)</(?:span|div)>', re.DOTALL)
_SAID = re.compile(r'<p class="notice[^>]*>(.*?)</p>', re.DOTALL)


class Stopped(Exception):
    """The trial is over, whatever is still under way."""


class Failed(Exception):
    """No answer came: refused, reset, timed out."""


class Journal:
    """One JSON object a line, on the disk before anything else happens."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[dict[str, Any]] = []
        self.acked = self.moves = 0
        self._lock = threading.Lock()
        self._file = path.open("a")
        self._began = time.monotonic()

    @property
    def now(self) -> float:
        """Seconds since it was begun."""
        return time.monotonic() - self._began

    def write(self, client: int, event: str, **what: Any) -> None:
        entry = {"t": round(self.now, 4), "client": client, "event": event, **what}
        with self._lock:
            self.entries.append(entry)
            self.acked += event == "acked"
            self.moves += event in ("acked", "failed", "unanswered", "error")
            self._file.write(json.dumps(entry) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())

    def of(self, event: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries if entry["event"] == event]

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str

    @property
    def location(self) -> str:
        return urlsplit(self.headers.get("location", "")).path


@dataclass(frozen=True)
class Shown:
    """A pair as the page shows it; `key` is the pair's, and with the revision the key of the answer."""

    url: str
    key: str
    revision: int
    ticket: str
    sentences: tuple[str, ...]
    undo: tuple[str, str] | None = None

    @classmethod
    def of(cls, page: str | None) -> Shown | None:
        """The pair of a page or of a part of one; None where it shows none to be judged."""
        action = _ACTION.search(page or "")
        if not page or not action:
            return None
        revision, ticket, undo = _REVISION.search(page), _TICKET.search(page), _UNDO.search(page)
        assert revision, "a form without its key"
        assert ticket, "a form without its ticket"
        return cls(
            action[1],
            action[2].replace("-", ""),
            int(revision[1]),
            ticket[1],
            tuple(_SENTENCE.findall(page)),
            (undo[1], undo[2]) if undo else None,
        )


class Browser:
    """Cookies, a connection that is kept open, and nothing that gives up by itself."""

    def __init__(self, address: tuple[str, int], patience: float = PATIENCE) -> None:
        self.address, self.patience = address, patience
        self.cookies: dict[str, str] = {}
        self.connection: http.client.HTTPConnection | None = None
        self.asked_at = float("inf")  # when the request that is under way began

    def ask(
        self, method: str, path: str, fields: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """One request, one answer. Raises `Failed`."""
        sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items()), **(headers or {})}
        body = None
        if method == "POST":
            body = urlencode(fields or {})
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        self.asked_at = time.monotonic()
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(*self.address, timeout=self.patience)
            self.connection.request(method, path, body, sent)
            answer = self.connection.getresponse()
            content = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Failed(type(error).__name__) from error
        finally:
            self.asked_at = float("inf")
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie":
                cookie, _, rest = value.partition("=")
                self.cookies[cookie] = rest.partition(";")[0]
        received = {name.lower(): value for name, value in answer.getheaders()}
        if received.get("connection", "").lower() == "close":
            self.close()
        return Answer(answer.status, received, content)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


@dataclass
class Client(threading.Thread):
    """One annotator with their browser, from the invitation until the trial has what it wants.

    `think`: mean seconds before an answer; `script`: whether the page's script runs; `moody`: whether they skip and
    take back now and then. `problem` holds what ended them, if anything did.
    """

    number: int
    address: tuple[str, int]
    link: str
    journal: Journal
    rng: random.Random
    think: float = 0.02
    script: bool = True
    moody: bool = True
    patience: float = PATIENCE
    done: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    problem: str = ""

    def __post_init__(self) -> None:
        super().__init__(name=f"client {self.number}", daemon=True)
        self.browser = Browser(self.address, self.patience)
        self.token = ""
        self.home = ""
        self.shown: Shown | None = None
        self.ahead: Shown | None = None
        #: Whether an answer was taken back and not given anew: nobody else may be there for its pair.
        self.owes = False

    @property
    def waits(self) -> bool:
        """Whether an answer has been on its way for longer than one should take."""
        return time.monotonic() - self.browser.asked_at > 1.0

    def __hash__(self) -> int:
        return id(self)

    def note(self, event: str, **what: Any) -> None:
        self.journal.write(self.number, event, **what)

    # The life of a client

    def run(self) -> None:
        """Judge until told that all is done; then finish what is under way."""
        try:
            self.begin()
            while self.owes or not self.done.is_set():
                self.turn()
        except Stopped:
            pass
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"
            self.note("broke", why=self.problem)
        finally:
            self.browser.close()

    def begin(self) -> None:
        """Open the invitation, unless it is open already, and begin."""
        if not self.token:
            self.page("GET", self.link)
        answer = self.ask_again("POST", self.link, {})
        self.follow(answer)

    def turn(self) -> None:
        """One pair, or a look whether there is one by now."""
        if self.shown is None:
            self.done.wait(0.1)
            self.draw()
            return
        self.done.wait(self.rng.uniform(0, 2 * self.think))
        mood = self.rng.random() if self.moody and not (self.owes or self.done.is_set()) else 1.0
        if mood < SKIPS:
            self.skip(self.shown)
        elif mood < SKIPS + UNDOES and self.shown.undo:
            self.undo(*self.shown.undo)
            self.owes = self.shown is not None
        else:
            self.owes = False
            self.judge(self.shown)

    def draw(self) -> None:
        """Ask on the page of one's progress for the pair to judge now."""
        self.follow(self.ask_again("POST", f"{self.home}draw/" if self.home else self.link, {}))

    def judge(self, shown: Shown) -> None:
        """Answer a pair as its page would; what comes next is shown."""
        answer = self.choose(shown)
        if self.script:
            self.judge_with_script(shown, answer)
        elif (got := self.deliver(shown, answer, {})) is None:
            self.shown = None
        else:
            self.follow(got)

    def judge_with_script(self, shown: Shown, answer: str) -> None:
        following, self.ahead = self.ahead, None
        got = self.deliver(shown, answer, {"HX-Request": "true", "Judge-Showing": following.url if following else ""})
        if got is None or not got.headers.get("content-type", "").startswith("application/json"):
            self.shown = None
            if got is not None:
                self.follow(got)
            return
        result = json.loads(got.body)
        if "nothing=" in result["here"]:
            self.hear(result["here"])
        self.shown = Shown.of(result["part"]) if result["part"] else following
        self.ahead = Shown.of(result["ahead"])

    def choose(self, shown: Shown) -> str:
        """The sentence with the higher number wins, three times in four."""
        numbers = [int(html.unescape(text).split()[1]) for text in shown.sentences]
        better, worse = ("left", "right") if numbers[0] > numbers[1] else ("right", "left")
        return better if self.rng.random() < 0.75 else worse

    def skip(self, shown: Shown) -> None:
        self.note("skip", key=shown.key)
        self.ahead = None
        self.follow(self.ask_again("POST", f"{shown.url}skip/", {"reason": "unclear"}, {"HX-Request": "true"}))

    def undo(self, url: str, revision: str) -> None:
        self.note("undo", key=url.split("/")[2].replace("-", ""))
        self.ahead = None
        self.follow(self.ask_again("POST", url, {"revision": revision}, {"HX-Request": "true"}))

    # Answers on their way

    def deliver(self, shown: Shown, answer: str, headers: dict[str, str]) -> Answer | None:
        """Send an answer until it is confirmed or refused; None where it is refused or its pair is gone."""
        fields = {
            "answer": answer,
            "revision": shown.revision,
            "ticket": shown.ticket,
            "seconds": round(self.rng.uniform(0.5, 9), 2),
        }
        name = {"key": shown.key, "revision": shown.revision, "answer": answer}
        self.note("sent", **name)
        for pause in self.pauses():
            began = time.monotonic()
            try:
                got = self.browser.ask("POST", shown.url, fields | {"csrfmiddlewaretoken": self.token}, headers)
            except Failed as why:
                self.note("failed", **name, why=str(why), ms=_ms(began))
                self.rest(pause)
                continue
            took = _ms(began)
            self.look_at(got, shown.url, took)
            if got.status == 403:
                self.note("stale", **name)
                self.refresh_token(shown.url)
            elif got.status >= 500 or got.status == 429:
                self.rest(pause)
            elif got.status >= 400:
                self.note("lost" if got.status == 404 else "refused", **name, status=got.status)
                return None
            else:
                self.note("acked", **name, status=got.status, said=_said(got), ms=took)
                return got
        raise AssertionError("pauses have no end")

    def refresh_token(self, url: str) -> None:
        with_token = CSRF_TOKEN.search(self.ask_again("GET", url).body)
        if with_token:
            self.token = with_token[1]

    # Other pages

    def ask_again(
        self, method: str, path: str, fields: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> Answer:
        """Ask until there is an answer: whoever meets a broken page reloads it or clicks again."""
        for pause in self.pauses():
            given = None if method == "GET" else {**(fields or {}), "csrfmiddlewaretoken": self.token}
            began = time.monotonic()
            try:
                got = self.browser.ask(method, path, given, headers)
            except Failed as why:
                self.note("unanswered", path=path, why=str(why), ms=_ms(began))
                self.rest(pause)
                continue
            self.look_at(got, path, _ms(began))
            if got.status == 403 and method == "POST":
                self.page("GET", self.home or self.link)
            elif got.status < 500 and got.status != 429:
                return got
            self.rest(pause)
        raise AssertionError("pauses have no end")

    def page(self, method: str, path: str) -> str:
        """Open a page, following where it leads."""
        got = self.ask_again(method, path)
        self.follow(got)
        return got.body

    def follow(self, got: Answer) -> None:
        """Be where an answer leads: what it shows is what is judged next."""
        for _ in range(5):
            if not 300 <= got.status < 400:
                break
            self.hear(got.headers["location"])
            got = self.ask_again("GET", got.location)
        self.hear(got.headers.get("hx-push-url", ""))
        if token := CSRF_TOKEN.search(got.body):
            self.token = token[1]
        if home := re.search(r'action="(/progress/[0-9a-f-]+/)', got.body):
            self.home = home[1]
        self.shown = Shown.of(got.body)

    def hear(self, address: str) -> None:
        """Note why there is nothing to judge, where an address says so."""
        if "nothing=" in address:
            self.home = urlsplit(address).path
            self.note("told", nothing=address.rpartition("nothing=")[2])

    def look_at(self, got: Answer, path: str, took: int) -> None:
        """Note what no visitor should ever see."""
        if got.status >= 500:
            self.note("error", status=got.status, path=path, retry_after=got.headers.get("retry-after", ""), ms=took)
        if CANARY in got.body:
            self.note("leak", path=path)

    def pauses(self) -> Iterator[float]:
        return itertools.chain(PAUSES, itertools.repeat(PAUSES[-1]))

    def rest(self, seconds: float) -> None:
        if self.over.wait(seconds):
            raise Stopped


def _ms(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def _said(got: Answer) -> str:
    if got.headers.get("content-type", "").startswith("application/json"):
        return str(json.loads(got.body)["said"])
    match = _SAID.search(got.body)
    return html.unescape(match[1]).strip() if match else ""
