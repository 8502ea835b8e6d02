"""The command `preferendum`, in an installed wheel what `python3 manage.py` is in a clone."""

import os
import sys

from preferendum.about import IS_CLONE, __version__


def main() -> None:
    """Run `evaluate` alone, or one of the website's commands; leaves with its exit status."""
    if sys.argv[1:2] == ["version"] or "--version" in sys.argv[1:3]:  # Django's commands would tell its own
        print(__version__)
        return
    if sys.argv[1:2] == ["evaluate"]:  # no command of Django's: it needs no settings, tables or data folder
        from preferendum.cli.__main__ import main as evaluate

        sys.exit(evaluate(sys.argv[2:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import DatabaseError
    except ImportError:
        missing = "python3 manage.py setup" if IS_CLONE else "pip install 'preferendum[server]'"
        sys.exit(f"Only the library and `evaluate` are installed here; this installs the website:\n  {missing}")
    try:
        execute_from_command_line(sys.argv)
    except (ImproperlyConfigured, DatabaseError) as error:
        why = _in_a_sentence(error)
        if "--traceback" in sys.argv or not why:
            raise
        sys.exit(why)


def _in_a_sentence(error: Exception) -> str:
    """What an operator can do about what any command met before it began; "" if it is a fault of the program."""
    from django.db import DatabaseError

    from annotate.database.tables import why_a_command_failed

    return why_a_command_failed() if isinstance(error, DatabaseError) else str(error)


if __name__ == "__main__":
    main()
