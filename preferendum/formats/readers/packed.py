"""Zips from strangers, read without trust: everything is checked before the first byte is unpacked, and every byte
is counted while it is. Nothing is ever written to a path that an archive names.
"""

from __future__ import annotations

import io
import re
import stat
import struct
import unicodedata
import zipfile
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from preferendum.formats.checks.complaints import Place, escaped, shown
from preferendum.formats.checks.limits import MEGABYTE, Limits
from preferendum.formats.checks.text import clean
from preferendum.formats.readers.sources import BROKEN, Damaged, Source, natural

MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
NESTED = {
    b"PK\x03\x04": "a zip",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"(\xb5/\xfd": "a zstd archive",
}

_END = struct.Struct("<4s4H2LH")
_LOCAL = struct.Struct("<4s5H3L2H")
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_UTF8 = 0x800
_NAME_BYTES = 255
_LONGEST_RECORD = 46 + 3 * 1_024
_DRIVE = re.compile(r"[A-Za-z]:")


class Archive:
    """A zip that has passed every check but those of its contents, which are made while they are read.

    After construction `sources` holds its files, sorted by name; where the complaints grew, it is empty.
    """

    def __init__(self, path: Path, place: Place, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.unpacked
        self._place = place
        self._zip: zipfile.ZipFile | None = None
        self.sources: list[Source] = []
        before = len(place.complaints.collected)
        try:
            if _end_is_plausible(path, place, limits):
                self._zip = zipfile.ZipFile(path)
                entries = self._zip.infolist()
                _check_layout(path, entries, self._zip.start_dir, place)
        except UnicodeDecodeError:
            place.refuse("an entry whose name is marked as UTF-8 but is not", "names in UTF-8")
        except (*BROKEN, ValueError):
            place.refuse("a damaged or incomplete ZIP file", "a complete ZIP file")
        if len(place.complaints.collected) > before or self._zip is None:
            return
        sources = self._named(entries)
        if len(place.complaints.collected) == before:
            self.sources = sorted(sources, key=natural)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    def _named(self, entries: list[zipfile.ZipInfo]) -> list[Source]:
        """The files among the entries, each complained of whose name, kind or size cannot be taken."""
        if len(entries) > self._limits.entries:
            self._place.refuse("%(count)s entries", "at most %(limit)s", count=len(entries), limit=self._limits.entries)
            return []
        sources: list[Source] = []
        folders: dict[str, str] = {}
        files: dict[str, str] = {}
        for entry in entries:
            name = _checked_name(entry, self._place, self._limits)
            if name is None:
                continue
            here = Place(self._place.complaints, f"{self._place.file}/{escaped(name)}")
            parts = tuple(name.rstrip("/").split("/"))
            _check_entry(entry, here, self._limits)
            key = _folded("/".join(parts))
            if entry.is_dir():
                folders[key] = name
                continue
            if key in files:
                here.refuse(
                    "the same name as %(other)s", "names that differ in more than case", other=shown(files[key])
                )
            files[key] = name
            for depth in range(1, len(parts)):
                folders[_folded("/".join(parts[:depth]))] = name
            sources.append(Source(parts, here.file, entry.file_size, partial(self._open, entry)))
        for key in files.keys() & folders.keys():
            here = Place(self._place.complaints, f"{self._place.file}/{escaped(files[key])}")
            here.refuse("a file that is also a folder", "one or the other")
        total = sum(entry.file_size for entry in entries)
        if total > self._limits.unpacked:
            self._place.refuse(
                "%(size)s MB when unpacked",
                "at most %(limit)s MB",
                size=total // MEGABYTE,
                limit=self._limits.unpacked // MEGABYTE,
            )
        return sources

    def _open(self, entry: zipfile.ZipInfo) -> BinaryIO:
        assert self._zip is not None, "sources exist only where the zip was opened"
        return cast(BinaryIO, io.BufferedReader(_Counted(cast(BinaryIO, self._zip.open(entry)), self), 65_536))

    def spend(self, count: int) -> None:
        """Count bytes that were unpacked. Raises `Damaged` beyond the limit, whatever the headers promised."""
        self._left -= count
        if self._left < 0:
            raise Damaged("more bytes than announced")


class _Counted(io.RawIOBase):
    """An entry's bytes, counted as they are unpacked."""

    def __init__(self, stream: BinaryIO, archive: Archive) -> None:
        super().__init__()
        self._stream = stream
        self._archive = archive

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the buffer is always a memoryview here
        data = self._stream.read(len(buffer))
        self._archive.spend(len(data))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def nested(beginning: bytes) -> str:
    """What archive these bytes begin, in words; empty where they begin none."""
    if beginning[257:262] == b"ustar":
        return "a tar archive"
    return next((called for magic, called in NESTED.items() if beginning.startswith(magic)), "")


def _end_is_plausible(path: Path, place: Place, limits: Limits) -> bool:
    """Look at the end record before `zipfile` reads as long a directory as it announces."""
    size = path.stat().st_size
    if size > limits.upload:
        place.refuse("%(size)s MB", "at most %(limit)s MB", size=size // MEGABYTE, limit=limits.upload // MEGABYTE)
        return False
    with path.open("rb") as file:
        file.seek(max(0, size - _END.size - 65_535))
        tail = file.read()
    start = tail.rfind(b"PK\x05\x06")
    if start < 0 or len(tail) - start < _END.size:
        raise Damaged("no end record")
    _, disk, directory_disk, here, count, length, _, comment = _END.unpack_from(tail, start)
    if disk or directory_disk or here != count:
        place.refuse("one part of a ZIP file in several parts", "a ZIP file in one part")
    elif tail[max(0, start - 20) :].startswith(b"PK\x06\x07") or count == 0xFFFF or length == 0xFFFFFFFF:
        place.refuse("a Zip64 archive", "an ordinary ZIP file of at most %(limit)s entries", limit=limits.entries)
    elif count > limits.entries or length > limits.entries * _LONGEST_RECORD:
        place.refuse("%(count)s entries", "at most %(limit)s", count=count, limit=limits.entries)
    elif len(tail) - start != _END.size + comment:
        raise Damaged("bytes after the end")
    else:
        return True
    return False


def _check_layout(path: Path, entries: list[zipfile.ZipInfo], directory: int, place: Place) -> None:
    """No two entries share bytes: the trick by which 11 kB unpack to 200 MB (CVE-2024-0450)."""
    end = 0
    with path.open("rb") as file:
        for entry in sorted(entries, key=lambda entry: entry.header_offset):
            if entry.header_offset < end:
                place.refuse("entries that overlap", "a ZIP file without overlapping entries")
                return
            file.seek(entry.header_offset)
            header = file.read(_LOCAL.size)
            magic, _, flags, _, _, _, _, _, _, name_length, extra_length = _LOCAL.unpack(header)
            if magic != b"PK\x03\x04":
                raise Damaged("no local header")
            end = entry.header_offset + _LOCAL.size + name_length + extra_length + entry.compress_size
            if end > directory:
                raise Damaged("an entry beyond the end")
            if flags & _ENCRYPTED:
                entry.flag_bits |= flags & _ENCRYPTED


def _checked_name(entry: zipfile.ZipInfo, place: Place, limits: Limits) -> str | None:
    """The entry's path as NFC, or None and a complaint."""
    raw = entry.orig_filename
    if not entry.flag_bits & _UTF8:
        try:
            raw = raw.encode("cp437").decode()
        except UnicodeError:
            place.refuse("an entry whose name is not UTF-8: %(name)s", "names in UTF-8", name=shown(raw))
            return None
    here = Place(place.complaints, f"{place.file}/{escaped(raw)}")
    name = clean(Place(place.complaints, place.file, 0, "name of an entry"), raw)
    if name is None:
        return None
    parts = name.removesuffix("/").split("/")
    if len(name.encode()) > _NAME_BYTES:
        here.refuse("a name of %(count)s bytes", "at most %(limit)s", count=len(name.encode()), limit=_NAME_BYTES)
    elif "\\" in name:
        here.refuse("a backslash in the name", "folders separated by /")
    elif name.startswith("/") or _DRIVE.match(name):
        here.refuse("an absolute path", "a relative path")
    elif ".." in parts:
        here.refuse("a path that leads out of the ZIP file", "a relative path")
    elif "" in parts or "." in parts:
        here.refuse("a path with an empty part", "a path such as topics/T1/documents/d1.txt")
    elif len(parts) > limits.folders + 1:
        here.refuse("%(count)s folders deep", "at most %(limit)s", count=len(parts) - 1, limit=limits.folders)
    else:
        return name
    return None


def _check_entry(entry: zipfile.ZipInfo, here: Place, limits: Limits) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        here.refuse("a link or a device", "ordinary files")
    if entry.flag_bits & _ENCRYPTED:
        here.refuse("an encrypted entry", "a ZIP file without a password")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        here.refuse("the compression method %(method)s", "deflate, the usual method", method=entry.compress_type)
    if entry.file_size > limits.entry:
        here.refuse(
            "%(size)s MB when unpacked",
            "at most %(limit)s MB in one file",
            size=entry.file_size // MEGABYTE,
            limit=limits.entry // MEGABYTE,
        )
    elif entry.file_size > limits.ratio_from and entry.file_size > limits.ratio * max(entry.compress_size, 1):
        here.refuse("a file compressed more than %(ratio)s-fold", "ordinary text", ratio=limits.ratio)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
