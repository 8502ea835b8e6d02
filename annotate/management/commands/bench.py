"""`manage.py bench [NAME]`: list the benchmarks that hold a goal, or run one."""

from __future__ import annotations

import ast
import os
import subprocess
import sys

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

ROOM = settings.BASE_DIR / "benchmarks"


def benchmarks() -> dict[str, str]:
    """The names of the benchmarks, each with the question that it answers."""
    questions = {}
    for path in sorted(ROOM.glob("*.py")):
        text = path.read_text()
        if 'if __name__ == "__main__":' in text:
            questions[path.stem] = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
    return questions


class Command(BaseCommand):
    help = "List the benchmarks, or run one: `manage.py bench fit --quick`. Further arguments go to the benchmark."
    requires_system_checks: tuple[str, ...] = ()

    def run_from_argv(self, argv: list[str]) -> None:
        """Pass everything after the name to the benchmark, in a process of its own."""
        questions = benchmarks()
        if len(argv) < 3 or argv[2] in ("-h", "--help"):
            print(self.help, *(f"  {name:<12} {question}" for name, question in questions.items()), sep="\n")
            sys.exit(0)
        if argv[2] not in questions:
            sys.exit(f"There is no benchmark {argv[2]}; there are {', '.join(questions)}.")
        command = [sys.executable, "-m", f"benchmarks.{argv[2]}", *argv[3:]]
        environment = {"OPENBLAS_NUM_THREADS": "1"} | os.environ
        sys.exit(subprocess.call(command, cwd=settings.BASE_DIR, env=environment))  # noqa: S603

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("args", nargs="*")
