"""Files that only their owner may read: who judged what, unpublished texts, passwords' hashes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path


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
