"""Sources of bytes: one file, the files of a directory, the entries of a zip, all read in the same way."""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO
from zipfile import BadZipFile

from preferendum.formats.checks.complaints import Place, escaped
from preferendum.formats.checks.limits import MEGABYTE, Limits
from preferendum.formats.checks.text import decode


class Damaged(Exception):
    """Bytes that are not what their container said."""


# What unpacking may raise on bytes that were broken, by accident or not.
BROKEN = (Damaged, BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, struct.error, OverflowError)

_DEBRIS = re.compile(r"\..*|__MACOSX|Thumbs\.db|desktop\.ini|.*~|#.*#|.*\.(?:swp|swo|bak|tmp|orig)", re.IGNORECASE)
_LEAFLETS = re.compile(r"(?:README|LICEN[CS]E|NOTICE|ATTRIBUTION|CHANGELOG)(?:\.(?:md|txt|rst))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Source:
    """One file: its path in parts from the top, what to call it in complaints, and how to open it."""

    parts: tuple[str, ...]
    label: str
    size: int
    open: Callable[[], BinaryIO]

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return self.name.rpartition(".")[0] or self.name

    def below(self, folders: int) -> Source:
        """The file as seen from so many folders further down."""
        return replace(self, parts=self.parts[folders:])

    def is_debris(self) -> bool:
        """Left by an operating system or an editor, not meant to be read."""
        return any(_DEBRIS.fullmatch(part) for part in self.parts)

    def is_leaflet(self) -> bool:
        """A file for people, at the top next to the data."""
        return len(self.parts) == 1 and _LEAFLETS.fullmatch(self.name) is not None


def read_text(source: Source, place: Place, limit: int) -> str | None:
    """The file as UTF-8 text, or None and a complaint."""
    with source.open() as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        place.refuse("a text larger than %(limit)s MB", "shorter texts", limit=limit // MEGABYTE)
        return None
    return decode(place.at(1), data, start=True)


def file_source(path: Path, label: str) -> Source:
    return Source((label,), label, path.stat().st_size, _opener(path))


def directory_sources(root: Path, place: Place, limits: Limits) -> list[Source]:
    """Every file below `root` by name, digits in their order as numbers. Links to directories are not followed."""
    sources: list[Source] = []
    total = 0
    for folder, folders, files in os.walk(root):
        folders.sort()
        for file_name in files:
            path = Path(folder, file_name)
            parts = path.relative_to(root).parts
            label = escaped("/".join(parts))
            here = Place(place.complaints, label)
            if not _is_unicode(path):
                here.refuse("a file name that is not UTF-8", "file names in UTF-8")
                continue
            if len(parts) > limits.folders + 1:
                here.refuse("more than %(limit)s folders deep", "a flatter directory", limit=limits.folders)
                folders.clear()
                continue
            if not path.is_file():
                here.refuse("neither a file nor a folder", "ordinary files")
                continue
            size = path.stat().st_size
            total += size
            sources.append(Source(parts, label, size, _opener(path)))
            if len(sources) > limits.entries or total > limits.unpacked:
                actual = "more than %(entries)s files or %(size)s MB"
                place.refuse(actual, "less", entries=limits.entries, size=limits.unpacked // MEGABYTE)
                return []
    return sorted(sources, key=natural)


def natural(source: Source) -> list[tuple[tuple[int, int, str], ...]]:
    """Sorts d2 before d10, and always in the same way."""
    return [_digits_as_numbers(part) for part in source.parts]


def unwrapped(sources: list[Source]) -> list[Source]:
    """The sources without the one folder around everything, which many programs add when they pack one."""
    tops = {source.parts[0] for source in sources}
    if len(tops) == 1 and all(len(source.parts) > 1 for source in sources) and tops != {"topics"}:
        return [source.below(1) for source in sources]
    return sources


def _digits_as_numbers(part: str) -> tuple[tuple[int, int, str], ...]:
    pieces = re.split(r"([0-9]{1,18})", part)
    return tuple((1, int(piece), piece) if number % 2 else (0, 0, piece) for number, piece in enumerate(pieces))


def _opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _is_unicode(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True
