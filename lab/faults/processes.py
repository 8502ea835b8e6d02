"""Processes that are killed, stopped, poisoned or too many: F01, F02, F05, F06, F13, F22-F25, F31, F34."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from pathlib import Path

from lab.faults.judging import change
from lab.faults.statements import count_points, plan
from lab.harness.product import Product, Stuck, children, kill, wait_until
from lab.harness.trials import Trial, fault
from lab.harness.versions import WRITTEN_BY, next_version
from lab.services import PostgreSQL, Redis


@fault("F01", "kill -9 one web process", release=13, seconds=8)
def one_web_process(trial: Trial) -> None:
    with trial.load():
        for _ in trial.strikes(4):
            kill(trial.rng.sample(trial.product.web_processes(), 1))


@fault("F02", "kill -9 the web server whole, master and processes", quick=1, release=25, seconds=9)
def web_server(trial: Trial) -> None:
    with trial.load():
        for _ in trial.strikes(2):
            kill([*trial.product.web_masters(), *trial.product.web_processes()])
            trial.product.wait_for_web()


@fault("F05", "kill -9 the worker, children and all, while it fits", quick=1, release=25, seconds=14)
def worker(trial: Trial) -> None:
    trial.expected.tracebacks = LOST
    with trial.load(think=0.1):
        for _ in trial.strikes(2):
            wait_for_a_fit(trial)
            kill([*trial.product.workers(), *trial.product.pool()])


# Celery says so when a child of its is gone.
LOST = r"WorkerLostError|ExceptionWithTraceback"
# What a quick task says that has waited for its turn to write, before it is tried as a long one; and what a database's
# driver says that was stopped in the middle of a statement.
WAITED = r"TimeLimitExceeded|ExceptionWithTraceback|in transaction status ACTIVE|another command is already in progress"


@fault("F06", "kill -9 one pool child of the worker while it fits", quick=1, release=17, seconds=8)
def pool_child(trial: Trial) -> None:
    trial.expected.tracebacks = LOST
    with trial.load(think=0.1):
        for _ in trial.strikes(3):
            wait_for_a_fit(trial)
            wait_until(lambda: bool(trial.product.pool()), "the worker has processes", 30.0)  # again, after a kill
            kill([busiest(trial.product.pool())])


def busiest(pids: list[int]) -> int:
    """Which of the processes computes just now: a worker has more children than the one that fits."""
    before = {pid: nanoseconds(pid) for pid in pids}
    with suppress(Stuck):  # none of them does
        wait_until(lambda: any(nanoseconds(pid) > before[pid] for pid in pids), "one computes", 0.2, pause=0.003)
    return max(pids, key=lambda pid: nanoseconds(pid) - before[pid])


def nanoseconds(pid: int) -> int:
    """How long the process has had a processor; 0 where there is no such process."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return 0


@fault("F22", "SIGTERM to everything (a deploy), and start again", quick=1, release=10, seconds=12)
def deploy(trial: Trial) -> None:
    with trial.load():
        for _ in trial.strikes():
            trial.product.stop()
            trial.product.start()


@fault("F23", "tables grow under load; old code on them for seconds; new web, then new worker", release=10, seconds=30)
def migrated(trial: Trial) -> None:
    """The tables stay as the next version wants them, so the next trial needs another installation."""
    product = trial.product
    product.spent = True
    tree = next_version(product.checkout, product.room / "next")
    trial.study(judgments_per_topic=30, sentences=16)
    with trial.load(think=0.3):
        trial.until(trial.rng.uniform(0.05, 0.5))
        began = time.monotonic()
        product.release(tree)
        trial.seen["ms to migrate"] += round(1000 * (time.monotonic() - began))
        # However slow the machine is: there is something to judge for each version.
        want(trial, 80)
        migrated_at = trial.journal.acked
        trial.until((migrated_at + trial.rng.randint(10, 30)) / trial.wanted)
        trial.seen["by old code on new tables"] += trial.journal.acked - migrated_at
        for name in trial.rng.sample(["web", "worker"], 2):
            product.replace(name, tree)
        want(trial, 100)
    by_new = product.tables.value(WRITTEN_BY)
    trial.seen["by new code"] += by_new
    if not by_new:
        trial.complaints.append("nothing was judged with the new code")


def want(trial: Trial, judgments: int) -> None:
    """From now on, want so many of each topic."""
    change(trial, judgments_per_topic=judgments)
    trial.wanted = judgments * len(trial.given["topics"])


def wait_for_a_fit(trial: Trial) -> None:
    """Until the worker has claimed one of the study's topics; a little later, at random."""
    names = [f"topic:{topic}" for topic in trial.given["topics"]]
    marks = ", ".join("?" for _ in names)
    query = f"SELECT COUNT(*) FROM annotate_claim WHERE name IN ({marks})"
    wait_until(lambda: is_over(trial) or trial.product.tables.value(query, *names) > 0, "a fit", pause=0.005)
    time.sleep(trial.rng.uniform(0, 0.02))


@fault("F13", "no worker at all while people judge and for 15 s, then one", quick=0, release=10, seconds=40)
def no_worker(trial: Trial) -> None:
    product, usual = trial.product, trial.product.programs
    product.stop()
    product.programs = tuple(name for name in usual if name.startswith("web"))
    try:
        product.start()
        with trial.load():
            pass
        time.sleep(15)
    finally:
        product.stop()
        product.programs = usual
        product.start()


@fault(
    "F24",
    "two workers, each with a heartbeat, and one of them killed",
    quick=0,
    release=10,
    seconds=9,
    variant={"programs": ("web", "worker", "worker2")},
)
def two_workers(trial: Trial) -> None:
    trial.expected.tracebacks = LOST
    with trial.load():
        for _ in trial.strikes():
            victim = trial.rng.choice(trial.product.workers())
            kill([victim, *children(victim)])


@fault(
    "F25",
    "one topic's fits raise, never end, eat all memory, or take their process with them",
    quick=0,
    release=10,
    seconds=30,
    variant={"app": "poisoned_worker"},
)
def poison(trial: Trial) -> None:
    given, control = trial.study(), trial.product.control
    how = ("raise", "loop", "die", "eat")[trial.number % 4]
    trial.seen[how] += 1
    trial.expected.tracebacks = LOST + r"|ArithmeticError: poison|SoftTimeLimitExceeded|TimeLimitExceeded|MemoryError"
    control.write_text(json.dumps({"mark": f"w{given['study']}x0x", "topic": "T0", "how": how}))
    try:
        with trial.load():
            pass
        poisoned, healthy = given["topics"]
        took = wait_until(lambda: is_fresh(trial, healthy), "the other topic is fitted", 30)
        trial.seen["ms until the other topic was fitted"] += round(1000 * took)
        wait_until(lambda: problem_of(trial, poisoned) != "", "somebody is told what is wrong with the topic", 45)
        if is_fresh(trial, poisoned):
            trial.complaints.append("the poisoned topic was fitted all the same: nothing was tried here")
    finally:
        control.unlink()


def is_fresh(trial: Trial, topic: int) -> bool:
    return any(row["id"] == topic and row["data_version"] == row["done"] for row in trial.versions())


def problem_of(trial: Trial, topic: int) -> str:
    query = "SELECT COALESCE(MAX(problem), '') FROM annotate_itemsetprogress WHERE item_set_id = ?"
    return str(trial.product.tables.value(query, topic))


@fault(
    "F34",
    "a web process frozen while an answer holds its topic, which is held for 10 s at most",
    release=10,
    seconds=18,
    variant={"wsgi": "crashing_wsgi"},
)
def frozen(trial: Trial) -> None:
    """All clients judge in one topic, so that all of them wait."""
    trial.expected.tracebacks = WAITED
    trial.study(topics=1, sentences=12, judgments_per_topic=60)
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.5))
        while not stopped(trial.product):  # an answer that is refused commits nothing
            plan(trial, "before commit", 1, signal="SIGSTOP")
            with suppress(Stuck):
                wait_until(lambda: bool(stopped(trial.product)), "an answer that freezes its process", 10, pause=0.005)
        trial.seen["processes frozen"] += len(stopped(trial.product))
        before = trial.journal.acked
        held = wait_until(lambda: not stopped(trial.product), "its end", 90, pause=0.005)
        waited = held + wait_until(lambda: trial.journal.acked > before, "the next answer", 90, pause=0.005)
        trial.seen["ms that it held the topic"] += round(1000 * held)
        trial.seen["ms until the next answer"] += round(1000 * waited)
        if held > HELD:
            trial.complaints.append(f"a frozen process held its topic for {held:.1f} s")


#: Seconds for which a process that is frozen in the middle of a transaction may hold a topic.
HELD = 10.0


def stopped(product: Product) -> list[int]:
    """The web processes that are frozen."""
    return [pid for pid in product.web_processes() if state_of(pid) == "T"]


def state_of(pid: int) -> str:
    """As the kernel calls it (R, S, T, Z ...); "" where there is no such process."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


@fault(
    "F31",
    "two faults of F01-F09 within two seconds",
    quick=0,
    release=15,
    seconds=15,
    variant={"wsgi": "crashing_wsgi"},
)
def two_at_once(trial: Trial) -> None:
    """Every two of them in turn, in an order of chance."""
    product, rng = trial.product, trial.rng
    acts = {
        "F01": lambda: kill(rng.sample(some_processes(product.web_processes), 1)),
        "F02": lambda: kill([*some_processes(product.web_masters), *product.web_processes()]),
        "F03": lambda: again(product.postgres) if product.postgres else whole_again(product),
        "F04": lambda: plan(trial, *rng.choice(points)),
        "F05": lambda: kill([*some_processes(product.workers), *product.pool()]),
        "F06": lambda: kill([busiest(some_processes(product.pool))]),
    }
    if product.redis:
        acts |= {"F07": lambda: again(product.redis)}
        acts |= {"F08": lambda: again(product.redis, rng.choice((0.05, 0.3, 1.0, 3.0)))}
        acts |= {"F09": lambda: freeze(product.redis, 3.0)}
    pairs = list(combinations(acts, 2))
    random.Random(31).shuffle(pairs)
    trial.expected.tracebacks = ".*"  # what each of them may say; whether anything was lost is the question here
    with trial.load(think=0.1):
        points = count_points(trial)
        for _ in trial.strikes():
            for name in rng.sample(pairs[trial.number % len(pairs)], 2):
                trial.seen[name] += 1
                acts[name]()
                time.sleep(rng.uniform(0, 2))
    product.control.unlink(missing_ok=True)  # nobody answered any more


def some_processes(some: Callable[[], list[int]]) -> list[int]:
    """Processes that may just be starting anew."""
    wait_until(lambda: bool(some()), "there is something to kill")
    return some()


def whole_again(product: Product) -> None:
    product.kill_everything()
    product.start()


def again(service: PostgreSQL | Redis | None, away: float = 0.0) -> None:
    assert service
    service.kill()
    time.sleep(away)
    service.start()


def freeze(redis: Redis | None, seconds: float) -> None:
    assert redis
    redis.freeze()
    time.sleep(seconds)
    redis.thaw()


def is_over(trial: Trial) -> bool:
    """Whether no fit will come any more."""
    return trial.is_complete() and trial.is_quiet()
