"""Which letters a font has: the table `cmap` of TrueType and OpenType files."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

#: The first and the last letter of a run, as code points.
Range = tuple[int, int]


@lru_cache(maxsize=4096)
def letters_of(path: str, index: int = 0) -> tuple[Range, ...]:
    """The letters of a font, or of one in a collection of fonts; none of a file that is no such font."""
    try:
        data = Path(path).read_bytes()
        return tuple(_ranges(data, _offset_of(b"cmap", data, index)))
    except (OSError, struct.error, StopIteration):
        return ()


def _offset_of(tag: bytes, data: bytes, index: int) -> int:
    start = struct.unpack_from(">L", data, 12 + 4 * index)[0] if data[:4] == b"ttcf" else 0
    (tables,) = struct.unpack_from(">H", data, start + 4)
    entries = (struct.unpack_from(">4sLLL", data, start + 12 + 16 * k) for k in range(tables))
    return next(int(offset) for name, _sum, offset, _length in entries if name == tag)


def _ranges(data: bytes, cmap: int) -> Iterator[Range]:
    (subtables,) = struct.unpack_from(">H", data, cmap + 2)
    for k in range(subtables):
        (offset,) = struct.unpack_from(">L", data, cmap + 8 + 8 * k)
        (kind,) = struct.unpack_from(">H", data, cmap + offset)
        if kind == 4:
            yield from _of_segments(data, cmap + offset)
        elif kind == 12:
            yield from _of_groups(data, cmap + offset)


def _of_segments(data: bytes, at: int) -> Iterator[Range]:
    """Of format 4: the last letters of all segments, two bytes of padding, the first letters."""
    (twice,) = struct.unpack_from(">H", data, at + 6)
    lasts = struct.unpack_from(f">{twice // 2}H", data, at + 14)
    firsts = struct.unpack_from(f">{twice // 2}H", data, at + 16 + twice)
    yield from ((first, last) for first, last in zip(firsts, lasts, strict=True) if first != 0xFFFF)


def _of_groups(data: bytes, at: int) -> Iterator[Range]:
    """Of format 12: runs of letters with their glyphs."""
    (groups,) = struct.unpack_from(">L", data, at + 12)
    yield from (struct.unpack_from(">LL", data, at + 16 + 12 * k) for k in range(groups))
