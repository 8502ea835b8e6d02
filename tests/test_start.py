"""How the project starts on a machine that has nothing but Python."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

import preferendum
from annotate.management.commands.test import named_parts, sum_up
from annotate.server import private_files
from annotate.server.origin import place_to_listen, read_origin
from lab.services import free_port
from tests.conftest import ROOT, is_chosen


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


@pytest.mark.parametrize(
    ("given", "parts", "rest"),
    [
        ("", ["processes", "browser", "pages", "tables", "results", "alone"], ""),
        ("tests/formats -k zip", [], "tests/formats -k zip"),
        ("--part tables", ["tables"], ""),
        ("--part tables --part processes tests/faults -x", ["processes", "tables"], "tests/faults -x"),
        ("--part nothing", [], "--part nothing"),
    ],
)
def test_the_parts_of_the_tests_are_named_before_what_pytest_is_given(given: str, parts: list[str], rest: str) -> None:
    assert named_parts(given.split()) == (parts, rest.split())


@pytest.mark.parametrize(
    ("fixtures", "again"), [(["tmp_path"], False), (["transactional_db"], True), (["product"], True)]
)
def test_what_starts_processes_and_meets_no_database_does_not_run_again_on_postgresql(
    fixtures: list[str], again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    item: Any = SimpleNamespace(
        nodeid="tests/operators/test_x.py::test", fixturenames=fixtures, get_closest_marker=lambda _name: None
    )
    monkeypatch.setenv("DATABASE_URL", "sqlite:///x.sqlite3")
    assert is_chosen(item, "processes")
    monkeypatch.setenv("DATABASE_URL", "postgres://somebody@127.0.0.1:1/x")
    assert is_chosen(item, "processes") == again


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


def test_the_end_of_the_tests_sums_up_all_parts_and_names_what_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def part(name: str, status: int, **figures: Any) -> tuple[int, Path]:
        if figures:
            (tmp_path / name).write_text(json.dumps({"passed": 0, "skipped": 0, "failed": []} | figures))
        return status, tmp_path / name

    sum_up(
        {
            "tables": part("tables", 0, passed=2_000, skipped=3),
            "results": part("results", 1, passed=10, failed=["tests/test_rain.py::test_it_rains assert 0 == 1"]),
            "alone": part("alone", -11),
        }
    )
    assert capsys.readouterr().out.splitlines() == [
        "Failed in part results: tests/test_rain.py::test_it_rains assert 0 == 1",
        "Failed in part alone: pytest ended with status -11",
        "2010 passed, 2 failed, 3 skipped",
    ]


def test_pytest_tells_the_figures_that_the_end_sums_up() -> None:
    one = "tests/test_requirements.py::test_the_website_is_not_installed_with_a_language_model"
    said, _nothing = command("test", one).communicate(timeout=300)
    first, last = said.strip().splitlines()[-2:]
    assert "1 passed in " in first
    assert last == "1 passed, 0 failed, 0 skipped"


def test_what_needs_data_that_are_not_beside_the_clone_is_left_out_with_the_reason(tmp_path: Path) -> None:
    """The tests that read them are marked, so that each clone has the others alone."""
    marked = [file for file in (ROOT / "tests").rglob("test_*.py") if "SHARED" in file.read_text()]
    assert len(marked) >= 5
    for file in marked:
        assert "@pytest.mark.shared(" in file.read_text(), file
    for file in (ROOT / "tests").rglob("*.py"):
        if file.name not in ("conftest.py", "test_start.py"):
            assert '/ "shared"' not in file.read_text(), file
    alone = tmp_path / "alone" / "main"
    for name in ("annotate", "evaluation", "lab", "preferendum", "tests"):
        shutil.copytree(ROOT / name, alone / name, ignore=shutil.ignore_patterns("__pycache__", "vendor"))
    for name in ("pyproject.toml", "manage.py"):
        shutil.copy(ROOT / name, alone)
    asked = ["-m", "shared", *(str(file.relative_to(ROOT)) for file in marked if "evaluation" in file.parts)]
    environment = {name: value for name, value in os.environ.items() if name != "PREFERENDUM_MUST_RUN"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *asked],
        cwd=alone,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "../shared/data/bt_classics is not here" in done.stdout
    assert " passed" not in done.stdout


# What operators type


def command(*arguments: str, without: tuple[str, ...] = (), **environment: str) -> subprocess.Popen[str]:
    """A command of manage.py in this environment, without what the tests' own has."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PREFERENDUM", "DATABASE_URL"))}
    given = {name: value for name, value in kept.items() if name not in without} | environment
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=given | {"PYTHONWARNINGS": "ignore"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


#: Those that need tables, ours and Django's.
NEED_TABLES = [
    ("import_study", str(ROOT / "annotate/demo/wikinews.jsonl"), "--owner", "ada", "--title", "News"),
    ("export_study", "1", "--output", "study.zip"),
    ("simulate_judgments", "1"),
    ("verify_log",),
    ("backup", "/nowhere/backup"),
    ("createsuperuser", "--noinput", "--username", "ada", "--email", "ada@example.org"),
    ("changepassword", "ada"),
    ("clearsessions",),
    ("dumpdata", "annotate.study"),
    ("shell", "-c", "from annotate.models import Study; Study.objects.count()"),
]


#: Runs each command that it is given, as JSON, in one process, and prints how each ended.
WALK = """
import json, sys
from preferendum.__main__ import main
ended = []
for command in json.loads(sys.argv[1]):
    sys.argv = ["manage.py", *command]
    try:
        ended.append(main())
    except SystemExit as left:
        ended.append(left.code)
print(json.dumps(ended))
"""


@pytest.mark.parametrize("left", ["nothing", "older tables"])
def test_a_command_that_lacks_tables_says_in_a_sentence_which_one_makes_them(left: str, tmp_path: Path) -> None:
    older = [["migrate", "auth", "0001", "-v0"]] if left == "older tables" else []
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WALK, json.dumps([*older, *NEED_TABLES])],
        cwd=ROOT,
        env=os.environ | {"PREFERENDUM_DATA": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path / 'site.sqlite3'}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])[len(older) :]
    for (name, *_), said in zip(NEED_TABLES, ended, strict=True):
        if name == "dumpdata" or (older and name in ("changepassword", "import_study")):
            assert said in (1, 2), "a sentence of its own: there is no such table, or no such user"
        else:
            assert str(said).startswith("The tables are not made yet, or old ("), (name, said)
            assert said.endswith("run python3 manage.py migrate first."), (name, said)


def test_a_database_that_is_away_is_a_sentence_and_a_fault_of_ours_a_traceback(tmp_path: Path) -> None:
    away = {"PREFERENDUM_DATA": str(tmp_path), "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nothing"}
    said, _nothing = command("verify_log", **away).communicate()
    assert said.startswith("The database cannot be used: ")
    assert len(said.strip().splitlines()) == 1
    asked, _nothing = command("verify_log", "--traceback", **away).communicate()
    assert "Traceback" in asked


@pytest.mark.parametrize(
    "origin",
    [
        *("http://host.example/a//b", "http://host.example/a/../b", "http://host.example/a%20b"),
        *("http://host.example/?a=b", "http://host.example#top", "judge.example.org"),
        *("http://ada@host.example", "http://host.example:99999", "http://host.example:0", "http://", "ftp://host"),
        *("http://two hosts", "//host.example", "http://host.example:port"),
    ],
)
def test_an_origin_at_which_nobody_would_find_the_site_is_refused(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFERENDUM_ORIGIN", origin)
    with pytest.raises(ImproperlyConfigured, match=re.escape(f"PREFERENDUM_ORIGIN is {origin}; expected was http")):
        read_origin()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("", ("http://127.0.0.1:8000", "")),
        ("https://Judge.Example.org/", ("https://judge.example.org", "")),
        ("HTTP://localhost:8123", ("http://localhost:8123", "")),
        ("http://[::1]:8123/", ("http://[::1]:8123", "")),
        ("https://Example.org/NLP/judge/", ("https://example.org", "/NLP/judge")),
    ],
)
def test_an_origin_is_read_as_browsers_send_it(
    written: str, read: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFERENDUM_ORIGIN", written)
    assert read_origin() == read


def test_settings_that_cannot_be_are_a_sentence_before_anything_starts(tmp_path: Path) -> None:
    (file := tmp_path / "file").write_text("no folder")
    wrong = [
        command("serve", PREFERENDUM_DATA=str(tmp_path), PREFERENDUM_ORIGIN="http://host.example?study"),
        command("migrate", PREFERENDUM_DATA=str(tmp_path), PREFERENDUM_ORIGIN="http://host.example?study"),
        command("serve", PREFERENDUM_DATA=str(tmp_path), PREFERENDUM_BIND="unix:/run/site"),
        command("doctor", PREFERENDUM_DATA=str(file)),
    ]
    for process, named in zip(wrong, ("_ORIGIN", "_ORIGIN", "_BIND", "_DATA"), strict=True):
        said, _nothing = process.communicate(timeout=60)
        assert process.returncode == 1
        assert len(said.strip().splitlines()) == 1, said
        assert f"PREFERENDUM{named}" in said


@pytest.mark.parametrize(
    ("bind", "origin", "given", "place"),
    [
        ("", "http://127.0.0.1:8000", (None, None), ("127.0.0.1", 8000)),
        ("", "http://localhost:8123", (None, None), ("127.0.0.1", 8123)),
        ("", "https://judge.example.org:8443", (None, None), ("127.0.0.1", 8000)),
        ("0.0.0.0:9000", "http://localhost:8123", (None, None), ("0.0.0.0", 9000)),
        ("[::1]:9000", "https://judge.example.org", (None, None), ("::1", 9000)),
        (":9000", "https://judge.example.org", (None, None), ("0.0.0.0", 9000)),
        ("0.0.0.0:9000", "http://localhost:8123", (None, 9001), ("0.0.0.0", 9001)),
        ("", "http://localhost:8123", ("0.0.0.0", 9001), ("0.0.0.0", 9001)),
    ],
)
def test_serve_listens_where_it_is_told_or_bound_or_at_the_port_of_the_origin(
    bind: str,
    origin: str,
    given: tuple[str | None, int | None],
    place: tuple[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PREFERENDUM_BIND", bind)
    assert place_to_listen(origin, *given) == place


@pytest.fixture(scope="module")
def served_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose tables the first server makes, and the next one finds."""
    return tmp_path_factory.mktemp("data")


@pytest.mark.parametrize("bind", [False, True])
def test_serve_prints_the_address_at_which_it_answers(bind: bool, served_data: Path) -> None:
    port, bound = free_port(), free_port()
    origin = f"http://127.0.0.1:{port}/judge"
    environment = {"PREFERENDUM_DATA": str(served_data), "PREFERENDUM_ORIGIN": origin}
    environment |= {"PREFERENDUM_BIND": f"127.0.0.1:{bound}"} if bind else {}
    serving = command("serve", **environment)
    try:
        said = ""
        for line in serving.stdout or ():
            said += line
            if "Ctrl-C" in line:
                break
        assert f"Preferendum runs at {origin}/" in said
        health = f"http://127.0.0.1:{bound if bind else port}/judge/health/live"
        with urllib.request.urlopen(health, timeout=30) as answer:
            assert answer.status == 200
    finally:
        serving.send_signal(signal.SIGINT)
        rest, _nothing = serving.communicate(timeout=60)
    assert (f"It listens at http://127.0.0.1:{bound};" in said + rest) is bind


def test_the_version_is_the_programs_own() -> None:
    for asked in (["--version"], ["version"], ["migrate", "--version"]):
        said, _nothing = command(*asked).communicate()
        assert said == f"{preferendum.__version__}\n"


@pytest.mark.parametrize(("data", "refused"), [("named", False), ("", True)])
def test_a_user_without_a_home_names_the_folder_of_the_data(
    data: str, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_files, "IS_CLONE", False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # of a user whom the machine does not know
    for name in ("HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFERENDUM_DATA", data and str(tmp_path / data))
    if not refused:
        assert private_files.data_folder() == tmp_path / data
        return
    with pytest.raises(ImproperlyConfigured, match="name one in PREFERENDUM_DATA"):
        private_files.data_folder()
