"""The machine under the product: clocks that jump, too few of everything, what the dead leave: F20, F28, F32."""

from __future__ import annotations

import os
import resource
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg

from lab.faults.disks import no_room
from lab.harness.product import Product, Stuck, kill, wait_until
from lab.harness.trials import Trial, fault

#: Seconds after which a process looks at its clock again, as in inject/with_clock.py.
EVERY = 0.25

JUMPS = {"an hour on": 3600, "an hour back": -3600, "a day on": 86_400, "a day back": -86_400, "5 s back": -5}
#: What some clock or calendar has stumbled over; three seconds before it.
MOMENTS = {
    "into summer time": "2027-03-28T00:59:57+00:00",
    "into 29 February": "2028-02-28T23:59:57+00:00",
    "past the seconds of 32 bits": "2038-01-19T03:14:04+00:00",
}
#: Seconds after which a pair must be somebody else's, once its lease has run out and somebody waits for it.
LATE = 3.0
#: Seconds between the time that a closed lease notes, when its topic was locked, and the time it is looked at.
LOCKED = 0.1


@fault(
    "F20",
    "the clocks of the website and of the worker jump by 5 s, an hour or a day, or pass a turn of the calendar",
    release=16,
    seconds=12,
    variant={"clocks": True},
)
def clocks(trial: Trial) -> None:
    """The database's clock goes on, and leases are its: the last pair of all is held by somebody who went away."""
    ways = [*JUMPS, *MOMENTS]
    way = ways[trial.number % len(ways)]
    if way in MOMENTS:
        offsets = dict.fromkeys(("web", "worker"), datetime.fromisoformat(MOMENTS[way]).timestamp() - time.time())
        trial.seen[way] += 1
    else:
        other = list(JUMPS)[(trial.number + 2) % len(JUMPS)]
        offsets = {"web": JUMPS[way], "worker": JUMPS[other]}
        trial.seen[f"web {way}"] += 1
        trial.seen[f"worker {other}"] += 1
    trial.study(sentences=8, judgments_per_topic=30)
    if way in MOMENTS:  # somebody who has been there before would be signed out, ten years later
        set_clocks(trial.product, offsets)
    try:
        with trial.load(think=0.1, moody=False):
            trial.until(trial.rng.uniform(0.1, 0.4))
            trial.client().begin()  # and is never seen again
            set_clocks(trial.product, offsets)
            trial.until((trial.wanted - 1) / trial.wanted)
            waiting = time.time()
            with suppress(Stuck):
                trial.wait_for_the_rest()
            set_clocks(trial.product, dict.fromkeys(offsets, 0))
    finally:
        set_clocks(trial.product, dict.fromkeys(offsets, 0))
    expired = [
        (row["id"], *(moment(row[name]) for name in ("expires_at", "closed_at")))
        for row in trial.product.tables.rows(
            "SELECT a.* FROM annotate_assignment a JOIN annotate_itemset t ON t.id = a.item_set_id "
            "WHERE t.study_id = ? AND a.state = 'expired'",
            trial.given["study"],
        )
    ]
    if not expired:
        trial.complaints.append("no lease ran out: nothing was tried here")
    for key, until, closed in expired:
        if closed < until - LOCKED:
            trial.complaints.append(f"the lease of assignment {key} ended {until - closed:.2f} s before its time")
        late = closed - max(until, waiting)
        trial.seen["ms late at most"] = max(trial.seen["ms late at most"], round(1000 * late))
        if late > LATE:
            trial.complaints.append(f"the lease of assignment {key} ended {late:.2f} s late, while others waited")


def set_clocks(product: Product, offsets: Mapping[str, float]) -> None:
    """Move them, and wait until every process has seen it."""
    for name, offset in offsets.items():
        product.set_clock(name, offset)
    time.sleep(2 * EVERY)


def moment(told: object) -> float:
    """A time of the database's, as seconds."""
    when = datetime.fromisoformat(str(told))
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


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
    """Each web process may open 64 files, and visitors who have not said yet what they want hold many of them."""
    pids = trial.product.web_processes()
    before = {pid: resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in pids}
    for pid, (_soft, hard) in before.items():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, hard))
    with ExitStack() as visitors:
        for _ in range(120):
            visitor = visitors.enter_context(socket.create_connection(("127.0.0.1", trial.product.port), 5))
            visitor.sendall(b"GET /health/live HTTP/1.1\r\n")
        try:
            with suppress(Stuck):
                wait_until(lambda: bool(without_files(pids)), "no file is left", 5)
            trial.seen["processes that had no file left"] += len(without_files(pids))
            if not without_files(pids):
                trial.complaints.append("every process had files left: nothing was tried here")
            time.sleep(seconds)
        finally:
            for pid, limits in before.items():
                with suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def without_files(pids: list[int]) -> list[int]:
    """Those of them that have hardly a file left of 64; a moment later one may just have been closed."""
    return [pid for pid in pids if Path(f"/proc/{pid}").exists() and len(list(Path(f"/proc/{pid}/fd").iterdir())) >= 60]


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
        for connection in held:
            connection.close()


@fault(
    "F32",
    "killed whole, and started on what was left: half a log record, pid and lock files of the dead",
    release=10,
    seconds=12,
)
def leftovers(trial: Trial) -> None:
    """A half-written secret key is refused in words before anything starts (tests/annotate/test_secret_key.py)."""
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
