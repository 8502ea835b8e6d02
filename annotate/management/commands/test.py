"""`manage.py test`: the whole test suite, with pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

SERVICES = "--services"


class Command(BaseCommand):
    help = (
        "Run the tests. What follows goes to pytest: `manage.py test tests/annotate -k second`. "
        "With --services they run on a PostgreSQL and a Redis, started for them."
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
    """Run pytest; its exit status."""
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.call(  # noqa: S603
        [sys.executable, "-m", "pytest", *arguments], env=inherited | {"OPENBLAS_NUM_THREADS": "1"} | environment
    )


def test_on_services(arguments: list[str]) -> int:
    """Run pytest on a new PostgreSQL and a new Redis; its exit status."""
    from tests.services import Missing, running

    try:
        with running() as (postgres, redis):
            return test(arguments, {"DATABASE_URL": postgres.url, "BROKER_URL": redis.url})
    except Missing as missing:
        sys.exit(str(missing))
