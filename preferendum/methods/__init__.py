"""Research on metrics, a plug-in: nothing else imports it, and all else works without it (`preferendum.plugin`).

README.md says which paper is which file. It has no tables and knows no Django.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def register() -> None:
    """Register all metrics, analyses and corpora, by loading what declares them."""
    import_module(f"{__name__}.corpora")
    for folder in ("metrics", "analyses"):
        for name in _names(folder):
            import_module(name)


def commands() -> Iterator[Any]:
    """All commands, which need numpy: the `COMMAND` or the `COMMANDS` of each folder's `command`."""
    for name in (*_names("analyses"), f"{__name__}.training", f"{__name__}.learned"):
        if find_spec(f"{name}.command"):
            module = import_module(f"{name}.command")
            yield from getattr(module, "COMMANDS", ()) or (module.COMMAND,)


def _names(folder: str) -> list[str]:
    package = import_module(f"{__name__}.{folder}")
    return sorted(f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__))
