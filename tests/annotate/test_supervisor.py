"""One machine's processes: what dies is started again, what is told to stop stops, with everything it started."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from annotate.server.supervisor import Program, port_is_free
from lab.services import wait_until
from tests.conftest import ROOT

PROGRAM = """
import os, sys, time
from pathlib import Path
with Path(sys.argv[1]).open("a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(60)
"""
SUPERVISE = """
import os
from annotate.server.supervisor import Program, Supervisor
programs = [Program(name, ["sleeper", f"{name}.pids"]) for name in ("web", "worker")]
Supervisor(programs, os.environ, lambda line: print(line, flush=True)).run(lambda: None)
"""


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").exists() else True


@pytest.fixture
def supervised(tmp_path: Path) -> subprocess.Popen[str]:
    (tmp_path / "sleeper.py").write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, "-c", SUPERVISE],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{tmp_path}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: pids(tmp_path / "web.pids") and pids(tmp_path / "worker.pids"), "both to start")
    return process


def test_a_process_that_is_killed_is_started_again(supervised: subprocess.Popen[str], tmp_path: Path) -> None:
    os.kill(pids(tmp_path / "web.pids")[0], signal.SIGKILL)
    wait_until(lambda: len(pids(tmp_path / "web.pids")) == 2, "one to be started again")
    assert len(pids(tmp_path / "worker.pids")) == 1
    supervised.send_signal(signal.SIGINT)
    supervised.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_told_to_stop_it_leaves_nothing_running(
    supervised: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    supervised.send_signal(number)
    said, _ = supervised.communicate(timeout=60)
    assert supervised.returncode == 0
    assert said.splitlines()[-1].startswith("Stopped.")
    assert not any(alive(pid) for name in ("web", "worker") for pid in pids(tmp_path / f"{name}.pids"))


def test_what_keeps_dying_is_started_later_each_time() -> None:
    said: list[str] = []
    program = Program("worker", ["no_such_module_at_all"])
    for _ in range(3):
        program.due = 0.0
        program.look_after(os.environ, said.append)
        assert program.process
        program.process.wait()
        program.look_after(os.environ, said.append)
    assert [line.rsplit("in ", 1)[1] for line in said] == ["2 s.", "4 s.", "8 s."]


def test_a_taken_port_is_seen() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert not port_is_free("127.0.0.1", port)
    assert port_is_free("127.0.0.1", port)


def test_serving_on_a_taken_port_says_so_in_one_line(tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        for command in ("serve", "demo"):
            done = subprocess.run(
                [sys.executable, "manage.py", command, "--port", port],
                cwd=ROOT,
                env=os.environ | {"PREFERENDUM_DATA": str(tmp_path)},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 1
            expected = f"CommandError: Port {port} is used by another program; choose another one with --port."
            assert done.stderr.strip() == expected
