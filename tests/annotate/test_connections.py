"""Connections that send slowly, too much, nothing or nonsense, and take nobody else's place."""

from __future__ import annotations

import errno
import http.client
import io
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from waitress import wasyncore

from annotate.server import connections, logs
from annotate.server.connections import Limits, Loop
from tests.conftest import Web

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
GET = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n"
PATIENCE = 60.0
LIMITS = Limits(idle=PATIENCE, arrival=PATIENCE, taking=PATIENCE, answering=PATIENCE)


def echo(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answers with what it was sent."""
    body = environ["wsgi.input"].read() or b"nothing"
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]


class Site:
    """A loop that serves an application in a thread of its own, as a process of gunicorn's does."""

    def __init__(self, application: Application, limits: Limits, listening: socket.socket) -> None:
        self.address = listening.getsockname()
        self.family = listening.family
        self.loop = Loop(application, [listening], threads=2, backlog=64, limits=limits)
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.over.is_set():
            self.loop.turn(0.05)

    def close(self) -> None:
        self.over.set()
        self.thread.join()
        self.loop.close()

    def connect(self, sent: bytes = b"") -> socket.socket:
        connection = socket.socket(self.family)
        connection.settimeout(PATIENCE)
        connection.connect(self.address)
        connection.sendall(sent)
        return connection


@pytest.fixture
def serve() -> Iterator[Callable[..., Site]]:
    with ExitStack() as stack:

        def start(application: Application = echo, path: str = "", **limits: float) -> Site:
            listening = socket.socket(socket.AF_UNIX if path else socket.AF_INET)
            listening.bind(path or ("127.0.0.1", 0))
            listening.listen()
            site = Site(application, replace(LIMITS, **limits), listening)  # type: ignore[arg-type]
            stack.callback(site.close)
            return site

        yield start


def answer(connection: socket.socket, method: str = "GET") -> http.client.HTTPResponse:
    """The next answer on a connection, with its body read."""
    response = http.client.HTTPResponse(connection, method=method)
    response.begin()
    response.content = response.read()  # type: ignore[attr-defined]
    return response


def is_closed(connection: socket.socket) -> bool:
    """Waits until the other side closes; False where it sends something or keeps it open."""
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


@contextmanager
def sending_slowly(connection: socket.socket) -> Iterator[None]:
    """A byte now and then, for as long as the other side takes them."""
    over = threading.Event()

    def send() -> None:
        with suppress(OSError):
            while not over.wait(0.01):
                connection.send(b"a")

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# In the real process


def test_forty_requests_that_never_end_keep_nobody_from_being_answered(web: Web) -> None:
    host = urlsplit(web.url)
    with ExitStack() as stack:
        for _ in range(40):
            slow = stack.enter_context(socket.create_connection((host.hostname, host.port), 20))
            slow.sendall(b"GET /about/ HTTP/1.1\r\nHost: here\r\nX-Slow: ")
        connection = http.client.HTTPConnection(str(host.hostname), host.port, timeout=20)
        for path in ("/health/ready", "/about/", "/sign-in/"):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            assert response.status == 200
        connection.close()


def test_a_page_is_served_with_its_body_or_for_head_without(web: Web) -> None:
    host = urlsplit(web.url)
    connection = http.client.HTTPConnection(str(host.hostname), host.port, timeout=20)
    for method in ("HEAD", "GET", "HEAD", "GET"):
        connection.request(method, "/about/")
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200
        assert len(body) == (int(response.headers["Content-Length"]) if method == "GET" else 0)
        assert "Server" not in response.headers
    connection.close()


# What is closed


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-Slow: ",
        b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n",
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n",
    ],
    ids=["nothing", "empty lines", "headers", "body", "chunks"],
)
def test_a_request_that_does_not_arrive_in_time_is_closed(beginning: bytes, serve: Callable[..., Site]) -> None:
    site = serve(idle=0.3, arrival=0.6)
    with site.connect(beginning) as connection, sending_slowly(connection):
        assert is_closed(connection)


def test_an_idle_connection_is_closed_and_one_that_asks_again_in_time_is_not(serve: Callable[..., Site]) -> None:
    site = serve()
    with site.connect(GET) as connection:
        assert answer(connection).content == b"nothing"  # type: ignore[attr-defined]
        connection.sendall(GET)
        assert answer(connection).status == 200
    hasty = serve(idle=0.2)
    with hasty.connect(GET) as connection:
        assert answer(connection).status == 200
        assert is_closed(connection)


def test_a_body_has_more_time_the_more_of_it_has_arrived(serve: Callable[..., Site]) -> None:
    site = serve(arrival=15.0, rate=10_000.0)
    with site.connect(b"POST / HTTP/1.1\r\nContent-Length: 50000\r\n\r\n" + b"a" * 40_000) as connection:
        while not site.loop.channels or site.loop.channels[0].arrived < 40_000:
            time.sleep(0.01)
        (channel,) = site.loop.channels
        assert channel.until == channel.since + 15.0 + 4.0
        connection.sendall(b"a" * 10_000)
        assert len(answer(connection).content) == 50_000  # type: ignore[attr-defined]


def test_who_does_not_take_an_answer_is_closed_and_keeps_no_thread(serve: Callable[..., Site]) -> None:
    freed = threading.Event()

    def much(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Length", str(2**26))])
        try:
            for _ in range(2**6):
                yield b"a" * 2**20
        finally:
            freed.set()

    site = serve(much, taking=0.3)
    with site.connect(GET):
        assert freed.wait(PATIENCE)


def test_where_there_is_no_room_whoever_waits_longest_makes_it(serve: Callable[..., Site]) -> None:
    site = serve(connections=3)
    with ExitStack() as stack:
        slow = []
        for number in range(3):
            slow.append(stack.enter_context(site.connect(b"GET / HTTP/1.1\r\nX-Slow: ")))
            while len(site.loop.channels) <= number:
                time.sleep(0.01)
        newest = stack.enter_context(site.connect(GET))
        assert answer(newest).status == 200
        assert is_closed(slow[0])
        slow[2].sendall(b"quick\r\n\r\n")
        assert answer(slow[2]).status == 200


def test_where_no_file_is_free_whoever_waits_longest_makes_room(
    serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    accept, full = wasyncore.dispatcher.accept, threading.Event()

    def accept_while_there_are_files(listener: Any) -> Any:
        if full.is_set():
            full.clear()
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(listener)

    monkeypatch.setattr(wasyncore.dispatcher, "accept", accept_while_there_are_files)
    site = serve()
    with site.connect(GET) as oldest:
        assert answer(oldest).status == 200
        full.set()
        with site.connect(GET) as newest:
            assert answer(newest).status == 200
            assert is_closed(oldest)


def test_bodies_that_arrive_together_take_a_bounded_room(serve: Callable[..., Site]) -> None:
    site = serve(bodies=100_000)
    body = b"POST / HTTP/1.1\r\nContent-Length: 90000\r\n\r\n" + b"a" * 80_000
    with site.connect(body) as oldest:
        while not site.loop.channels or site.loop.channels[0].arrived < 80_000:
            time.sleep(0.01)
        with site.connect(body) as newest:
            assert is_closed(oldest)
            newest.sendall(b"a" * 10_000)
            assert len(answer(newest).content) == 90_000  # type: ignore[attr-defined]


# What is answered


def test_requests_sent_at_once_are_answered_in_order(serve: Callable[..., Site]) -> None:
    site = serve()
    sent = b"".join(b"POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n%d" % number for number in range(8))
    with site.connect(sent) as connection, connection.makefile("rb") as stream:
        for number in range(8):
            assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
            while stream.readline() != b"\r\n":
                pass
            assert stream.read(1) == b"%d" % number


def test_a_head_has_no_body_and_keeps_its_connection(serve: Callable[..., Site]) -> None:
    site = serve()
    with site.connect(GET.replace(b"GET", b"HEAD")) as connection:
        response = answer(connection, "HEAD")
        assert response.headers["Content-Length"] == "7"
        connection.sendall(GET)
        assert answer(connection).content == b"nothing"  # type: ignore[attr-defined]


@pytest.mark.parametrize("body", [b"", b"something"])
def test_who_waits_for_leave_to_send_a_body_gets_it_where_there_is_one(body: bytes, serve: Callable[..., Site]) -> None:
    site = serve()
    head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body)
    with site.connect(head) as connection:
        if body:
            assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            connection.sendall(body)
        assert answer(connection).content == (body or b"nothing")  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET http://[ HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * connections.HEADER + b"\r\n\r\n", 431),
        (b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % connections.BODY, 413),
        (b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % connections.BODY, 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
    ],
    ids=["address", "long length", "two lengths", "nonsense", "headers", "body", "expected body", "coding"],
)
def test_what_cannot_be_read_is_refused_in_words(
    sent: bytes, status: int, serve: Callable[..., Site], caplog: pytest.LogCaptureFixture
) -> None:
    site = serve()
    with site.connect(sent) as connection:
        response = answer(connection)
        assert response.status == status
        assert response.headers["Connection"] == "close"
    assert not caplog.records


def test_a_large_body_is_kept_on_the_disk(serve: Callable[..., Site]) -> None:
    kinds: list[bool] = []

    def look(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        kinds.append(isinstance(environ["wsgi.input"], io.BytesIO))
        return echo(environ, start_response)

    site = serve(look)
    for size in (10_000, connections.IN_MEMORY):
        with site.connect(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % size + b"a" * size) as connection:
            assert len(answer(connection).content) == size  # type: ignore[attr-defined]
    assert kinds == [True, False]


def test_a_unix_socket_is_served_too(serve: Callable[..., Site], tmp_path: Path) -> None:
    site = serve(path=str(tmp_path / "socket"))
    with site.connect(GET) as connection:
        assert answer(connection).status == 200


def test_what_a_proxy_says_reaches_the_website(serve: Callable[..., Site]) -> None:
    told: list[Any] = []

    def look(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        told.extend(environ.get(f"HTTP_X_FORWARDED_{name}") for name in ("FOR", "PROTO"))
        return echo(environ, start_response)

    site = serve(look)
    with site.connect(GET[:-2] + b"X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n\r\n") as connection:
        assert answer(connection).status == 200
    assert told == ["192.0.2.1", "https"]


# The end


def test_a_process_that_stops_answers_what_was_asked_and_closes_the_rest(serve: Callable[..., Site]) -> None:
    asked, go = threading.Event(), threading.Event()

    def wait(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        asked.set()
        assert go.wait(PATIENCE)
        return echo(environ, start_response)

    site = serve(wait)
    with site.connect(GET) as busy, site.connect() as idle:
        assert asked.wait(PATIENCE)
        while len(site.loop.channels) < 2:
            time.sleep(0.01)
        site.loop.stop_listening(0.1)
        assert is_closed(idle)
        go.set()
        first = answer(busy)
        assert (first.status, first.content) == (200, b"nothing")  # type: ignore[attr-defined]
        assert is_closed(busy)


def test_a_request_that_arrives_as_its_process_stops_is_answered_and_told_to_close(serve: Callable[..., Site]) -> None:
    site = serve()
    with site.connect(GET) as connection:
        assert answer(connection).status == 200
        site.loop.stop_listening(PATIENCE)
        connection.sendall(GET)
        response = answer(connection)
        assert (response.status, response.headers["Connection"]) == (200, "close")


def test_who_has_connected_as_a_process_stops_is_answered_and_the_next_is_refused(serve: Callable[..., Site]) -> None:
    """Of a connection that is taken and reset a proxy does not know whether its request was done."""
    site = serve()
    site.over.set()
    site.thread.join()
    waiting = [site.connect(GET) for _ in range(5)]
    site.loop.stop_listening(PATIENCE)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(site.address)
    site.over.clear()
    site.thread = threading.Thread(target=site.run)
    site.thread.start()
    for connection in waiting:
        assert answer(connection).status == 200
        connection.close()


def test_a_request_that_never_ends_is_noticed(serve: Callable[..., Site]) -> None:
    go = threading.Event()

    def wait(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        assert go.wait(PATIENCE)
        return echo(environ, start_response)

    site = serve(wait, answering=0.1)
    assert not site.loop.is_stuck()
    with site.connect(GET) as connection:
        while not site.loop.is_stuck():
            time.sleep(0.01)
        go.set()
        assert answer(connection).status == 200


def test_no_address_is_written_down_where_somebody_leaves_early() -> None:
    record = logs.logging.LogRecord(
        "waitress", logs.logging.INFO, "", 0, "Client disconnected while serving /join/secret", (), None
    )
    assert "secret" not in logs.Plain("%(message)s").format(record)
