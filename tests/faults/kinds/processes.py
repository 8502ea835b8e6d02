"""Processes that are killed while people judge: F01, F02, F05, F06, F22."""

from __future__ import annotations

import time

from tests.faults.harness.product import kill, wait_until
from tests.faults.harness.trials import Trial, fault


@fault("F01", "kill -9 one web process", quick=2, release=50, seconds=4)
def one_web_process(trial: Trial) -> None:
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.7))
        kill([trial.rng.choice(trial.product.web_processes())])


@fault("F02", "kill -9 the web server whole, master and processes", quick=1, release=50, seconds=6)
def web_server(trial: Trial) -> None:
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.7))
        kill([*trial.product.web_masters(), *trial.product.web_processes()])


@fault("F05", "kill -9 the worker, children and all, while it fits", quick=1, release=50, seconds=9)
def worker(trial: Trial) -> None:
    trial.expected.tracebacks = LOST
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.7))
        wait_for_a_fit(trial)
        kill([*trial.product.workers(), *trial.product.pool()])


# Celery says so when a child of its is gone.
LOST = r"WorkerLostError|ExceptionWithTraceback"


@fault("F06", "kill -9 one pool child of the worker while it fits", quick=1, release=50, seconds=6)
def pool_child(trial: Trial) -> None:
    trial.expected.tracebacks = LOST
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.7))
        wait_for_a_fit(trial)
        kill(trial.product.pool()[:1])


@fault("F22", "SIGTERM to everything (a deploy), and start again", quick=1, release=10, seconds=12)
def deploy(trial: Trial) -> None:
    with trial.load():
        trial.until(trial.rng.uniform(0.1, 0.7))
        trial.product.stop()
        trial.product.start()


def wait_for_a_fit(trial: Trial) -> None:
    """Until the worker has claimed one of the study's topics; a little later, at random."""
    names = [f"topic:{topic}" for topic in trial.given["topics"]]
    marks = ", ".join("?" for _ in names)
    query = f"SELECT COUNT(*) FROM annotate_claim WHERE name IN ({marks})"
    wait_until(lambda: trial.product.tables.value(query, *names) > 0, "a fit", pause=0.003)
    time.sleep(trial.rng.uniform(0, 0.02))
