"""The command `preferendum`, in an installed wheel what `python3 manage.py` is in a clone."""

import os
import sys

from preferendum import IS_CLONE


def main() -> None:
    """Run `evaluate` alone, or one of the website's commands; leaves with its exit status."""
    if sys.argv[1:2] == ["evaluate"]:  # no command of Django's: it needs no settings, tables or data folder
        from evaluation.__main__ import main as evaluate

        sys.exit(evaluate(sys.argv[2:]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotate.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        missing = "python3 manage.py setup" if IS_CLONE else "pip install 'preferendum[server]'"
        sys.exit(f"Only the library and `evaluate` are installed here; this installs the website:\n  {missing}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
