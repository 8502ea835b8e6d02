"""The wheel, not the tree: built, installed into an empty environment, and used as its readers would."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

import preferendum
from benchmarks.serving import Browser, judge_and_show
from lab.services import free_port, wait_until
from tests.conftest import MUST_RUN, ROOT

pytestmark = pytest.mark.skipif(
    "wheel" not in MUST_RUN, reason="fetches packages; PREFERENDUM_MUST_RUN=wheel installs the wheel"
)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PREFERENDUM"))}
#: The versions that README names, as far as they are at hand.
PYTHONS = [
    name
    for name in ("python3.11", "python3.12", "python3.13")
    if shutil.which(name) and not subprocess.run([name, "--version"], capture_output=True, check=False).returncode
]
SCORE = ("score", str(ROOT / "annotate/demo/wikinews.jsonl"), "--simulate", "references", "--pairs", "200")
VOTES = str(ROOT / "annotate/demo/squality/preferences.csv")
WITHOUT = """
import importlib.util, sys
import preferendum, preferendum.scoring.evaluate
preferendum.Study
assert not {"django", "celery"} & set(sys.modules), "loaded"
assert not any(map(importlib.util.find_spec, ("django", "celery", "rest_framework"))), "installed"
"""


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(command, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    [made] = folder.glob(f"preferendum-{preferendum.__version__}-*.whl")
    return made


def environment(python: str, folder: Path, *wanted: str) -> Path:
    """An empty environment with what is wanted; its folder of programs."""
    if python == sys.executable:
        venv.create(folder, with_pip=True)
    else:
        run(python, "-m", "venv", folder)
    run(folder / "bin" / "pip", "install", "--quiet", *wanted)
    return folder / "bin"


def test_what_is_published_has_all_that_an_index_asks_for(wheel: Path) -> None:
    run(sys.executable, "-m", "twine", "check", "--strict", *wheel.parent.iterdir())
    run(Path(sys.executable).parent / "check-wheel-contents", "--config", ROOT / "pyproject.toml", wheel)


@pytest.mark.parametrize("python", PYTHONS)
def test_the_small_installation_scores_as_a_clone_does_without_the_website(
    python: str, wheel: Path, tmp_path: Path
) -> None:
    bin_ = environment(python, tmp_path / "small", str(wheel))
    run(bin_ / "python", "-c", WITHOUT)
    # As a table: the last digits of sums differ between versions of Python.
    scored = run(bin_ / "preferendum", "evaluate", *SCORE)
    assert scored == run(sys.executable, ROOT / "manage.py", "evaluate", *SCORE)
    refused = subprocess.run([bin_ / "preferendum", "demo"], env=ENVIRONMENT, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "pip install 'preferendum[server]'" in refused.stderr


def test_the_library_is_found_beside_folders_of_the_same_names_as_ours(wheel: Path, tmp_path: Path) -> None:
    bin_ = environment(sys.executable, tmp_path / "small", str(wheel))
    own = tmp_path / "own"
    for name in ("annotate", "evaluation", "formats", "tests"):
        (own / name).mkdir(parents=True)
        (own / name / "__init__.py").write_text("raise ImportError('a folder of the user')")
    asked = f"import preferendum as pf; print(len(pf.evaluate(*{SCORE!r})['systems'])); print(pf.rank({VOTES!r}))"
    done = subprocess.run(
        [bin_ / "python", "-c", asked], cwd=own, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("10\nAll topics, whole summaries\n  rank"), done.stderr
    assert "\nhuman leads all other systems." in done.stdout
    assert run(bin_ / "preferendum", "rank", VOTES) == done.stdout.removeprefix("10\n")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(sys.executable, tmp_path_factory.mktemp("server") / "v", f"{wheel}[server]")


@pytest.fixture
def demo(installed: Path, tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The demo of the wheel, its data in the user's data folder: its port, and what it printed."""
    port, log = free_port(), tmp_path / "demo.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [installed / "preferendum", "demo", "--port", str(port)],
            cwd=tmp_path,
            env=ENVIRONMENT | {"XDG_DATA_HOME": str(tmp_path / "home")},
            stdout=file,
            stderr=file,
        )
    wait_until(lambda: "admin" in log.read_text() or process.poll() is not None, "the demo", 180)
    assert process.poll() is None, log.read_text()
    yield port, log.read_text()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_the_installed_demo_serves_pages_docs_and_pairs_and_is_backed_up(
    installed: Path, demo: tuple[int, str], tmp_path: Path
) -> None:
    port, printed = demo
    assert "warning" not in printed.lower()
    browser = Browser("127.0.0.1", port)
    first = browser.ask("page", "GET", "/")[2]
    for path in re.findall(r'(?:src|href)="(/static/[^"]+\.(?:css|js))"', first):
        assert browser.ask("file", "GET", path)[2]
    assert "design_weight" in browser.ask("docs", "GET", "/docs/formats/")[2]
    [invitation] = re.findall(rf"annotator +http://127.0.0.1:{port}(\S+)", printed)
    judge_and_show(browser, browser.begin(invitation))
    browser.connection.close()

    own = {"XDG_DATA_HOME": str(tmp_path / "home")}
    count = "from annotate.models import Judgment; print(Judgment.objects.counted().exclude(seconds=None).count())"
    assert run(installed / "preferendum", "shell", "--no-imports", "-c", count, **own).strip() == "1"
    run(installed / "preferendum", "backup", tmp_path / "backup", **own)
    assert "preferendum backup" not in run(installed / "preferendum", "doctor", **own)
