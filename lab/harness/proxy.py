"""A bad network: a proxy between annotators and the website that resets, delays, doubles and swallows requests."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO

RESET = struct.pack("ii", 1, 0)  # SO_LINGER: close by a reset, whatever is still under way
PATIENCE = 60.0


class Ended(Exception):
    """One of the two sides has closed."""


@dataclass(frozen=True)
class Request:
    """One request as it came; `line` is its first line."""

    line: str
    content: bytes

    @property
    def is_judgment(self) -> bool:
        return self.line.startswith("POST /judge/") and self.line.split()[1].count("/") == 3


@dataclass(frozen=True)
class Deed:
    """What becomes of a request. `kind`: pass, reset, torn, halved, delay, double or later; `seconds`: how much later.

    reset: the website has answered, and the client gets a reset instead; torn: the website gets half of the request;
    halved: the client gets half of the answer; delay: the answer comes late; double: the website gets the same bytes on
    two connections at once; later: it gets them once more after a while.
    """

    kind: str = "pass"
    seconds: float = 0.0


class Proxy:
    """Listens on a port of its own and does with each request what `decide` says.

    `done` counts deeds; `answered` counts the status of every answer that the website gave to a repeated request.
    """

    def __init__(self, target: tuple[str, int], decide: Callable[[Request], Deed] = lambda _request: Deed()) -> None:
        self.target, self.decide = target, decide
        self.done: Counter[str] = Counter()
        self.answered: Counter[int] = Counter()
        self.off = threading.Event()  # while it is set, nothing comes through, and nobody is told
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        self._repeats: list[threading.Thread] = []
        self._under_way: set[threading.Event] = set()  # one for each request, set once it is over
        self._open: set[socket.socket] = set()

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settle()
        self._listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.close()

    @property
    def holds(self) -> int:
        """How many requests are under way."""
        return len(self._under_way)

    def settle(self) -> None:
        """Wait until every request so far has been carried out, and repeated if it shall be.

        The website may hear of one long after whoever sent it has given up waiting.
        """
        for over in list(self._under_way):
            over.wait()
        for repeat in list(self._repeats):
            repeat.join()

    def _listen(self) -> None:
        with suppress(OSError):  # the listener is closed at the end
            while True:
                client, _ = self._listener.accept()
                self._open.add(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        client.settimeout(PATIENCE)
        server: socket.socket | None = None
        try:
            asked = client.makefile("rb")
            while True:
                request = Request(*_read_request(asked))
                with self._counted():
                    self._wait_for_network()
                    if server is None:
                        server = socket.create_connection(self.target, timeout=PATIENCE)
                    self._carry_out(request, client, server)
        except (OSError, Ended):
            pass
        finally:
            self._open.discard(client)
            client.close()
            if server is not None:
                server.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Let `settle` wait for what happens here."""
        over = threading.Event()
        self._under_way.add(over)
        try:
            yield
        finally:
            self._under_way.discard(over)
            over.set()

    def _wait_for_network(self) -> None:
        while self.off.is_set():
            time.sleep(0.05)

    def _carry_out(self, request: Request, client: socket.socket, server: socket.socket) -> None:
        with self._lock:
            deed = self.decide(request)
            self.done[deed.kind] += 1
        if deed.kind == "torn":
            server.sendall(request.content[: len(request.content) // 2])
            self._reset(client)
        if deed.kind in ("double", "later"):
            repeat = threading.Thread(target=self._repeat, args=(request, deed.seconds), daemon=True)
            self._repeats.append(repeat)
            repeat.start()
        server.sendall(request.content)
        answer = _read_answer(server.makefile("rb"), request.line)
        if deed.kind == "reset":
            self._reset(client)
        if deed.kind == "delay":
            time.sleep(deed.seconds)
        self._wait_for_network()
        if deed.kind == "halved":
            client.sendall(answer[: len(answer) // 2])
            self._reset(client)
        client.sendall(answer)

    def _reset(self, client: socket.socket) -> None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        raise Ended

    def _repeat(self, request: Request, seconds: float) -> None:
        time.sleep(seconds)
        with suppress(OSError, Ended), socket.create_connection(self.target, timeout=PATIENCE) as server:
            server.sendall(request.content)
            answer = _read_answer(server.makefile("rb"), request.line)
            with self._lock:
                self.answered[int(answer.split(maxsplit=2)[1])] += 1


def _read_head(stream: BinaryIO) -> tuple[bytes, dict[str, str]]:
    """Bytes to the empty line, and the headers. Raises `Ended`."""
    lines = [stream.readline()]
    while lines[-1] not in (b"\r\n", b""):
        lines.append(stream.readline())
    if not lines[-1]:
        raise Ended
    pairs = (line.decode("latin-1").partition(":") for line in lines[1:-1])
    return b"".join(lines), {name.lower(): value.strip() for name, _, value in pairs}


def _read_request(stream: BinaryIO) -> tuple[str, bytes]:
    head, headers = _read_head(stream)
    body = stream.read(int(headers.get("content-length", 0)))
    return head.split(b"\r\n", 1)[0].decode("latin-1"), head + body


def _read_answer(stream: BinaryIO, asked: str) -> bytes:
    head, headers = _read_head(stream)
    status = int(head.split(maxsplit=2)[1])
    if asked.startswith("HEAD ") or status in (204, 304):
        return head
    if "content-length" in headers:
        return head + stream.read(int(headers["content-length"]))
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return head + _read_chunks(stream)
    return head + stream.read()


def _read_chunks(stream: BinaryIO) -> bytes:
    body = b""
    while True:
        size = stream.readline()
        chunk = stream.read(int(size, 16) + 2)
        body += size + chunk
        if int(size, 16) == 0:
            return body
