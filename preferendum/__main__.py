"""The command `preferendum`, in an installed wheel what `python3 manage.py` is in a clone."""

import os
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from preferendum.about import COMMAND, IS_CLONE, __version__

#: The commands of the library, by name alone: the website's start without the mathematics.
LIBRARY = (
    *("score", "rank", "agreement", "card", "convert", "push", "prolific", "agree", "converge", "plan", "replay"),
    *("sentences", "sets", "assessors", "train", "apply", "background", "baselines", "prefscore", "prefscore-train"),
)
MISSING = "python3 manage.py setup" if IS_CLONE else "pip install 'preferendum[server]'"


def main() -> None:
    """Run a command of the library or of the website, or list both; leaves with its exit status."""
    if sys.argv[1:2] == ["version"] or "--version" in sys.argv[1:3]:  # Django's commands would tell its own
        print(__version__)
        return
    if sys.argv[1:] in ([], ["--help"], ["-h"]):
        print("\n".join(_listing()))
        return
    if sys.argv[1] in ("evaluate", *LIBRARY):  # no command of Django's: it needs no settings, tables or data folder
        from preferendum.cli.__main__ import PROGRAM
        from preferendum.cli.__main__ import main as of_library

        is_direct = sys.argv[1] != "evaluate"
        sys.exit(of_library(sys.argv[1:], COMMAND) if is_direct else of_library(sys.argv[2:], PROGRAM))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import DatabaseError
    except ImportError:
        sys.exit(f"Only the library and its commands are installed here; this installs the website:\n  {MISSING}")
    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, DatabaseError) as error:
        why = _in_a_sentence(error)
        if "--traceback" in sys.argv or not why:
            raise
        sys.exit(why)


def _listing() -> Iterator[str]:
    """The commands: the library's with what they do, then the website's."""
    yield f"usage: {COMMAND} COMMAND [options]\n\nThe library (COMMAND --help lists the options):"
    if find_spec("numpy") is None:
        yield f"  is not installed here yet: {MISSING}"
    else:
        from preferendum.cli import commands

        width = max(len(command.name) for command in commands())
        yield from (f"  {command.name:{width}}  {command.help}" for command in commands())
    yield "\nThe website (`help` lists Django's own commands, too):"
    if find_spec("django") is None:
        yield f"  is not installed here: {MISSING}"
        return
    rooms = (Path(__file__).parent.parent / room / "management" / "commands" for room in ("annotate", "evaluation"))
    yield textwrap.fill(
        ", ".join(sorted(module.name for module in pkgutil.iter_modules(map(str, rooms)))),
        100, initial_indent="  ", subsequent_indent="  ",
    )  # fmt: skip


def _in_a_sentence(error: Exception) -> str:
    """What an operator can do about what any command met before it began; "" if it is a fault of the program."""
    from django.db import DatabaseError

    from annotate.database.tables import why_a_command_failed

    return why_a_command_failed() if isinstance(error, DatabaseError) else str(error)


if __name__ == "__main__":
    main()
