"""Preferendum for Python: its version, and where its files lie. Nothing here needs Django or Celery."""

from pathlib import Path

__version__ = "1.0.0"

_ROOT = Path(__file__).resolve().parent.parent
#: A clone has templates, static files and docs beside its packages; a wheel has them in this one.
IS_CLONE = (_ROOT / "manage.py").is_file()
FILES = _ROOT if IS_CLONE else _ROOT / "preferendum" / "files"
#: How commands begin here.
COMMAND = "python3 manage.py" if IS_CLONE else "preferendum"
