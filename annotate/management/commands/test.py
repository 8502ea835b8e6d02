"""`manage.py test`: the whole test suite, with pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

#: In the environment: the file to which pytest tells its figures.
TOLD = "TESTS_TOLD"
SERVICES = "--services"
PART = "--part"
#: Tests that start websites and workers, tests in a browser, tests with a database (pages and the API, the rest of the
#: website, and the worker's), and the functions alone.
PARTS = ("processes", "browser", "pages", "tables", "results", "alone")
#: Parts that run in parallel: the first two mostly wait.
AT_ONCE = 3


class Command(BaseCommand):
    help = (
        "Run the tests. Further arguments go to pytest: `manage.py test tests/annotate -k second`. "
        "With --services they run on a PostgreSQL and a Redis, started for them. Six parts run side by side, or only "
        "those that are named first: --part processes (what starts websites and workers), --part browser, "
        "--part pages (of the website, and its API), --part tables (what else meets a database), --part results (the "
        "same in tests/evaluation) and --part alone (the rest)."
    )
    requires_system_checks: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Pass everything to pytest, in a process of its own, which sets up Django itself."""
        arguments = [argument for argument in argv[2:] if argument != SERVICES]
        sys.exit(test_on_services(arguments) if SERVICES in argv else test(arguments))

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("args", nargs="*")


def test(arguments: list[str]) -> int:
    """Run pytest: once with the arguments, or once for each part that they name; the first exit status that is not 0.

    The first part's output is shown at once, the others' afterwards; the end sums them up.
    """
    parts, rest = named_parts(arguments)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder)
        of_all = {TOLD: str(told / "part")}
        statuses = test_in_parts(parts, rest, told) if parts else {"": pytest(arguments, of_all)}
        sum_up({part: (status, told / f"part{part}") for part, status in statuses.items()})
    return next((status for status in statuses.values() if status), 0)


def test_in_parts(parts: list[str], rest: list[str], told: Path) -> dict[str, int]:
    """Run pytest for each part, which tells its figures to a file in this folder; the exit statuses."""
    with ExitStack() as stack, ThreadPoolExecutor(AT_ONCE) as pool:
        outputs = [None, *(stack.enter_context(tempfile.TemporaryFile("w+")) for _part in parts[1:])]
        runs = [
            pool.submit(pytest, [PART, part, *rest], own_queue(part) | {TOLD: str(told / f"part{part}")}, output)
            for part, output in zip(parts, outputs, strict=True)
        ]
        statuses = {}
        for part, run, output in zip(parts, runs, outputs, strict=True):
            statuses[part] = run.result()
            if output is not None:
                output.seek(0)
                sys.stdout.write(output.read())
                sys.stdout.flush()
    return statuses


def sum_up(parts: dict[str, tuple[int, Path]]) -> None:
    """Print what failed and, alone on the last line, how many tests passed, failed and were left out.

    A part that ended badly without a failed test (it broke off, or chose none) counts as one that failed.
    """
    passed = failed = skipped = 0
    for part, (status, told) in parts.items():
        none: dict[str, Any] = {"passed": 0, "skipped": 0, "failed": []}
        figures: dict[str, Any] = json.loads(told.read_text()) if told.exists() else none
        red = figures["failed"] or ([f"pytest ended with status {status}"] if status else [])
        passed, failed, skipped = passed + figures["passed"], failed + len(red), skipped + figures["skipped"]
        for line in red:
            print(f"Failed{f' in part {part}' if part else ''}: {line}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)


def own_queue(part: str) -> dict[str, str]:
    """A Redis has many databases: parts must not take each other's tasks."""
    server, slash, _number = os.environ.get("BROKER_URL", "").rpartition("/")
    return {"BROKER_URL": f"{server}/{PARTS.index(part)}"} if slash else {}


def named_parts(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The parts that the arguments begin with, by default all; and the rest, for pytest."""
    if not arguments:
        return list(PARTS), []
    names, rest = set[str](), arguments
    while rest[:1] == [PART] and set(rest[1:2]) <= set(PARTS):
        names, rest = names | set(rest[1:2]), rest[2:]
    return [part for part in PARTS if part in names], rest


def pytest(arguments: list[str], environment: dict[str, str], output: IO[str] | None = None) -> int:
    """Run pytest in a process of its own; its exit status."""
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.call(  # noqa: S603
        [sys.executable, "-m", "pytest", *arguments],
        env=inherited | {"OPENBLAS_NUM_THREADS": "1"} | environment,
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
    )


def test_on_services(arguments: list[str]) -> int:
    """Run this command again with a new PostgreSQL and a new Redis; its exit status."""
    command = [sys.executable, "-m", "lab.services", sys.executable, "manage.py", "test", *arguments]
    return subprocess.call(command, cwd=settings.BASE_DIR)  # noqa: S603
