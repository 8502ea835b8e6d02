"""The broker killed, frozen, emptied, full: F07, F08, F09, F11, F12. Judging must not notice, and fits catch up."""

from __future__ import annotations

import socket
import time

from lab.faults.processes import wait_for_a_fit
from lab.harness.product import Product
from lab.harness.trials import Trial, fault
from lab.services import Redis

ON_REDIS = ("services",)
#: Keys of Celery's, none of which is a string.
KEYS = ("celery", "_kombu.binding.celery", "unacked", "unacked_index")
#: A worker whose broker is back must do what waits within so many seconds.
AGAIN = 30.0
#: What the worker's log may say while it has no broker. It then stops the tasks that it cannot acknowledge any more,
#: each in the middle of whatever it does. kombu's own transport may meet a connection that it has just closed.
WITHOUT = (
    r"redis\.|kombu\.|Connection\w*Error|TimeoutError|OperationalError|BrokenPipe|OSError|Lost|SystemExit|autocommit"
    r"|no attribute 'hostname'"
)


def broker_of(product: Product) -> Redis:
    assert product.redis
    return product.redis


@fault("F07", "kill -9 Redis (its log is on disk), and start it again", on=ON_REDIS, release=34, seconds=9)
def killed(trial: Trial) -> None:
    trial.expected.tracebacks = WITHOUT
    redis = broker_of(trial.product)
    with trial.load(think=0.1):
        for _ in trial.strikes(3):
            redis.kill()
            redis.start()


@fault("F08", "kill -9 Redis while tasks are under way, away for up to a minute", on=ON_REDIS, release=10, seconds=24)
def killed_for_a_while(trial: Trial) -> None:
    trial.expected.tracebacks = WITHOUT
    redis = broker_of(trial.product)
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.4))
        wait_for_a_fit(trial)
        redis.kill()
        time.sleep((0.05, 0.3, 1.0, 10.0, 60.0)[trial.number % 5])
        redis.start()
    quiet_again(trial)


@fault("F09", "SIGSTOP Redis for 5 s (every fifth time 30 s): nobody who judges may notice", on=ON_REDIS, seconds=18)
def frozen(trial: Trial) -> None:
    trial.expected.tracebacks = WITHOUT
    redis = broker_of(trial.product)
    trial.study(sentences=10, judgments_per_topic=60)
    with trial.load(think=0.15):
        trial.until(0.2)
        before = len(trial.journal.entries)
        redis.freeze()
        began = time.monotonic()
        try:
            trial.until(0.9, patience=60)
            during = trial.journal.entries[before:]
            time.sleep(max(0.0, (30.0 if trial.number % 5 == 0 else 5.0) - (time.monotonic() - began)))
        finally:
            redis.thaw()
    usual = p95([entry["ms"] for entry in trial.journal.entries[:before] if entry["event"] == "acked"])
    slow = p95([entry["ms"] for entry in during if entry["event"] == "acked"])
    trial.seen["ms p95 of an answer while frozen"] += slow
    if slow > max(300, 3 * usual):
        trial.complaints.append(f"answers took {slow} ms (p95) while the broker was frozen, {usual} ms before")
    if failed := [entry for entry in during if entry["event"] in ("failed", "error")]:
        trial.complaints.append(f"{len(failed)} requests failed while the broker was frozen")
    quiet_again(trial)


@fault(
    "F11",
    "FLUSHALL; Redis's log deleted; its log's end corrupted; one of its keys something else",
    on=ON_REDIS,
    quick=1,
    release=12,
    seconds=8,
)
def emptied(trial: Trial) -> None:
    trial.expected.tracebacks = WITHOUT + "|ResponseError"
    redis = broker_of(trial.product)
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.7))
        match trial.number % 4:
            case 0:
                tell(redis, "FLUSHALL")
            case 1:
                redis.kill()
                for file in redis.folder.rglob("*.aof*"):
                    file.unlink()
                redis.start()
            case 2:
                redis.kill()
                for file in redis.folder.rglob("*.incr.aof"):
                    file.write_bytes(file.read_bytes()[:-3])
                redis.start()
            case 3:
                tell(redis, f"SET {trial.rng.choice(KEYS)} nonsense")
    quiet_again(trial)


@fault("F12", "Redis full: every write is refused for 5 s", on=ON_REDIS, release=10, seconds=12)
def full(trial: Trial) -> None:
    trial.expected.tracebacks = WITHOUT + r"|ResponseError|OutOfMemory"
    redis = broker_of(trial.product)
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.5))
        tell(redis, "CONFIG SET maxmemory 1")
        time.sleep(5)
        tell(redis, "CONFIG SET maxmemory 0")
    quiet_again(trial)


def quiet_again(trial: Trial) -> None:
    """The worker must have caught up soon after its broker came back."""
    began = time.monotonic()
    while not trial.is_quiet():
        if time.monotonic() - began > AGAIN:
            trial.complaints.append(f"the worker did not catch up within {AGAIN:.0f} s of its broker coming back")
            return
        time.sleep(0.1)


def tell(redis: Redis, command: str) -> None:
    with socket.create_connection(("127.0.0.1", redis.port), timeout=5) as connection:
        connection.sendall(command.encode() + b"\r\n")
        answer = connection.recv(64)
        assert answer.startswith(b"+OK"), answer


def p95(times: list[int]) -> int:
    return sorted(times)[int(0.95 * (len(times) - 1))] if times else 0
