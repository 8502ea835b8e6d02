"""The plug-in for research on metrics, `preferendum.methods`: loaded on first use, where it is installed.

Nothing else imports it. Each registry (metrics, analyses, commands) asks for it before it answers.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

NAME = "preferendum.methods"


@cache
def plugin() -> ModuleType | None:
    """The plug-in; None where it is not installed."""
    return import_module(NAME) if find_spec(NAME) else None


@cache
def load() -> None:
    """Have the plug-in register its metrics and analyses, which takes neither numpy nor a database."""
    if (methods := plugin()) is not None:
        methods.register()
