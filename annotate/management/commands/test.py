"""`manage.py test`: the whole test suite, with pytest."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandParser

SERVICES = "--services"
#: What meets a database, a browser or other processes, and the functions by themselves: about as long as each other.
PARTS = ("meeting", "alone")


class Command(BaseCommand):
    help = (
        "Run the tests. What follows goes to pytest: `manage.py test tests/annotate -k second`. "
        "With --services they run on a PostgreSQL and a Redis, started for them; with --part meeting or --part alone "
        "only what meets a database, a browser or other processes, or only the rest. Without a word both parts run "
        "side by side."
    )
    requires_system_checks: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Hand everything to pytest, in a process of its own so that it sets Django up itself."""
        arguments = [argument for argument in argv[2:] if argument != SERVICES]
        sys.exit(test_on_services(arguments) if SERVICES in argv else test(arguments, {}))

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("args", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Never called: `run_from_argv` has done it all."""


def test(arguments: list[str], environment: dict[str, str]) -> int:
    """Run pytest, both parts side by side if everything is to be run; the first exit status that is not 0."""
    if arguments:
        return pytest(arguments, environment)
    with tempfile.TemporaryFile("w+") as said, ThreadPoolExecutor() as pool:
        aside = pool.submit(pytest, ["--part", PARTS[1]], environment, said)
        status = pytest(["--part", PARTS[0]], environment)
        other = aside.result()
        said.seek(0)
        sys.stdout.write(said.read())
    return status or other


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
    """Run pytest on a new PostgreSQL and a new Redis; its exit status."""
    from tests.services import Missing, running

    try:
        with running() as (postgres, redis):
            return test(arguments, {"DATABASE_URL": postgres.url, "BROKER_URL": redis.url})
    except Missing as missing:
        sys.exit(str(missing))
