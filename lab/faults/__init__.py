"""The faults themselves, a module for each kind; each enters its functions into the registry."""

import importlib
import pkgutil

from lab.harness.trials import REGISTRY, Fault


def load_registry() -> dict[str, Fault]:
    """Every fault there is, in order: whatever the modules here enter."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(REGISTRY.items()))
