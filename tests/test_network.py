"""Nobody else is spoken to: not by the tests, not by what they start, and all of it works without a network.

The whole suite without one, where Linux lets you have a network of your own (every attempt to leave it fails):

    unshare --map-root-user --net sh -c 'ip link set lo up && python3 manage.py test'
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guard import sitecustomize as guard

ROOT = Path(__file__).resolve().parent.parent
#: An address that belongs to nobody (RFC 5737).
NOBODY = "203.0.113.9"
#: Says to nobody that it failed, as a program that calls home would.
QUIET = f"""
import socket
try:
    socket.create_connection(("{NOBODY}", 80), timeout=5)
except OSError as error:
    print(type(error).__name__)
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the guard writes down in this test: elsewhere than what fails the whole run."""
    monkeypatch.setenv(guard.LOG, str(tmp_path / "reached-out.txt"))
    return tmp_path / "reached-out.txt"


def test_a_test_that_speaks_to_another_machine_is_refused_and_written_down(log: Path) -> None:
    with pytest.raises(guard.ReachedOut):
        socket.create_connection((NOBODY, 80), timeout=5)
    with pytest.raises(guard.ReachedOut):
        socket.getaddrinfo("updates.example", 443)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams, pytest.raises(guard.ReachedOut):
        datagrams.sendto(b"x", (NOBODY, 53))
    assert [line.split(" by ")[0] for line in log.read_text().splitlines()] == [
        f"socket.getaddrinfo {NOBODY}",
        "socket.getaddrinfo updates.example",
        f"socket.sendto {NOBODY}",
    ]


def test_what_a_test_starts_is_refused_too_even_where_it_says_nothing(log: Path) -> None:
    found = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "ReachedOut"
    assert NOBODY in log.read_text()


def test_a_run_that_reached_out_fails_though_all_its_tests_pass(tmp_path: Path) -> None:
    """The guard is no sham: the test inside passes, the run does not."""
    inside = ROOT / "build" / f"test_reaching_{os.getpid()}.py"
    inside.write_text(f"def test_quiet():\n    exec({QUIET!r})\n")
    environment = os.environ | {guard.LOG: str(tmp_path / "inside.txt")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "--rootdir=."]
    try:
        found = subprocess.run(
            [*command, "-p", "tests.conftest", str(inside)],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        inside.unlink()
    assert "1 passed" in found.stdout, found.stdout + found.stderr
    assert "reached out to other machines" in found.stdout
    assert found.returncode == 1


def test_this_machine_may_be_spoken_to(log: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        assert not log.exists()


def test_uploads_are_read_and_stored_where_there_is_no_network_at_all() -> None:
    """As `unshare` has it: an own network with nothing in it but this machine. The guard watches all other tests."""
    alone = ["unshare", "--map-root-user", "--net", "sh", "-c"]
    if not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("no unshare or no ip here (Debian: apt-get install util-linux iproute2)")
    if subprocess.run([*alone, "ip link set lo up"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody have a network of their own")
    imports, exports = "tests/annotate/test_imports.py", "tests/annotate/test_exports.py"
    tests = f"{imports} {exports}::test_a_study_taken_back_gives_the_same_archive -k 'preview or stored or taken_back'"
    reaching = f"{sys.executable} -S -c 'import socket; socket.create_connection((\"{NOBODY}\", 80), 5)'"
    own = ("DATABASE_URL", "BROKER_URL")  # they are not to be reached from there
    found = subprocess.run(
        [*alone, f"ip link set lo up; {reaching}; echo left: $?; exec {sys.executable} -m pytest -q {tests}"],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if name not in own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "left: 1" in found.stdout
    assert "Network is unreachable" in found.stderr
    assert found.returncode == 0, found.stdout[-2000:]
