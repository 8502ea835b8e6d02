"""`manage.py test`: the whole test suite, with pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Run the tests. What follows goes to pytest: `manage.py test tests/annotate -k second`."
    requires_system_checks: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Hand everything to pytest, in a process of its own so that it sets Django up itself."""
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        sys.exit(subprocess.call([sys.executable, "-m", "pytest", *argv[2:]], env=environment))  # noqa: S603

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("args", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Never called: `run_from_argv` has done it all."""
