"""Files that only their owner may read: who judged what, unpublished texts, passwords' hashes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import platformdirs
from django.core.exceptions import ImproperlyConfigured

from preferendum.about import FILES, IS_CLONE


def data_folder(in_clone: str = "data") -> Path:
    """The folder that PREFERENDUM_DATA names; else this one of a clone, or for the package the user's own.

    Raises `ImproperlyConfigured` for a user who has none.
    """
    if named := os.environ.get("PREFERENDUM_DATA"):
        return Path(named).resolve()
    if IS_CLONE:
        return FILES / in_clone
    try:
        return platformdirs.user_data_path("preferendum").resolve()
    except RuntimeError as error:
        raise ImproperlyConfigured("There is no home folder to keep data in; name one in PREFERENDUM_DATA.") from error


def make_private_file(path: Path) -> None:
    """Create the file and its folder if missing, for their owner alone.

    SQLite would create its database readable for all, and gives its logs the mode of the database. If creation fails,
    opening the file later gives a better error.
    """
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT, 0o600))


def open_to_others(paths: Iterable[Path]) -> Iterator[Path]:
    """The files and folders that other users than their owner may read or write."""
    return (path for path in paths if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077)
