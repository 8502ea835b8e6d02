"""What the program stands on: pinned by hash, and no older than the releases that closed what we know of."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("run", "test", "bench", "learned")
#: The oldest releases that the design was tried on. Raise a floor when an advisory names the release that mends it.
FLOORS = {
    "celery": "5.7",
    "defusedxml": "0.7.1",
    "django": "5.2.19",
    "django-csp": "4.0",
    "djangorestframework": "3.18",
    "gunicorn": "27",
    "kombu": "5.7",
    "psycopg": "3.3",
    "redis": "8",
    "whitenoise": "6.12",
}


def locked(name: str) -> dict[str, tuple[str, list[str]]]:
    """What a lock pins: by name, the version and the hashes."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text().replace("\\\n", " ")
    found = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = re.fullmatch(r"([a-z0-9.-]+)==(\S+)(?: ; [^#]*?)?((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*", line)
        assert match, f"neither a version with its hashes nor a remark: {line[:100]}"
        found[match[1]] = (match[2], match[3].split())
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_everything_is_pinned_to_a_version_and_its_hashes_and_to_no_host(name: str) -> None:
    assert len(locked(name)) > 40
    assert "://" not in re.sub(r"#.*", "", (ROOT / "requirements" / f"{name}.txt").read_text())


def test_every_lock_is_looked_at() -> None:
    assert {path.stem for path in (ROOT / "requirements").glob("*.txt")} == set(LOCKS)


def test_what_runs_is_what_is_tested_and_measured() -> None:
    run, test, bench, learned = map(locked, LOCKS)
    assert run.items() <= test.items()
    assert test.items() <= bench.items()
    assert run.items() <= learned.items()


def test_the_website_is_not_installed_with_a_language_model() -> None:
    assert not {"torch", "transformers"} & (locked("run").keys() | locked("test").keys())
    assert {"torch", "transformers"} <= locked("learned").keys()


@pytest.mark.parametrize("package", FLOORS)
def test_nothing_is_older_than_the_releases_that_closed_what_we_know_of(package: str) -> None:
    pinned, _hashes = locked("run")[package]
    assert Version(pinned) >= Version(FLOORS[package])


def test_nobody_may_install_us_with_an_older_django() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in map(Requirement, project["dependencies"] + project["optional-dependencies"]["server"]):
        floor = FLOORS.get(requirement.name.lower())
        lowest = [Version(one.version) for one in requirement.specifier if one.operator == ">="]
        assert lowest, f"{requirement.name} may be as old as it likes"
        assert not floor or lowest[0].release >= Version(floor).release[: len(lowest[0].release)], requirement


def test_what_is_installed_here_is_what_is_pinned() -> None:
    wrong = {}
    for package, (pinned, _hashes) in locked("run").items():
        try:
            installed = version(package)
        except PackageNotFoundError:
            continue  # for another system
        if installed != pinned:
            wrong[package] = (installed, pinned)
    assert wrong == {}
    assert sys.version_info >= (3, 11)
