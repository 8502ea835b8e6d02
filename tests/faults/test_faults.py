"""A few trials of the fast faults on every run; `manage.py faults` has all of them, as often as one likes."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.faults.harness.product import Product
from tests.faults.harness.trials import attempt, load_registry

REGISTRY = load_registry()
FAST = ("F01", "F06")


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """An installation of its own, on what the tests run on."""
    on = "services" if os.environ.get("DATABASE_URL", "").startswith("postgres") else "sqlite"
    with Product(on=on) as made:
        yield made


@pytest.mark.parametrize("name", FAST)
def test_no_invariant_breaks(name: str, product: Product) -> None:
    outcome = attempt(REGISTRY[name], product, 1, seed=20180601)
    assert outcome.broken == []
    assert outcome.seen["confirmed"] >= 48
