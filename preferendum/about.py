"""What is installed here: the version, whether it is a clone, where its files lie, how its commands begin."""

from __future__ import annotations

from pathlib import Path

__version__ = "1.0.0"

_ROOT = Path(__file__).resolve().parent.parent
#: A clone has templates, static files and docs next to its packages; a wheel has them in this one.
IS_CLONE = (_ROOT / "manage.py").is_file()
FILES = _ROOT if IS_CLONE else _ROOT / "preferendum" / "files"
#: How commands begin here.
COMMAND = "python3 manage.py" if IS_CLONE else "preferendum"
