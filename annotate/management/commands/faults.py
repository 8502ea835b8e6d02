"""`manage.py faults`: break a real installation on purpose, again and again, and see that nothing is lost."""

from __future__ import annotations

import sys
from argparse import REMAINDER
from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Try faults (kill, freeze, empty, flood ...) on a real installation under load; docs/reliability.md."
    requires_system_checks: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Hand everything to the trials, which know nothing of this process's settings."""
        from tests.faults.command import main

        sys.exit(main(argv[2:]))

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("args", nargs=REMAINDER)

    def handle(self, *args: Any, **options: Any) -> None:
        """Never called: `run_from_argv` has done it all."""
