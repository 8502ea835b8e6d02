"""Preferendum for Python: `evaluate` runs the offline commands, `Study` is one on a server. Neither needs Django."""

from importlib import import_module
from typing import TYPE_CHECKING

from preferendum.about import __version__

if TYPE_CHECKING:
    from preferendum.cli.__main__ import evaluate
    from preferendum.client import ApiError, Study

__all__ = ["ApiError", "Study", "__version__", "evaluate"]

#: What is loaded on first use, and where from: most callers only want the version.
_LATER = {"evaluate": "preferendum.cli.__main__", "Study": "preferendum.client", "ApiError": "preferendum.client"}


def __getattr__(name: str) -> object:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(name)
