"""The website, but for one request that is told to crash: its process is killed, or frozen, at a given point.

A plan, {"at": point, "n": number, "signal": "SIGKILL"}, lies in the file that FAULTS_CONTROL names. The next answer to
a pair takes it away and follows it: at its n-th SQL statement ("statement"), before or after its n-th COMMIT ("before
commit", "after commit"), before or after its response is written ("before response", "after response"). With "count" it
writes how many there are instead.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from annotate.wsgi import application as product

CONTROL = Path(os.environ["FAULTS_CONTROL"])
ANSWER = re.compile(r"/judge/[0-9a-f-]{36}/$")
here = threading.local()
_commit = BaseDatabaseWrapper._commit


def reach(point: str) -> None:
    """Count a point; die where the plan says so."""
    plan = getattr(here, "plan", None)
    if plan is None:
        return
    here.reached[point] += 1
    if plan["at"] == point and plan["n"] == here.reached[point]:
        os.kill(os.getpid(), signal.Signals[plan["signal"]])


def commit(self: BaseDatabaseWrapper) -> None:
    reach("before commit")
    _commit(self)
    reach("after commit")


def statement(execute: Callable[..., Any], *arguments: Any) -> Any:
    reach("statement")
    return execute(*arguments)


BaseDatabaseWrapper._commit = commit


def take_plan(environ: dict[str, Any]) -> dict[str, Any] | None:
    if environ["REQUEST_METHOD"] != "POST" or not ANSWER.match(environ["PATH_INFO"]):
        return None
    mine = CONTROL.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
    try:
        CONTROL.rename(mine)
    except FileNotFoundError:
        return None
    plan: dict[str, Any] = json.loads(mine.read_text())
    return plan


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    here.plan, here.reached = take_plan(environ), Counter()
    with connection.execute_wrapper(statement) if here.plan else nullcontext():
        response = product(environ, start_response)
    if here.plan is None:
        return response
    return Written(response)


class Written:
    """A response that knows when it begins and when it has been written."""

    def __init__(self, response: Iterable[bytes]) -> None:
        self.response = response

    def __iter__(self) -> Iterator[bytes]:
        reach("before response")
        yield from self.response

    def close(self) -> None:
        reach("after response")
        getattr(self.response, "close", lambda: None)()
        if here.plan["at"] == "count":
            CONTROL.with_suffix(".counted").write_text(json.dumps(here.reached))
        here.plan = None
