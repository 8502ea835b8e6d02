"""How the project starts on a machine that has nothing but Python."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from annotate.management.commands.test import named_parts
from tests.conftest import ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.fixture
def starter() -> dict[str, Any]:
    """What manage.py defines."""
    return runpy.run_path(str(ROOT / "manage.py"), run_name="manage")


def test_a_python_that_is_too_old_is_told_so_in_one_line(
    starter: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(SystemExit) as refused:
        starter["require_python"]()
    assert refused.value.code == "Preferendum needs Python 3.11 or newer; this is Python 3.9."


def test_an_environment_made_from_an_older_lock_is_made_anew(
    starter: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran: list[list[str]] = []
    functions = starter["prepare"].__globals__
    monkeypatch.setitem(functions, "STAMP", str(tmp_path / "stamp"))
    monkeypatch.setitem(functions, "run", lambda command, shorten=False: ran.append(command))
    monkeypatch.setitem(functions, "say", lambda text: None)
    starter["prepare"]("run")
    starter["prepare"]("run")
    assert len(ran) == 1, "the second time nothing is left to do"
    (tmp_path / "stamp").write_text("test " + "0" * 64)
    starter["prepare"]("run")
    assert ran[1][-1].endswith("test.txt"), "what was there for the tests is kept"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_pins_everything_by_hash_and_names_no_host(lock: Path) -> None:
    text = lock.read_text()
    pins = re.findall(r"^[\w.\[\]-]+==[^\s;]+(?: ;[^\\]*)? \\\n    --hash=sha256:", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[\w.\[\]-]+==", text, re.MULTILINE)) > 20
    assert "://" not in text
    assert "--index" not in text


def test_each_lock_holds_the_smaller_one_pin_for_pin() -> None:
    run, test, bench = (
        set(re.findall(r"^[\w.\[\]-]+==[^\s;]+", (ROOT / "requirements" / f"{name}.txt").read_text(), re.MULTILINE))
        for name in ("run", "test", "bench")
    )
    assert run <= test <= bench


@pytest.mark.parametrize(
    ("given", "parts", "rest"),
    [
        ("", ["processes", "browser", "tables", "results", "alone"], ""),
        ("tests/formats -k zip", [], "tests/formats -k zip"),
        ("--part tables", ["tables"], ""),
        ("--part tables --part processes tests/faults -x", ["processes", "tables"], "tests/faults -x"),
        ("--part nothing", [], "--part nothing"),
    ],
)
def test_the_parts_of_the_tests_are_named_before_what_pytest_is_given(given: str, parts: list[str], rest: str) -> None:
    assert named_parts(given.split()) == (parts, rest.split())


def test_every_benchmark_is_listed_with_its_question_and_runs_by_its_name() -> None:
    def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "django", "bench", *arguments]
        environment = os.environ | {"DJANGO_SETTINGS_MODULE": "annotate.settings"}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    listed = bench().stdout
    assert re.search(r"^  fit +How fast are strengths found", listed, re.MULTILINE)
    assert "worlds" not in listed, "what benchmarks share is none"
    assert "usage" in bench("planning", "--help").stdout
    unknown = bench("nothing")
    assert unknown.returncode == 1
    assert unknown.stderr.startswith("There is no benchmark nothing; there are ")
