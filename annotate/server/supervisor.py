"""Runs the processes of one machine: starts them, restarts those that die, stops all of them together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LONGEST_PAUSE = 30.0  # seconds between two starts of a process that keeps dying
STEADY = 60.0  # seconds after which a process has started well
GRACE = 15.0  # seconds that a process has to finish its work


@dataclass
class Program:
    """One process to keep running; `command` is what follows `python -m`."""

    name: str
    command: list[str]
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    due: float = 0.0

    def start(self, environment: Mapping[str, str]) -> None:
        # A session of its own, so that Ctrl-C reaches the supervisor alone and everything stops in order.
        self.process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", *self.command], env=dict(environment), start_new_session=True
        )
        self.started = time.monotonic()

    def look_after(self, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        """Start the process if it is due; if it has died, report it and plan its next start, later each time."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.due:
                self.start(environment)
        elif (status := self.process.poll()) is not None:
            self.failures = 0 if now - self.started > STEADY else self.failures + 1
            pause = min(LONGEST_PAUSE, 2.0**self.failures) if self.failures else 0.0
            say(f"The {self.name} process ended (status {status}); restarting it in {pause:.0f} s.")
            self.process, self.due = None, now + pause

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@dataclass
class Supervisor:
    """Runs programs until a signal stops it (Ctrl-C, SIGTERM, or a closed terminal)."""

    programs: list[Program]
    environment: Mapping[str, str]
    say: Callable[[str], None]
    stopping: bool = field(default=False, init=False)

    def run(self, when_started: Callable[[], None]) -> None:
        """Start everything, call `when_started` once, and keep everything running until stopped."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop_soon)
        try:
            for program in self.programs:
                program.start(self.environment)
            when_started()
            while not self.stopping:
                for program in self.programs:
                    program.look_after(self.environment, self.say)
                time.sleep(0.2)
        finally:
            self._stop_all()

    def _stop_soon(self, *_: object) -> None:
        self.stopping = True

    def _stop_all(self) -> None:
        self.say("Stopping ...")
        for program in self.programs:
            program.stop()
        deadline = time.monotonic() + GRACE
        for program in self.programs:
            if program.process:
                try:
                    program.process.wait(max(0.1, deadline - time.monotonic()))
                except subprocess.TimeoutExpired:
                    program.kill()
        self.say("Stopped. All judgments are stored; the same command continues from here.")


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError:
            return False
    return True
