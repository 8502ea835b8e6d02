from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest


@pytest.fixture
def zipped(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Makes a zip of these files."""

    def make(files: Mapping[str, str | bytes]) -> Path:
        path = tmp_path / "made.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in files.items():
                packed.writestr(name, content)
        return path

    return make
