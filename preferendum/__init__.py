"""Preferendum for Python: `evaluate` runs the offline commands, `Study` is one on a server. Neither needs Django."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evaluation.__main__ import evaluate
    from preferendum.client import ApiError, Study

__all__ = ["ApiError", "Study", "evaluate"]
__version__ = "1.0.0"

_ROOT = Path(__file__).resolve().parent.parent
#: A clone has templates, static files and docs next to its packages; a wheel has them in this one.
IS_CLONE = (_ROOT / "manage.py").is_file()
FILES = _ROOT if IS_CLONE else _ROOT / "preferendum" / "files"
#: How commands begin here.
COMMAND = "python3 manage.py" if IS_CLONE else "preferendum"
#: What is loaded on first use, and where from: most callers only want the version.
_LATER = {"evaluate": "evaluation.__main__", "Study": "preferendum.client", "ApiError": "preferendum.client"}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(name)
