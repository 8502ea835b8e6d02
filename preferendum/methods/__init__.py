"""Research on metrics, a plug-in: nothing else imports it, and all else works without it (`preferendum.plugin`).

README.md says which paper is which file. It has no tables and knows no Django.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType


def register() -> None:
    """Register all metrics, by loading what declares them."""
    for _module in _modules("metrics"):
        pass


def _modules(folder: str) -> Iterator[ModuleType]:
    package = import_module(f"{__name__}.{folder}")
    for module in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        yield import_module(f"{package.__name__}.{module.name}")
