"""What a product's processes take of the machine: how many they are, how old, their memory and their open files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

#: What may come on top of what was taken before: a fifth; less than these much is not told apart from how full the
#: caches happen to be, or how large the last file was.
SHARE, MEMORY, FILES = 0.2, 64 << 20, 16
#: A process that lives so many seconds is not in a loop of being started and dying.
STEADY = 3.0
PATIENCE = 40.0
TICKS = os.sysconf("SC_CLK_TCK")
#: What each command line belongs to; the helper that asks questions for the checker is no part of the product.
PARTS = {"gunicorn": "web", "celery": "worker", "supervise.py": "supervisor"}
HELPER = "inside.py"


@dataclass(frozen=True)
class Footprint:
    """One part's processes. `ages` in seconds; `memory` in bytes, what is shared divided among those who share it."""

    ages: tuple[float, ...] = ()
    memory: int = 0
    files: int = 0

    def __add__(self, other: Footprint) -> Footprint:
        return Footprint(self.ages + other.ages, self.memory + other.memory, self.files + other.files)


def footprints(mark: str) -> dict[str, Footprint]:
    """By part: what all processes take that have this in their environment, wherever their parents have gone."""
    by_part: dict[str, Footprint] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):  # gone, or somebody else's
            if mark.encode() not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            if HELPER not in command:
                part = next((part for word, part in PARTS.items() if word in command), "others")
                by_part[part] = by_part.get(part, Footprint()) + _of(folder)
    return by_part


def _of(process: Path) -> Footprint:
    began = int((process / "stat").read_text().rpartition(")")[2].split()[19]) / TICKS
    memory = (process / "smaps_rollup").read_text().partition("\nPss:")[2].split()[0]
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - began
    return Footprint((age,), int(memory) << 10, len(list((process / "fd").iterdir())))


def too_much(before: Mapping[str, Footprint], now: Mapping[str, Footprint]) -> Iterator[str]:
    """What is not as it was, in words. Less memory is no harm: who was started anew has not seen everything yet."""
    for part in sorted({*before, *now}):
        old, new = before.get(part, Footprint()), now.get(part, Footprint())
        if len(new.ages) != len(old.ages):
            yield f"{part}: {len(new.ages)} processes, {len(old.ages)} before"
        elif min(new.ages) < STEADY:
            yield f"{part}: a process is {min(new.ages):.1f} s old, however long one waits"
        if new.memory > old.memory + max(SHARE * old.memory, MEMORY):
            yield f"{part}: {new.memory >> 20} MB of memory, {old.memory >> 20} before"
        if new.files > old.files + max(SHARE * old.files, FILES):
            yield f"{part}: {new.files} open files, {old.files} before"


def not_back(mark: str, before: Mapping[str, Footprint]) -> list[str]:
    """What is still not as it was after some patience."""
    deadline = time.monotonic() + PATIENCE
    while (complaints := list(too_much(before, footprints(mark)))) and time.monotonic() < deadline:
        time.sleep(0.1)
    return complaints
