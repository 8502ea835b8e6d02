"""Runs a module of Python with a time of day that a trial can move: `python -m with_clock NAME module arguments...`.

Four times a second the file FAULTS_CLOCK.NAME is read; as many seconds as it says are added to whatever asks Python for
the time. Clocks that only measure how long something takes go on as always, as they do on a machine whose clock is set,
and so does the clock of the database.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import time_machine

EVERY = 0.25


class Clock:
    """The file, and how far this process is from the true time."""

    def __init__(self, file: Path) -> None:
        self.file, self.offset = file, 0.0
        self.travelling: time_machine.travel | None = None

    def follow(self) -> None:
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        while True:
            with suppress(OSError, ValueError):
                self.set(float(self.file.read_text()))
            time.sleep(EVERY)

    def set(self, offset: float) -> None:
        if offset == self.offset:
            return
        if self.travelling is not None:
            self.travelling.stop()
            self.travelling = None
        if offset:
            self.travelling = time_machine.travel(time.time() + offset, tick=True)
            self.travelling.start()
        self.offset = offset


if __name__ == "__main__":
    name, module, *arguments = sys.argv[1:]
    clock = Clock(Path(f"{os.environ['FAULTS_CLOCK']}.{name}"))
    os.register_at_fork(after_in_child=clock.follow)
    clock.follow()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
