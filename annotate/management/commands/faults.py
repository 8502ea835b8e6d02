"""`manage.py faults`: break a real installation on purpose, repeatedly, and check that nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from argparse import REMAINDER

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Cause faults (kill, freeze, empty, flood ...) in a real installation under load; see docs/reliability.md."
    requires_system_checks: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Pass everything to the lab, in a process of its own, which does not use this one's settings."""
        sys.exit(subprocess.call([sys.executable, "-m", "lab", *argv[2:]], cwd=settings.BASE_DIR))  # noqa: S603

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("args", nargs=REMAINDER)
