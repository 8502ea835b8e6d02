"""F04: a web process that is killed at every point of the judgment path in turn."""

from __future__ import annotations

import json

from lab.harness.product import wait_until
from lab.harness.trials import Trial, fault

#: Crashes in one trial, at points that follow one another.
AT_ONCE = 3


@fault(
    "F04",
    "kill -9 at the n-th SQL statement of an answer, before and after each COMMIT and the response",
    quick=1,
    release=17,
    seconds=8,
    variant={"wsgi": "crashing_wsgi"},
)
def at_every_point(trial: Trial) -> None:
    with trial.load(think=0.05):
        points = count_points(trial)
        for turn in range(AT_ONCE):
            at, n = points[((trial.number - 1) * AT_ONCE + turn) % len(points)]
            plan(trial, at, n)
            wait_until(lambda: not trial.product.control.exists() or trial.is_complete(), "an answer")
            trial.seen[f"crashes {at}"] += 1
        trial.tries = AT_ONCE


def count_points(trial: Trial) -> list[tuple[str, int]]:
    """Every point of an answer's way: counted once for each product, on an answer that comes through."""
    counted = trial.product.control.with_suffix(".counted")
    if not counted.exists():
        plan(trial, "count", 0)
        wait_until(counted.exists, "an answer that is counted")
    return [(at, n) for at, most in json.loads(counted.read_text()).items() for n in range(1, most + 1)]


def plan(trial: Trial, at: str, n: int, signal: str = "SIGKILL") -> None:
    new = trial.product.control.with_suffix(".new")
    new.write_text(json.dumps({"at": at, "n": n, "signal": signal}))
    new.rename(trial.product.control)
