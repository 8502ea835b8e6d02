"""How fast are the pages on the embedded default, beside a Django view that does nothing?

    python -m benchmarks.serving [--annotators 20] [--seconds 2] [--rounds 7]

Starts the real gunicorn as `manage.py serve` does (two processes of two threads, SQLite that waits for the disk at
every commit) on a study of its own, and lets annotators judge as fast as they can from one client process on the same
machine. Every kind of request is measured in turn with as many clients as there are annotators, and once all mixed,
round after round; figures are medians of the rounds, so that what else the machine does disturbs them little. The
view that does nothing passes through the same middleware. Ratios, not milliseconds, carry over to other machines.
"""

from __future__ import annotations

import argparse
import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPMessage
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def __getattr__(name: str) -> object:
    """What gunicorn and Django ask this module for: the website with one view more, made only when asked."""
    if name == "urlpatterns":
        from django.http import HttpResponse
        from django.urls import path

        from annotate.urls import urlpatterns

        return [path("nothing/", lambda request: HttpResponse("nothing")), *urlpatterns]
    if name == "application":
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
        from django.conf import settings
        from django.core.wsgi import get_wsgi_application

        settings.ROOT_URLCONF = __name__
        return get_wsgi_application()
    raise AttributeError(name)


@dataclass(frozen=True)
class Figures:
    """Requests a second, and how long half and 95 of 100 took at most, in milliseconds."""

    rate: float
    p50: float
    p95: float


@dataclass
class Browser:
    """Keeps its connection and its cookies, as a browser does; remembers how long each kind of request took."""

    host: str
    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection(self.host, self.port, timeout=60)

    def ask(self, kind: str, method: str, path: str, body: str = "", **headers: str) -> tuple[int, HTTPMessage, str]:
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        extra = {name.replace("_", "-"): value for name, value in headers.items()}
        started = time.perf_counter()
        asked = (method, path, body, {"Cookie": cookies, **(FORM if body else {}), **extra})
        try:
            self.connection.request(*asked)
            answer = self.connection.getresponse()
        except ConnectionError:  # the server closes connections that were idle; a browser asks again
            self.connection.close()
            self.connection.request(*asked)
            answer = self.connection.getresponse()
        text = answer.read().decode()
        self.took.setdefault(kind, []).append(time.perf_counter() - started)
        for header in answer.headers.get_all("Set-Cookie") or ():
            name, _, rest = header.partition("=")
            self.cookies[name] = rest.split(";")[0]
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path} answered {answer.status}: {text[:500]}")
        return answer.status, answer.headers, text

    def begin(self, link: str) -> str:
        """Follow the invitation; the address of the first pair."""
        self.ask("begin", "GET", link)
        _status, headers, _text = self.ask("begin", "POST", link, self.form())
        return headers["Location"]

    def form(self, **fields: str) -> str:
        return urlencode({"csrfmiddlewaretoken": self.cookies["csrf"], **fields})


def do_nothing(browser: Browser, page: str) -> str:
    browser.ask("a view that does nothing", "GET", "/nothing/")
    return page


def look(browser: Browser, page: str) -> str:
    browser.ask("show a pair", "GET", page)
    return page


def judge_and_show(browser: Browser, page: str) -> str:
    """With htmx: one request takes the answer, draws the next pair and shows it."""
    body = browser.form(answer="left", revision="1", seconds="3.5")
    _status, headers, _text = browser.ask("judge, draw and show (htmx)", "POST", page, body, HX_Request="true")
    return headers["HX-Push-Url"]


def judge_then_show(browser: Browser, page: str) -> str:
    """Without scripts: the answer leads to a redirect, the redirect to the next pair."""
    body = browser.form(answer="right", revision="1")
    started = time.perf_counter()
    _status, headers, _text = browser.ask("judge and draw", "POST", page, body)
    browser.ask("then show", "GET", headers["Location"])
    browser.took.setdefault("judge, draw and show (plain)", []).append(time.perf_counter() - started)
    return headers["Location"]


def everything(browser: Browser, page: str) -> str:
    """One judgment and, in between, somebody who asks for nothing: both wait in the same queue."""
    browser.ask("mixed: a view that does nothing", "GET", "/nothing/")
    browser.ask("mixed: show a pair", "GET", page)
    body = browser.form(answer="left", revision="1", seconds="3.5")
    _status, headers, _text = browser.ask("mixed: judge, draw and show", "POST", page, body, HX_Request="true")
    return headers["HX-Push-Url"]


def all_at_once(browsers: list[Browser], pages: list[str], act: Callable[[Browser, str], str], seconds: float) -> float:
    """Let every browser do it over and over; the seconds that it took in the end."""
    barrier = threading.Barrier(len(browsers) + 1)
    problems: list[Exception] = []

    def run(number: int) -> None:
        barrier.wait()
        end = time.perf_counter() + seconds
        try:
            while time.perf_counter() < end:
                pages[number] = act(browsers[number], pages[number])
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(browsers))]
    for thread in threads:
        thread.start()
    barrier.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return time.perf_counter() - started


@contextmanager
def website(folder: str) -> Iterator[tuple[str, int, str]]:
    """The real server on a new study; host, port and the path of an invitation."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    os.environ |= {
        "PREFERENDUM_DATA": folder,
        "PREFERENDUM_ORIGIN": f"http://127.0.0.1:{port}",
        "PREFERENDUM_BIND": f"127.0.0.1:{port}",
        "DJANGO_SETTINGS_MODULE": "annotate.settings",
        "OPENBLAS_NUM_THREADS": "1",
        "PREFERENDUM_PACE_SECONDS": "0",
    }
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    link = make_study()
    command = ["gunicorn", "-c", "python:annotate.server.gunicorn", "benchmarks.serving:application"]
    server = subprocess.Popen([sys.executable, "-m", *command], cwd=ROOT)
    try:
        wait_for("127.0.0.1", port)
        yield "127.0.0.1", port, link
    finally:
        server.terminate()
        server.wait(20)


def make_study(topics: int = 3, sentences: int = 300) -> str:
    """A study with room for every judgment that the run can make; the path of an invitation to it."""
    from django.contrib.auth.models import User

    from annotate import invitations, judging, studies
    from annotate.imports.recutting import add_topics
    from annotate.models import Item, SourceDocument, Topic

    owner = User.objects.create(username="owner", is_superuser=True)
    study = studies.create_study(
        owner,
        title="Serving",
        question="Which of these two sentences contains more important information?",
        judgments_per_topic=1_000_000,
        pairs_per_annotator=100_000,
    )
    for number in range(topics):
        topic = add_topics([Topic(study=study, name=f"T{number}", title=f"Topic {number}", position=number)])[0]
        document = SourceDocument.objects.create(topic=topic, name="d", position=0, text="made up")
        Item.objects.bulk_create(
            Item(item_set_id=topic.pk, document=document, index=i, position=i, text=f"Sentence {i} has some words " * 4)
            for i in range(sentences)
        )
        judging.open_tallies([topic.sentence_set])
    return invitations.invitation_path(invitations.invite(study, owner))


def wait_for(host: str, port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("the server does not start")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each kind of request in each round")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, website(folder) as (host, port, link):
        browsers = [Browser(host, port) for _ in range(options.annotators)]
        pages = [browser.begin(link) for browser in browsers]
        rounds = [one_round(browsers, pages, options.seconds) for _ in range(options.rounds + 1)]
    report(rounds[1:], options.annotators)  # the first fills caches


def one_round(browsers: list[Browser], pages: list[str], seconds: float) -> dict[str, Figures]:
    """Every kind of request once; what was measured of each."""
    figures: dict[str, Figures] = {}
    for act in (do_nothing, look, judge_and_show, judge_then_show, everything):
        for browser in browsers:
            browser.took.clear()
        elapsed = all_at_once(browsers, pages, act, seconds)
        for kind in browsers[0].took:
            took = sorted(duration for browser in browsers for duration in browser.took.get(kind, ()))
            p50, p95 = statistics.median(took) * 1000, took[int(len(took) * 0.95)] * 1000
            figures[kind] = Figures(len(took) / elapsed, p50, p95)
    return figures


def report(rounds: list[dict[str, Figures]], annotators: int) -> None:
    print(
        f"{annotators} clients at once, SQLite, gunicorn with 2 processes of 2 threads; medians of {len(rounds)} rounds"
    )
    print(f"{'':34}{'a second':>9}{'p50 ms':>9}{'p95 ms':>9}{'p50 to nothing':>16}{'p95 to nothing':>16}")
    for kind in rounds[0]:
        basis = "mixed: a view that does nothing" if kind.startswith("mixed") else "a view that does nothing"
        rate, p50, p95 = (
            statistics.median(getattr(measured[kind], name) for measured in rounds) for name in ("rate", "p50", "p95")
        )
        to50, to95 = (
            statistics.median(getattr(measured[kind], name) / getattr(measured[basis], name) for measured in rounds)
            for name in ("p50", "p95")
        )
        print(f"{kind:34}{rate:>9.0f}{p50:>9.1f}{p95:>9.1f}{to50:>16.2f}{to95:>16.2f}")


if __name__ == "__main__":
    main()
