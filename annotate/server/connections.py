"""A gunicorn worker in which waitress reads each request completely before a thread answers it.

gunicorn starts, watches, reloads and ends the processes. In each, one loop reads requests and writes answers, so a
visitor occupies a thread only while their request is answered, however slowly they send or read. A connection is
closed if its request does not arrive in time, or if its answer is not read. If there is no room for a new one, the
connection that has waited longest is closed.
"""

from __future__ import annotations

import errno
import logging
import math
import os
import socket
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer, UnixWSGIServer
from waitress.task import ThreadedTaskDispatcher

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

logger = logging.getLogger(__name__)

#: Bytes of a request's first line and headers together.
HEADER = 32_768
#: Bytes of a body; more than an upload may have, so that a page can refuse uploads that are slightly too large.
BODY = 100_000_000
#: Bytes of a body that are kept in memory.
IN_MEMORY = 65_536
#: Seconds between two searches for connections that take too long.
EVERY = 0.2


@dataclass(frozen=True)
class Limits:
    """The limits of one process; times in seconds.

    `connections`: at once. `idle`: between two requests of a connection. `arrival`: from a connection's beginning, or
    its last answer, until its next request is complete, plus a second for each `rate` bytes of its body. `taking`:
    between two parts of an answer that are read. `answering`: of one request. `bodies`: bytes of all that arrive.
    """

    connections: int = 500
    idle: float = 5.0
    arrival: float = 15.0
    rate: float = 10_000.0
    taking: float = 30.0
    answering: float = 120.0
    bodies: int = 500_000_000


class Parser(HTTPRequestParser):
    """A request as it arrives. Unreadable ones are answered 400, like those that waitress itself finds wrong."""

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # an address like http://[, a length of 5,000 digits
            raise ParsingError("Bad request") from error


class Channel(HTTPChannel):
    """A connection. `since`: when it began, or last sent something; `begun`: when a thread took its request."""

    parser_class = Parser
    begun = math.inf
    server: Listener
    since: float
    total_outbufs_len: int

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.since = time.monotonic()
        super().__init__(*arguments, **options)

    @property
    def waits(self) -> bool:
        """Whether the next move is the visitor's."""
        return not self.requests

    @property
    def until(self) -> float:
        """When it is closed unless the visitor acts (on the clock of `time.monotonic`)."""
        limits = self.server.limits
        if self.total_outbufs_len:
            return self.since + limits.taking
        if not self.waits:
            return math.inf
        if self.request is None:
            return min(self.since + limits.idle, self.server.closing)
        return self.since + limits.arrival + self.arrived / limits.rate

    @property
    def arrived(self) -> int:
        """Bytes of the body that is arriving."""
        return int(self.request.body_bytes_received) if self.request else 0

    def send_continue(self) -> None:
        if self.request.completed:  # without a body, or refused: nothing more arrives
            self.request.expect_continue = False
        else:
            super().send_continue()

    def handle_close(self) -> None:
        super().handle_close()
        if self.request:
            self.request.close()

    def service(self) -> None:
        self.begun = time.monotonic()
        self.server.answered += 1
        if self.server.closing < math.inf:
            self.requests[0].headers["CONNECTION"] = "close"
        super().service()

    def write_soon(self, data: Any) -> int:
        if not self.total_outbufs_len:
            self.since = time.monotonic()  # the visitor is not to blame for how long the answer took
        return int(super().write_soon(data))

    def _flush_some(self, do_close: bool = True) -> bool:
        sent: bool = super()._flush_some(do_close)
        if sent:
            self.since = time.monotonic()
        return sent


class Listener:
    """The methods of both kinds of listening sockets. `closing`: when the stopping process closes idle connections."""

    channel_class = Channel
    limits = Limits()
    closing = math.inf
    answered = 0
    active_channels: dict[int, Channel]
    trigger: Any

    def readable(self) -> bool:
        """Whether to accept another connection: there is room, or a waiting one can be closed."""
        return len(self.active_channels) <= self.limits.connections or self.longest_waiting() is not None

    def stop_listening(self, linger: float) -> None:
        """Take those who have connected; the next is refused, so that a proxy sends them elsewhere."""
        taken = -1
        while taken < len(self.active_channels):
            taken = len(self.active_channels)
            self.handle_accept()
        wasyncore.dispatcher.close(self)
        self.closing = time.monotonic() + linger

    def longest_waiting(self) -> Channel | None:
        waiting = (channel for channel in self.active_channels.values() if channel.waits)
        return min(waiting, key=lambda channel: channel.since, default=None)

    def make_room(self) -> bool:
        oldest = self.longest_waiting()
        if oldest is not None:
            oldest.handle_close()
        return oldest is not None

    def accept(self) -> Any:
        try:
            return super().accept()  # type: ignore[misc]
        except OSError as error:
            # Without a pause, the loop would spin until a file is free.
            if error.errno in (errno.EMFILE, errno.ENFILE) and not self.make_room():
                time.sleep(0.05)
            raise

    def handle_accept(self) -> None:
        super().handle_accept()  # type: ignore[misc]
        # Only now, lest the new connection get the number of an old one that is still to be read.
        if len(self.active_channels) > self.limits.connections:
            self.make_room()


class TcpListener(Listener, TcpWSGIServer):
    pass


class UnixListener(Listener, UnixWSGIServer):
    pass


def without_bodies_for_head(application: WSGIApplication) -> WSGIApplication:
    """Answer HEAD with headers alone; WSGI leaves this to the server, and waitress to the application."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return body
        getattr(body, "close", lambda: None)()
        return ()

    return answer


class Loop:
    """Reads and writes for all connections of a process; `threads` answer."""

    def __init__(
        self, application: WSGIApplication, sockets: Iterable[socket.socket], threads: int, backlog: int, limits: Limits
    ) -> None:
        self.limits = limits
        self.looked = 0.0
        self.map: dict[int, Any] = {}
        self.dispatcher = ThreadedTaskDispatcher()
        self.dispatcher.set_thread_count(threads)
        adjustments = Adjustments(
            backlog=backlog,
            ident="",
            url_prefix=settings.FORCE_SCRIPT_NAME or "",  # for a proxy that passes the whole path on
            max_request_header_size=HEADER,
            max_request_body_size=BODY,
            inbuf_overflow=IN_MEMORY,
            recv_bytes=IN_MEMORY,
            log_socket_errors=False,
            clear_untrusted_proxy_headers=False,  # Django checks them if proxies are configured
        )
        self.listeners = [
            self._listen(without_bodies_for_head(application), listening, adjustments) for listening in sockets
        ]

    def _listen(self, application: WSGIApplication, listening: socket.socket, adjustments: Adjustments) -> Listener:
        made = (UnixListener if listening.family == socket.AF_UNIX else TcpListener)(
            application,
            self.map,
            _sock=listening,
            dispatcher=self.dispatcher,
            adj=adjustments,
            sockinfo=(listening.family, listening.type, listening.proto, listening.getsockname()),
            bind_socket=False,
        )
        made.limits = self.limits
        return made

    @property
    def channels(self) -> list[Channel]:
        return [channel for listener in self.listeners for channel in list(listener.active_channels.values())]

    @property
    def answered(self) -> int:
        """Requests so far."""
        return sum(listener.answered for listener in self.listeners)

    def turn(self, seconds: float = 1.0) -> None:
        """Read and write what is ready, waiting at most so many seconds; regularly close what has taken too long."""
        wasyncore.poll2(seconds, self.map)
        now = time.monotonic()
        if now < self.looked + EVERY:
            return
        self.looked = now
        for channel in self.channels:
            if channel.until < now:
                channel.handle_close()
        self._bound_bodies()

    def _bound_bodies(self) -> None:
        """Close the connections that have been sending longest, until the others' bodies may be kept."""
        arriving = sorted(
            (channel for channel in self.channels if channel.arrived), key=lambda channel: channel.since, reverse=True
        )
        total = sum(channel.arrived for channel in arriving)
        while total > self.limits.bodies:
            oldest = arriving.pop()
            total -= oldest.arrived
            oldest.handle_close()

    def is_stuck(self) -> bool:
        """Whether a request has taken longer than any may."""
        latest = time.monotonic() - self.limits.answering
        return any(not channel.waits and channel.begun < latest for channel in self.channels)

    def wake(self) -> None:
        for listener in self.listeners:
            listener.trigger.pull_trigger()

    def stop_listening(self, linger: float) -> None:
        """Accept no more connections; on open ones, answer what arrives within so many seconds."""
        for listener in self.listeners:
            listener.stop_listening(linger)

    def close(self) -> None:
        self.dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self.map, ignore_all=True)


class WaitressWorker(Worker):
    """A process of gunicorn's."""

    #: Seconds in which a visitor may already be sending on a connection that a stopping process would close.
    LINGER = 2.0
    alive: bool
    loop: Loop | None = None

    def run(self) -> None:
        limits = Limits(connections=self.cfg.worker_connections, idle=self.cfg.keepalive)
        sockets = [listening.sock for listening in self.sockets]
        self.loop = Loop(self.wsgi, sockets, self.cfg.threads, self.cfg.backlog, limits)
        while self.alive:
            self.notify()
            self.loop.turn()
            self.alive = self.alive and not self.is_over(self.loop)
        self.finish(self.loop)

    def is_over(self, loop: Loop) -> bool:
        """Whether gunicorn is gone, or this process shall be replaced."""
        if loop.is_stuck():
            logger.error("A request has taken %.0f s: its process is replaced.", loop.limits.answering)
            return True
        return bool(self.ppid != os.getppid() or loop.answered >= self.max_requests)

    def finish(self, loop: Loop) -> None:
        loop.stop_listening(self.LINGER)
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while loop.channels and time.monotonic() < deadline:
            self.notify()
            loop.turn(0.2)
        loop.close()

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        if self.loop:
            self.loop.wake()
