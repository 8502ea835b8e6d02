"""The worker, but that fits of one topic fail as they are told to, and no task may take longer than a few seconds.

The file that FAULTS_CONTROL names says {"mark": words of its first sentence, "topic": its name, "how": "raise", "loop",
"eat" or "die"}; without it all is well.
"""

from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import numpy as np

import evaluation.app as worker

# isort: split
from evaluation import attempts, tasks  # only after Django's setup, which importing the worker does

CONTROL = Path(os.environ["FAULTS_CONTROL"])
attempts.WORK_LIMIT = 3.0
app = worker.app
compute = tasks.evaluate


def eat(more: int) -> None:
    """Take memory until there is none, which is so after so many bytes more: others use this machine, too."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + more, before[1]))
    try:
        eaten = [np.ones(1_000_000)]
        while True:
            eaten.append(eaten[-1] + 1)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def poisoned(evidence: Any, *rest: Any, **options: Any) -> Any:
    plan = json.loads(CONTROL.read_text()) if CONTROL.exists() else {}
    if plan and plan["mark"] in evidence.sentences[0] and evidence.topic_id == plan["topic"]:
        if plan["how"] == "raise":
            raise ArithmeticError("poison")
        if plan["how"] == "die":  # as the kernel ends what eats all memory
            os.kill(os.getpid(), signal.SIGKILL)
        if plan["how"] == "eat":
            eat(200_000_000)
        while True:
            pass
    return compute(evidence, *rest, **options)


tasks.evaluate = poisoned
__all__ = ["app"]
