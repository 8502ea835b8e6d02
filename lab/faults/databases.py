"""The database away, or held: F03, F10."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import suppress
from urllib.parse import urlsplit

import psycopg

from lab.faults.processes import WAITED
from lab.harness.product import Product
from lab.harness.trials import Trial, fault


@fault("F03", "kill -9 the database, all processes (SQLite: the whole installation)", quick=1, release=25, seconds=12)
def database(trial: Trial) -> None:
    product = trial.product
    # Whoever is in the middle of something says so: the worker's beat and tasks log why they failed.
    trial.expected.tracebacks = r"OperationalError|InterfaceError|AdminShutdown|psycopg\.|WorkerLost|ExceptionWithTrace"
    with trial.load():
        for _ in trial.strikes(2):
            if product.postgres:
                product.postgres.kill()
                time.sleep(trial.rng.choice([0, 0.2, 1.0]))
                product.postgres.start()
            else:
                product.kill_everything()
                product.start()


@fault(
    "F10", "a lock on the topic held for 12 s, or a connection's server process frozen for 5 s", release=10, seconds=18
)
def held(trial: Trial) -> None:
    # Whoever waits too long is told to come back; a task is stopped in the middle of its query.
    trial.expected.tracebacks = rf"LockNotAvailable|OperationalError|autocommit|{WAITED}"
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.5))
        if trial.product.on == "sqlite":
            hold_sqlite(trial.product, 5.0)
        elif trial.number % 2:
            hold_tally(trial, 12.0)
        else:
            freeze_backend(trial, 5.0)


def hold_sqlite(product: Product, seconds: float) -> None:
    """The write lock of the whole database."""
    connection = sqlite3.connect(urlsplit(product.tables.url).path, timeout=20, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.execute("ROLLBACK")
    finally:
        connection.close()


def hold_tally(trial: Trial, seconds: float) -> None:
    """The row that everybody who judges in the topic locks first; longer than the product waits for a lock."""
    with psycopg.connect(trial.product.tables.url) as connection:
        connection.execute(
            "SELECT * FROM annotate_tally WHERE item_set_id = %s FOR UPDATE", (trial.rng.choice(trial.given["topics"]),)
        )
        time.sleep(seconds)


def freeze_backend(trial: Trial, seconds: float) -> None:
    """One of PostgreSQL's processes that serve the product."""
    rows = trial.product.tables.rows(
        "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    pid = trial.rng.choice([row["pid"] for row in rows])
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)
