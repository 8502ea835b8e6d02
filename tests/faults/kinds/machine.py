"""The machine under the product: disks that are full or read-only, clocks that jump, too few of everything.

F18, F19, F20, F28, F32.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from tests.faults.harness.clients import Browser
from tests.faults.harness.product import Product, descendants, kill, wait_until
from tests.faults.harness.trials import Trial, fault

DISK = {"megabytes": 400}
#: What the logs say where there is no room, or nothing can be written.
NO_ROOM = (
    r"OperationalError|OSError|InterfaceError|psycopg\.|redis\.|kombu\.|ConnectionError|WorkerLost|ExceptionWithTrace"
    r"|Read-only file system"
)


@contextmanager
def no_room(trial: Trial, latest: float = 0.5) -> Iterator[None]:
    """The body, at a random moment while people judge; whoever finds no room may say so in the logs."""
    trial.expected.tracebacks = NO_ROOM
    with trial.load():
        trial.until(trial.rng.uniform(0.1, latest))
        yield


def servers_back(product: Product) -> None:
    """Start again, as an operator would, what gave up without room to write."""
    for server in (product.postgres, product.redis):
        if server is not None and server.process is not None and server.process.poll() is not None:
            server.start()


@fault("F18", "the disk is full for some seconds: database, broker and uploads", release=10, seconds=14, variant=DISK)
def full(trial: Trial) -> None:
    disk = trial.product.disk
    assert disk is not None
    with no_room(trial):
        disk.fill()
        try:
            time.sleep(trial.rng.uniform(2.0, 6.0))
        finally:
            disk.free()
        servers_back(trial.product)


@contextmanager
def stopped(product: Product) -> Iterator[None]:
    """Nobody is in the middle of a write: ext4 may tell a program that is just then waiting that all went well."""
    assert product.supervisor
    starts = [product.supervisor, *(one.process for one in (product.postgres, product.redis) if one)]
    pids = [pid for one in starts if one for pid in (one.pid, *descendants(one.pid))]
    kill(pids, signal.SIGSTOP)
    try:
        wait_until(lambda: all(is_stopped(pid) for pid in pids), "all processes stand still")
        yield
    finally:
        kill(pids, signal.SIGCONT)


def is_stopped(pid: int) -> bool:
    """Whether none of its threads runs or waits for a disk any more; also where it has ended."""
    with suppress(OSError):
        states = [
            (one / "stat").read_text().rpartition(")")[2].split()[0] for one in Path(f"/proc/{pid}/task").iterdir()
        ]
        return set(states) <= {"T", "Z"}
    return True


@fault("F19", "the disk turns read-only after an error; checked, mounted and started again", release=10, variant=DISK)
def read_only(trial: Trial) -> None:
    product = trial.product
    assert product.disk is not None
    with no_room(trial):
        seen_before = len(trial.observed)
        with stopped(product):
            product.disk.fail()
        time.sleep(trial.rng.uniform(0.5, 2.0))
        product.kill_everything()
        product.inside.end()
        if product.postgres:
            product.postgres.kill()
        if product.redis:
            product.redis.kill()
        product.disk.mend()
        # Whoever looked meanwhile may have been shown what was never on the disk, and never confirmed.
        del trial.observed[seen_before:]
        if product.postgres:
            product.postgres.start()
        if product.redis:
            product.redis.start()
        product.start()


CLOCKS = {"an hour on": 3600, "an hour back": -3600, "a day on": 86_400, "a day back": -86_400, "5 s back": -5}


@fault(
    "F20",
    "the clock of the website or of the worker jumps by 5 s, an hour or a day, and back",
    release=15,
    seconds=9,
    variant={"clocks": True},
)
def clocks(trial: Trial) -> None:
    """The database's clock goes on, and leases are its."""
    product, whose = trial.product, trial.rng.choice(["web", "worker"])
    jump = list(CLOCKS)[trial.number % len(CLOCKS)]
    with trial.load(think=0.1):
        trial.until(trial.rng.uniform(0.1, 0.4))
        product.set_clock(whose, CLOCKS[jump])
        trial.until(0.8)
        product.set_clock(whose, 0)
    trial.seen[f"{whose} {jump}"] += 1
    early = product.tables.rows(
        "SELECT a.id FROM annotate_assignment a JOIN annotate_topic t ON t.id = a.topic_id "
        "WHERE t.study_id = ? AND a.state = 'expired' AND a.closed_at < a.expires_at",
        trial.given["study"],
    )
    trial.complaints += [f"the lease of assignment {row['id']} ended before its time" for row in early]


@fault(
    "F28",
    "no file or connection left: 64 open files a process; every connection of PostgreSQL taken",
    release=10,
    seconds=12,
)
def too_few(trial: Trial) -> None:
    product = trial.product
    with no_room(trial, 0.4):
        if product.postgres and trial.number % 2:
            take_all_connections(trial, trial.rng.uniform(2.0, 4.0))
        else:
            few_files(trial, trial.rng.uniform(2.0, 4.0))


def few_files(trial: Trial, seconds: float) -> None:
    """Each web process may open 64 files, and idle visitors hold many of them."""
    pids = trial.product.web_processes()
    before = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in pids}
    for pid, (_soft, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, hard))
    visitors = [Browser(("127.0.0.1", trial.product.port)) for _ in range(120)]
    try:
        for one in visitors:
            with suppress(Exception):
                one.patience = 0.2
                one.ask("GET", "/health/live")
        time.sleep(seconds)
    finally:
        for one in visitors:
            one.close()
        for pid, limits in before.items():
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def take_all_connections(trial: Trial, seconds: float) -> None:
    """Hold whatever PostgreSQL gives, while the web processes are killed and need new connections."""
    held = []
    try:
        with suppress(psycopg.Error):
            while len(held) < 100:
                held.append(psycopg.connect(trial.product.tables.url, connect_timeout=3))
        kill(trial.product.web_processes())
        time.sleep(seconds)
    finally:
        for one in held:
            one.close()


@fault(
    "F32",
    "killed whole, and started on what was left: half a log record, pid and lock files of the dead",
    release=10,
    seconds=12,
)
def leftovers(trial: Trial) -> None:
    """A half-written secret key is refused in words before anything starts (annotate/secret_key.py)."""
    product = trial.product
    with no_room(trial, 0.6):
        product.kill_everything()
        if product.postgres and product.redis:
            product.postgres.kill()
            product.redis.kill()
            (product.postgres.folder / "postmaster.pid").touch()
            with (next(product.redis.folder.glob("**/*.incr.aof"))).open("ab") as log:
                log.write(b"*3\r\n$3\r\nSET\r\n$5\r\nhal")
            product.postgres.start()
            product.redis.start()
        else:
            product.inside.end()
            with Path(product.tables.url.removeprefix("sqlite://") + "-wal").open("ab") as log:
                log.write(os.urandom(trial.rng.randint(1, 5000)))
        product.start()
