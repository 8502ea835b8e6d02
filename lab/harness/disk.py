"""A small disk of one's own: a file system in a file, which can be full, and fail as disks do.

Needs root and loop devices; `possible` says whether they are there.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

BLOCK = b"\0" * 65_536
#: Files that a disk can hold: an installation with PostgreSQL has some 2000.
NAMES = 8192


@cache
def possible() -> bool:
    """Whether a file system can be mounted here."""
    return os.geteuid() == 0 and Path("/dev/loop-control").exists()


def _run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class SmallDisk:
    """An ext4 of so many megabytes, mounted at `folder`; its image lies beside it."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder, self.image = folder, folder.with_suffix(".image")
        with self.image.open("wb") as file:
            file.truncate(megabytes * 1_000_000)
        _run("mkfs.ext4", "-q", "-F", "-m", "0", "-N", str(NAMES), self.image)
        self.mount()

    def mount(self) -> None:
        self.folder.mkdir(exist_ok=True)
        _run("mount", "-o", "loop,errors=remount-ro", self.image, self.folder)
        self.folder.chmod(0o755)

    def unmount(self) -> None:
        """Whoever still had something open is killed a moment before."""
        for _ in range(50):
            with suppress(subprocess.CalledProcessError):
                _run("umount", self.folder)
                return
            time.sleep(0.1)
        _run("umount", "--lazy", self.folder)

    def settle(self) -> None:
        """Have everything written: what was copied here a moment ago was nobody's to wait for."""
        _run("sync", "-f", self.folder)

    def fill(self) -> None:
        """Leave no byte free; again, take what somebody has let go of since."""
        with (self.folder / "balloon").open("ab", buffering=0) as file:
            size = os.statvfs(self.folder).f_bavail * os.statvfs(self.folder).f_frsize
            while size >= len(BLOCK):  # what is allocated need not be written
                try:
                    os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), size)
                except OSError:
                    size //= 2
            with suppress(OSError):
                while True:
                    file.write(BLOCK)

    def free(self) -> None:
        (self.folder / "balloon").unlink()

    def fill_names(self) -> None:
        """Leave room for bytes, and none for one more file."""
        (self.folder / "crowd").mkdir()
        with suppress(OSError):
            for number in itertools.count():
                (self.folder / "crowd" / str(number)).touch()

    def free_names(self) -> None:
        shutil.rmtree(self.folder / "crowd")

    def fail(self) -> None:
        """As if the hardware had reported an error: the kernel lets nobody write any more."""
        device = Path(_run("findmnt", "-n", "-o", "SOURCE", self.folder).strip()).name
        Path(f"/sys/fs/ext4/{device}/trigger_fs_error").write_text("a trial")

    def mend(self) -> None:
        """Check the file system and mount it again; nobody may be using it."""
        self.unmount()
        subprocess.run(["fsck.ext4", "-p", "-f", self.image], check=False, capture_output=True)
        self.mount()
