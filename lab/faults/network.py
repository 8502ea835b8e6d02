"""A network that breaks between annotators and the website, or is slow on purpose: F14, F15, F16, F17, F33, F42."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from lab.faults.processes import WAITED
from lab.harness.product import Stuck, wait_until
from lab.harness.proxy import Deed, Proxy, Request
from lab.harness.trials import Trial, fault
from lab.services import proxied

SHARE = 0.2  # of requests that meet the fault, so that each trial sees several


@fault(
    "F14", "the connection is reset after an answer was sent, before it is confirmed", quick=2, release=60, seconds=4
)
def reset(trial: Trial) -> None:
    """Mostly after the website has answered; sometimes half of the request or half of the answer came through."""

    def decide(request: Request) -> Deed:
        if request.line.startswith("POST") and trial.rng.random() < SHARE:
            return Deed(trial.rng.choice(["reset", "reset", "torn", "halved"]))
        return Deed()

    with Proxy(("127.0.0.1", trial.product.port), decide) as proxy, trial.load(address=proxy.address):
        trial.until(0.9)
    count(trial, proxy)


@fault(
    "F15", "the confirmation comes after the page has given up waiting (20 s for 15, at a tenth)", release=10, seconds=8
)
def delay(trial: Trial) -> None:
    def decide(request: Request) -> Deed:
        late = request.is_judgment and trial.rng.random() < SHARE / 2
        return Deed("delay", 2.0) if late else Deed()

    with Proxy(("127.0.0.1", trial.product.port), decide) as proxy, trial.load(address=proxy.address, patience=1.5):
        trial.until(0.9)
    count(trial, proxy)


@fault("F16", "the website gets the same bytes twice, at once and again later", quick=2, release=60, seconds=8)
def double(trial: Trial) -> None:
    """Up to half as long again as a lease later; in every twentieth trial half a minute later."""

    def decide(request: Request) -> Deed:
        if not request.line.startswith("POST") or trial.rng.random() > 2 * SHARE:
            return Deed()
        if trial.rng.random() < 0.5:
            return Deed("double")
        return Deed("later", 30.0 if trial.number % 20 == 0 else trial.rng.uniform(0.1, 6.0))

    with Proxy(("127.0.0.1", trial.product.port), decide) as proxy:
        with trial.load(address=proxy.address):
            trial.until(0.9)
        proxy.settle()
    count(trial, proxy)
    for status, times in proxy.answered.items():
        trial.seen[f"repeats answered {status}"] += times


@fault("F17", "no network for half of the annotators, for longer than a lease", release=10, seconds=14)
def no_network(trial: Trial) -> None:
    with Proxy(("127.0.0.1", trial.product.port)) as proxy, trial.load(clients=2):
        for _ in range(2):
            trial.client(address=proxy.address, patience=2.0).start()
        trial.until(trial.rng.uniform(0.1, 0.4))
        proxy.off.set()
        time.sleep(trial.rng.uniform(5.0, 9.0))
        proxy.off.clear()
        # What was held back may take an answer back: people must still be there who judge that pair.
        proxy.settle()
    trial.seen["requests that waited"] += proxy.done["pass"]


def count(trial: Trial, proxy: Proxy) -> None:
    for kind, times in proxy.done.items():
        if kind != "pass":
            trial.seen[kind] += times


#: Connections that send a byte a second, all at once.
SLOW = 200
#: How often judging is timed without them and with them, and for how many judgments each time.
TURNS, JUDGMENTS = 6, 30


@fault(
    "F33",
    "200 connections that each send a byte a second, and come again when they are closed: p95 of judging",
    release=10,
    seconds=60,
)
def slow_connections(trial: Trial) -> None:
    """Half of them never end their headers, half their form. Judging is timed without and with them in turn."""
    beside_slow_connections(trial, trial.product.port)


@fault("F42", "the same as F33 at the proxy of docker-compose.yml, through which people judge", release=10, seconds=60)
def slow_connections_at_the_proxy(trial: Trial) -> None:
    with proxied(trial.product.port) as port:
        beside_slow_connections(trial, port)


def beside_slow_connections(trial: Trial, port: int) -> None:
    """Judge at this port; complain if answers take twice as long while slow visitors are there."""
    trial.expected.complete, trial.expected.tracebacks = False, WAITED
    trial.study(sentences=40, judgments_per_topic=1000)
    took: dict[str, list[float]] = {"without": [], "with": []}
    with trial.load(think=0.1, address=("127.0.0.1", port)):
        trial.until(JUDGMENTS / trial.wanted)
        for _ in range(TURNS):
            took["without"] += time_judging(trial)
            with slow_visitors(("127.0.0.1", port)) as seen:
                took["with"] += time_judging(trial)
            trial.seen["slow connections"] += seen["opened"]
            trial.seen["of them closed by the website"] += seen["closed"]
    without, with_them = (sorted(each)[int(0.95 * len(each))] for each in took.values())
    trial.seen["ms p95 without them"] = round(without)
    trial.seen["ms p95 with them"] = round(with_them)
    if with_them > 2 * without:
        trial.complaints.append(f"p95 of judging: {without:.0f} ms, and {with_them:.0f} ms beside slow connections")


def time_judging(trial: Trial) -> list[float]:
    """The milliseconds that each answer took, or each try to send one, from now on for some judgments."""
    began, goal = trial.journal.now, trial.journal.acked + JUDGMENTS
    with suppress(Stuck):
        wait_until(lambda: trial.journal.acked >= goal, "judgments", 20)
    entries = [entry for entry in trial.journal.entries if entry["event"] in ("acked", "failed", "error")]
    return [entry["ms"] for entry in entries if entry["t"] - entry["ms"] / 1000 >= began]


@contextmanager
def slow_visitors(address: tuple[str, int]) -> Iterator[Counter[str]]:
    """As many of them while the body lasts; counts how many were opened, and closed by the website."""
    over, seen = threading.Event(), Counter[str]()
    visitors = [SlowVisitor(address, seen, in_form=number % 2 == 1) for number in range(SLOW)]

    def send() -> None:
        for visitor in itertools.cycle(visitors):
            visitor.send()
            if over.wait(1 / SLOW):
                break

    for visitor in visitors:
        visitor.open()
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield seen
    finally:
        over.set()
        sender.join()
        for visitor in visitors:
            visitor.connection.close()


class SlowVisitor:
    """A connection whose request never ends: its headers do not, or its form."""

    def __init__(self, address: tuple[str, int], seen: Counter[str], in_form: bool) -> None:
        self.address, self.seen = address, seen
        form = "Content-Length: 100000\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
        ending = form if in_form else "X-Slow: "
        self.beginning = f"POST /sign-in/ HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n{ending}".encode()

    def open(self) -> None:
        self.connection = socket.create_connection(self.address, timeout=5)
        self.connection.sendall(self.beginning)
        self.connection.setblocking(False)
        self.seen["opened"] += 1

    def send(self) -> None:
        """One byte, or all from the beginning where the website has had enough of it."""
        try:
            with suppress(BlockingIOError):
                if not self.connection.recv(1):
                    raise ConnectionResetError
            self.connection.send(b"a")
        except OSError:
            self.seen["closed"] += 1
            self.connection.close()
            self.open()
