"""The processes of the website, and those of the worker, share the memory of what is loaded before they are forked."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from lab.harness.product import children
from lab.services import wait_until
from tests.conftest import ROOT, Processes, Web

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody counts what processes share")

#: The part of a process's memory that may be its own; it was .6 or more in web processes that each loaded
#: everything, and .5 in the worker's when they looked for garbage among what they share.
OWN = 0.4


def own_part(pid: int) -> float:
    """The part of a process's memory that no other process shares."""
    kilobytes = dict(re.findall(r"^(\w+): +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE))
    return (int(kilobytes["Private_Dirty"]) + int(kilobytes["Private_Clean"])) / int(kilobytes["Rss"])


@pytest.mark.parametrize(
    ("start", "rare"),
    [
        ("import annotate.wsgi; from django.urls import reverse; reverse('home')", {"typst", "jwt"}),
        ("import evaluation.app, evaluation.tasks", {"typst", "jwt", "cryptography"}),
    ],
    ids=["website", "worker"],
)
def test_what_few_need_is_not_loaded_at_the_start(start: str, rare: set[str], processes: Processes) -> None:
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {start}; print(sorted({rare} & set(sys.modules)))"],
        cwd=ROOT,
        env=processes.environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert said.stdout == "[]\n"


def test_web_processes_share_what_is_loaded(web: Web) -> None:
    for _ in range(20):
        urllib.request.urlopen(web.url + "/sign-in/").close()
    assert [part for part in map(own_part, children(web.process.pid)) if part > OWN] == []


def test_the_processes_of_a_worker_share_what_is_loaded(worker: subprocess.Popen[bytes]) -> None:
    wait_until(lambda: len(children(worker.pid)) == 2, "a process for quick work and one for long work")
    assert [part for part in map(own_part, children(worker.pid)) if part > OWN] == []


def test_a_worker_loads_the_statistics_that_most_studies_need_once_for_all_its_processes(
    worker: subprocess.Popen[bytes],
) -> None:
    wait_until(lambda: children(worker.pid), "its processes")
    assert "/scipy/stats/" in Path(f"/proc/{worker.pid}/maps").read_text()
