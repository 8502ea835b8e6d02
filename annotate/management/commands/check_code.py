"""`manage.py check_code`: format, lint, types, templates and imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

TOOLS = Path(sys.executable).parent
CHECKS = {
    "format": ["ruff", "format", "--check", "."],
    "lint": ["ruff", "check", "."],
    "types": ["mypy", "annotate", "evaluation", "preferendum"],
    "imports": ["lint-imports"],
    "templates": ["djlint", "templates", "--lint", "--quiet"],
}


class Command(BaseCommand):
    help = "Check format, lint, types, import rules and templates; `ruff format .` corrects the first."

    def handle(self, *args: Any, **options: Any) -> None:
        """Run every check, even after one has failed, and say which failed."""
        failed = []
        for name, command in CHECKS.items():
            self.stdout.write(f"{name} ...", ending=" ")
            self.stdout.flush()
            done = subprocess.run(  # noqa: S603
                [str(TOOLS / command[0]), *command[1:]], cwd=settings.BASE_DIR, capture_output=True, text=True
            )
            self.stdout.write("ok" if done.returncode == 0 else "failed")
            if done.returncode:
                failed.append(name)
                self.stdout.write(done.stdout + done.stderr)
        if failed:
            raise CommandError("Failed: " + ", ".join(failed))
